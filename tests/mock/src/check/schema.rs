//! A JSON value against a schema of the document, in the dialect it is written in: Swagger 2.0 and OpenAPI 3.0 words
//! (`nullable`, boolean exclusive bounds) and those of JSON Schema 2020-12 are read side by side.

use crate::document::resolve;
use serde_json::{Map, Value};

/// Nesting beyond this is not looked at; a request that deep is refused by the JSON reader before.
const DEEPEST: usize = 120;

/// What a value breaks, and what it carries beyond the schema.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// JSON pointer and sentence.
    pub(crate) errors: Vec<(String, String)>,
    /// JSON pointers of fields that an open object does not declare.
    pub(crate) extra: Vec<String>,
}

impl Findings {
    fn error(&mut self, at: &str, what: impl Into<String>) {
        self.errors.push((at.to_owned(), what.into()));
    }
}

/// Check `value` as something that a client sends.
pub(crate) fn check(root: &Value, schema: &Value, value: &Value) -> Findings {
    let mut findings = Findings::default();
    Checker { root, depth: 0 }.check(schema, value, "", &mut findings);
    findings
}

pub(crate) fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
    check(root, schema, value).errors.is_empty()
}

struct Checker<'a> {
    root: &'a Value,
    depth: usize,
}

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, out: &mut Findings) {
        if self.depth > DEEPEST {
            return;
        }
        let deeper = Checker { root: self.root, depth: self.depth + 1 };
        match resolve(self.root, schema) {
            Value::Bool(false) => out.error(at, "nothing may stand here"),
            Value::Object(words) => {
                deeper.check_object(words, value, at, out);
                // Words beside a reference count since OpenAPI 3.1 (JSON Schema 2020-12); earlier documents have none that matter.
                if let Value::Object(beside) = schema
                    && schema.get("$ref").is_some()
                    && self.counts_beside_references()
                    && beside.keys().any(|k| k != "$ref")
                {
                    let mut beside = beside.clone();
                    beside.remove("$ref");
                    deeper.check_object(&beside, value, at, out);
                }
            }
            _ => {}
        }
    }

    fn counts_beside_references(&self) -> bool {
        self.root.get("openapi").and_then(Value::as_str).is_some_and(|v| !v.starts_with("3.0"))
    }

    fn check_object(&self, words: &Map<String, Value>, value: &Value, at: &str, out: &mut Findings) {
        if value.is_null() && words.get("nullable").or_else(|| words.get("x-nullable")) == Some(&Value::Bool(true)) {
            return;
        }
        if !type_allows(words, value) {
            let wanted = words.get("type").map(ToString::to_string).unwrap_or_default();
            return out.error(at, format!("is {}, but the schema wants {wanted}", type_name(value)));
        }
        check_values(words, value, at, out);
        match value {
            Value::Number(_) => check_number(words, value, at, out),
            Value::String(text) => check_string(words, text, at, out),
            Value::Array(items) => self.check_array(words, items, at, out),
            Value::Object(fields) => self.check_fields(words, fields, at, out),
            _ => {}
        }
        self.check_combinations(words, value, at, out);
    }

    fn check_array(&self, words: &Map<String, Value>, items: &[Value], at: &str, out: &mut Findings) {
        let size = items.len() as f64;
        bound(words, "minItems", |limit| size >= limit, at, "has too few items", out);
        bound(words, "maxItems", |limit| size <= limit, at, "has too many items", out);
        if words.get("uniqueItems") == Some(&Value::Bool(true))
            && items.iter().enumerate().any(|(i, item)| items.iter().take(i).any(|o| o == item))
        {
            out.error(at, "holds the same item twice");
        }
        let first = words.get("prefixItems").and_then(Value::as_array);
        for (index, item) in items.iter().enumerate() {
            let schema = first.and_then(|f| f.get(index)).or_else(|| words.get("items"));
            if let Some(schema) = schema {
                self.check(schema, item, &format!("{at}/{index}"), out);
            }
        }
    }

    fn check_fields(&self, words: &Map<String, Value>, fields: &Map<String, Value>, at: &str, out: &mut Findings) {
        let size = fields.len() as f64;
        bound(words, "minProperties", |limit| size >= limit, at, "has too few fields", out);
        bound(words, "maxProperties", |limit| size <= limit, at, "has too many fields", out);
        let properties = words.get("properties").and_then(Value::as_object);
        let property = |name: &str| properties.and_then(|p| p.get(name));
        let read_only = |name: &str| {
            property(name).is_some_and(|p| resolve(self.root, p).get("readOnly") == Some(&Value::Bool(true)))
        };
        for name in words.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) && !read_only(name) {
                out.error(at, format!("lacks the required field `{name}`"));
            }
        }
        for (name, value) in fields {
            let here = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            if read_only(name) {
                out.error(&here, "is read-only and must not be sent");
            } else if let Some(schema) = property(name) {
                self.check(schema, value, &here, out);
            } else {
                self.check_unlisted(words, name, value, &here, out);
            }
        }
    }

    fn check_unlisted(&self, words: &Map<String, Value>, name: &str, value: &Value, here: &str, out: &mut Findings) {
        let patterns = words.get("patternProperties").and_then(Value::as_object);
        let mut listed = false;
        for (pattern, schema) in patterns.into_iter().flatten() {
            if matches(pattern, name) {
                listed = true;
                self.check(schema, value, here, out);
            }
        }
        match words.get("additionalProperties") {
            _ if listed => {}
            Some(Value::Bool(false)) => out.error(here, "is not a field of the schema, which allows no others"),
            Some(schema @ Value::Object(_)) => self.check(schema, value, here, out),
            Some(_) => {}
            None if words.contains_key("properties") => out.extra.push(here.to_owned()),
            None => {}
        }
    }

    fn check_combinations(&self, words: &Map<String, Value>, value: &Value, at: &str, out: &mut Findings) {
        let list = |key: &str| words.get(key).and_then(Value::as_array);
        for part in list("allOf").into_iter().flatten() {
            self.check(part, value, at, out);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(branches) = list(key)
                && !branches.iter().any(|branch| self.fits(branch, value))
            {
                out.error(at, format!("fits none of the {} forms of {key}", branches.len()));
            }
        }
        if let Some(not) = words.get("not")
            && self.fits(not, value)
        {
            out.error(at, "has a form that the schema excludes");
        }
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut findings = Findings::default();
        self.check(schema, value, "", &mut findings);
        findings.errors.is_empty()
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn type_allows(words: &Map<String, Value>, value: &Value) -> bool {
    match words.get("type") {
        Some(Value::String(name)) => is_of(name, value),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(|name| is_of(name, value)),
        // A schema with properties and no type is meant as an object by every document that has one.
        _ => !words.contains_key("properties") || value.is_object(),
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => is_integer(value),
        "number" => value.is_number(),
        "string" | "file" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

/// Digits and nothing else, as decoders of typed languages want it: JSON Schema calls `1.0` an integer, a server that
/// decodes into an integer refuses it.
fn is_integer(value: &Value) -> bool {
    let Value::Number(number) = value else { return false };
    let text = number.to_string();
    text.strip_prefix('-').unwrap_or(&text).bytes().all(|b| b.is_ascii_digit())
}

fn check_values(words: &Map<String, Value>, value: &Value, at: &str, out: &mut Findings) {
    // An empty list is what a publisher's tool left of one; taken at its word it would allow nothing.
    if let Some(allowed) = words.get("enum").and_then(Value::as_array).filter(|allowed| !allowed.is_empty())
        && !allowed.iter().any(|a| same(a, value))
    {
        out.error(at, format!("is {value}, which is none of the allowed values"));
    }
    if let Some(only) = words.get("const")
        && !same(only, value)
    {
        out.error(at, format!("is {value}, but only {only} is allowed"));
    }
}

fn same(a: &Value, b: &Value) -> bool {
    a == b || matches!((a.as_f64(), b.as_f64()), (Some(x), Some(y)) if x == y)
}

fn bound(words: &Map<String, Value>, key: &str, holds: impl Fn(f64) -> bool, at: &str, what: &str, out: &mut Findings) {
    if let Some(limit) = words.get(key).and_then(Value::as_f64)
        && !holds(limit)
    {
        out.error(at, format!("{what} ({key} {limit})"));
    }
}

fn check_number(words: &Map<String, Value>, value: &Value, at: &str, out: &mut Findings) {
    let Some(n) = value.as_f64() else { return };
    // In OpenAPI 3.0 and Swagger 2.0 the exclusive words are booleans that sharpen the plain bounds.
    let sharp = |key: &str| words.get(key) == Some(&Value::Bool(true));
    let (above, below) = (sharp("exclusiveMinimum"), sharp("exclusiveMaximum"));
    bound(words, "minimum", |limit| if above { n > limit } else { n >= limit }, at, "is too small", out);
    bound(words, "maximum", |limit| if below { n < limit } else { n <= limit }, at, "is too large", out);
    bound(words, "exclusiveMinimum", |limit| n > limit, at, "is too small", out);
    bound(words, "exclusiveMaximum", |limit| n < limit, at, "is too large", out);
    let whole = |step: f64| step <= 0.0 || ((n / step) - (n / step).round()).abs() < 1e-9;
    bound(words, "multipleOf", whole, at, "is no multiple", out);
    if words.get("format").and_then(Value::as_str) == Some("int32")
        && !(-2_147_483_648.0..=2_147_483_647.0).contains(&n)
    {
        out.error(at, "does not fit into 32 bits");
    }
}

fn check_string(words: &Map<String, Value>, text: &str, at: &str, out: &mut Findings) {
    let length = text.chars().count() as f64;
    bound(words, "minLength", |limit| length >= limit, at, "is too short", out);
    bound(words, "maxLength", |limit| length <= limit, at, "is too long", out);
    if let Some(pattern) = words.get("pattern").and_then(Value::as_str)
        && !matches(pattern, text)
    {
        out.error(at, format!("does not match the pattern {pattern}"));
    }
}

/// A pattern that this regular-expression dialect cannot read (look-around) is not held against the request.
fn matches(pattern: &str, text: &str) -> bool {
    regex::Regex::new(pattern).map_or(true, |pattern| pattern.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn errors(schema: Value, value: Value) -> Vec<String> {
        let root = json!({"openapi": "3.1.0", "definitions": {"Text": {"type": "string"}}});
        check(&root, &schema, &value).errors.into_iter().map(|(at, what)| format!("{at}: {what}")).collect()
    }

    #[test]
    fn types_are_checked_all_the_way_down() {
        let schema = json!({"type": "object", "properties": {"list": {"type": "array", "items": {"$ref": "#/definitions/Text"}}}});
        assert_eq!(
            errors(schema, json!({"list": ["a", 1]})),
            [r#"/list/1: is a number, but the schema wants "string""#]
        );
    }

    #[test]
    fn required_fields_count_unless_they_are_read_only() {
        let schema = json!({"required": ["a", "b"], "properties": {"a": {"readOnly": true}, "b": {}}});
        assert_eq!(errors(schema, json!({})), [": lacks the required field `b`"]);
    }

    #[test]
    fn unknown_fields_are_noted_and_only_forbidden_where_the_schema_says_so() {
        let root = json!({});
        let open = check(&root, &json!({"properties": {"a": {}}}), &json!({"b": 1}));
        assert_eq!((open.errors.len(), open.extra), (0, vec!["/b".to_owned()]));
        assert_eq!(errors(json!({"properties": {}, "additionalProperties": false}), json!({"b": 1})).len(), 1);
    }

    #[test]
    fn boolean_exclusive_bounds_sharpen_the_plain_ones() {
        assert_eq!(errors(json!({"minimum": 1, "exclusiveMinimum": true}), json!(1)).len(), 1);
        assert_eq!(errors(json!({"exclusiveMinimum": 1}), json!(1)).len(), 1);
        assert_eq!(errors(json!({"minimum": 1}), json!(1)).len(), 0);
    }

    #[test]
    fn null_needs_permission() {
        assert_eq!(errors(json!({"type": "string"}), json!(null)).len(), 1);
        assert_eq!(errors(json!({"type": "string", "nullable": true}), json!(null)).len(), 0);
        assert_eq!(errors(json!({"type": ["string", "null"]}), json!(null)).len(), 0);
    }

    #[test]
    fn an_integer_has_no_fraction_however_it_is_written() {
        for text in ["5.0", "5e0", "0.5"] {
            let number: Value = serde_json::from_str(text).unwrap_or_default();
            assert_eq!(errors(json!({"type": "integer"}), number).len(), 1, "{text}");
        }
    }

    #[test]
    fn digits_beyond_64_bits_are_an_integer() {
        let long: Value = serde_json::from_str("12345678901234567890123").unwrap_or_default();
        assert_eq!(errors(json!({"type": "integer"}), long).len(), 0);
    }

    #[test]
    fn a_union_needs_one_fitting_form() {
        let schema = json!({"oneOf": [{"type": "string"}, {"type": "array"}]});
        assert_eq!(errors(schema.clone(), json!(["x"])).len(), 0);
        assert_eq!(errors(schema, json!(5)), [": fits none of the 2 forms of oneOf"]);
    }
}
