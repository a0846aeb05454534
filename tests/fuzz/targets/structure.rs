//! Changes a document as a document: parts move, go, refer to each other, and get keys that mean something. Bytes changed
//! blindly seldom get past the parser.

use fastrand::Rng;
use serde_json::{Map, Value, json};

/// Keys with a meaning in one dialect or another.
const KEYS: [&str; 96] = [
    "openapi",
    "swagger",
    "info",
    "title",
    "version",
    "paths",
    "/a/{id}",
    "/{x}.{y}",
    "get",
    "put",
    "post",
    "delete",
    "head",
    "query",
    "additionalOperations",
    "operationId",
    "summary",
    "description",
    "tags",
    "deprecated",
    "parameters",
    "name",
    "in",
    "required",
    "style",
    "explode",
    "allowReserved",
    "schema",
    "content",
    "application/json",
    "multipart/form-data",
    "application/x-www-form-urlencoded",
    "text/event-stream",
    "application/octet-stream",
    "*/*",
    "requestBody",
    "responses",
    "200",
    "default",
    "components",
    "schemas",
    "definitions",
    "$ref",
    "type",
    "nullable",
    "properties",
    "id",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "minItems",
    "enum",
    "const",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "discriminator",
    "propertyName",
    "mapping",
    "minimum",
    "exclusiveMinimum",
    "multipleOf",
    "maxLength",
    "pattern",
    "format",
    "readOnly",
    "writeOnly",
    "unevaluatedProperties",
    "dependentSchemas",
    "$defs",
    "$anchor",
    "$dynamicRef",
    "$id",
    "example",
    "examples",
    "securitySchemes",
    "security",
    "securityDefinitions",
    "flows",
    "scopes",
    "servers",
    "url",
    "variables",
    "encoding",
    "headers",
    "collectionFormat",
    "consumes",
    "basePath",
    "itemSchema",
    "x-toolwright",
];

/// Texts that are values of some key.
const TEXTS: [&str; 48] = [
    "",
    "a",
    "A",
    "3.0.3",
    "3.1.0",
    "3.2.0",
    "2.0",
    "string",
    "integer",
    "number",
    "boolean",
    "array",
    "object",
    "null",
    "file",
    "path",
    "query",
    "header",
    "cookie",
    "body",
    "formData",
    "form",
    "simple",
    "label",
    "matrix",
    "deepObject",
    "pipeDelimited",
    "multi",
    "tsv",
    "binary",
    "byte",
    "int64",
    "date-time",
    "apiKey",
    "http",
    "basic",
    "bearer",
    "oauth2",
    "/a/{id}",
    "^(a+)+$",
    "[",
    "fn",
    "Self",
    "日本 \u{0}\u{202e}",
    "*/ \"# {{x}} {% y %} ${z}",
    "https://h.example/{v}",
    "read_only",
    "constructor",
];

/// The document after a few changes, as JSON; nothing where it is no document.
pub fn changed(document: &[u8], random: &mut Rng) -> Option<Vec<u8>> {
    let read = serde_json::from_slice(document).ok();
    let mut root: Value = read.or_else(|| serde_yaml::from_slice(document).ok())?;
    if !root.is_object() {
        return None;
    }
    for _ in 0..random.usize(1..=4) {
        change(&mut root, random);
    }
    serde_json::to_vec(&root).ok()
}

fn change(root: &mut Value, random: &mut Rng) {
    let mut pointers = Vec::new();
    collect(root, &mut String::new(), &mut pointers);
    let value = new_value(root, &pointers, random);
    let Some(target) = root.pointer_mut(pick::<String>(&pointers, random)) else { return };
    match target {
        Value::Object(members) => change_members(members, value, random),
        Value::Array(items) => {
            let at = random.usize(..=items.len());
            match random.u8(..3) {
                0 if at < items.len() => drop(items.remove(at)),
                1 if at < items.len() => items[at] = value,
                _ => items.insert(at, value),
            }
        }
        plain => *plain = value,
    }
}

fn change_members(members: &mut Map<String, Value>, value: Value, random: &mut Rng) {
    let names: Vec<String> = members.keys().cloned().collect();
    let key = (*pick(&KEYS, random)).to_owned();
    match random.u8(..6) {
        0 if !names.is_empty() => drop(members.shift_remove(pick(&names, random))),
        1 if !names.is_empty() => {
            let moved = members.shift_remove(pick(&names, random));
            members.insert(key, moved.unwrap_or_default());
        }
        2 if !names.is_empty() => drop(members.insert(pick(&names, random).clone(), value)),
        _ => drop(members.insert(key, value)),
    }
}

fn new_value(root: &Value, pointers: &[String], random: &mut Rng) -> Value {
    match random.u8(..12) {
        0..=2 => root
            .pointer(pick::<String>(pointers, random))
            .filter(|part| part.to_string().len() < 2_000)
            .cloned()
            .unwrap_or_default(),
        3..=5 => json!({"$ref": format!("#{}", pick(pointers, random))}),
        6 => pick(&[json!(true), json!(false), Value::Null, json!({}), json!([])], random).clone(),
        7 => {
            pick(&["0", "-1", "1", "1.5", "18446744073709551616", "1e400", "-0.0"], random).parse().unwrap_or_default()
        }
        8 => json!([pick(&TEXTS, random), pick(&TEXTS, random)]),
        9 => json!({(*pick(&KEYS, random)): pick(&TEXTS, random)}),
        _ => json!(pick(&TEXTS, random)),
    }
}

/// Pointers (RFC 6901) of all parts.
fn collect(value: &Value, pointer: &mut String, pointers: &mut Vec<String>) {
    pointers.push(pointer.clone());
    let length = pointer.len();
    let mut enter = |name: &str, part: &Value| {
        pointer.push('/');
        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
        collect(part, pointer, pointers);
        pointer.truncate(length);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, part)| enter(name, part)),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, part)| enter(&index.to_string(), part)),
        _ => {}
    }
}

fn pick<'a, T>(all: &'a [T], random: &mut Rng) -> &'a T {
    &all[random.usize(..all.len())]
}
