//! JSON as it stands in the database: compact, keys sorted, so that equal values are equal texts.

use serde_json::{Map, Value};

use crate::Error;

/// A value as it is stored.
pub(crate) fn written(value: &Value) -> String {
    sorted(value).to_string()
}

/// A value as it was stored.
pub(crate) fn read(text: &str) -> Result<Value, Error> {
    serde_json::from_str(text).map_err(|fault| Error::Corrupt { what: format!("JSON of a row: {fault}") })
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(members) => {
            let mut pairs: Vec<_> = members.iter().collect();
            pairs.sort_unstable_by_key(|(key, _)| *key);
            Value::Object(pairs.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_values_are_equal_texts_whatever_the_order_of_keys() {
        let text = written(&json!({"b": [{"d": 1, "c": null}], "a": "x"}));
        assert_eq!(text, r#"{"a":"x","b":[{"c":null,"d":1}]}"#);
    }

    #[test]
    fn numbers_keep_all_their_digits() {
        let text = r#"{"n":12345678901234567890123}"#;
        assert_eq!(written(&read(text).unwrap()), text);
    }
}
