//! A JSON value in short: counts for lists, the first names, and short texts.

use serde_json::{Map, Value, json};

/// Members shown of an object.
const MOST_MEMBERS: usize = 12;
/// Names shown of a list.
const MOST_NAMES: usize = 10;
/// Characters shown of a text.
const LONGEST_TEXT: usize = 120;
/// Levels of objects shown.
const DEEPEST: usize = 2;

/// The value in short. Whatever is left out is counted.
pub(super) fn summary(value: &Value) -> Value {
    at_depth(value, 0)
}

fn at_depth(value: &Value, depth: usize) -> Value {
    match value {
        Value::Array(items) => list(items),
        Value::Object(members) if depth >= DEEPEST => json!({"members": members.len()}),
        Value::Object(members) => object(members, depth),
        Value::String(text) => cut(text).into(),
        other => other.clone(),
    }
}

fn object(members: &Map<String, Value>, depth: usize) -> Value {
    let shown = members.iter().take(MOST_MEMBERS).map(|(name, value)| (cut(name), at_depth(value, depth + 1)));
    let mut shown: Map<String, Value> = shown.collect();
    if members.len() > MOST_MEMBERS {
        shown.insert("further_members".into(), (members.len() - MOST_MEMBERS).into());
    }
    shown.into()
}

/// The number of items and what the first ones are called.
fn list(items: &[Value]) -> Value {
    let names: Vec<Value> = items.iter().filter_map(name).take(MOST_NAMES).collect();
    let mut shown = Map::new();
    shown.insert("count".into(), items.len().into());
    if !names.is_empty() {
        shown.insert("first".into(), names.into());
    }
    shown.into()
}

fn name(item: &Value) -> Option<Value> {
    let named = |item: &Map<String, Value>| {
        ["id", "name", "Name", "ID", "title"].iter().find_map(|key| item.get(*key).cloned())
    };
    match item {
        Value::Object(members) => named(members).filter(|name| name.is_string() || name.is_number()),
        Value::String(_) | Value::Number(_) | Value::Bool(_) => Some(item.clone()),
        Value::Array(_) | Value::Null => None,
    }
    .map(|name| name.as_str().map_or_else(|| name.clone(), |text| cut(text).into()))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}… ({} characters)", text.get(..end).unwrap_or_default(), text.chars().count()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_its_count_and_first_names() {
        assert_eq!(summary(&json!([{"id": "a", "size": 3}, {"id": "b"}])), json!({"count": 2, "first": ["a", "b"]}));
    }

    #[test]
    fn short_members_are_kept() {
        assert_eq!(
            summary(&json!({"version": "v3", "data": [1]})),
            json!({"version": "v3", "data": {"count": 1, "first": [1]}})
        );
    }

    #[test]
    fn depth_and_width_are_bounded() {
        assert_eq!(summary(&json!({"a": {"b": {"c": {"d": 1}}}})), json!({"a": {"b": {"members": 1}}}));
        let wide: Map<String, Value> = (0..20).map(|n| (n.to_string(), Value::Null)).collect();
        assert_eq!(summary(&wide.into())["further_members"], 8);
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(
            summary(&"é".repeat(200).into()).as_str().unwrap().chars().count(),
            120 + "… (200 characters)".chars().count()
        );
    }
}
