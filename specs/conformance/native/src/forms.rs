//! Forms, in the words that MCP has for them (2025-11-25, Elicitation: Requested Schema).

use serde_json::{Value, json};
use toolwright_core::Question;

fn form(message: &str, properties: Value, required: &[&str]) -> Question {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Question::Form { message: message.to_owned(), schema }
}

/// One field that must be filled in.
pub(crate) fn one(name: &str, kind: &str, message: &str) -> Question {
    form(message, json!({name: {"type": kind}}), &[name])
}

pub(crate) fn name_and_address(message: &str) -> Question {
    let fields = json!({
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    });
    form(message, fields, &["username", "email"])
}

/// A field of each simple type, with its default (SEP-1034).
pub(crate) fn defaults() -> Question {
    let fields = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    });
    form("Please look through these values.", fields, &[])
}

/// Each way to choose among texts (SEP-1330).
pub(crate) fn choices() -> Question {
    let titled = |first: &str| json!([{"const": "value1", "title": first}, {"const": "value2", "title": "Second"}]);
    let options = ["option1", "option2", "option3"];
    let fields = json!({
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled("First Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("First Choice")}},
    });
    form("Please choose.", fields, &[])
}
