//! The branches of an `anyOf` or `oneOf` in words, bounded in length.

use serde_json::Value;

use super::{excerpt, schema::Schema, shown};

/// More shapes than these are counted, not told.
const MOST_SHAPES: usize = 6;
/// More values or fields than these are left out.
const MOST_NAMES: usize = 8;
/// How far shapes within shapes are told.
const DEPTH: usize = 2;

/// `0, or 8000 to 192000`; `None` where there is no shape to tell.
pub(super) fn in_words(shapes: &[Schema<'_>]) -> Option<String> {
    joined(shapes, DEPTH)
}

fn joined(shapes: &[Schema<'_>], depth: usize) -> Option<String> {
    let mut told: Vec<String> = Vec::new();
    for shape in shapes.iter().take(MOST_SHAPES) {
        let words = shown(&words(*shape, depth)).into_owned();
        if !told.contains(&words) {
            told.push(words);
        }
    }
    if shapes.len() > MOST_SHAPES {
        told.push(format!("{} more shapes", shapes.len() - MOST_SHAPES));
    }
    let last = told.pop()?;
    Some(if told.is_empty() { last } else { format!("{}, or {last}", told.join(", ")) })
}

/// One shape: its constant, its values, or its types with their bounds.
fn words(shape: Schema<'_>, depth: usize) -> String {
    if let Some(constant) = shape.keyword("const") {
        return excerpt(constant).to_string();
    }
    if let Some(values) = shape.keyword("enum").and_then(Value::as_array) {
        return one_of(values);
    }
    let types = shape.types();
    if types.is_empty() {
        return untyped(shape, depth);
    }
    types.iter().map(|name| typed(name, shape, depth)).collect::<Vec<_>>().join(" or ")
}

/// Values to choose from.
pub(super) fn one_of(values: &[Value]) -> String {
    let mut told: Vec<String> = values.iter().take(MOST_NAMES).map(|value| excerpt(value).to_string()).collect();
    if values.len() > MOST_NAMES {
        told.push("…".to_owned());
    }
    format!("one of {}", told.join(", "))
}

/// A shape that names no type: what its other keywords say of it.
fn untyped(shape: Schema<'_>, depth: usize) -> String {
    if let Some(range) = range(shape) {
        return range;
    }
    if ["properties", "required"].iter().any(|key| shape.keyword(key).is_some()) {
        return object(shape);
    }
    let inner: Vec<Schema<'_>> = shape.branches().collect();
    let told = depth.checked_sub(1).and_then(|depth| joined(&inner, depth));
    let titled = || shape.keyword("title").and_then(Value::as_str).map(|title| shown(title).into_owned());
    told.or_else(titled).unwrap_or_else(|| "another shape of its schema".to_owned())
}

fn typed(name: &str, shape: Schema<'_>, depth: usize) -> String {
    match name {
        "integer" => range(shape).unwrap_or_else(|| "an integer".to_owned()),
        "number" => range(shape).unwrap_or_else(|| "a number".to_owned()),
        "string" => text(shape),
        "boolean" => "true or false".to_owned(),
        "array" => match (shape.items(), depth.checked_sub(1)) {
            (Some(items), Some(depth)) => format!("an array (each item {})", words(items, depth)),
            _ => "an array".to_owned(),
        },
        "object" => object(shape),
        other => other.to_owned(),
    }
}

/// The bounds of a number, where there are any.
fn range(shape: Schema<'_>) -> Option<String> {
    let bound = |key: &str| shape.keyword(key).filter(|limit| limit.is_number());
    if let (Some(least), Some(most)) = (bound("minimum"), bound("maximum")) {
        return Some(format!("{least} to {most}"));
    }
    let bounds = [
        ("at least", bound("minimum")),
        ("more than", bound("exclusiveMinimum")),
        ("at most", bound("maximum")),
        ("less than", bound("exclusiveMaximum")),
    ];
    let told: Vec<String> =
        bounds.iter().filter_map(|(words, limit)| limit.map(|limit| format!("{words} {limit}"))).collect();
    (!told.is_empty()).then(|| told.join(" and "))
}

fn text(shape: Schema<'_>) -> String {
    if let Some(format) = shape.keyword("format").and_then(Value::as_str) {
        return format!("text in the format {}", shown(format));
    }
    if let Some(pattern) = shape.keyword("pattern").and_then(Value::as_str) {
        return format!("text that matches {}", shown(pattern));
    }
    match (shape.keyword("minLength"), shape.keyword("maxLength")) {
        (Some(least), Some(most)) => format!("text of {least} to {most} characters"),
        (Some(least), None) => format!("text of at least {least} characters"),
        (None, Some(most)) => format!("text of at most {most} characters"),
        (None, None) => "text".to_owned(),
    }
}

/// An object by the fields that it must have.
fn object(shape: Schema<'_>) -> String {
    let required = shape.keyword("required").and_then(Value::as_array);
    let names: Vec<String> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .take(MOST_NAMES)
        .map(|name| format!("`{}`", shown(name)))
        .collect();
    if names.is_empty() { "an object".to_owned() } else { format!("an object with {}", names.join(", ")) }
}
