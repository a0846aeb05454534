//! Values that travel as text (path, query, header, cookie, form fields) read back into JSON, guided by their schema.

use super::schema;
use crate::document::{Style, resolve};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// What was found for one parameter, still as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sent {
    One(String),
    Many(Vec<String>),
    Fields(Vec<(String, String)>),
}

/// `+` and percent-encoding, as forms and queries are written (WHATWG URL section 5.1).
pub(super) fn decode_form(raw: &str) -> String {
    percent_decode_str(&raw.replace('+', " ")).decode_utf8_lossy().into_owned()
}

/// Percent-encoding only.
pub(super) fn decode(raw: &str) -> String {
    percent_decode_str(raw).decode_utf8_lossy().into_owned()
}

/// Raw names decoded, raw values kept.
pub(super) fn pairs(raw: &str) -> Vec<(String, String)> {
    raw.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode_form(name), value.to_owned())
        })
        .collect()
}

/// The forms that a schema lets a value have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar,
    Array,
    Object,
}

/// In order of preference; never empty.
pub(super) fn shapes(root: &Value, schema: &Value) -> Vec<Shape> {
    let mut found = Vec::new();
    collect_shapes(root, schema, &mut found, 0);
    if found.is_empty() {
        found.push(Shape::Scalar);
    }
    found
}

fn collect_shapes(root: &Value, schema: &Value, found: &mut Vec<Shape>, depth: usize) {
    let schema = resolve(root, schema);
    let mut add = |name: &str| {
        let shape = match name {
            "array" => Shape::Array,
            "object" => Shape::Object,
            "null" => return,
            _ => Shape::Scalar,
        };
        if !found.contains(&shape) {
            found.push(shape);
        }
    };
    match schema.get("type") {
        Some(Value::String(name)) => add(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).for_each(add),
        _ if schema.get("properties").is_some() => add("object"),
        _ if schema.get("items").is_some() => add("array"),
        _ if schema.get("enum").is_some() => add("string"),
        _ => {}
    }
    if depth < 16 {
        for key in ["allOf", "anyOf", "oneOf"] {
            for part in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
                collect_shapes(root, part, found, depth + 1);
            }
        }
    }
}

/// Split one raw value into items. `decode_with` undoes the encoding of its place.
pub(super) fn split(raw: &str, style: Style, decode_with: fn(&str) -> String) -> Vec<String> {
    let Style::Joined { by, decoded_first } = style else { return vec![decode_with(raw)] };
    if raw.is_empty() {
        Vec::new()
    } else if decoded_first {
        decode_with(raw).split(by).map(str::to_owned).collect()
    } else {
        raw.split(by).map(decode_with).collect()
    }
}

/// Read a single raw value, as in a path segment or a header.
pub(super) fn read_single(
    raw: &str,
    shape: Shape,
    style: Style,
    explode: bool,
    decode_with: fn(&str) -> String,
) -> Sent {
    match shape {
        Shape::Scalar => Sent::One(decode_with(raw)),
        Shape::Array => Sent::Many(split(raw, style, decode_with)),
        Shape::Object if explode => Sent::Fields(
            raw.split(',')
                .filter_map(|pair| pair.split_once('='))
                .map(|(name, value)| (decode_with(name), decode_with(value)))
                .collect(),
        ),
        Shape::Object => Sent::Fields(two_by_two(&split(raw, style, decode_with))),
    }
}

fn two_by_two(items: &[String]) -> Vec<(String, String)> {
    items.chunks(2).filter_map(|pair| Some((pair.first()?.clone(), pair.get(1)?.clone()))).collect()
}

/// The JSON value that was meant: for every text, the first reading that fits the schema.
pub(super) fn to_json(root: &Value, schema: &Value, sent: &Sent) -> Value {
    match sent {
        Sent::One(text) => scalar(root, schema, text),
        Sent::Many(texts) => {
            let any = Value::Bool(true);
            let items = part_of(root, schema, "items").unwrap_or(&any);
            Value::Array(texts.iter().map(|text| scalar(root, items, text)).collect())
        }
        Sent::Fields(fields) => {
            let object: Map<String, Value> =
                fields.iter().map(|(name, text)| (name.clone(), field(root, schema, name, text))).collect();
            Value::Object(object)
        }
    }
}

fn field(root: &Value, schema: &Value, name: &str, text: &str) -> Value {
    let listed = part_of(root, schema, "properties").and_then(|p| p.get(name));
    let schema = listed.or_else(|| part_of(root, schema, "additionalProperties"));
    schema.map_or_else(|| Value::String(text.to_owned()), |schema| scalar(root, schema, text))
}

/// A word of the schema or of one of the schemas it is put together from.
pub(super) fn part_of<'a>(root: &'a Value, schema: &'a Value, word: &str) -> Option<&'a Value> {
    let schema = resolve(root, schema);
    schema.get(word).or_else(|| {
        let parts = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key).and_then(Value::as_array));
        parts.flatten().find_map(|part| resolve(root, part).get(word))
    })
}

fn scalar(root: &Value, schema: &Value, text: &str) -> Value {
    let as_text = Value::String(text.to_owned());
    let readings = [number(text), boolean(text), Some(as_text.clone()), text.is_empty().then_some(Value::Null)];
    readings
        .into_iter()
        .flatten()
        .find(|value| schema::fits(root, schema, value))
        .unwrap_or_else(|| number(text).or_else(|| boolean(text)).unwrap_or(as_text))
}

fn number(text: &str) -> Option<Value> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E'));
    if plain { serde_json::from_str::<serde_json::Number>(text).ok().map(Value::Number) } else { None }
}

fn boolean(text: &str) -> Option<Value> {
    match text {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_takes_the_type_that_the_schema_wants() {
        let root = json!({});
        assert_eq!(to_json(&root, &json!({"type": "integer"}), &Sent::One("5".into())), json!(5));
        assert_eq!(to_json(&root, &json!({"type": "string"}), &Sent::One("5".into())), json!("5"));
        assert_eq!(to_json(&root, &json!({"type": "boolean"}), &Sent::One("true".into())), json!(true));
    }

    #[test]
    fn commas_inside_values_stay_apart_from_separators() {
        let bare = Style::Joined { by: ',', decoded_first: false };
        assert_eq!(split("x,y%2Cz", bare, decode_form), ["x", "y,z"]);
    }

    #[test]
    fn swagger_lists_may_have_an_encoded_separator() {
        let csv = Style::Joined { by: ',', decoded_first: true };
        assert_eq!(split("1%2C2", csv, decode_form), ["1", "2"]);
    }
}
