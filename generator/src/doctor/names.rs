//! Names that were not the document's own first choice.

use crate::diagnostic::{Diagnostic, Sink};
use crate::load::config::is_fixed_tool;
use crate::load::extension::MAX_NAME;
use crate::model::Model;
use crate::model::operation::Operation;
use crate::pass::join;
use crate::pass::name::snake;

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
