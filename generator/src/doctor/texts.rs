//! What models are not told.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Sink};
use crate::load::tool_file::is_of_file;
use crate::model::Model;
use crate::model::tool::{Argument, Role, Tool};
use crate::pass::join;
use crate::pass::name::snake;

/// A purpose that says less does not tell a tool from its neighbours.
const MIN_PURPOSE: usize = 24;

pub(super) fn report(model: &Model, sink: &mut Sink) {
    same_words(model, sink);
    for tool in &model.tools {
        purpose(model, tool, sink);
        for argument in tool.arguments.iter().filter(|argument| argument.shown && !is_told(model, argument)) {
            let origin = if argument.origin.is_empty() { &tool.origin } else { &argument.origin };
            let message = format!("the argument `{}` of `{}` has no description", argument.name, tool.name);
            let help = match argument.role {
                _ if is_of_file(&tool.origin) => "add `description` to its schema".to_owned(),
                Role::Body { .. } => "describe it in an overlay: x-toolwright: {body_description: Text.}".to_owned(),
                Role::Member => {
                    format!(
                        "describe it in an overlay: x-toolwright: {{fields: {{{}: Text.}}}}",
                        as_key(&argument.wire_name)
                    )
                }
                _ => {
                    format!(
                        "describe it in an overlay: x-toolwright: {{arguments: {{{}: Text.}}}}",
                        as_key(&argument.wire_name)
                    )
                }
            };
            let place = model.loaded.document.place(origin);
            sink.push(Diagnostic::note("missing-description", message).at(place).help(help));
        }
    }
}

/// Tools that one text describes: models cannot choose between them.
fn same_words(model: &Model, sink: &mut Sink) {
    let mut tools: BTreeMap<String, Vec<&Tool>> = BTreeMap::new();
    for tool in model.tools.iter().filter(|tool| tool.is_described) {
        tools.entry(tool.purpose.trim().to_lowercase()).or_default().push(tool);
    }
    for alike in tools.values() {
        let [first, second, ..] = alike.as_slice() else { continue };
        let message =
            format!("{} tools have one description, `{}` and `{}` among them", alike.len(), first.name, second.name);
        let help = "say in an overlay what each does that the others do not";
        let place = model.loaded.document.place(&join(&second.origin, "description"));
        sink.push(Diagnostic::warning("same-description", message).at(place).help(help));
    }
}

/// Whether a text has no word that the tool's name does not have.
fn repeats_name(tool: &Tool) -> bool {
    let name: BTreeSet<&str> = tool.name.split('_').collect();
    let words = snake(&tool.purpose);
    words.split('_').all(|word| word.len() < 4 || name.contains(word) || name.contains(word.trim_end_matches('s')))
}

fn purpose(model: &Model, tool: &Tool, sink: &mut Sink) {
    let place = model.loaded.document.place(&tool.origin);
    if !tool.is_described {
        let message = format!("`{}` has no description; models get its summary, method and path", tool.name);
        let help = "add to an overlay: description: One or two sentences, first word a verb.";
        sink.push(Diagnostic::warning("thin-description", message).at(place).help(help));
    } else if tool.purpose.trim().chars().count() < MIN_PURPOSE {
        let message = format!("the description of `{}` says little: {:?}", tool.name, tool.purpose.trim());
        let help = "say what the call does, and when to use it";
        sink.push(Diagnostic::warning("thin-description", message).at(place).help(help));
    } else if repeats_name(tool) {
        let message = format!("the description of `{}` says no more than its name", tool.name);
        let help = "say in an overlay what the call does, and when to use it";
        sink.push(Diagnostic::warning("thin-description", message).at(place).help(help));
    }
}

/// A body describes itself by its fields.
fn is_told(model: &Model, argument: &Argument) -> bool {
    let schema = model.resolve(&argument.schema);
    let own = argument.description.as_deref().or(schema.description.as_deref());
    own.is_some_and(|text| !text.trim().is_empty())
        || (matches!(argument.role, Role::Body { .. }) && !schema.properties.is_empty())
}

/// A name as a key of YAML, on one line.
fn as_key(name: &str) -> String {
    let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if is_plain { name.to_owned() } else { format!("{name:?}") }
}
