//! Writes a schema of the model as JSON Schema 2020-12.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::plan::Plan;
use crate::model::Model;
use crate::model::schema::{Additional, JsonType, Schema};

/// Formats of JSON Schema 2020-12 (validation section 7.3). Others are hints to code generators.
pub(super) const FORMATS: [&str; 19] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// Which way values travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// To the upstream: what it makes itself is not asked for.
    Sent,
    /// From the upstream: what is only ever sent, such as a password, is not promised.
    Answered,
}

pub(super) struct Renderer<'r, 'm> {
    model: &'r Model<'m>,
    plan: &'r Plan<'r>,
    direction: Direction,
    wanted: BTreeSet<String>,
    done: BTreeMap<String, Value>,
}

impl<'r, 'm> Renderer<'r, 'm> {
    pub(super) fn new(model: &'r Model<'m>, plan: &'r Plan<'r>, direction: Direction) -> Self {
        Renderer { model, plan, direction, wanted: BTreeSet::new(), done: BTreeMap::new() }
    }

    /// Everything under `$defs` that was referred to, by key.
    pub(super) fn definitions(mut self) -> Map<String, Value> {
        while let Some(name) = self.wanted.pop_first() {
            let (Some(key), Some(schema)) = (self.plan.key(&name), self.plan.target(&name)) else { continue };
            if !self.done.contains_key(key) {
                self.done.insert(key.to_owned(), Value::Null);
                let value = Value::Object(self.schema(schema));
                self.done.insert(key.to_owned(), value);
            }
        }
        self.done.into_iter().collect()
    }

    /// A body with texts of its own for some of its fields.
    pub(super) fn with_texts(&mut self, schema: &Schema, texts: &IndexMap<String, String>) -> Map<String, Value> {
        let mut rendered = self.schema(schema);
        if let Some(Value::Object(properties)) = rendered.get_mut("properties") {
            for (field, text) in texts {
                if let Some(Value::Object(property)) = properties.get_mut(field) {
                    property.insert("description".to_owned(), text.as_str().into());
                }
            }
        }
        rendered
    }

    pub(super) fn schema(&mut self, schema: &Schema) -> Map<String, Value> {
        let own = self.own_keywords(schema);
        let Some(name) = &schema.reference else { return own };
        let target = match (self.plan.key(name), self.plan.target(name)) {
            (Some(key), _) => {
                self.wanted.insert(name.clone());
                let mut reference = Map::new();
                reference.insert("$ref".to_owned(), format!("#/$defs/{key}").into());
                reference
            }
            (None, Some(target)) => self.schema(target),
            (None, None) if self.model.types.contains_key(name) => return left_out(name, own),
            (None, None) => Map::new(),
        };
        combined(target, own)
    }

    fn own_keywords(&mut self, schema: &Schema) -> Map<String, Value> {
        let mut out = Map::new();
        if schema.never {
            out.insert("not".to_owned(), json!({}));
        }
        insert_types(&mut out, &schema.types);
        let texts = [("description", &self.told(schema)), ("format", &known_format(schema))];
        for (keyword, text) in texts {
            if let Some(text) = text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
                out.insert(keyword.to_owned(), text.into());
            }
        }
        if let Some(value) = &schema.constant {
            out.insert("const".to_owned(), value.clone());
        }
        if !schema.enumeration.is_empty() {
            out.insert("enum".to_owned(), schema.enumeration.clone().into());
        }
        out.extend(schema.bounds.iter().map(|(keyword, value)| (keyword.clone(), value.clone())));
        if let Some(value) = &schema.default {
            out.insert("default".to_owned(), value.clone());
        }
        self.array_keywords(schema, &mut out);
        self.object_keywords(schema, &mut out);
        // `oneOf` would refuse values that fit two forms, and forms often differ in what a validator does not see, such as a
        // format. Which form was meant is for the API to say.
        let one_of = if schema.any_of.is_empty() { "anyOf" } else { "oneOf" };
        for (keyword, members) in [("allOf", &schema.all_of), ("anyOf", &schema.any_of), (one_of, &schema.one_of)] {
            if !members.is_empty() {
                out.insert(keyword.to_owned(), self.list(members));
            }
        }
        for (keyword, inner) in &schema.applied {
            let inner = self.value(inner);
            out.insert(keyword.clone(), inner);
        }
        out
    }

    /// The description, and what tells alternatives apart: a text beside a reference takes the place of the text behind it.
    fn told(&self, schema: &Schema) -> Option<String> {
        let own = schema.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let behind = || own.and_then(|_| self.model.resolve(schema).choice.as_deref());
        let choice = schema.choice.as_deref().or_else(behind);
        match (own, choice) {
            (Some(own), Some(choice)) => Some(format!("{own} {choice}")),
            (own, choice) => own.or(choice).map(str::to_owned),
        }
    }

    fn array_keywords(&mut self, schema: &Schema, out: &mut Map<String, Value>) {
        if !schema.prefix_items.is_empty() {
            out.insert("prefixItems".to_owned(), self.list(&schema.prefix_items));
        }
        if let Some(items) = &schema.items {
            let items = self.value(items);
            if items != json!({}) {
                out.insert("items".to_owned(), items);
            }
        }
    }

    fn object_keywords(&mut self, schema: &Schema, out: &mut Map<String, Value>) {
        let direction = self.direction;
        let is_left_out = |property: &Schema| match direction {
            Direction::Sent => property.read_only,
            Direction::Answered => property.write_only,
        };
        let left_out = |name: &str| schema.properties.get(name).is_some_and(is_left_out);
        let required: Vec<&String> = schema.required.iter().filter(|name| !left_out(name)).collect();
        let sent: Vec<(&String, &Schema)> = schema.properties.iter().filter(|(name, _)| !left_out(name)).collect();
        if !sent.is_empty() {
            let properties: Map<String, Value> =
                sent.into_iter().map(|(name, property)| (name.clone(), self.value(property))).collect();
            out.insert("properties".to_owned(), Value::Object(properties));
        }
        if !schema.patterns.is_empty() {
            let patterns = schema.patterns.iter().map(|(name, inner)| (name.clone(), self.value(inner)));
            let patterns: Map<String, Value> = patterns.collect();
            out.insert("patternProperties".to_owned(), Value::Object(patterns));
        }
        if !required.is_empty() {
            out.insert("required".to_owned(), json!(required));
        }
        match &schema.additional {
            Additional::Open => {}
            Additional::Closed => {
                out.insert("additionalProperties".to_owned(), false.into());
            }
            Additional::Of(of) => {
                let of = self.value(of);
                out.insert("additionalProperties".to_owned(), of);
            }
        }
    }

    fn value(&mut self, schema: &Schema) -> Value {
        if schema.never { Value::Bool(false) } else { Value::Object(self.schema(schema)) }
    }

    fn list(&mut self, members: &[Schema]) -> Value {
        members.iter().map(|member| self.value(member)).collect::<Vec<_>>().into()
    }
}

/// Stands for a type that is left out: any value, and a word on what it would be.
fn left_out(name: &str, mut own: Map<String, Value>) -> Map<String, Value> {
    let note = format!("Any JSON: `{name}`, whose schema is left out here for its length.");
    let text = match own.get("description").and_then(Value::as_str) {
        Some(told) => format!("{told} {note}"),
        None => note,
    };
    own.insert("description".to_owned(), text.into());
    ordered(own)
}

fn known_format(schema: &Schema) -> Option<String> {
    schema.format.clone().filter(|format| FORMATS.contains(&format.as_str()))
}

fn insert_types(out: &mut Map<String, Value>, types: &[JsonType]) {
    let names: Vec<&str> = types.iter().map(|kind| kind.name()).collect();
    match names.as_slice() {
        [] => {}
        [only] => {
            out.insert("type".to_owned(), (*only).into());
        }
        several => {
            out.insert("type".to_owned(), json!(several));
        }
    }
}

/// What a reference says together with what stands beside it. Texts of the nearer place win; bounds of both hold.
fn combined(target: Map<String, Value>, own: Map<String, Value>) -> Map<String, Value> {
    match merged(&target, &own) {
        Some(merged) => ordered(merged),
        None => side_by_side(target, own),
    }
}

/// Both as one schema, where that says the same.
fn merged(target: &Map<String, Value>, own: &Map<String, Value>) -> Option<Map<String, Value>> {
    // Beside `$ref`, many readers see nothing; texts may be lost, members must not be.
    if target.contains_key("$ref") && own.contains_key("properties") {
        return None;
    }
    let mut out = target.clone();
    for (keyword, value) in own {
        match (keyword.as_str(), target.get(keyword), value) {
            ("description" | "default", ..) | (_, None, _) => {
                out.insert(keyword.clone(), value.clone());
            }
            (_, Some(told), value) if told == value => {}
            ("properties", Some(Value::Object(told)), Value::Object(more)) => {
                let properties = merged_members(told, more, is_closed(target) || is_closed(own))?;
                out.insert(keyword.clone(), Value::Object(properties));
            }
            ("required", Some(Value::Array(told)), Value::Array(more)) => {
                let more = more.iter().filter(|name| !told.contains(name));
                out.insert(keyword.clone(), told.iter().chain(more).cloned().collect());
            }
            _ => return None,
        }
    }
    let fixed = own.get("const");
    let lists = |list: &Value| list.as_array().is_some_and(|list| fixed.is_some_and(|fixed| list.contains(fixed)));
    if out.get("enum").is_some_and(lists) {
        out.shift_remove("enum");
    }
    Some(out)
}

/// The members of both. What one of them closes, only its own members may refine.
fn merged_members(told: &Map<String, Value>, more: &Map<String, Value>, is_closed: bool) -> Option<Map<String, Value>> {
    let mut members = told.clone();
    for (name, schema) in more {
        match (told.get(name), schema) {
            (Some(Value::Object(told)), Value::Object(more)) => {
                members.insert(name.clone(), Value::Object(combined(told.clone(), more.clone())));
            }
            (None, schema) if !is_closed => {
                members.insert(name.clone(), schema.clone());
            }
            _ => return None,
        }
    }
    Some(members)
}

fn is_closed(schema: &Map<String, Value>) -> bool {
    ["additionalProperties", "unevaluatedProperties", "patternProperties"].iter().any(|key| schema.contains_key(*key))
}

/// Both as parts that must hold.
fn side_by_side(mut target: Map<String, Value>, own: Map<String, Value>) -> Map<String, Value> {
    let mut out = own;
    for text in ["description", "default"] {
        let told = target.shift_remove(text);
        if let (Some(told), false) = (told, out.contains_key(text)) {
            out.insert(text.to_owned(), told);
        }
    }
    let mut members = match out.shift_remove("allOf") {
        Some(Value::Array(members)) => members,
        _ => Vec::new(),
    };
    members.push(Value::Object(target));
    out.insert("allOf".to_owned(), members.into());
    out
}

/// Type and description first, wherever they came from.
fn ordered(mut schema: Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for keyword in ["$ref", "type", "description"] {
        if let Some(value) = schema.shift_remove(keyword) {
            out.insert(keyword.to_owned(), value);
        }
    }
    out.extend(schema);
    out
}
