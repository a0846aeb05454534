//! Hints follow from the declared risk; the verb is only the fallback for documents without curation.

use super::join;
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::extension::Risk;
use crate::model::Model;
use crate::model::operation::Operation;
use crate::model::tool::Hints;

/// The hints of an operation's tool.
pub(super) fn of(operation: &Operation) -> Hints {
    let extension = &operation.extension;
    let risk = extension.risk.unwrap_or_else(|| by_method(&operation.method));
    let idempotent = extension.idempotent.unwrap_or(risk == Risk::ReadOnly);
    Hints { risk, idempotent, open_world: extension.open_world }
}

/// RFC 9110 section 9.2.1: safe methods read. PUT replaces and DELETE removes.
fn by_method(method: &str) -> Risk {
    match method {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY" => Risk::ReadOnly,
        "DELETE" | "PUT" | "PATCH" => Risk::Destructive,
        _ => Risk::Write,
    }
}

/// Reports hints that contradict each other.
pub(super) fn hints(model: &mut Model, sink: &mut Sink) {
    for operation in &model.operations {
        let extension = &operation.extension;
        let base = join(&operation.origin, "x-toolwright");
        let mut report = |key: &str, message: &str, help: &str| {
            let place = model.loaded.document.place(&join(&base, key));
            sink.push(Diagnostic::error("contradicting-hints", message).at(place).help(help));
        };
        if extension.risk == Some(Risk::ReadOnly) && extension.idempotent == Some(false) {
            let help = "drop `idempotent`, or declare what the call changes as its `risk`";
            report("idempotent", "a call that only reads can always be repeated", help);
        }
        if extension.risk == Some(Risk::ReadOnly) && operation.method == "DELETE" {
            report("risk", "a DELETE that is declared to only read", "declare it `destructive`");
        }
        let is_said = model.loaded.document.get(&join(&base, "caution")).is_some();
        if extension.risk == Some(Risk::Destructive) && !is_said {
            let help = "add `caution: what is lost`, or declare a lower risk";
            report("risk", "a destructive tool must say what is lost", help);
        }
    }
}
