//! The declared type of an answer against the one that came: a difference is worth a word, and never a failure.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use serde::Deserialize;
use serde_json::Value;
use toolwright_core::{Envelope, Payload, ToolSpec};

use crate::media::MediaType;

/// The types that each tool's result schema allows at its top, read once a tool: parsing a schema of many kilobytes for
/// every answer would cost more than the answer.
#[derive(Debug, Default)]
pub(crate) struct Shapes(Mutex<BTreeMap<&'static str, Types>>);

/// Type names of JSON Schema; empty where any type is allowed.
type Types = Vec<String>;

#[derive(Deserialize)]
struct Top {
    #[serde(default, rename = "type")]
    kind: Kind,
}

#[derive(Deserialize, Default)]
#[serde(untagged)]
enum Kind {
    One(String),
    Several(Types),
    #[default]
    Any,
}

impl Shapes {
    /// Warns where a successful answer is of another type than declared, or empty where one is declared.
    pub(crate) fn compare(&self, spec: &ToolSpec, envelope: &mut Envelope) {
        let Some(schema) = spec.result_schema.filter(|_| envelope.ok && envelope.status_code != Some(204)) else {
            return;
        };
        // Lines are a list by our own making, and often one of two declared forms.
        if envelope.content_type.as_deref().is_some_and(|kind| MediaType::of(kind).is_json_lines()) {
            return;
        }
        let found = match &envelope.payload {
            Payload::Data(data) => kind_of(data),
            Payload::Empty => "empty",
            _ => return,
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let types = known.entry(spec.name).or_insert_with(|| declared(schema));
        let admits = |name: &String| name == found || (name == "number" && found == "integer");
        if !types.is_empty() && !types.iter().any(admits) {
            let declared = types.join(" or ");
            envelope.warnings.push(format!("the answer is {found}; the document declares {declared}"));
        }
    }
}

fn declared(schema: &str) -> Types {
    match serde_json::from_str(schema) {
        Ok(Top { kind: Kind::One(name) }) => vec![name],
        Ok(Top { kind: Kind::Several(names) }) => names,
        Ok(Top { kind: Kind::Any }) | Err(_) => Vec::new(),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if is_whole(&number.to_string()) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// An integer of any length; a fraction of nothing but zeros is none (JSON Schema 2020-12 validation, section 6.1.1).
fn is_whole(digits: &str) -> bool {
    let fraction = digits.split_once('.').map_or("", |(_, fraction)| fraction);
    !digits.contains(['e', 'E']) && fraction.bytes().all(|digit| digit == b'0')
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright_core::{Envelope, Payload, ToolSpec};

    use super::Shapes;
    use crate::testing;

    fn warnings(schema: &'static str, payload: Payload) -> Vec<String> {
        let spec = ToolSpec { result_schema: Some(schema), ..testing::tool(testing::GET) };
        let mut envelope = Envelope { ok: true, status_code: Some(200), payload, ..Envelope::default() };
        Shapes::default().compare(&spec, &mut envelope);
        envelope.warnings
    }

    #[test]
    fn another_type_than_declared_is_a_warning() {
        let list = Payload::Data(json!([1]));
        assert_eq!(warnings(r#"{"type":"object"}"#, list), ["the answer is array; the document declares object"]);
        let null = Payload::Data(json!(null));
        assert_eq!(warnings(r#"{"type":"object"}"#, null), ["the answer is null; the document declares object"]);
        assert_eq!(
            warnings(r#"{"type":["object","array"]}"#, Payload::Empty),
            ["the answer is empty; the document declares object or array"]
        );
    }

    #[test]
    fn digits_beyond_64_bits_are_an_integer() {
        for (digits, warned) in [("12345678901234567890123", 0), ("7.00", 0), ("7.01", 1)] {
            let data = Payload::Data(serde_json::from_str(digits).unwrap());
            assert_eq!(warnings(r#"{"type":"integer"}"#, data).len(), warned, "{digits}");
        }
    }

    #[test]
    fn lines_where_an_object_is_declared_are_its_other_form() {
        let spec = ToolSpec { result_schema: Some(r#"{"type":"object"}"#), ..testing::tool(testing::GET) };
        let content_type = Some("application/x-ndjson".to_owned());
        let payload = Payload::Data(json!([{}]));
        let mut envelope = Envelope { ok: true, status_code: Some(200), content_type, payload, ..Envelope::default() };
        Shapes::default().compare(&spec, &mut envelope);
        assert_eq!(envelope.warnings, [""; 0]);
    }

    #[test]
    fn what_is_declared_or_left_open_is_not() {
        for schema in [r#"{"type":"number"}"#, r#"{"type":["null","integer"]}"#, r#"{"anyOf":[{}]}"#] {
            assert_eq!(warnings(schema, Payload::Data(json!(3))), [""; 0], "{schema}");
        }
    }
}
