//! Writes each tool's schemas as JSON Schema 2020-12 and checks them. After this pass nothing changes any more.

mod check;
mod listed;
mod plan;
mod render;

use serde_json::{Map, Value, json};

use super::join;
use crate::diagnostic::{Diagnostic, Sink};
use crate::model::Model;
use crate::model::operation::BodyKind;
use crate::model::schema::Schema;
use crate::model::tool::{Argument, Frozen, Role, Tool};
use plan::Plan;
use render::{Direction, Renderer};

pub(super) fn freeze(model: &mut Model, sink: &mut Sink) {
    let mut tools = std::mem::take(&mut model.tools);
    for tool in &mut tools {
        hidden_but_required(model, tool, sink);
        tool.frozen = frozen(model, tool);
        check::check(model, tool, sink);
    }
    model.tools = tools;
}

fn frozen(model: &Model, tool: &Tool) -> Frozen {
    let input = input(model, tool);
    let listed = listed::listed(tool, &input);
    let result = tool.output.as_ref().map(|output| {
        let plan = Plan::new(model, std::iter::once(output));
        let mut renderer = Renderer::new(model, &plan, Direction::Answered);
        let mut root = renderer.schema(output);
        with_definitions(&mut root, renderer);
        Value::Object(root)
    });
    Frozen { listed: (listed != input).then_some(listed), input, result }
}

/// The argument object: closed, with everything that is accepted.
fn input(model: &Model, tool: &Tool) -> Value {
    let plan = Plan::new(model, tool.arguments.iter().map(|argument| &argument.schema));
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
    let plan = Plan::new(model, std::iter::once(schema));
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
        let help = format!("add `{field}` to `advertise`, or take it out of the schema's `required` in an overlay");
        sink.push(Diagnostic::error("hidden-but-required", message).at(place).help(help));
    }
}
