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
    let (risk, repeatable) = match extension.risk {
        Some(risk) => (risk, risk == Risk::ReadOnly),
        None => by_method(&operation.method),
    };
    let idempotent = extension.idempotent.unwrap_or(repeatable);
    Hints { risk, idempotent, open_world: extension.open_world }
}

/// What a method promises, and whether a call may be repeated (RFC 9110 sections 9.2.1 and 9.2.2).
pub(super) fn by_method(method: &str) -> (Risk, bool) {
    match method {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY" => (Risk::ReadOnly, true),
        "DELETE" => (Risk::Destructive, true),
        "PUT" => (Risk::Write, true),
        _ => (Risk::Write, false),
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
