//! Calls as models write them: arguments as a text or as an object, ids that are missing or doubled.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::request::{Arguments, ToolCall};

/// Collects the calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<ToolCall>,
    ids: BTreeSet<String>,
}

impl Calls {
    /// Adds a call.
    pub(super) fn push(&mut self, id: &str, name: &str, arguments: Option<&Value>, extra: Map<String, Value>) {
        let arguments = read(arguments);
        let id = self.own_id(id, &arguments);
        self.calls.push(ToolCall { id, name: name.to_owned(), arguments, extra });
    }

    pub(super) fn into_vec(self) -> Vec<ToolCall> {
        self.calls
    }

    /// The given id, or one of ours, so that every result reaches its call.
    fn own_id(&mut self, given: &str, arguments: &Arguments) -> String {
        let index = self.calls.len();
        let wanted = match (given.is_empty(), arguments) {
            (false, _) => given.to_owned(),
            (true, Arguments::Unreadable { .. }) => format!("invalid_{index}"),
            // Ids must differ over the whole conversation, of which only this answer is known here.
            (true, Arguments::Object(_)) => format!("call_{:016x}", fastrand::u64(..)),
        };
        let mut id = wanted.clone();
        let mut copy = 2;
        while !self.ids.insert(id.clone()) {
            id = format!("{wanted}-{copy}");
            copy += 1;
        }
        id
    }
}

/// Reads arguments: an object, or its JSON text. Nothing at all counts as no arguments.
fn read(arguments: Option<&Value>) -> Arguments {
    match arguments {
        None | Some(Value::Null) => Arguments::Object(Map::new()),
        Some(Value::Object(members)) => Arguments::Object(members.clone()),
        Some(Value::String(text)) if text.trim().is_empty() => Arguments::Object(Map::new()),
        Some(Value::String(text)) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(members)) => Arguments::Object(members),
            Ok(Value::Null) => Arguments::Object(Map::new()),
            // Some gateways write an object as a text twice over.
            Ok(Value::String(inner)) => match serde_json::from_str::<Value>(&inner) {
                Ok(Value::Object(members)) => Arguments::Object(members),
                _ => not_an_object("a string"),
            },
            Ok(other) => not_an_object(kind(&other)),
            Err(error) => Arguments::Unreadable { reason: format!("they are not JSON: {error}") },
        },
        Some(other) => not_an_object(kind(other)),
    }
}

fn not_an_object(kind: &str) -> Arguments {
    Arguments::Unreadable { reason: format!("they are {kind}, not an object") }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The arguments as they are sent back. What could not be read goes back empty: models repeat what they see.
pub(super) fn sent_back(call: &ToolCall) -> Value {
    match &call.arguments {
        Arguments::Object(members) => Value::Object(members.clone()),
        Arguments::Unreadable { .. } => Value::Object(Map::new()),
    }
}
