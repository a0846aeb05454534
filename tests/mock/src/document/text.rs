//! Text to JSON values.
//!
//! YAML is read into JSON directly: response codes are numbers there and must become text, numbers beyond 64 bits must
//! keep their digits, and `<<` must be merged.

use super::DocumentError;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

pub(super) fn decode(source: &str) -> Result<Value, DocumentError> {
    match serde_json::from_str(source) {
        Ok(value) => Ok(value),
        Err(_) => Ok(serde_yaml::from_str::<Node>(source)?.0),
    }
}

struct Node(Value);

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor).map(Node)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON can express")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Number::from_i128(value).map_or(Value::Null, Value::Number))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(Number::from_u128(value).map_or(Value::Null, Value::Number))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Node(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        let mut merged = Vec::new();
        while let Some((Node(key), Node(value))) = entries.next_entry()? {
            match key {
                Value::String(key) if key == "<<" => merged.push(value),
                Value::String(key) => _ = object.insert(key, value),
                key => _ = object.insert(key.to_string(), value),
            }
        }
        for value in merged {
            merge(&mut object, value);
        }
        Ok(Value::Object(object))
    }
}

/// Keys that are written out win over merged ones; of several merged mappings the earlier win (YAML merge key type).
fn merge(object: &mut Map<String, Value>, value: Value) {
    match value {
        Value::Object(more) => {
            for (key, value) in more {
                object.entry(key).or_insert(value);
            }
        }
        Value::Array(all) => all.into_iter().for_each(|value| merge(object, value)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use serde_json::json;

    #[test]
    fn yaml_status_keys_become_text() {
        assert_eq!(decode("r:\n  200: {a: ok}\n").unwrap(), json!({"r": {"200": {"a": "ok"}}}));
    }

    #[test]
    fn long_numbers_keep_their_digits() {
        assert_eq!(
            decode(r#"{"a": 12345678901234567890123}"#).unwrap().to_string(),
            r#"{"a":12345678901234567890123}"#
        );
        assert_eq!(decode("a: -9223372036854776000").unwrap().to_string(), r#"{"a":-9223372036854776000}"#);
    }

    #[test]
    fn merge_keys_are_merged() {
        assert_eq!(decode("b: &b {x: 1, y: 1}\na:\n  <<: *b\n  y: 2\n").unwrap()["a"], json!({"y": 2, "x": 1}));
    }
}
