//! Swagger 2.0.

use super::{
    Body, Document, DocumentError, Field, FieldKind, Form, METHODS, Media, Operation, Parameter, Place, Response,
    Style, flag, joined_parameters, path_items, resolve, text_of, trimmed_base,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(super) const MULTIPART: &str = "multipart/form-data";
pub(super) const URLENCODED: &str = "application/x-www-form-urlencoded";

pub(super) fn read(root: Arc<Value>) -> Result<Document, DocumentError> {
    let mut operations = Vec::new();
    for (path, item) in path_items(&root)? {
        for method in METHODS {
            if let Some(node) = item.get(method).filter(|n| n.is_object()) {
                operations.push(operation(&root, path, method, item, node));
            }
        }
    }
    let base_path = trimmed_base(text_of(&root, "basePath").unwrap_or(""));
    Ok(Document { base_path, operations, root })
}

fn operation(root: &Value, path: &str, method: &str, item: &Value, node: &Value) -> Operation {
    let declared = joined_parameters(root, item, node);
    let method = method.to_ascii_uppercase();
    Operation {
        key: format!("{method} {path}"),
        id: text_of(node, "operationId").map(str::to_owned),
        template: path.to_owned(),
        parameters: declared.iter().filter_map(|p| parameter(p)).collect(),
        body: body(root, node, &declared),
        responses: responses(root, node),
        method,
    }
}

fn parameter(node: &Value) -> Option<Parameter> {
    let place = match text_of(node, "in")? {
        "path" => Place::Path,
        "query" => Place::Query,
        "header" => Place::Header,
        _ => return None,
    };
    Some(Parameter {
        name: text_of(node, "name")?.to_owned(),
        place,
        required: place == Place::Path || flag(node, "required"),
        style: collection_style(node),
        explode: false,
        bare: false,
        schema: items_object(node),
    })
}

/// A parameter carries its schema's words itself (Swagger 2.0, Parameter Object).
fn items_object(node: &Value) -> Value {
    const NOT_SCHEMA: [&str; 6] = ["name", "in", "required", "description", "collectionFormat", "allowEmptyValue"];
    let words: Map<String, Value> = node
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !NOT_SCHEMA.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    Value::Object(words)
}

fn collection_style(node: &Value) -> Style {
    let joined = |by| Style::Joined { by, decoded_first: true };
    match text_of(node, "collectionFormat") {
        Some("multi") => Style::Repeated,
        Some("ssv") => joined(' '),
        Some("tsv") => joined('\t'),
        Some("pipes") => joined('|'),
        _ => joined(','),
    }
}

fn media_list(root: &Value, node: &Value, key: &str) -> Vec<String> {
    let list = node.get(key).or_else(|| root.get(key)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn body(root: &Value, node: &Value, declared: &[&Value]) -> Option<Body> {
    let consumes = media_list(root, node, "consumes");
    let place = |word: &str| declared.iter().copied().filter(|p| text_of(p, "in") == Some(word)).collect::<Vec<_>>();
    let fields = place("formData");
    if !fields.is_empty() {
        return Some(form_body(&consumes, &fields));
    }
    let whole = place("body").first().copied()?;
    let schema = whole.get("schema").cloned().unwrap_or(Value::Bool(true));
    let names = if consumes.is_empty() { vec!["application/json".to_owned()] } else { consumes };
    let media = names.into_iter().map(|name| Media { name, schema: schema.clone(), form: None }).collect();
    Some(Body { required: flag(whole, "required"), media })
}

fn form_body(consumes: &[String], declared: &[&Value]) -> Body {
    let fields: Vec<Field> = declared.iter().filter_map(|p| field(p)).collect();
    let has_file = fields.iter().any(|f| matches!(f.kind, FieldKind::File { .. }));
    let required = fields.iter().any(|f| f.required);
    let form_types = consumes.iter().filter(|c| *c == MULTIPART || (*c == URLENCODED && !has_file)).cloned();
    let mut names: Vec<String> = form_types.collect();
    if names.is_empty() {
        // formData beside a document-wide JSON `consumes` is a mistake of the document; a file still forces multipart.
        names.push(if has_file { MULTIPART } else { URLENCODED }.to_owned());
    }
    let form = Form { fields, open: false };
    let media =
        names.into_iter().map(|name| Media { name, schema: Value::Bool(true), form: Some(form.clone()) }).collect();
    Body { required, media }
}

fn field(node: &Value) -> Option<Field> {
    let kind = if text_of(node, "type") == Some("file") {
        FieldKind::File { many: false }
    } else {
        FieldKind::Text { schema: items_object(node), style: collection_style(node) }
    };
    Some(Field {
        name: text_of(node, "name")?.to_owned(),
        required: flag(node, "required"),
        kind,
        keyed: false,
        headers: Vec::new(),
    })
}

fn responses(root: &Value, node: &Value) -> Vec<Response> {
    let produces = media_list(root, node, "produces");
    let all = node.get("responses").and_then(Value::as_object);
    all.into_iter()
        .flatten()
        .filter(|(status, _)| !status.starts_with("x-"))
        .map(|(status, r)| response(status, resolve(root, r), &produces))
        .collect()
}

fn response(status: &str, node: &Value, produces: &[String]) -> Response {
    let media = match node.get("schema") {
        None if status.starts_with('2') && status != "204" => {
            produces.iter().map(|name| (name.clone(), json!({"type": "file"}))).collect()
        }
        None => Vec::new(),
        Some(schema) if produces.is_empty() => vec![(default_media(schema).to_owned(), schema.clone())],
        Some(schema) => produces.iter().map(|name| (name.clone(), schema.clone())).collect(),
    };
    let headers = node.get("headers").and_then(Value::as_object);
    Response {
        status: status.to_owned(),
        media,
        headers: headers.into_iter().flatten().map(|(name, h)| (name.clone(), items_object(h))).collect(),
    }
}

fn default_media(schema: &Value) -> &'static str {
    if text_of(schema, "type") == Some("file") { "application/octet-stream" } else { "application/json" }
}
