//! Names that were not the document's own first choice.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Sink};
use crate::load::config::is_fixed_tool;
use crate::load::extension::{EXTENSION, MAX_NAME};
use crate::model::Model;
use crate::model::operation::{Executor, Operation};
use crate::pass::bind::spelt_out;
use crate::pass::join;
use crate::pass::name::{MAX_ARGUMENT, snake};

pub(super) fn report(model: &Model, sink: &mut Sink) {
    for operation in &model.operations {
        let Some(name) = operation.extension.name.as_deref() else { continue };
        let pointer = join(&join(&operation.origin, "x-toolwright"), "name");
        if model.loaded.document.get(&pointer).is_some() {
            continue;
        }
        let (finding, key) = match operation.operation_id.as_deref() {
            None => (without_id(operation, name), ""),
            Some(id) => match with_id(id, name) {
                Some(finding) => (finding, "operationId"),
                None => continue,
            },
        };
        let origin = if key.is_empty() { operation.origin.clone() } else { join(&operation.origin, key) };
        let help = "give it a `name` in an overlay: x-toolwright: {name: verb_first}";
        sink.push(finding.at(model.loaded.document.place(&origin)).help(help));
    }
    arguments(model, sink);
    alike_paths(model, sink);
}

/// Arguments whose name had to be told apart from another, or cut: what follows their own name changes with the others.
fn arguments(model: &Model, sink: &mut Sink) {
    for tool in &model.tools {
        for argument in tool.arguments.iter().filter(|argument| !argument.wire_name.is_empty()) {
            let said = join(&join(&join(&tool.origin, EXTENSION), "arguments"), &argument.wire_name);
            let by_hand = model.loaded.document.get(&join(&said, "name")).is_some();
            let wanted = spelt_out(&argument.wire_name, "argument");
            if by_hand || wanted == argument.name || !argument.name.starts_with(&wanted) && wanted.len() <= MAX_ARGUMENT
            {
                continue;
            }
            let why = if wanted.len() > MAX_ARGUMENT { "is too long" } else { "is claimed by several arguments" };
            let message = format!("`{wanted}` {why} of `{}`; the argument is `{}`", tool.name, argument.name);
            let help = format!(
                "give it a name in an overlay: x-toolwright: {{arguments: {{{:?}: {{name: ..}}}}}}",
                argument.wire_name
            );
            let origin = if argument.origin.is_empty() { &tool.origin } else { &argument.origin };
            sink.push(
                Diagnostic::note("clashing-argument", message).at(model.loaded.document.place(origin)).help(help),
            );
        }
    }
}

/// Paths that differ in nothing but the names of their placeholders (OpenAPI 3.1 section 4.8.8.2): which of the two a
/// server means by a request is anybody's guess.
fn alike_paths(model: &Model, sink: &mut Sink) {
    let mut seen: BTreeMap<(&str, String), &Operation> = BTreeMap::new();
    for operation in model.operations.iter().filter(|operation| operation.executor == Executor::Request) {
        let mut parts = operation.path.split('{');
        let mut shape = parts.next().unwrap_or_default().to_owned();
        parts.for_each(|part| shape += &format!("{{}}{}", part.split_once('}').map_or("", |(_, behind)| behind)));
        if let Some(other) = seen.insert((&operation.method, shape), operation) {
            let message = format!("{} and {} are one request under two names", other.route(), operation.route());
            let place = model.loaded.document.place(&operation.origin);
            let help = "remove one of the two in an overlay, or correct its path";
            sink.push(Diagnostic::warning("ambiguous-path", message).at(place).help(help));
        }
    }
}

fn without_id(operation: &Operation, name: &str) -> Diagnostic {
    let message = format!("{} has no operationId; its tool is named `{name}` after method and path", operation.route());
    Diagnostic::warning("missing-operation-id", message)
}

fn with_id(id: &str, name: &str) -> Option<Diagnostic> {
    let wanted = snake(id);
    if wanted == name {
        return None;
    }
    let reserved = is_fixed_tool(&wanted);
    Some(if wanted.is_empty() {
        Diagnostic::warning(
            "unusable-operation-id",
            format!("`{id}` has no letter or digit that can be spelt in ASCII; the tool is `{name}`"),
        )
    } else if wanted.len() > MAX_NAME {
        let length = wanted.len();
        let message = format!("`{wanted}` has {length} characters, and {MAX_NAME} are allowed; the tool is `{name}`");
        Diagnostic::warning("long-name", message)
    } else if reserved {
        Diagnostic::warning("reserved-name", format!("every server has a tool `{wanted}`; this one is `{name}`"))
    } else {
        Diagnostic::warning(
            "clashing-name",
            format!("several operations claim the name `{wanted}`; this one is `{name}`"),
        )
    })
}
