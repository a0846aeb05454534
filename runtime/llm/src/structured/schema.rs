//! The schema that a value must fit.

use std::sync::Arc;

use jsonschema::Validator;
use serde_json::Value;

/// Faults that are told at once, at most.
const MOST_FAULTS: usize = 20;

/// A JSON schema (2020-12) of an object. References lead within it; nothing is fetched.
#[derive(Debug, Clone)]
pub struct OutputSchema {
    schema: Value,
    validator: Arc<Validator>,
}

/// A schema that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Arguments of tools are objects.
    #[error("the schema of a result must have \"type\": \"object\" at its root")]
    NotAnObject,
    /// The schema itself is wrong.
    #[error("the schema of the result cannot be used: {0}")]
    Invalid(String),
}

impl OutputSchema {
    /// Checks and compiles a schema.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(schema: Value) -> Result<Self, SchemaError> {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::NotAnObject);
        }
        let validator =
            jsonschema::draft202012::new(&schema).map_err(|error| SchemaError::Invalid(error.to_string()))?;
        Ok(OutputSchema { schema, validator: Arc::new(validator) })
    }

    /// The schema.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.schema
    }

    /// What is wrong with a value, a line each: the path and the rule, never what was given. None where it fits.
    pub(crate) fn faults(&self, value: &Value) -> Option<String> {
        let faults: Vec<String> = self
            .validator
            .iter_errors(value)
            .take(MOST_FAULTS)
            .map(|error| format!("{}: {}", path(error.instance_path().as_str()), error.masked()))
            .collect();
        (!faults.is_empty()).then(|| faults.join("\n"))
    }
}

/// `path.to.field` of a JSON pointer.
fn path(pointer: &str) -> String {
    let segments: Vec<String> =
        pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~")).collect();
    match segments.is_empty() {
        true => "<root>".to_owned(),
        false => segments.join("."),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> OutputSchema {
        OutputSchema::new(json!({
            "type": "object",
            "properties": {"a": {"type": "array", "items": {"type": "integer"}}},
            "required": ["a"]
        }))
        .unwrap()
    }

    #[test]
    fn every_fault_has_its_path_and_none_repeats_what_was_given() {
        let faults = schema().faults(&json!({"a": [1, "hush", "hush"]})).unwrap();
        let lines: Vec<&str> = faults.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("a.1: ") && lines[0].contains("integer"), "{faults}");
        assert!(!faults.contains("hush"));
    }

    #[test]
    fn a_fault_of_the_whole_stands_at_the_root() {
        assert!(schema().faults(&json!({})).unwrap().starts_with("<root>: "));
        assert_eq!(schema().faults(&json!({"a": []})), None);
    }

    #[test]
    fn a_result_is_an_object_and_its_schema_a_schema() {
        assert_eq!(OutputSchema::new(json!({"type": "array"})).unwrap_err(), SchemaError::NotAnObject);
        assert!(matches!(OutputSchema::new(json!({"type": "object", "required": 5})), Err(SchemaError::Invalid(_))));
        let elsewhere = json!({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}});
        assert!(matches!(OutputSchema::new(elsewhere), Err(SchemaError::Invalid(_))));
    }
}
