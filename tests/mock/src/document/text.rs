//! Text to JSON values. YAML goes through its own value type, because response codes are numbers there.

use super::DocumentError;
use serde_json::{Map, Value};
use serde_yaml::Value as Yaml;

pub(super) fn decode(source: &str) -> Result<Value, DocumentError> {
    if let Ok(value) = serde_json::from_str(source) {
        return Ok(value);
    }
    let mut yaml: Yaml = serde_yaml::from_str(source)?;
    yaml.apply_merge()?;
    to_json(yaml)
}

fn to_json(yaml: Yaml) -> Result<Value, DocumentError> {
    Ok(match yaml {
        Yaml::Null => Value::Null,
        Yaml::Bool(b) => Value::Bool(b),
        Yaml::Number(n) => number(&n)?,
        Yaml::String(s) => Value::String(s),
        Yaml::Sequence(items) => Value::Array(items.into_iter().map(to_json).collect::<Result<_, _>>()?),
        Yaml::Mapping(entries) => {
            let mut object = Map::new();
            for (key, value) in entries {
                object.insert(key_text(key)?, to_json(value)?);
            }
            Value::Object(object)
        }
        Yaml::Tagged(tagged) => to_json(tagged.value)?,
    })
}

fn number(n: &serde_yaml::Number) -> Result<Value, DocumentError> {
    serde_json::from_str(&n.to_string()).map_err(|_| DocumentError::NotJson("a number that is not finite"))
}

fn key_text(key: Yaml) -> Result<String, DocumentError> {
    match key {
        Yaml::String(s) => Ok(s),
        Yaml::Number(n) => Ok(n.to_string()),
        Yaml::Bool(b) => Ok(b.to_string()),
        Yaml::Null => Ok("null".to_owned()),
        _ => Err(DocumentError::NotJson("a key that is a list or a mapping")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn yaml_status_keys_become_text() {
        assert_eq!(
            decode("responses:\n  200: {description: ok}\n").unwrap(),
            json!({"responses": {"200": {"description": "ok"}}})
        );
    }

    #[test]
    fn json_keeps_long_numbers() {
        assert_eq!(
            decode(r#"{"maximum": 12345678901234567890123}"#).unwrap().to_string(),
            r#"{"maximum":12345678901234567890123}"#
        );
    }
}
