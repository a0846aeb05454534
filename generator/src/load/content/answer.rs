//! Answers of tools as content, and where suggestions come from.

use serde_json::Value;

use super::text::{self, Piece};
use super::{File, Spot};
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::filter;
use crate::load::language::{ANSWER, names};
use crate::load::strict::{Fields, wrong_kind};
use crate::source::child_pointer;

/// The answer of a tool.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The mapping that says it.
    pub(crate) spot: Spot,
    pub(crate) tool: String,
    pub(crate) arguments: Vec<(String, Given)>,
    pub(crate) project: Option<String>,
}

/// The value of an argument of a tool.
#[derive(Debug)]
pub(crate) enum Given {
    Text(Vec<Piece>),
    Json(Value),
}

/// Where suggestions come from.
#[derive(Debug)]
pub(crate) enum Completion {
    Listed(Vec<String>),
    Answer(Answer),
}

impl Answer {
    /// Reads `tool`, `arguments` and `project` of a mapping. `known` are the names that have places.
    pub(super) fn read(
        fields: &Fields<'_>,
        known: &[&str],
        what: &str,
        file: &File<'_>,
        sink: &mut Sink,
    ) -> Option<Self> {
        let tool = fields.string("tool", sink)?;
        let base = fields.pointer_of("arguments");
        let mut arguments = Vec::new();
        for (name, value) in fields.named("arguments", sink) {
            let at = child_pointer(&base, name);
            let place = (file.places)(&at);
            let given = match value {
                Value::String(text) => Given::Text(text::pieces(text, known, what, &place, sink)),
                other => {
                    no_places_inside(other, known, &at, file, sink);
                    Given::Json(other.clone())
                }
            };
            arguments.push((name.clone(), given));
        }
        let project = fields.string("project", sink);
        if let Some(project) = &project {
            filter::check(project, "project", "the answer", fields.place("project"), sink);
        }
        Some(Answer { spot: file.spot(fields.pointer()), tool, arguments, project })
    }

    /// Names of the places in its arguments.
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().flat_map(|(_, given)| match given {
            Given::Text(pieces) => text::places(pieces).collect::<Vec<_>>(),
            Given::Json(_) => Vec::new(),
        })
    }
}

/// A place is a whole argument or stands in one: inside lists and mappings it would be left as it is, unseen.
fn no_places_inside(value: &Value, known: &[&str], at: &str, file: &File<'_>, sink: &mut Sink) {
    match value {
        Value::String(text) => {
            if let Some(name) = known.iter().find(|name| text.contains(&format!("{{{name}}}"))) {
                let message = format!("`{{{name}}}` stands inside a value");
                let help = "places stand in arguments that are texts; give the tool an argument of its own for it";
                sink.push(Diagnostic::error("misplaced-place", message).at((file.places)(at)).help(help));
            }
        }
        Value::Array(items) => {
            let inner = items.iter().enumerate();
            inner.for_each(|(index, item)| no_places_inside(item, known, &format!("{at}/{index}"), file, sink));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, item)| no_places_inside(item, known, &child_pointer(at, name), file, sink));
        }
        _ => {}
    }
}

impl Completion {
    /// Reads a list of texts, or the answer of a tool.
    pub(super) fn read(
        value: &Value,
        at: &str,
        known: &[&str],
        what: &str,
        file: &File<'_>,
        sink: &mut Sink,
    ) -> Option<Self> {
        match value {
            Value::Array(items) => {
                let texts: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
                if texts.is_none() {
                    sink.push(wrong_kind(at, "a list of texts", value, file.places));
                }
                texts.map(Completion::Listed)
            }
            Value::Object(_) => {
                let fields = Fields::open(value, at, &names(ANSWER), file.places, sink)?;
                fields.require("tool", "<a tool of this server>", sink);
                Answer::read(&fields, known, what, file, sink).map(Completion::Answer)
            }
            _ => {
                sink.push(wrong_kind(at, "a list of texts, or `{tool: ..}`", value, file.places));
                None
            }
        }
    }
}
