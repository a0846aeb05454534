//! Makes one tool of each operation: names its arguments and says where each goes in the request.

use std::collections::BTreeSet;

use super::hints;
use super::join;
use super::name::{snake, unsayable};
use crate::access::Access;
use crate::diagnostic::{Diagnostic, Sink};
use crate::ledger::{Outcome, Part};
use crate::load::extension::{EXTENSION, Secret};
use crate::load::tool_file::is_of_file;
use crate::model::Model;
use crate::model::operation::{BodyKind, Executor, Location, Operation, Parameter, Style};
use crate::model::schema::{JsonType, Schema};
use crate::model::tool::{
    Argument, Binding, FormKind, Frozen, Hidden, HttpBinding, ObjectBody, Pages, Role, Steps, Tool,
};

mod body;
mod exchange;
mod hide;
mod members;
mod pages;
mod parts;
mod path;
mod said;
mod tell_apart;

pub(super) fn bind(model: &mut Model, sink: &mut Sink) {
    let mut operations = std::mem::take(&mut model.operations);
    let mut hiding = hide::Hiding::default();
    for operation in operations.iter_mut().filter(|operation| operation.extension.refused.is_none()) {
        body::carry_files(model, operation, sink);
        let operation = &*operation;
        path::check(model, operation, sink);
        let mut arguments = parameters(model, operation, sink);
        arguments.extend(exchange::arguments(operation));
        arguments.extend(body::arguments(model, operation, sink));
        arguments.extend(pages::argument(operation));
        if operation.executor != Executor::Request {
            arguments.iter_mut().for_each(handed_over);
        }
        said::apply(operation, &mut arguments);
        said::check(model, operation, &arguments, sink);
        let (mut arguments, mut hidden) = hiding.split(model, operation, arguments, sink);
        tell_apart::tell_apart(&mut arguments);
        hide::name(&arguments, &mut hidden);
        let pages = pages::of(model, operation, &arguments, &hidden, sink);
        let tool = tool(model, operation, arguments, hidden, pages);
        model.tools.push(tool);
    }
    model.operations = operations;
    let access = Access::of(&model.loaded.document, &model.loaded.config);
    let taken: Vec<String> = access.settings.into_iter().map(|setting| setting.key).collect();
    hiding.finish(model, &taken, sink);
    model.tools.sort_by(|left, right| left.name.cmp(&right.name));
}

/// What is no request takes what would else be the members of a body.
fn handed_over(argument: &mut Argument) {
    argument.role = Role::Input;
    argument.needed_by_body = false;
}

fn tool(
    model: &Model,
    operation: &Operation,
    arguments: Vec<Argument>,
    hidden: Vec<Hidden>,
    pages: Option<Pages>,
) -> Tool {
    let all: Vec<&Argument> = arguments.iter().chain(hidden.iter().map(|hidden| &hidden.argument)).collect();
    let extension = &operation.extension;
    let name = extension.name.clone().unwrap_or_default();
    // Some documents have whole paragraphs for a summary; they stay in the purpose.
    let summary = operation.summary.as_deref().unwrap_or_default();
    let line = summary.lines().map(str::trim).find(|line| !line.is_empty());
    let title = line.map_or_else(|| title_of(&name), str::to_owned);
    let purpose = operation.description.clone().filter(|text| !text.trim().is_empty());
    let secrets = match &extension.secret {
        Some(Secret::Pointers(pointers)) => pointers.clone(),
        Some(Secret::Text) => vec![String::new()],
        None => Vec::new(),
    };
    Tool {
        origin: operation.origin.clone(),
        title,
        is_described: purpose.is_some(),
        purpose: purpose.or_else(|| operation.summary.clone()).unwrap_or_default(),
        description: String::new(),
        returns: extension.returns.clone(),
        caution: extension.caution.clone(),
        tags: tags(operation),
        hints: hints::of(operation),
        search: extension.search.clone(),
        declared: (operation.method.clone(), operation.path.clone()),
        binding: binding(operation, &all, pages),
        flattened: flattened(model, operation, &all),
        arguments,
        hidden,
        advertise: extension.advertise.clone(),
        field_texts: extension.fields.clone(),
        deadline_seconds: extension.deadline_seconds,
        long: extension.long,
        secrets,
        // What a filter makes of an answer is not what the document says of it. A tool file says what comes back.
        output: output(model, operation).filter(|_| extension.project.is_none() || is_of_file(&operation.origin)),
        frozen: Frozen::default(),
        name,
    }
}

fn tags(operation: &Operation) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for tag in operation.tags.iter().map(|tag| tag.to_lowercase()) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags
}

fn title_of(name: &str) -> String {
    let mut words = name.replace('_', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

/// The types whose members are arguments.
fn flattened(model: &Model, operation: &Operation, arguments: &[&Argument]) -> BTreeSet<String> {
    match arguments.iter().any(|argument| argument.role == Role::Member) {
        true => members::of(model, operation).map(|members| members.types).unwrap_or_default(),
        false => BTreeSet::new(),
    }
}

fn binding(operation: &Operation, arguments: &[&Argument], pages: Option<Pages>) -> Binding {
    match &operation.executor {
        Executor::Request => {}
        Executor::Native { content } => return Binding::Native { content: *content },
        Executor::Expression(filter) => return Binding::Expression(filter.clone()),
        // The pass over steps fills it in, when all tools are known.
        Executor::Steps => return Binding::Steps(Steps::default()),
        Executor::Linked(linked) => return Binding::Linked(linked.clone()),
    }
    let extension = &operation.extension;
    let path = extension.path.clone().unwrap_or_else(|| operation.path.clone());
    if let (Some(route), None) = (&extension.route, &extension.path) {
        return Binding::NoRoute(route.clone());
    }
    if let Some(exchange) = extension.websocket {
        let (security, server) = (operation.security.clone(), operation.server.clone());
        return Binding::WebSocket { path, exchange, security, server };
    }
    let form = operation.body.as_ref().and_then(|body| match body.kind {
        BodyKind::Form => Some(FormKind::Urlencoded),
        BodyKind::Multipart => Some(FormKind::Multipart),
        BodyKind::Json | BodyKind::Text | BodyKind::Lines | BodyKind::Binary => None,
    });
    let is_object = arguments.iter().any(|argument| argument.role == Role::Member);
    let object = operation.body.as_ref().filter(|_| is_object);
    Binding::Http(HttpBinding {
        method: operation.method.clone(),
        path,
        form,
        multipart: operation.body.as_ref().and_then(|body| parts::multipart(body, arguments)),
        object: object.map(|body| ObjectBody { media_type: body.sendable(), required: body.required }),
        produces: produces(operation),
        stream: extension.stream,
        stand_in: extension.route.clone(),
        security: operation.security.clone(),
        server: operation.server.clone(),
        project: extension.project.clone(),
        pages,
    })
}

/// Media types of success answers, in the document's order, each once.
fn produces(operation: &Operation) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for response in operation.responses.iter().filter(|response| response.is_success()) {
        for (media_type, _) in &response.contents {
            if !found.contains(media_type) {
                found.push(media_type.clone());
            }
        }
    }
    found
}

/// The schema of the first success that answers JSON, else lines of it.
fn output(model: &Model, operation: &Operation) -> Option<Schema> {
    if operation.extension.websocket.is_some() {
        return None;
    }
    let successes = operation.responses.iter().filter(|response| response.is_success());
    let told = |schema: &Schema| !model.resolve(schema).is_any();
    let of = |accepted: fn(&str) -> bool| {
        let mut contents = successes.clone().flat_map(|response| &response.contents);
        contents.find(|(media_type, schema)| accepted(media_type) && schema.is_some())?.1.clone().filter(told)
    };
    of(is_json).or_else(|| {
        // One JSON value a line becomes a list of them, whatever the document says of each.
        let line = of(|media_type| BodyKind::of(media_type) == BodyKind::Lines)?;
        let is_list = model.resolve(&line).is(JsonType::Array);
        let origin = line.origin.clone();
        let list = |line| Schema { origin, items: Some(Box::new(line)), ..Schema::of(JsonType::Array) };
        Some(if is_list { line } else { list(line) })
    })
}

fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || essence.ends_with("+json") || essence == "*/*"
}

fn parameters(model: &mut Model, operation: &Operation, sink: &mut Sink) -> Vec<Argument> {
    let path = operation.extension.path.as_deref().unwrap_or(&operation.path);
    let places = template_names(path);
    // A placeholder that an overlay's own path makes up is an error at that path, and brings no further findings.
    let is_declared = |name: &String| {
        let is_parameter = |p: &Parameter| p.location == Location::Path && p.wire_name == *name;
        operation.path.contains(&format!("{{{name}}}")) || operation.parameters.iter().any(is_parameter)
    };
    let is_misspelt = !places.iter().all(is_declared);
    let has_place =
        |parameter: &&Parameter| parameter.location != Location::Path || places.contains(&parameter.wire_name);
    for stray in operation.parameters.iter().filter(|parameter| !has_place(parameter)) {
        let message = format!("the path has no `{{{}}}` for this parameter, which was left out", stray.wire_name);
        model.ledger.record(Part::Parameter, &stray.listed_at, Outcome::Refused);
        if is_misspelt {
            continue;
        }
        let is_ours = operation.extension.path.is_some();
        let origin = if is_ours { join(&join(&operation.origin, EXTENSION), "path") } else { stray.origin.clone() };
        let place = model.loaded.document.place(&origin);
        let help = format!("{path} is the path; correct one of the two in an overlay");
        sink.push(Diagnostic::warning("stray-path-parameter", message).at(place).help(help));
    }
    let mut arguments: Vec<Argument> = operation
        .parameters
        .iter()
        .filter(has_place)
        .map(|parameter| Argument {
            origin: parameter.origin.clone(),
            name: String::new(),
            wire_name: parameter.wire_name.clone(),
            role: Role::Parameter {
                location: parameter.location,
                style: parameter.style,
                explode: parameter.explode,
                reserved: parameter.reserved,
            },
            required: parameter.required,
            needed_by_body: false,
            shown: true,
            description: parameter.description.clone().or_else(|| parameter.schema.description.clone()),
            schema: parameter.schema.clone(),
            send_as: Vec::new(),
        })
        .collect();
    for name in places.iter().filter(|name| is_declared(name)) {
        let known = operation.parameters.iter().any(|p| p.location == Location::Path && p.wire_name == *name);
        if !known {
            let message = format!("the path has `{{{name}}}` and no parameter declares it; it was read as a string");
            let place = model.loaded.document.place(&operation.origin);
            let help = format!(
                "declare it in an overlay: parameters: [{{name: {name}, in: path, required: true, schema: {{type: string}}}}]"
            );
            sink.push(Diagnostic::warning("undeclared-path-parameter", message).at(place).help(help));
            arguments.push(path_argument(name));
        }
    }
    arguments
}

fn path_argument(name: &str) -> Argument {
    Argument {
        origin: String::new(),
        name: String::new(),
        wire_name: name.to_owned(),
        role: Role::Parameter { location: Location::Path, style: Style::Simple, explode: false, reserved: false },
        required: true,
        needed_by_body: false,
        shown: true,
        description: None,
        schema: Schema::of(JsonType::String),
        send_as: Vec::new(),
    }
}

/// Names in braces, in order. What follows the path itself, a query or a fragment, is no template: it is sent as it stands
/// or not at all.
fn template_names(path: &str) -> Vec<String> {
    let parts = path.split(['?', '#']).next().unwrap_or_default().split('{').skip(1);
    parts.filter_map(|part| part.split_once('}')).map(|(name, _)| name.to_owned()).collect()
}

/// Snake case of a wire name; signs that would vanish are spelt out, so that `+1` and `-1` stay apart. Where nothing is
/// left of a name, it is called after its `place`.
pub(crate) fn spelt_out(wire_name: &str, place: &str) -> String {
    let spelt = wire_name.strip_prefix('+').map(|rest| format!("plus_{rest}"));
    let spelt = spelt.or_else(|| wire_name.strip_prefix('-').map(|rest| format!("minus_{rest}")));
    let name = snake(spelt.as_deref().unwrap_or(wire_name));
    if name.is_empty() { unsayable(wire_name, place) } else { name }
}
