//! Swagger 2.0 to the structure of OpenAPI 3.1. Schemas keep their own words here; the schema rules
//! follow. Each node that moves leaves its origin behind. What has the form of OpenAPI 3 already is left as it is, so that
//! documents may be of both kinds.

mod mixed;
mod operation;
mod parameter;
mod response;
mod security;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::origin::Origins;
use super::super::walk::for_each_node;
use super::take;
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::METHODS;
use crate::load::document::Dialect;
use crate::source::child_pointer;

pub(super) use mixed::words as mixed_words;

/// What the parts of a document need to know of the whole.
struct Context<'a> {
    consumes: Vec<String>,
    produces: Vec<String>,
    host: Option<String>,
    base_path: String,
    /// The dialect that the document says.
    dialect: Dialect,
    /// The parameters under the root, by name, and bodies and forms among those under `components`.
    shared: Map<String, Value>,
    /// Which of them stand under `components`.
    of_components: BTreeSet<String>,
    origins: &'a mut Origins,
    sink: &'a mut Sink,
}

impl Context<'_> {
    /// Where a shared parameter is written.
    fn shared_pointer(&self, name: &str) -> String {
        let is_component = self.of_components.contains(name);
        child_pointer(if is_component { "/components/parameters" } else { "/parameters" }, name)
    }

    fn warn(&mut self, code: &'static str, message: String, pointer: &str, help: &str) {
        let place = self.origins.place(pointer);
        self.sink.push(Diagnostic::warning(code, message).at(place).help(help));
    }
}

/// Rearranges a whole document.
pub(super) fn upgrade(document: Value, dialect: Dialect, origins: &mut Origins, sink: &mut Sink) -> Value {
    let Value::Object(mut root) = document else {
        return document;
    };
    let schemes = texts(take(&mut root, "schemes"));
    let mut given = take(&mut root, "components").and_then(into_object).unwrap_or_default();
    let mut context = Context {
        consumes: texts(take(&mut root, "consumes")),
        produces: texts(take(&mut root, "produces")),
        host: take(&mut root, "host").and_then(|host| host.as_str().map(str::to_owned)),
        base_path: take(&mut root, "basePath").and_then(|path| path.as_str().map(str::to_owned)).unwrap_or_default(),
        shared: take(&mut root, "parameters").and_then(into_object).unwrap_or_default(),
        dialect,
        of_components: BTreeSet::new(),
        origins,
        sink,
    };
    share_bodies(&mut given, &mut context);
    let mut upgraded = Map::new();
    take(&mut root, "swagger");
    upgraded.insert("openapi".into(), "3.1.0".into());
    if let Some(info) = take(&mut root, "info") {
        upgraded.insert("info".into(), info);
    }
    if let Some(servers) = servers(&context, &schemes) {
        upgraded.insert("servers".into(), servers);
    }
    let components = components(&mut root, given, &mut context);
    for (key, value) in root {
        let value = if key == "paths" { paths(value, &mut context) } else { value };
        upgraded.insert(key, value);
    }
    if !components.is_empty() {
        upgraded.insert("components".into(), Value::Object(components));
    }
    let mut upgraded = Value::Object(upgraded);
    rewrite_references(&mut upgraded, &context.shared);
    upgraded
}

fn into_object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// The texts of a list; a single text counts as a list of one.
fn texts(value: Option<Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => items.into_iter().filter_map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

/// One server per scheme, those that HTTP can call first. Without a host, the base path alone, relative to where the API
/// is.
fn servers(context: &Context<'_>, schemes: &[String]) -> Option<Value> {
    let base = context.base_path.as_str();
    let Some(host) = &context.host else {
        return (!base.is_empty()).then(|| json!([{"url": base}]));
    };
    let assumed = ["https".to_owned()];
    let mut schemes: Vec<&String> = if schemes.is_empty() { &assumed[..] } else { schemes }.iter().collect();
    schemes.sort_by_key(|scheme| !matches!(scheme.as_str(), "http" | "https"));
    let url = |scheme: &&String| json!({"url": format!("{scheme}://{host}{base}")});
    Some(schemes.iter().map(url).collect())
}

/// Bodies and forms have no place among the parameters of OpenAPI 3: they are followed to the operations.
fn share_bodies(components: &mut Map<String, Value>, context: &mut Context<'_>) {
    let Some(Value::Object(parameters)) = components.get_mut("parameters") else { return };
    let is_body = |value: &Value| matches!(value.get("in").and_then(Value::as_str), Some("body" | "formData"));
    let names: Vec<String> =
        parameters.iter().filter(|(_, value)| is_body(value)).map(|(name, _)| name.clone()).collect();
    for name in names {
        if let Some(value) = take(parameters, &name)
            && !context.shared.contains_key(&name)
        {
            context.of_components.insert(name.clone());
            context.shared.insert(name, value);
        }
    }
}

/// The reusable parts of both dialects; where both have one of a name, that of `components` counts.
fn components(
    root: &mut Map<String, Value>,
    mut given: Map<String, Value>,
    context: &mut Context<'_>,
) -> Map<String, Value> {
    if let Some(definitions) = take(root, "definitions").and_then(into_object) {
        moved(&definitions, "schemas", "/definitions", &given, context);
        add(&mut given, "schemas", definitions);
    }
    if let Some(Value::Object(parameters)) = given.get_mut("parameters") {
        let own = std::mem::take(parameters);
        *parameters = parameter::component_parameters(own, context);
    }
    let parameters = parameter::shared_parameters(context);
    add(&mut given, "parameters", parameters);
    let bodies = parameter::shared_bodies(context);
    add(&mut given, "requestBodies", bodies);
    if let Some(Value::Object(responses)) = given.get_mut("responses") {
        let own = std::mem::take(responses);
        *responses = response::shared_responses(own, "/components/responses", context);
    }
    if let Some(responses) = take(root, "responses").and_then(into_object) {
        moved(&responses, "responses", "/responses", &given, context);
        let responses = response::shared_responses(responses, "/responses", context);
        add(&mut given, "responses", responses);
    }
    if let Some(Value::Object(schemes)) = given.get_mut("securitySchemes") {
        let own = std::mem::take(schemes);
        *schemes = security::schemes(own, context);
    }
    if let Some(schemes) = take(root, "securityDefinitions").and_then(into_object) {
        moved(&schemes, "securitySchemes", "/securityDefinitions", &given, context);
        let schemes = security::schemes(schemes, context);
        add(&mut given, "securitySchemes", schemes);
    }
    given
}

/// Says where the parts of a section stood that are new under `components`.
fn moved(parts: &Map<String, Value>, section: &str, from: &str, given: &Map<String, Value>, context: &mut Context<'_>) {
    let to = format!("/components/{section}");
    let Some(known) = given.get(section) else { return context.origins.moved(to, from) };
    for name in parts.keys().filter(|name| known.get(name).is_none()) {
        context.origins.moved(child_pointer(&to, name), child_pointer(from, name));
    }
}

fn add(components: &mut Map<String, Value>, section: &str, parts: Map<String, Value>) {
    if parts.is_empty() {
        return;
    }
    let known = components.entry(section).or_insert_with(|| json!({}));
    if let Value::Object(known) = known {
        for (name, part) in parts {
            known.entry(name).or_insert(part);
        }
    }
}

fn paths(paths: Value, context: &mut Context<'_>) -> Value {
    let Value::Object(paths) = paths else {
        return paths;
    };
    paths
        .into_iter()
        .map(|(path, item)| {
            let pointer = child_pointer("/paths", &path);
            let item = match item {
                Value::Object(members) if !path.starts_with("x-") => {
                    Value::Object(path_item(members, &pointer, context))
                }
                other => other,
            };
            (path, item)
        })
        .collect()
}

/// Body and form parameters of a path go into each of its operations, where OpenAPI 3 has bodies.
fn path_item(mut item: Map<String, Value>, pointer: &str, context: &mut Context<'_>) -> Map<String, Value> {
    let inherited = parameter::read_all(take(&mut item, "parameters"), pointer, context);
    let (plain, bodies): (Vec<_>, Vec<_>) = inherited.into_iter().partition(|p| !p.is_body());
    let mut upgraded = Map::new();
    if !plain.is_empty() {
        let list = parameter::plain_parameters(plain, pointer, context);
        upgraded.insert("parameters".into(), list);
    }
    for (key, value) in item {
        let value = match value {
            Value::Object(members) if METHODS.contains(&key.as_str()) => {
                let pointer = child_pointer(pointer, &key);
                Value::Object(operation::upgrade(members, &pointer, &bodies, context))
            }
            other => other,
        };
        upgraded.insert(key, value);
    }
    upgraded
}

/// References follow what they name to its place under `components`.
fn rewrite_references(document: &mut Value, shared: &Map<String, Value>) {
    for_each_node(document, &mut |node, _| {
        let Some(Value::String(reference)) = node.get_mut("$ref") else {
            return;
        };
        let prefixes = [
            ("#/definitions/", "#/components/schemas/"),
            ("#/responses/", "#/components/responses/"),
            ("#/parameters/", "#/components/parameters/"),
            ("#/securityDefinitions/", "#/components/securitySchemes/"),
        ];
        for (old, new) in prefixes {
            let Some(name) = reference.strip_prefix(old) else {
                continue;
            };
            let is_body = shared.get(name).is_some_and(|parameter| parameter.get("in") == Some(&json!("body")));
            *reference = if old == "#/parameters/" && is_body {
                format!("#/components/requestBodies/{name}")
            } else {
                format!("{new}{name}")
            };
            return;
        }
    });
}
