//! Schemas of Swagger 2.0 and OpenAPI 3.0 to JSON Schema 2020-12, and old words in 3.1 documents.

use serde_json::{Map, Value, json};

use super::super::document::Dialect;
use super::super::origin::Origins;
use super::super::walk::for_each_node;
use super::take;
use super::words::Words;
use crate::diagnostic::{Diagnostic, Sink};
use crate::source::child_pointer;

/// Keywords whose value is one schema.
const ONE: &[&str] = &[
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];
/// Keywords whose value is a list of schemas.
const LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value maps names to schemas.
const NAMED: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords that say nothing about which values are valid.
const ANNOTATIONS: &[&str] =
    &["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "externalDocs", "xml"];

/// The rules, with what they found on the way.
pub(super) struct Rules<'a> {
    dialect: Dialect,
    origins: &'a Origins,
    sink: &'a mut Sink,
    /// Words of an older dialect.
    old_words: Words,
}

impl<'a> Rules<'a> {
    pub(super) fn new(dialect: Dialect, origins: &'a Origins, sink: &'a mut Sink) -> Self {
        Self { dialect, origins, sink, old_words: Words::default() }
    }

    /// Upgrades every schema of a document whose structure is that of OpenAPI 3.
    pub(super) fn upgrade_all(&mut self, document: &mut Value) {
        if let Some(Value::Object(schemas)) = document.pointer_mut("/components/schemas") {
            for (name, schema) in schemas {
                self.upgrade(schema, &child_pointer("/components/schemas", name));
            }
        }
        for_each_node(document, &mut |node, pointer| {
            for keyword in ["schema", "itemSchema"] {
                if let Some(schema) = node.get_mut(keyword) {
                    self.upgrade(schema, &child_pointer(pointer, keyword));
                }
            }
        });
    }

    /// Words of an older dialect are read as meant; one warning a word says so.
    pub(super) fn report(self) {
        self.old_words.report(self.dialect, self.origins, self.sink);
    }

    fn upgrade(&mut self, schema: &mut Value, pointer: &str) {
        let Value::Object(members) = schema else {
            return;
        };
        self.tuple_items(members, pointer);
        self.required_flags(members, pointer);
        self.children(members, pointer);
        self.exclusive_bound(members, pointer, "exclusiveMinimum", "minimum");
        self.exclusive_bound(members, pointer, "exclusiveMaximum", "maximum");
        file_type(members);
        content_formats(members);
        example(members);
        if discriminator(members) && self.dialect != Dialect::Swagger2 {
            self.old_word("a text as `discriminator`", child_pointer(pointer, "discriminator"));
        }
        self.nullable(members, pointer);
    }

    fn children(&mut self, members: &mut Map<String, Value>, pointer: &str) {
        for (keyword, value) in members {
            let pointer = child_pointer(pointer, keyword);
            let keyword = keyword.as_str();
            if ONE.contains(&keyword) {
                self.upgrade(value, &pointer);
            } else if LIST.contains(&keyword) {
                for (index, item) in value.as_array_mut().into_iter().flatten().enumerate() {
                    if keyword != "allOf" {
                        lone_nullable(item);
                    }
                    self.upgrade(item, &child_pointer(&pointer, &index.to_string()));
                }
            } else if NAMED.contains(&keyword) {
                for (name, item) in value.as_object_mut().into_iter().flatten() {
                    self.upgrade(item, &child_pointer(&pointer, name));
                }
            }
        }
    }

    /// `items: [..]` is `prefixItems` in 2020-12, and `additionalItems` is then `items`.
    fn tuple_items(&mut self, members: &mut Map<String, Value>, pointer: &str) {
        if !members.get("items").is_some_and(Value::is_array) {
            return;
        }
        if let Some(items) = take(members, "items") {
            members.insert("prefixItems".into(), items);
        }
        if let Some(rest) = take(members, "additionalItems") {
            members.insert("items".into(), rest);
        }
        self.old_word("a list under `items`", format!("{pointer}/items"));
    }

    /// `required: true` on a property means that its parent requires it (JSON Schema draft 3).
    fn required_flags(&mut self, members: &mut Map<String, Value>, pointer: &str) {
        if members.get("required").is_some_and(Value::is_boolean) {
            take(members, "required");
        }
        let mut found = Vec::new();
        let properties = members.get_mut("properties").and_then(Value::as_object_mut);
        for (name, property) in properties.into_iter().flatten() {
            let Some(property) = property.as_object_mut() else {
                continue;
            };
            if let Some(flag) = property.get("required").and_then(Value::as_bool) {
                take(property, "required");
                found.push((name.clone(), flag));
            }
        }
        for (name, flag) in found {
            let place = format!("{}/required", child_pointer(&format!("{pointer}/properties"), &name));
            self.old_word("`required: true` on a property", place);
            let required = members.entry("required").or_insert_with(|| json!([]));
            if let Some(names) = required.as_array_mut()
                && flag
                && !names.iter().any(|known| known == &name)
            {
                names.push(name.into());
            }
        }
    }

    /// Boolean exclusive bounds (OpenAPI 3.0, JSON Schema draft 4) become numbers.
    fn exclusive_bound(
        &mut self,
        members: &mut Map<String, Value>,
        pointer: &str,
        exclusive: &'static str,
        bound: &str,
    ) {
        let Some(flag) = members.get(exclusive).and_then(Value::as_bool) else {
            return;
        };
        if matches!(self.dialect, Dialect::OpenApi31 | Dialect::OpenApi32) {
            let word = if exclusive == "exclusiveMinimum" {
                "a boolean `exclusiveMinimum`"
            } else {
                "a boolean `exclusiveMaximum`"
            };
            self.old_word(word, format!("{pointer}/{exclusive}"));
        }
        take(members, exclusive);
        if !flag {
            return;
        }
        match take(members, bound) {
            Some(limit) => {
                members.insert(exclusive.into(), limit);
            }
            None => self.sink.push(
                Diagnostic::warning("bound-missing", format!("`{exclusive}: true` without `{bound}` has no effect"))
                    .at(self.origins.place(pointer))
                    .help(format!("add `{bound}`, or remove `{exclusive}`")),
            ),
        }
    }

    /// `nullable` and `x-nullable` become the type `null`.
    fn nullable(&mut self, members: &mut Map<String, Value>, pointer: &str) {
        let nullable = take(members, "nullable");
        if nullable.is_some() && matches!(self.dialect, Dialect::OpenApi31 | Dialect::OpenApi32) {
            self.old_word("`nullable`", format!("{pointer}/nullable"));
        }
        let flags = [nullable, take(members, "x-nullable")];
        if flags.contains(&Some(Value::Bool(true))) {
            allow_null(members);
        }
    }

    fn old_word(&mut self, word: &'static str, pointer: String) {
        self.old_words.found(word, pointer);
    }
}

/// `{nullable: true}` as a branch of a choice means null, though by the letter it means anything.
fn lone_nullable(branch: &mut Value) {
    if *branch == json!({"nullable": true}) {
        *branch = json!({"type": "null"});
    }
}

fn allow_null(members: &mut Map<String, Value>) {
    let combined = ["$ref", "allOf", "anyOf", "oneOf", "not", "const"];
    if combined.iter().any(|keyword| members.contains_key(*keyword)) {
        return allow_null_beside(members);
    }
    if let Some(kind) = members.get_mut("type") {
        let mut kinds = match kind.take() {
            Value::Array(kinds) => kinds,
            kind => vec![kind],
        };
        if !kinds.iter().any(|kind| kind == "null") {
            kinds.push("null".into());
        }
        *kind = Value::Array(kinds);
    }
    if let Some(values) = members.get_mut("enum").and_then(Value::as_array_mut)
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

/// Null beside a schema that is a reference or a combination: `anyOf: [<schema>, {type: null}]`.
fn allow_null_beside(members: &mut Map<String, Value>) {
    let (outer, inner): (Map<_, _>, Map<_, _>) = std::mem::take(members)
        .into_iter()
        .partition(|(keyword, _)| ANNOTATIONS.contains(&keyword.as_str()) || keyword.starts_with("x-"));
    *members = outer;
    let choices = match inner.get("anyOf") {
        Some(Value::Array(choices)) if inner.len() == 1 => {
            let mut choices = choices.clone();
            if !choices.contains(&json!({"type": "null"})) {
                choices.push(json!({"type": "null"}));
            }
            choices
        }
        _ => vec![Value::Object(inner), json!({"type": "null"})],
    };
    members.insert("anyOf".into(), Value::Array(choices));
}

/// `type: file` (Swagger 2.0) is a string of bytes.
fn file_type(members: &mut Map<String, Value>) {
    if members.get("type").is_some_and(|kind| kind == "file") {
        members.insert("type".into(), "string".into());
        members.insert("contentMediaType".into(), "application/octet-stream".into());
    }
}

/// `format: binary` and `format: byte` are `contentMediaType` and `contentEncoding` since OpenAPI 3.1.
fn content_formats(members: &mut Map<String, Value>) {
    let (keyword, value) = match members.get("format").and_then(Value::as_str) {
        Some("binary") => ("contentMediaType", "application/octet-stream"),
        Some("byte") => ("contentEncoding", "base64"),
        _ => return,
    };
    take(members, "format");
    members.entry(keyword).or_insert_with(|| value.into());
}

fn example(members: &mut Map<String, Value>) {
    if let Some(example) = take(members, "example") {
        members.entry("examples").or_insert_with(|| Value::Array(vec![example]));
    }
}

/// A discriminator was a property name in Swagger 2.0. True where it was one here.
fn discriminator(members: &mut Map<String, Value>) -> bool {
    let Some(value) = members.get_mut("discriminator").filter(|value| value.is_string()) else { return false };
    *value = json!({"propertyName": value.take()});
    true
}
