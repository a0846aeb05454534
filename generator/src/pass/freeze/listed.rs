//! What lists show of an input schema: advertised fields, shallow objects.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::model::tool::{Role, Tool};

/// Objects this deep inside the argument object are shown with less where they weigh more than `MAX_NESTED` bytes.
/// The argument object is at depth 0, a body at 1, its fields at 2, what they hold at 3.
const MAX_DEPTH: usize = 3;
const MAX_NESTED: usize = 450;
/// With the texts of its fields and nothing below them, an object may weigh this much: texts are what a model goes by.
const MAX_WITH_TEXTS: usize = 600;

/// The listed schema; equal to the input schema where there is nothing to leave out.
pub(super) fn listed(tool: &Tool, input: &Value) -> Value {
    let mut listed = input.clone();
    let Some(properties) = listed.get_mut("properties").and_then(Value::as_object_mut) else { return listed };
    for argument in &tool.arguments {
        if !argument.shown {
            properties.shift_remove(&argument.name);
            continue;
        }
        let Some(schema) = properties.get_mut(&argument.name).and_then(Value::as_object_mut) else { continue };
        if let (Role::Body { .. }, Some(fields)) = (&argument.role, &tool.advertise) {
            advertise(schema, fields);
        }
        collapse(schema, if argument.role == Role::Member { 2 } else { 1 });
    }
    if hides_members(tool)
        && let Some(root) = listed.as_object_mut()
    {
        root.shift_remove("additionalProperties");
    }
    drop_unused_definitions(&mut listed);
    listed
}

/// Whether members are accepted that are not shown; what is shown is then open.
pub(super) fn hides_members(tool: &Tool) -> bool {
    tool.arguments.iter().any(|argument| argument.role == Role::Member && !argument.shown)
}

/// Keeps the advertised fields, in their own order.
fn advertise(schema: &mut Map<String, Value>, fields: &[String]) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let kept = fields.iter().filter_map(|field| Some((field.clone(), properties.get(field)?.clone()))).collect();
        *properties = kept;
    }
    schema.shift_remove("additionalProperties");
}

/// Shows deep, heavy objects with less: without what their fields hold, then without texts, then as plain objects.
/// Each step is open, so everything that is accepted still matches.
fn collapse(schema: &mut Map<String, Value>, depth: usize) {
    let weight = |schema: &Map<String, Value>| serde_json::to_vec(schema).map_or(0, |text| text.len());
    if depth >= MAX_DEPTH && schema.contains_key("properties") && weight(schema) > MAX_NESTED {
        let steps = [
            (shallow(schema, &["type", "description", "enum"]), MAX_WITH_TEXTS),
            (shallow(schema, &["type", "enum"]), MAX_NESTED),
        ];
        let fits = steps.into_iter().find(|(step, most)| weight(step) <= *most).map(|(step, _)| step);
        *schema = fits.unwrap_or_else(|| only(schema, &["type", "description"]));
        return;
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            collapse(property, depth + 1);
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(Value::Object(inner)) = schema.get_mut(keyword) {
            collapse(inner, depth + 1);
        }
    }
}

/// The object with its required fields named, and of each field only these keywords.
fn shallow(schema: &Map<String, Value>, keywords: &[&str]) -> Map<String, Value> {
    let mut out = only(schema, &["type", "description", "properties", "required"]);
    if let Some(Value::Object(properties)) = out.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            *property = only(property, keywords);
        }
    }
    out
}

fn only(schema: &Map<String, Value>, keywords: &[&str]) -> Map<String, Value> {
    let kept = keywords.iter().filter_map(|keyword| Some(((*keyword).to_owned(), schema.get(*keyword)?.clone())));
    kept.collect()
}

fn drop_unused_definitions(listed: &mut Value) {
    let Some(root) = listed.as_object_mut() else { return };
    let Some(Value::Object(mut definitions)) = root.shift_remove("$defs") else { return };
    let mut wanted = BTreeSet::new();
    root.values().for_each(|schema| definitions_of(schema, &mut wanted));
    let mut kept = Map::new();
    while !wanted.is_empty() {
        let found: Vec<String> = definitions.keys().filter(|key| wanted.contains(*key)).cloned().collect();
        wanted.clear();
        for key in found {
            if let Some(schema) = definitions.shift_remove(&key) {
                definitions_of(&schema, &mut wanted);
                kept.insert(key, schema);
            }
        }
    }
    if !kept.is_empty() {
        root.insert("$defs".to_owned(), Value::Object(kept));
    }
}

/// Keys under `$defs` to which a value refers.
fn definitions_of(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => found.extend(text.strip_prefix("#/$defs/").map(str::to_owned)),
        Value::Array(items) => items.iter().for_each(|item| definitions_of(item, found)),
        Value::Object(members) => members.values().for_each(|member| definitions_of(member, found)),
        _ => {}
    }
}
