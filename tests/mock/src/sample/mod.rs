//! Answers made from the declared responses.

pub(crate) mod json;
pub(crate) mod media;

use crate::answer::Answer;
use crate::check::essence;
use crate::document::{Operation, Response};
use bytes::Bytes;
use serde_json::Value;
use std::time::Duration;

/// The answer of the lowest declared success, in a media type that the client accepts where there is a choice.
pub(crate) fn answer(root: &Value, operation: &Operation, accept: Option<&str>) -> Answer {
    let Some(response) = success(operation) else { return Answer::empty(200) };
    let status = status_number(&response.status);
    let mut answer = match chosen(response, accept) {
        Some((media, schema)) => Answer { status, ..body(root, media, schema) },
        None => Answer::empty(status),
    };
    // The connection's own headers are not an answer's to choose (RFC 9110 section 7.6.1).
    let own = ["connection", "content-length", "content-type", "keep-alive", "transfer-encoding", "upgrade"];
    let chosen = |name: &str| own.iter().any(|own| name.eq_ignore_ascii_case(own));
    for (name, schema) in response.headers.iter().filter(|(name, _)| !chosen(name)) {
        if let Some(text) = header_text(&json::sample(root, schema)) {
            answer.headers.push((name.clone(), text));
        }
    }
    answer
}

fn success(operation: &Operation) -> Option<&Response> {
    let good = operation.responses.iter().filter(|r| r.status.starts_with('2'));
    good.min_by_key(|r| r.status.clone()).or_else(|| operation.responses.iter().find(|r| r.status == "default"))
}

/// `2XX` and `default` stand for 200.
fn status_number(declared: &str) -> u16 {
    declared.parse().ok().filter(|code| (100..600).contains(code)).unwrap_or(200)
}

fn chosen<'a>(response: &'a Response, accept: Option<&str>) -> Option<&'a (String, Value)> {
    let wanted: Vec<String> = accept.unwrap_or("*/*").split(',').map(essence).collect();
    let asked_for = |media: &str| wanted.iter().any(|w| *w == essence(media));
    response.media.iter().find(|(media, _)| asked_for(media)).or_else(|| response.media.first())
}

fn header_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// A body of this media type.
pub(crate) fn body(root: &Value, media: &str, schema: &Value) -> Answer {
    let name = essence(media);
    let (family, _) = name.split_once('/').unwrap_or((name.as_str(), ""));
    match (family, name.as_str()) {
        (_, "application/json" | "text/json") => Answer::bytes(200, media, json::sample(root, schema).to_string()),
        (_, n) if n.ends_with("+json") => Answer::bytes(200, media, json::sample(root, schema).to_string()),
        (_, "text/event-stream") => events(&json::sample(root, schema)),
        (_, "application/x-ndjson" | "application/jsonl" | "application/json-seq") => {
            let line = json::sample(root, schema);
            Answer::bytes(200, media, format!("{line}\n{line}\n"))
        }
        (_, "application/xml" | "text/xml") => {
            Answer::bytes(200, media, "<?xml version=\"1.0\"?><sample>text</sample>")
        }
        (_, "text/html") => Answer::bytes(200, media, "<!doctype html><title>sample</title><p>sample"),
        (_, "text/markdown") => Answer::bytes(200, media, "# Sample\n\nA *markdown* answer.\n"),
        (_, "application/yaml" | "application/x-yaml" | "text/yaml") => Answer::bytes(200, media, "sample: text\n"),
        ("text", _) => Answer::bytes(200, media, "sample text\n"),
        ("audio", _) => Answer::bytes(200, concrete(media, "audio/*", "audio/wav"), media::wav()),
        ("image", _) => Answer::bytes(200, concrete(media, "image/*", "image/png"), media::png()),
        ("model", _) => Answer::bytes(200, media, media::glb()),
        ("*", _) => Answer::bytes(200, "application/json", json::sample(root, schema).to_string()),
        _ => Answer::bytes(200, media, (0..=255).collect::<Vec<u8>>()),
    }
}

fn concrete<'a>(media: &'a str, range: &str, real: &'a str) -> &'a str {
    if media == range { real } else { media }
}

fn events(item: &Value) -> Answer {
    let one = Bytes::from(format!("data: {item}\n\n"));
    Answer::pieces("text/event-stream", vec![one.clone(), one], Duration::from_millis(5))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::Document;
    use serde_json::json;

    fn answered(responses: Value, accept: Option<&str>) -> Answer {
        let document =
            Document::from_value(json!({"openapi": "3.1.0", "paths": {"/a": {"get": {"responses": responses}}}}))
                .unwrap();
        answer(&document.root, document.operations.first().unwrap(), accept)
    }

    #[test]
    fn the_lowest_success_is_answered() {
        assert_eq!(
            answered(
                json!({"404": {}, "204": {}, "201": {"content": {"application/json": {"schema": {"type": "string"}}}}}),
                None
            )
            .status,
            201
        );
    }

    #[test]
    fn the_client_chooses_among_declared_types() {
        let both = json!({"200": {"content": {"application/json": {}, "text/markdown": {}}}});
        assert_eq!(answered(both.clone(), Some("text/markdown")).content_type.unwrap(), "text/markdown");
        assert_eq!(answered(both, Some("*/*")).content_type.unwrap(), "application/json");
    }
}
