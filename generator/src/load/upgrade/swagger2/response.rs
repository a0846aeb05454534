//! Responses of Swagger 2.0: one schema for all media types that the operation produces.

use serde_json::{Map, Value, json};

use super::{Context, into_object, parameter};
use crate::load::upgrade::take;
use crate::source::child_pointer;

/// The media types of an operation's answers.
pub(super) struct Media<'a> {
    pub(super) produces: &'a [String],
    /// Whether the operation itself says them, not the document.
    pub(super) declared: bool,
}

/// The responses of one operation, by status.
pub(super) fn all(responses: Value, pointer: &str, media: &Media<'_>, context: &mut Context<'_>) -> Value {
    let Value::Object(responses) = responses else {
        return responses;
    };
    responses
        .into_iter()
        .map(|(status, response)| {
            let pointer = child_pointer(pointer, &status);
            // Media types without a schema matter where the bytes are no JSON: an image, a sound.
            let succeeds = status.starts_with('2') && !matches!(status.as_str(), "204" | "205");
            let media = Media { produces: media.produces, declared: media.declared && succeeds };
            (status, one(response, &pointer, &pointer, &media, context))
        })
        .collect()
}

/// The responses under the root; they know the media types of the document only.
pub(super) fn shared_responses(
    responses: Map<String, Value>,
    section: &str,
    context: &mut Context<'_>,
) -> Map<String, Value> {
    let produces = context.produces.clone();
    let media = Media { produces: &produces, declared: false };
    responses
        .into_iter()
        .map(|(name, response)| {
            let old = child_pointer(section, &name);
            let new = child_pointer("/components/responses", &name);
            (name, one(response, &old, &new, &media, context))
        })
        .collect()
}

fn one(response: Value, old: &str, new: &str, media: &Media<'_>, context: &mut Context<'_>) -> Value {
    let Value::Object(mut members) = response else {
        return response;
    };
    if members.contains_key("$ref") || members.contains_key("content") {
        return Value::Object(members);
    }
    let schema = take(&mut members, "schema");
    let examples = take(&mut members, "examples").and_then(into_object);
    let headers = take(&mut members, "headers").and_then(into_object);
    if let Some(headers) = headers {
        let headers = response_headers(headers, old, new, context);
        members.insert("headers".into(), headers);
    }
    let mut content = match schema {
        Some(schema) => with_schema(schema, old, new, media, context),
        None => without_schema(media),
    };
    for (media, example) in examples.into_iter().flatten() {
        if let Some(entry) = content.get_mut(&media).and_then(Value::as_object_mut) {
            entry.insert("example".into(), example);
        }
    }
    if !content.is_empty() {
        members.insert("content".into(), Value::Object(content));
    }
    Value::Object(members)
}

fn with_schema(
    schema: Value,
    old: &str,
    new: &str,
    media: &Media<'_>,
    context: &mut Context<'_>,
) -> Map<String, Value> {
    let is_file = schema.get("type").is_some_and(|kind| kind == "file");
    let types: Vec<&str> =
        media.produces.iter().map(String::as_str).filter(|media| !is_file || !is_structured(media)).collect();
    let assumed = [if is_file { "application/octet-stream" } else { "application/json" }];
    let types = if types.is_empty() { &assumed[..] } else { &types };
    types
        .iter()
        .map(|media| {
            let pointer = child_pointer(&format!("{new}/content"), media);
            context.origins.moved(format!("{pointer}/schema"), format!("{old}/schema"));
            ((*media).to_owned(), json!({"schema": schema.clone()}))
        })
        .collect()
}

fn without_schema(media: &Media<'_>) -> Map<String, Value> {
    if !media.declared {
        return Map::new();
    }
    media.produces.iter().filter(|media| !is_structured(media)).map(|media| (media.clone(), json!({}))).collect()
}

/// JSON and XML: what a schema describes.
fn is_structured(media: &str) -> bool {
    media.contains("json") || media.contains("xml")
}

fn response_headers(headers: Map<String, Value>, old: &str, new: &str, context: &mut Context<'_>) -> Value {
    headers
        .into_iter()
        .map(|(name, header)| {
            let members = match header {
                Value::Object(members)
                    if !["$ref", "schema", "content"].iter().any(|key| members.contains_key(*key)) =>
                {
                    members
                }
                other => return (name, other),
            };
            let old = child_pointer(&format!("{old}/headers"), &name);
            let new = child_pointer(&format!("{new}/headers"), &name);
            context.origins.moved(format!("{new}/schema"), old);
            let (mut own, mut schema) = parameter::split(members);
            parameter::take_collection_format(&mut schema);
            own.insert("schema".into(), Value::Object(schema));
            (name, Value::Object(own))
        })
        .collect()
}
