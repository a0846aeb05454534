//! A JSON value that fits a schema: always the same one for the same schema.

use crate::document::resolve;
use serde_json::{Map, Value, json};

/// Objects and arrays nested deeper than this stay empty.
const DEEPEST: usize = 12;
/// A sample with more values than this leaves optional fields out.
const MOST_VALUES: usize = 4_000;

/// Make a sample of what a server sends for this schema.
pub(crate) fn sample(root: &Value, schema: &Value) -> Value {
    Sampler { root, open: Vec::new(), values: 0 }.value(schema, "")
}

struct Sampler<'a> {
    root: &'a Value,
    /// Schemas that are being sampled, outermost first: a schema inside itself ends the recursion.
    open: Vec<*const Value>,
    values: usize,
}

impl<'a> Sampler<'a> {
    fn value(&mut self, schema: &'a Value, name: &str) -> Value {
        self.values += 1;
        let schema = resolve(self.root, schema);
        let Value::Object(words) = schema else { return json!("sample") };
        if let Some(fixed) = fixed(words) {
            return fixed;
        }
        self.open.push(std::ptr::from_ref(schema));
        let value = self.built(words, name);
        self.open.pop();
        value
    }

    fn built(&mut self, words: &'a Map<String, Value>, name: &str) -> Value {
        for key in ["oneOf", "anyOf"] {
            if let Some(branch) = words.get(key).and_then(Value::as_array).and_then(|b| self.branch(b)) {
                let value = self.value(branch, name);
                return merged(value, self.plain(words, name, false));
            }
        }
        if let Some(parts) = words.get("allOf").and_then(Value::as_array) {
            let own = self.plain(words, name, false);
            return parts.iter().fold(own, |value, part| merged(value, self.value(part, name)));
        }
        self.plain(words, name, true)
    }

    /// The first branch that is neither null nor already open.
    fn branch(&self, branches: &'a [Value]) -> Option<&'a Value> {
        let usable = |b: &&Value| {
            let b = resolve(self.root, b);
            b.get("type").and_then(Value::as_str) != Some("null") && !self.is_open(b)
        };
        branches.iter().find(usable).or_else(|| branches.first())
    }

    fn is_open(&self, schema: &Value) -> bool {
        self.open.contains(&std::ptr::from_ref(schema))
    }

    /// `alone` is false beside a combination: a schema without a type then adds nothing.
    fn plain(&mut self, words: &'a Map<String, Value>, name: &str, alone: bool) -> Value {
        match type_word(words) {
            Some("object") => self.object(words),
            Some("array") => self.array(words),
            Some("integer") => integer(words),
            Some("number") => number(words),
            Some("boolean") => json!(true),
            Some("string" | "file") => json!(text(words, name)),
            Some("null") => Value::Null,
            _ if alone => json!("sample"),
            _ => Value::Null,
        }
    }

    fn object(&mut self, words: &'a Map<String, Value>) -> Value {
        let mut object = Map::new();
        let required: Vec<&str> =
            words.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in words.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let target = resolve(self.root, property);
            let needed = required.contains(&name.as_str());
            let write_only = target.get("writeOnly") == Some(&Value::Bool(true));
            let ends = self.is_open(target) || self.open.len() > DEEPEST || self.values > MOST_VALUES;
            if (!ends || needed && self.open.len() < 4 * DEEPEST) && !write_only {
                object.insert(name.clone(), self.value(property, name));
            }
        }
        if object.is_empty()
            && let Some(more @ Value::Object(_)) = words.get("additionalProperties")
            && !self.is_open(resolve(self.root, more))
        {
            object.insert("key".to_owned(), self.value(more, "key"));
        }
        Value::Object(object)
    }

    fn array(&mut self, words: &'a Map<String, Value>) -> Value {
        let least = words.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(16);
        let Some(items) = words.get("items") else { return json!([]) };
        let target = resolve(self.root, items);
        if self.is_open(target) || self.open.len() > DEEPEST || self.values > MOST_VALUES {
            return json!([]);
        }
        let first = self.value(items, "item");
        let most = words.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX);
        Value::Array((0..least.max(1).min(most)).map(|_| first.clone()).collect())
    }
}

fn fixed(words: &Map<String, Value>) -> Option<Value> {
    let first = |key: &str| words.get(key).and_then(Value::as_array).and_then(|a| a.first()).cloned();
    words.get("const").cloned().or_else(|| first("enum"))
}

fn type_word(words: &Map<String, Value>) -> Option<&str> {
    match words.get("type") {
        Some(Value::String(name)) => Some(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|n| *n != "null").or(Some("null")),
        _ if words.contains_key("properties") || words.contains_key("additionalProperties") => Some("object"),
        _ if words.contains_key("items") => Some("array"),
        _ => None,
    }
}

/// Fields of both objects; an object before a scalar; otherwise whichever says something.
fn merged(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(mut a), Value::Object(b)) => {
            for (name, value) in b {
                a.entry(name).or_insert(value);
            }
            Value::Object(a)
        }
        (Value::Null, b) | (_, b @ Value::Object(_)) => b,
        (a, _) => a,
    }
}

fn integer(words: &Map<String, Value>) -> Value {
    let bound = |key: &str| words.get(key).and_then(Value::as_i64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|m| m + 1));
    let sharp = i64::from(words.get("exclusiveMinimum") == Some(&Value::Bool(true)));
    let most = bound("maximum").unwrap_or(i64::MAX);
    let step = bound("multipleOf").filter(|s| *s > 0).unwrap_or(1);
    let wanted = least.map_or(1, |m| m.saturating_add(sharp)).max(least.map_or(1.min(most), |m| m));
    let rounded = wanted.div_euclid(step) * step;
    json!(if rounded < wanted { rounded.saturating_add(step) } else { rounded })
}

fn number(words: &Map<String, Value>) -> Value {
    let bound = |key: &str| words.get(key).and_then(Value::as_f64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum"));
    match (least, bound("maximum")) {
        (Some(least), Some(most)) => json!((least + most) / 2.0),
        (Some(least), None) => json!(least + 1.0),
        (None, Some(most)) => json!(most.min(0.5)),
        (None, None) => json!(0.5),
    }
}

fn text(words: &Map<String, Value>, name: &str) -> String {
    let plain = match words.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-02T03:04:05Z",
        Some("date") => "2026-01-02",
        Some("time") => "03:04:05Z",
        Some("duration") => "PT1S",
        Some("uuid") => "00000000-0000-4000-8000-000000000001",
        Some("email") => "a@example.com",
        Some("uri" | "url" | "uri-reference") => "https://example.com/a",
        Some("hostname") => "example.com",
        Some("ipv4" | "ip") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("byte") => "c2FtcGxl",
        _ if name.is_empty() => "sample",
        _ => name,
    };
    let limit = |key: &str| words.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let least = limit("minLength").unwrap_or(0).min(4_096);
    let mut text: String = plain.chars().take(limit("maxLength").unwrap_or(usize::MAX)).collect();
    while text.chars().count() < least {
        text.push('x');
    }
    words.get("pattern").and_then(Value::as_str).and_then(|pattern| matching(pattern, &text)).unwrap_or(text)
}

/// The text itself or the first of some common shapes that the pattern takes.
fn matching(pattern: &str, text: &str) -> Option<String> {
    const SHAPES: [&str; 14] = [
        "1",
        "12",
        "1234",
        "a",
        "ab",
        "abc",
        "A",
        "AB",
        "ABC",
        "a1",
        "#a1b2c3",
        "1.0.0",
        "00000000-0000-4000-8000-000000000001",
        "/a",
    ];
    let pattern = regex::Regex::new(pattern).ok()?;
    [text].into_iter().chain(SHAPES).find(|shape| pattern.is_match(shape)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_an_object_is_there() {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "integer", "minimum": 3}}});
        assert_eq!(sample(&json!({}), &schema), json!({"name": "name", "size": 3}));
    }

    #[test]
    fn recursion_ends() {
        let root = json!({"definitions": {"Node": {"type": "object", "properties": {
            "next": {"$ref": "#/definitions/Node"}, "all": {"type": "array", "items": {"$ref": "#/definitions/Node"}}}}}});
        assert_eq!(sample(&root, &json!({"$ref": "#/definitions/Node"})), json!({"all": []}));
    }

    #[test]
    fn all_of_is_merged() {
        let schema =
            json!({"allOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "boolean"}}}]});
        assert_eq!(sample(&json!({}), &schema), json!({"a": 1, "b": true}));
    }

    #[test]
    fn enums_and_maps_have_samples() {
        assert_eq!(sample(&json!({}), &json!({"enum": ["x", "y"]})), json!("x"));
        assert_eq!(sample(&json!({}), &json!({"additionalProperties": {"type": "integer"}})), json!({"key": 1}));
    }
}
