//! `$defs` of a tool file: schemas that several places of its input, or of its output, share.

use serde_json::{Map, Value};

use super::{Lowered, TOOLS};
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::strict::{Places, did_you_mean, wrong_kind};
use crate::source::child_pointer;

/// The keyword, and the start of references to what it holds.
const KEYWORD: &str = "$defs";
const PREFIX: &str = "#/$defs/";

/// Keywords whose values are data and no schemas.
const DATA: [&str; 5] = ["const", "enum", "default", "example", "examples"];

/// The definitions of one schema of a file.
pub(super) struct Definitions<'d> {
    members: Option<&'d Map<String, Value>>,
    /// Where the file has them.
    pointer: String,
    /// Where the tool's node has them.
    node: &'static str,
}

impl<'d> Definitions<'d> {
    /// Those of the schema at a pointer of the file; `node` is the key of the tool's node that is to hold them.
    pub(super) fn of(
        schema: Option<&'d Value>,
        pointer: &str,
        node: &'static str,
        places: Places<'_>,
        sink: &mut Sink,
    ) -> Self {
        let pointer = child_pointer(pointer, KEYWORD);
        let value = schema.and_then(|schema| schema.get(KEYWORD));
        if let Some(wrong) = value.filter(|value| !value.is_object()) {
            sink.push(wrong_kind(&pointer, "a mapping of names to schemas", wrong, places));
        }
        Definitions { members: value.and_then(Value::as_object), pointer, node }
    }

    /// Moves the definitions into the tool's node.
    pub(super) fn hand_over(&self, tool: &mut Lowered, places: Places<'_>, sink: &mut Sink) {
        let Some(members) = self.members else { return };
        let named = |(name, schema): (&String, &Value)| {
            (name.clone(), self.resolved(schema, &tool.name, &child_pointer(&self.pointer, name), places, sink))
        };
        let moved: Map<String, Value> = members.iter().map(named).collect();
        tool.node.insert(self.node.to_owned(), moved.into());
        tool.origins.push((format!("/{}", self.node), self.pointer.clone()));
    }

    /// The schema with references to the definitions where they stand now. `at` is its pointer in the file.
    pub(super) fn resolved(&self, schema: &Value, tool: &str, at: &str, places: Places<'_>, sink: &mut Sink) -> Value {
        match schema {
            Value::Object(members) => members
                .iter()
                .filter(|(key, _)| *key != KEYWORD)
                .map(|(key, value)| {
                    (key.clone(), self.keyword(key, value, tool, &child_pointer(at, key), places, sink))
                })
                .collect::<Map<_, _>>()
                .into(),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| self.resolved(item, tool, &format!("{at}/{index}"), places, sink))
                .collect(),
            other => other.clone(),
        }
    }

    fn keyword(&self, key: &str, value: &Value, tool: &str, at: &str, places: Places<'_>, sink: &mut Sink) -> Value {
        let name = value.as_str().filter(|_| key == "$ref").and_then(|reference| reference.strip_prefix(PREFIX));
        let Some(path) = name else {
            return if DATA.contains(&key) { value.clone() } else { self.resolved(value, tool, at, places, sink) };
        };
        let name = path.split('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        if !self.members.is_some_and(|members| members.contains_key(&name)) {
            let known = self.members.into_iter().flat_map(Map::keys).map(String::as_str);
            let help = did_you_mean(&name, known).unwrap_or_else(|| format!("declare it under `{KEYWORD}` beside it"));
            let error = Diagnostic::error("unknown-name", format!("`{KEYWORD}` has no schema `{name}`"));
            sink.push(error.at(places(at)).help(help));
        }
        format!("#{}/{}/{path}", child_pointer(&format!("/{TOOLS}"), tool), self.node).into()
    }
}
