//! Operations whose words contradict the risk that follows from their method.

use crate::diagnostic::{Diagnostic, Sink};
use crate::load::extension::{EXTENSION, Risk};
use crate::model::Model;
use crate::model::operation::Operation;
use crate::model::tool::Tool;
use crate::pass::join;
use crate::pass::name::snake;

/// First words of names, ids and summaries that only read or compute.
const READING: [&str; 20] = [
    "check", "compare", "compute", "count", "describe", "detect", "estimate", "fetch", "find", "get", "list", "lookup",
    "preview", "query", "read", "scroll", "search", "show", "tokenize", "validate",
];

/// First words that change state.
const CHANGING: [&str; 20] = [
    "add", "apply", "cancel", "clear", "create", "delete", "disable", "drop", "edit", "enable", "install", "purge",
    "remove", "reset", "restart", "revoke", "set", "start", "stop", "update",
];

/// First words that lose state.
const DESTROYING: [&str; 10] =
    ["clear", "delete", "destroy", "drop", "erase", "purge", "remove", "reset", "revoke", "terminate"];

pub(super) fn report(model: &Model, sink: &mut Sink) {
    let tools = model.tools_by_operation();
    for operation in &model.operations {
        let Some(tool) = tools.get(operation.origin.as_str()).copied() else { continue };
        if operation.extension.risk.is_some() {
            contradicted(model, operation, tool, sink);
            continue;
        }
        let Some((word, risk, help)) = doubt(tool, operation.summary.as_deref(), operation.operation_id.as_deref())
        else {
            continue;
        };
        let message = format!("{} counts as {risk} by its method, and its words say `{word}`", operation.route());
        let place = model.loaded.document.place(&operation.origin);
        sink.push(Diagnostic::warning("doubtful-risk", message).at(place).help(help));
    }
}

/// A risk that somebody chose, and that method or words speak against: clients approve calls by it.
fn contradicted(model: &Model, operation: &Operation, tool: &Tool, sink: &mut Sink) {
    if !matches!(tool.hints.risk, Risk::ReadOnly | Risk::Compute) {
        return;
    }
    let words = [operation.summary.as_deref(), operation.operation_id.as_deref()];
    let by_word = words.into_iter().flatten().filter_map(first_word).find(|word| DESTROYING.contains(&word.as_str()));
    let by_method = Some(&operation.method).filter(|method| matches!(method.as_str(), "DELETE" | "PUT" | "PATCH"));
    let Some(told) = by_word.as_ref().or(by_method) else { return };
    let message = format!("{} is declared to change nothing, and it says `{told}`", operation.route());
    let own = join(&join(&operation.origin, EXTENSION), "risk");
    let origin = if model.loaded.document.get(&own).is_some() { &own } else { &operation.origin };
    let help = "say what it does: x-toolwright: {risk: write} or {risk: destructive, caution: what is lost}, or correct the rule under `hints`";
    sink.push(Diagnostic::warning("contradicting-risk", message).at(model.loaded.document.place(origin)).help(help));
}

fn doubt(tool: &Tool, summary: Option<&str>, id: Option<&str>) -> Option<(String, &'static str, &'static str)> {
    let words = [summary, id].into_iter().flatten().filter_map(first_word);
    for word in words {
        let is = |list: &[&str]| list.contains(&word.as_str());
        let found = match tool.hints.risk {
            Risk::ReadOnly if is(&CHANGING) => {
                Some(("read-only", "say what it changes: a rule under `hints`, or x-toolwright: {risk: write}"))
            }
            Risk::Write if is(&DESTROYING) => {
                Some(("writing", "if it loses state: x-toolwright: {risk: destructive, caution: what is lost}"))
            }
            Risk::Write if tool.declared.0 == "POST" && is(&READING) => {
                Some(("writing", "if it only reads: a rule under `hints`, or x-toolwright: {risk: read-only}"))
            }
            _ => None,
        };
        if let Some((risk, help)) = found {
            return Some((word, risk, help));
        }
    }
    None
}

/// The first word, in the form that people write commands in.
fn first_word(text: &str) -> Option<String> {
    let name = snake(text);
    let word = name.split('_').next().filter(|word| !word.is_empty())?;
    let known = |word: &str| READING.contains(&word) || CHANGING.contains(&word) || DESTROYING.contains(&word);
    let stem =
        word.strip_suffix('s').filter(|stem| known(stem)).or_else(|| word.strip_suffix("es").filter(|s| known(s)));
    Some(stem.unwrap_or(word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::first_word;

    #[test]
    fn third_person_and_command_are_one_word() {
        assert_eq!(first_word("Deletes the thing").unwrap(), "delete");
        assert_eq!(first_word("searchPoints").unwrap(), "search");
        assert_eq!(first_word("Searches points").unwrap(), "search");
        assert_eq!(first_word(""), None);
    }
}
