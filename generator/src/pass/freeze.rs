//! Writes each tool's schemas as JSON Schema 2020-12 and checks them. After this pass nothing changes any more.

mod check;
mod listed;
mod plan;
mod reach;
mod render;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::join;
use crate::catalog::pretty;
use crate::diagnostic::{Diagnostic, Sink};
use crate::ledger::{Outcome, Part};
use crate::load::tool_file::is_of_file;
use crate::model::Model;
use crate::model::operation::BodyKind;
use crate::model::schema::Schema;
use crate::model::tool::{Argument, Binding, Frozen, Role, Tool};
use plan::Plan;
use reach::Reach;
use render::{Direction, Renderer};

/// Bytes of the schema of an answer, roughly and as compact JSON. It is there to be read: types further away are left out.
const MAX_RESULT: usize = 32 * 1024;

/// Bytes of one tool's input schema, as above. Calls are checked against it, so that nothing of it is left out unasked.
const MAX_INPUT: usize = 1024 * 1024;

/// Bytes of all input schemas together. Beyond it, types refer to each other so much that each tool has nearly all of them.
const MAX_INPUTS: usize = 32 * 1024 * 1024;

/// What one input schema may take where all together would take more than `MAX_INPUTS`.
const MAX_CROWDED_INPUT: usize = 32 * 1024;

/// Leaves out tools of the document whose input schema alone takes too much: the others have nothing to do with it. That of
/// a tool file is for its author to correct, and so is what calls one that is left out.
pub(super) fn leave_out_wide(model: &mut Model, sink: &mut Sink) {
    let is_wide = |tool: &Tool| !Reach::within(model, schemas(tool), MAX_INPUT).is_whole;
    if most_of_an_input(model, &model.tools) < MAX_INPUT {
        return;
    }
    let wide: BTreeSet<String> =
        model.tools.iter().filter(|tool| is_wide(tool)).map(|tool| tool.name.clone()).collect();
    for tool in model.tools.iter().filter(|tool| wide.contains(&tool.name)) {
        too_wide(model, tool, sink);
    }
    for tool in &model.tools {
        let Binding::Steps(steps) = &tool.binding else { continue };
        for called in steps.calls.iter().filter(|called| wide.contains(*called)) {
            let message =
                format!("{} calls {called}, which is left out, since its input schema is too large", tool.name);
            let error = Diagnostic::error("wide-input", message).at(model.loaded.document.place(&tool.origin));
            sink.push(error.help(format!("give the types that {called} takes fewer members in an overlay")));
        }
    }
    let (kept, dropped): (Vec<Tool>, Vec<Tool>) = std::mem::take(&mut model.tools)
        .into_iter()
        .partition(|tool| is_of_file(&tool.origin) || !wide.contains(&tool.name));
    for tool in dropped {
        model.ledger.record(Part::Operation, tool.origin, Outcome::Refused);
    }
    model.tools = kept;
}

pub(super) fn freeze(model: &mut Model, sink: &mut Sink) {
    let mut tools = std::mem::take(&mut model.tools);
    let most = most_of_an_input(model, &tools);
    let mut trimmed: Vec<&Tool> = Vec::new();
    for tool in &mut tools {
        hidden_but_required(model, tool, sink);
        let reach = Reach::within(model, schemas(tool), most);
        let is_whole = reach.is_whole;
        let schemas = frozen(model, tool, reach);
        check::check(model, tool, &schemas, sink);
        tool.frozen = schemas.into_texts();
        if !is_whole {
            trimmed.push(tool);
        }
    }
    if most < MAX_INPUT {
        crowded(model, &trimmed, sink);
    }
    model.tools = tools;
}

fn schemas(tool: &Tool) -> impl Iterator<Item = &Schema> + Clone {
    tool.arguments.iter().map(|argument| &argument.schema)
}

/// What one input schema may take: less where all together would be too much.
fn most_of_an_input(model: &Model, tools: &[Tool]) -> usize {
    let mut total = 0;
    for tool in tools {
        total += Reach::within(model, schemas(tool), MAX_INPUT).bytes;
        if total > MAX_INPUTS {
            return MAX_CROWDED_INPUT;
        }
    }
    MAX_INPUT
}

/// One tool alone that takes too much: a mistake, or a document that nobody should be asked to call.
fn too_wide(model: &Model, tool: &Tool, sink: &mut Sink) {
    let message = format!("the input schema of `{}` would take more than {MAX_INPUT} bytes", tool.name);
    let found = match is_of_file(&tool.origin) {
        true => {
            Diagnostic::error("wide-input", message).help("give its inputs fewer or plainer schemas in the tool's file")
        }
        false => Diagnostic::warning("wide-input", format!("{message}; the operation was left out"))
            .help("give the types that it takes fewer members in an overlay, or remove the operation there"),
    };
    sink.push(found.at(model.loaded.document.place(&tool.origin)));
}

/// Tools that check less than their documents say, in one finding: they are many, and the reason is one.
fn crowded(model: &Model, trimmed: &[&Tool], sink: &mut Sink) {
    let Some(first) = trimmed.first() else { return };
    let message = format!(
        "the types refer to each other so much that all input schemas would take more than {MAX_INPUTS} bytes; \
        {} tools, `{}` among them, accept any JSON beyond the {MAX_CROWDED_INPUT} bytes that are nearest",
        trimmed.len(),
        first.name
    );
    let help = "nothing to do where the API checks what it is sent; else take apart the types in an overlay";
    sink.push(Diagnostic::warning("crowded-inputs", message).at(model.loaded.document.place(&first.origin)).help(help));
}

/// A tool's schemas before they are written as text.
struct Schemas {
    input: Value,
    /// What lists show, where that is less.
    listed: Option<Value>,
    result: Option<Value>,
}

impl Schemas {
    /// As texts they take a tenth of the memory, and nothing reads them as values any more.
    fn into_texts(self) -> Frozen {
        let shown = self.listed.as_ref().unwrap_or(&self.input);
        Frozen {
            shown_bytes: serde_json::to_vec(shown).map_or(0, |text| text.len()),
            input: pretty(&self.input),
            listed: self.listed.as_ref().map(pretty),
            result: self.result.as_ref().map(pretty),
        }
    }
}

fn frozen<'m>(model: &'m Model, tool: &'m Tool, reach: Reach<'m>) -> Schemas {
    let input = input(model, tool, reach);
    let listed = listed::listed(tool, &input);
    let result = tool.output.as_ref().map(|output| {
        let reach = Reach::within(model, std::iter::once(output), MAX_RESULT);
        let plan = Plan::new(&model.recursive, reach, std::iter::once(output));
        let mut renderer = Renderer::new(model, &plan, Direction::Answered);
        let mut root = renderer.schema(output);
        with_definitions(&mut root, renderer);
        Value::Object(root)
    });
    Schemas { listed: (listed != input).then_some(listed), input, result }
}

/// The argument object: closed, with everything that is accepted.
fn input<'m>(model: &'m Model, tool: &'m Tool, reach: Reach<'m>) -> Value {
    let plan = Plan::new(&model.recursive, reach, schemas(tool));
    let mut renderer = Renderer::new(model, &plan, Direction::Sent);
    let mut properties = Map::new();
    for argument in &tool.arguments {
        properties.insert(argument.name.clone(), Value::Object(argument_schema(model, &mut renderer, tool, argument)));
    }
    let required: Vec<&str> =
        tool.arguments.iter().filter(|argument| argument.required).map(|argument| argument.name.as_str()).collect();
    let mut root = Map::new();
    root.insert("type".to_owned(), "object".into());
    root.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        root.insert("required".to_owned(), json!(required));
    }
    root.insert("additionalProperties".to_owned(), false.into());
    with_definitions(&mut root, renderer);
    Value::Object(root)
}

/// A schema by itself, with what it refers to.
pub(super) fn schema_of(model: &Model, schema: &Schema) -> Value {
    let reach = Reach::within(model, std::iter::once(schema), MAX_INPUT);
    let plan = Plan::new(&model.recursive, reach, std::iter::once(schema));
    let mut renderer = Renderer::new(model, &plan, Direction::Sent);
    let mut root = renderer.schema(schema);
    with_definitions(&mut root, renderer);
    // What an argument is for is no matter of its value.
    root.shift_remove("description");
    Value::Object(root)
}

fn with_definitions(root: &mut Map<String, Value>, renderer: Renderer) {
    let definitions = renderer.definitions();
    if !definitions.is_empty() {
        root.insert("$defs".to_owned(), Value::Object(definitions));
    }
}

/// What is said of a member without which an optional body cannot be sent.
const NEEDED: &str = "Required where any other field of the body is given.";

fn argument_schema(model: &Model, renderer: &mut Renderer, tool: &Tool, argument: &Argument) -> Map<String, Value> {
    let mut schema = argument.schema.clone();
    schema.description.clone_from(&argument.description);
    if argument.role.is_file() {
        let told = schema.description.as_deref().or(model.resolve(&argument.schema).description.as_deref());
        return file(model.resolve(&argument.schema), told);
    }
    if argument.role == Role::Member && argument.needed_by_body && !argument.required {
        let own = schema.description.as_deref().or(model.resolve(&argument.schema).description.as_deref());
        let text = own.map(str::trim).filter(|text| !text.is_empty());
        schema.description = Some(text.map_or_else(|| NEEDED.to_owned(), |text| format!("{text} {NEEDED}")));
    }
    if let Role::Body { media_type, .. } = &argument.role {
        let is_told = schema.description.is_some() || model.resolve(&argument.schema).description.is_some();
        if !is_told {
            schema.description = Some(match BodyKind::of(media_type) {
                BodyKind::Json => "JSON body of the request.".to_owned(),
                _ => format!("Body of the request, as {media_type}."),
            });
        }
        return renderer.with_texts(&schema, &tool.field_texts);
    }
    renderer.schema(&schema)
}

/// A file is given as text: where its bytes are, or the bytes themselves.
fn file(schema: &Schema, told: Option<&str>) -> Map<String, Value> {
    let forms = "Path, data: URI, base64: or URL.";
    let text = match told {
        Some(text) => format!("{text} {forms}"),
        None => forms.to_owned(),
    };
    let one = json!({"type": "string", "description": text});
    let many = json!({"type": "array", "description": text, "items": {"type": "string"}});
    match if schema.items.is_some() { many } else { one } {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A field that must be sent must be shown.
fn hidden_but_required(model: &Model, tool: &Tool, sink: &mut Sink) {
    let Some(advertised) = &tool.advertise else { return };
    let required = tool.arguments.iter().flat_map(|argument| match argument.role {
        Role::Body { .. } => model.resolve(&argument.schema).required.iter().collect(),
        Role::Member if argument.needed_by_body => vec![&argument.wire_name],
        _ => Vec::new(),
    });
    for field in required.filter(|field| !advertised.contains(field)) {
        let message = format!("`advertise` of `{}` leaves out `{field}`, which is required", tool.name);
        let place = model.loaded.document.place(&join(&join(&tool.origin, "x-toolwright"), "advertise"));
        let whose = if is_of_file(&tool.origin) { "" } else { " in an overlay" };
        let help = format!("add `{field}` to `advertise`, or take it out of the schema's `required`{whose}");
        sink.push(Diagnostic::error("hidden-but-required", message).at(place).help(help));
    }
}
