//! OpenAPI 3.0, 3.1 and 3.2.

use super::swagger2::URLENCODED;
use super::{
    Body, Document, DocumentError, Field, FieldKind, Form, METHODS, Media, Operation, Parameter, PartHeader, Place,
    Response, Style, flag, joined_parameters, path_items, resolve, text_of, trimmed_base,
};
use serde_json::Value;
use std::sync::Arc;

pub(super) fn read(root: Arc<Value>) -> Result<Document, DocumentError> {
    let mut operations = Vec::new();
    for (path, item) in path_items(&root)? {
        for (method, node) in methods(item) {
            operations.push(operation(&root, path, &method, item, node));
        }
    }
    let base_path = root.pointer("/servers/0").map(base_path).unwrap_or_default();
    Ok(Document { base_path, operations, root })
}

/// The fixed methods and those of `additionalOperations` (OpenAPI 3.2).
fn methods(item: &Value) -> Vec<(String, &Value)> {
    let fixed = METHODS.iter().filter_map(|m| item.get(*m).map(|node| (m.to_ascii_uppercase(), node)));
    let more = item.get("additionalOperations").and_then(Value::as_object);
    fixed
        .chain(more.into_iter().flatten().map(|(m, node)| (m.clone(), node)))
        .filter(|(_, node)| node.is_object())
        .collect()
}

/// The path of a server's URL, its variables replaced by their defaults.
fn base_path(server: &Value) -> String {
    let mut url = text_of(server, "url").unwrap_or("/").to_owned();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
        url = url.replace(&format!("{{{name}}}"), text_of(variable, "default").unwrap_or(""));
    }
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("").to_owned(),
        None => url,
    };
    trimmed_base(&path)
}

fn operation(root: &Value, path: &str, method: &str, item: &Value, node: &Value) -> Operation {
    Operation {
        key: format!("{method} {path}"),
        id: text_of(node, "operationId").map(str::to_owned),
        method: method.to_owned(),
        template: path.to_owned(),
        parameters: joined_parameters(root, item, node).into_iter().filter_map(|p| parameter(root, p)).collect(),
        body: node.get("requestBody").map(|b| body(root, resolve(root, b))),
        responses: responses(root, node),
    }
}

fn parameter(root: &Value, node: &Value) -> Option<Parameter> {
    let place = match text_of(node, "in")? {
        "path" => Place::Path,
        "query" => Place::Query,
        "header" => Place::Header,
        "cookie" => Place::Cookie,
        _ => return None,
    };
    let content = node.get("content").and_then(Value::as_object).and_then(|c| c.values().next());
    let schema = content.map_or_else(|| node.get("schema"), |media| resolve(root, media).get("schema"));
    let style_word = text_of(node, "style").unwrap_or(match place {
        Place::Query | Place::Cookie => "form",
        Place::Path | Place::Header => "simple",
    });
    let explode = node.get("explode").and_then(Value::as_bool).unwrap_or(matches!(style_word, "form" | "cookie"));
    Some(Parameter {
        name: text_of(node, "name")?.to_owned(),
        place,
        required: place == Place::Path || flag(node, "required"),
        schema: schema.cloned().unwrap_or(Value::Bool(true)),
        style: if content.is_some() { Style::Json } else { style(style_word, explode) },
        explode,
        bare: style_word == "cookie",
    })
}

fn style(word: &str, explode: bool) -> Style {
    let joined = |by| Style::Joined { by, decoded_first: false };
    match word {
        "deepObject" => Style::Deep,
        "label" => Style::Label,
        "matrix" => Style::Matrix,
        "spaceDelimited" if !explode => Style::Joined { by: ' ', decoded_first: true },
        "pipeDelimited" if !explode => Style::Joined { by: '|', decoded_first: true },
        "form" | "cookie" | "spaceDelimited" | "pipeDelimited" if explode => Style::Repeated,
        _ => joined(','),
    }
}

fn body(root: &Value, node: &Value) -> Body {
    let content = node.get("content").and_then(Value::as_object);
    Body {
        required: flag(node, "required"),
        media: content
            .into_iter()
            .flatten()
            .map(|(name, media)| media_type(root, name, resolve(root, media)))
            .collect(),
    }
}

fn media_type(root: &Value, name: &str, node: &Value) -> Media {
    let schema = node.get("schema").cloned().unwrap_or(Value::Bool(true));
    let multipart = name.starts_with("multipart/");
    let form =
        (multipart || name.starts_with(URLENCODED)).then(|| form(root, &schema, node.get("encoding"), multipart));
    Media { name: name.to_owned(), schema, form }
}

fn form(root: &Value, schema: &Value, encoding: Option<&Value>, multipart: bool) -> Form {
    let mut fields = Vec::new();
    let mut required = Vec::new();
    collect_fields(root, schema, encoding, multipart, &mut fields, &mut required, 0);
    for field in &mut fields {
        field.required = required.contains(&field.name);
    }
    let closed = resolve(root, schema).get("additionalProperties") == Some(&Value::Bool(false));
    Form { fields, open: !closed }
}

/// Properties of the schema and of everything it is put together from.
fn collect_fields(
    root: &Value,
    schema: &Value,
    encoding: Option<&Value>,
    multipart: bool,
    fields: &mut Vec<Field>,
    required: &mut Vec<String>,
    depth: usize,
) {
    let schema = resolve(root, schema);
    let names = schema.get("required").and_then(Value::as_array);
    required.extend(names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let own = encoding.and_then(|e| e.get(name));
        let kind = field_kind(root, property, own, multipart);
        let headers = own.filter(|_| multipart).map(|own| part_headers(root, own)).unwrap_or_default();
        fields.push(Field { name: name.clone(), required: false, kind, keyed: false, headers });
    }
    if depth < 16 {
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            collect_fields(root, part, encoding, multipart, fields, required, depth + 1);
        }
    }
}

/// `Content-Type` stands elsewhere, and is ignored here (OpenAPI 3.1 section 4.8.15.1).
fn part_headers(root: &Value, encoding: &Value) -> Vec<PartHeader> {
    let headers = encoding.get("headers").and_then(Value::as_object);
    let named = headers.into_iter().flatten().filter(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    named
        .map(|(name, header)| {
            let header = resolve(root, header);
            PartHeader {
                name: name.clone(),
                required: flag(header, "required"),
                explode: flag(header, "explode"),
                schema: header.get("schema").cloned().unwrap_or(Value::Bool(true)),
            }
        })
        .collect()
}

/// The default content type of a part follows from its type (OpenAPI 3.1 section 4.8.15.1).
fn field_kind(root: &Value, property: &Value, encoding: Option<&Value>, multipart: bool) -> FieldKind {
    let schema = resolve(root, property);
    let items = schema.get("items").map(|i| resolve(root, i));
    if multipart && is_file(schema) {
        return FieldKind::File { many: false };
    }
    if multipart && items.is_some_and(is_file) {
        return FieldKind::File { many: true };
    }
    let json_part = encoding.and_then(|e| text_of(e, "contentType")).is_some_and(|t| t.contains("json"));
    // A style that is written down outranks the content type (OpenAPI 3.1 section 4.8.15.1.2).
    let has_style = encoding.is_some_and(|e| e.get("style").is_some());
    if json_part || (multipart && is_object(schema) && !has_style) {
        return FieldKind::Json { schema: property.clone() };
    }
    let explode = encoding.and_then(|e| e.get("explode")).and_then(Value::as_bool).unwrap_or(true);
    let word = encoding.and_then(|e| text_of(e, "style")).unwrap_or("form");
    FieldKind::Text { schema: property.clone(), style: style(word, explode) }
}

fn is_file(schema: &Value) -> bool {
    text_of(schema, "format") == Some("binary")
        || schema.get("contentMediaType").is_some() && schema.get("contentEncoding").is_none()
}

fn is_object(schema: &Value) -> bool {
    text_of(schema, "type") == Some("object") || schema.get("properties").is_some()
}

fn responses(root: &Value, node: &Value) -> Vec<Response> {
    let all = node.get("responses").and_then(Value::as_object);
    all.into_iter()
        .flatten()
        .filter(|(status, _)| !status.starts_with("x-"))
        .map(|(status, r)| response(root, status, resolve(root, r)))
        .collect()
}

fn response(root: &Value, status: &str, node: &Value) -> Response {
    let content = node.get("content").and_then(Value::as_object);
    let headers = node.get("headers").and_then(Value::as_object);
    let schema_of = |n: &Value| n.get("schema").or_else(|| n.get("itemSchema")).cloned().unwrap_or(Value::Bool(true));
    Response {
        status: status.to_owned(),
        media: content.into_iter().flatten().map(|(name, m)| (name.clone(), schema_of(resolve(root, m)))).collect(),
        headers: headers.into_iter().flatten().map(|(name, h)| (name.clone(), schema_of(resolve(root, h)))).collect(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::super::swagger2::MULTIPART;
    use super::*;
    use serde_json::json;

    #[test]
    fn server_variables_take_their_defaults() {
        let server = json!({"url": "https://{host}/api/{version}/", "variables": {"host": {"default": "h"}, "version": {"default": "v2"}}});
        assert_eq!(base_path(&server), "/api/v2");
    }

    #[test]
    fn binary_properties_of_a_form_are_files() {
        let root = json!({"openapi": "3.0.3", "paths": {"/up": {"post": {"requestBody": {"content": {MULTIPART: {"schema": {
            "required": ["data"], "properties": {"data": {"type": "string", "format": "binary"}, "note": {"type": "string"}}}}}}, "responses": {}}}}});
        let document = read(Arc::new(root)).unwrap();
        let form = document.operations[0].body.clone().unwrap().media[0].form.clone().unwrap();
        assert!(matches!(form.fields[0].kind, FieldKind::File { many: false }) && form.fields[0].required);
        assert!(matches!(form.fields[1].kind, FieldKind::Text { .. }) && !form.fields[1].required);
    }
}
