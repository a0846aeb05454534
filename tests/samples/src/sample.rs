//! Valid values.

use serde_json::{Map, Value, json};

/// How much a sample holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Required members only.
    Minimal,
    /// Every declared member, one item in every array.
    Full,
}

/// Full samples stop here: recursive schemas have no end of their own.
const DEEPEST: usize = 8;

pub(crate) fn arguments(schema: &Value, extent: Extent) -> Map<String, Value> {
    match value(schema, schema, extent, 0, "") {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

/// A valid value of `node`; `name` is the member's name, so that texts differ and can be recognised on the wire.
pub(crate) fn value(root: &Value, node: &Value, extent: Extent, depth: usize, name: &str) -> Value {
    let node = resolve(root, node);
    if let Some(constant) = node.get("const") {
        return constant.clone();
    }
    if let Some(first) = node.get("enum").and_then(Value::as_array).and_then(|values| values.first()) {
        return first.clone();
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(first) = node.get(key).and_then(Value::as_array).and_then(|options| options.first()) {
            return value(root, &with_siblings(node, first), extent, depth, name);
        }
    }
    match type_of(node) {
        "object" => object(root, node, extent, depth),
        "array" => array(root, node, extent, depth, name),
        "string" => text(node, name),
        "integer" => number(node, 3.0),
        // Not whole, so that a floating-point field writes it as it was read.
        "number" => number(node, 0.5),
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => json!(format!("any {name}")),
    }
}

/// The first form of a union together with the keywords that stand beside the union.
fn with_siblings(node: &Value, form: &Value) -> Value {
    let (Some(node), Some(form)) = (node.as_object(), form.as_object()) else { return form.clone() };
    let mut merged: Map<String, Value> = node
        .iter()
        .filter(|(key, _)| !matches!(key.as_str(), "anyOf" | "oneOf"))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    merged.extend(form.iter().map(|(key, value)| (key.clone(), value.clone())));
    Value::Object(merged)
}

pub(crate) fn resolve<'a>(root: &'a Value, node: &'a Value) -> &'a Value {
    let pointer = node.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
    pointer.and_then(|pointer| root.pointer(pointer)).unwrap_or(node)
}

pub(crate) fn type_of(node: &Value) -> &str {
    match node.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("null")
        }
        _ if node.get("properties").is_some() => "object",
        _ => "",
    }
}

fn object(root: &Value, node: &Value, extent: Extent, depth: usize) -> Value {
    let required = node.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
    let properties = node.get("properties").and_then(Value::as_object);
    let mut members = Map::new();
    for (name, property) in properties.into_iter().flatten() {
        if is_required(name) || (extent == Extent::Full && depth < DEEPEST) {
            members.insert(name.clone(), value(root, property, extent, depth + 1, name));
        }
    }
    let open = node.get("additionalProperties").filter(|extra| extra.is_object());
    if let (Some(extra), Extent::Full, true) = (open, extent, members.is_empty() && depth < DEEPEST) {
        members.insert("key".to_owned(), value(root, extra, extent, depth + 1, "key"));
    }
    if members.is_empty() && node.get("minProperties").is_some_and(|least| least.as_u64() > Some(0)) {
        members.insert("key".to_owned(), json!("value"));
    }
    Value::Object(members)
}

fn array(root: &Value, node: &Value, extent: Extent, depth: usize, name: &str) -> Value {
    let least = node.get("minItems").and_then(Value::as_u64).unwrap_or_default();
    let wanted = if extent == Extent::Full && depth < DEEPEST { least.max(1) } else { least };
    let item = node.get("items").map_or_else(|| json!(name), |items| value(root, items, extent, depth + 1, name));
    (0..wanted).map(|_| item.clone()).collect()
}

/// Texts hold what breaks careless encoders: a space, reserved characters, Korean.
fn text(node: &Value, name: &str) -> Value {
    match node.get("format").and_then(Value::as_str) {
        Some("date-time") => return json!("2026-01-02T03:04:05Z"),
        Some("date") => return json!("2026-01-02"),
        Some("uuid") => return json!("67e55044-10b1-426f-9247-bb680e5fe0c8"),
        Some("uri" | "uri-reference") => return json!("https://example.com/a"),
        Some("email") => return json!("a@example.com"),
        _ => {}
    }
    let longest = node.get("maxLength").and_then(Value::as_u64).unwrap_or(64) as usize;
    let shortest = node.get("minLength").and_then(Value::as_u64).unwrap_or_default() as usize;
    let mut text: String = format!("{name} a/b?c&d=한글").chars().take(longest).collect();
    while text.chars().count() < shortest {
        text.push('x');
    }
    json!(text)
}

fn number(node: &Value, usual: f64) -> Value {
    let bound = |key: &str| node.get(key).and_then(Value::as_f64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound + 1.0));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|bound| bound - 1.0));
    let mut chosen = usual;
    if let Some(least) = least {
        chosen = chosen.max(least);
    }
    if let Some(most) = most {
        chosen = chosen.min(most);
    }
    if chosen.fract() == 0.0 { json!(chosen as i64) } else { json!(chosen) }
}
