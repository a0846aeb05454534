//! Values that contradict the type beside them: numbers written as texts, texts as numbers, defaults that are not allowed.

use serde_json::Value;

use super::shortened;
use crate::model::schema::{JsonType, Schema};

/// What became of a value, for a warning at its keyword.
pub(super) struct Change {
    pub(super) code: &'static str,
    pub(super) keyword: &'static str,
    pub(super) message: String,
    pub(super) help: &'static str,
}

/// Makes the values of a schema agree with its type where there is one way to, and drops a default that cannot.
pub(super) fn fit(schema: &mut Schema) -> Vec<Change> {
    let mut changes = enumeration(schema);
    changes.extend(default(schema));
    changes
}

fn enumeration(schema: &mut Schema) -> Vec<Change> {
    let Some(kind) = only_scalar(&schema.types) else { return Vec::new() };
    let (mut read, mut left) = (None, None);
    for value in &mut schema.enumeration {
        if value.is_null() || is_of(value, kind) {
            continue;
        }
        match coerced(value, kind) {
            Some(fitting) => {
                read.get_or_insert_with(|| {
                    format!("{}; it was read as {}", told("enum", value, kind), told_value(&fitting))
                });
                *value = fitting;
            }
            None => {
                left.get_or_insert_with(|| format!("{}, and is never accepted", told("enum", value, kind)));
            }
        }
    }
    let change = |message: String| Change {
        code: "enum-of-other-type",
        keyword: "enum",
        message,
        help: "correct `type` or the values of `enum` in an overlay",
    };
    read.into_iter().chain(left).map(change).collect()
}

fn default(schema: &mut Schema) -> Option<Change> {
    let given = schema.default.clone()?;
    let is_typed = schema.types.is_empty() || schema.types.iter().any(|kind| is_of(&given, *kind));
    if is_typed && is_listed(schema, &given) {
        return None;
    }
    schema.default = None;
    // Null where null is not allowed is how documents write that there is no default.
    if given.is_null() {
        return None;
    }
    let help = "correct `default` in an overlay, or remove it there";
    if let Some(kind) = only_scalar(&schema.types).filter(|_| !is_typed) {
        let fitting = coerced(&given, kind).filter(|_| !schema.enumeration.is_empty());
        if let Some(fitting) = fitting.filter(|fitting| is_listed(schema, fitting)) {
            let message = format!("{}; it was read as {}", told("default", &given, kind), told_value(&fitting));
            schema.default = Some(fitting);
            return Some(Change { code: "bad-default", keyword: "default", message, help });
        }
    }
    let fault = if is_typed { "none of the values of `enum`" } else { "not of the declared `type`" };
    let message = format!("`default` is {}, which is {fault}; it was left out", told_value(&given));
    Some(Change { code: "bad-default", keyword: "default", message, help })
}

/// Whether a value is among those that a schema lists.
fn is_listed(schema: &Schema, value: &Value) -> bool {
    let is_same = |listed: &Value| {
        let by_number = || listed.is_number() && value.is_number() && listed.as_f64() == value.as_f64();
        listed == value || by_number()
    };
    let may_be_null = value.is_null() && schema.types.contains(&JsonType::Null);
    schema.enumeration.is_empty() || may_be_null || schema.enumeration.iter().any(is_same)
}

fn told(keyword: &str, value: &Value, kind: JsonType) -> String {
    format!("`{keyword}` has {} where `type` is {}", told_value(value), kind.name())
}

fn told_value(value: &Value) -> String {
    shortened(&value.to_string())
}

/// The only type, `null` aside, where its values can be written as texts.
fn only_scalar(types: &[JsonType]) -> Option<JsonType> {
    let mut kinds = types.iter().copied().filter(|kind| *kind != JsonType::Null);
    let only = kinds.next().filter(|_| kinds.next().is_none())?;
    matches!(only, JsonType::Boolean | JsonType::Integer | JsonType::Number | JsonType::String).then_some(only)
}

/// The one value of a type that a value of another type can stand for.
fn coerced(value: &Value, kind: JsonType) -> Option<Value> {
    match (value, kind) {
        (Value::String(text), JsonType::Boolean | JsonType::Integer | JsonType::Number) if text.trim() == text => {
            serde_json::from_str::<Value>(text).ok().filter(|value| is_of(value, kind))
        }
        (Value::Number(_) | Value::Bool(_), JsonType::String) => Some(Value::from(value.to_string())),
        _ => None,
    }
}

/// Whether a value is of a type; a whole number is an integer however it is written (JSON Schema 2020-12 section 4.2.1).
fn is_of(value: &Value, kind: JsonType) -> bool {
    match kind {
        JsonType::Null => value.is_null(),
        JsonType::Boolean => value.is_boolean(),
        JsonType::Integer => value.is_number() && value.as_f64().is_none_or(|number| number.fract() == 0.0),
        JsonType::Number => value.is_number(),
        JsonType::String => value.is_string(),
        JsonType::Array => value.is_array(),
        JsonType::Object => value.is_object(),
    }
}
