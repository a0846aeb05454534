//! Where LocalAI's Swagger document is wrong about the real server: one function a defect, one entry in the list.
//!
//! Each entry says whether it found what it corrects. A document in which it does not has either been repaired by its
//! owner or is another document; the test over the vendored copy fails then, and the entry can go.

use crate::document::{Body, Document, Field, FieldKind, Form, Media, Operation, Parameter, Place, Response, Style};
use serde_json::{Value, json};
use std::sync::Arc;

type Correction = fn(&mut Document) -> bool;

const CORRECTIONS: [(&str, Correction); 24] = [
    ("the token metrics and the list of backend jobs have no route", dead_routes),
    ("the two toggles live under other paths", toggle_paths),
    ("jobs need their uuid", job_ids),
    ("no OpenAI request needs a file", optional_file),
    ("a configuration patch needs a JSON object", config_patch),
    ("a voice speaks a body of its own", voice_body),
    ("two operations answer with audio", audio_answers),
    ("p2p answers one object", p2p_object),
    ("the p2p token is plain text", p2p_token),
    ("transcription has more fields, and lists them one by one", transcription),
    ("logprobs is a boolean or a number", logprobs),
    ("a system prompt may be a list of blocks", system_blocks),
    ("moderation takes one text as well", moderation_text),
    ("a failed operation carries its error", operation_error),
    ("a shutdown answers with a message", shutdown_message),
    ("the monitor takes its model from the body as well", monitor_body),
    ("diarization has a text format", diarization_formats),
    ("voice profiles come as JSON as well", profile_json),
    ("audio transforms take free parameters", transform_fields),
    ("the model lists can be filtered", model_filters),
    ("traces are a list", traces_list),
    ("installed backends are records of their own", installed_backends),
    ("a guide is markdown unless JSON is asked for", guide_forms),
    ("useful routes are missing", missing_routes),
];

/// Correct the document; the names of corrections that found nothing come back.
pub(super) fn apply(document: &mut Document) -> Vec<&'static str> {
    CORRECTIONS.iter().filter(|(_, correct)| !correct(document)).map(|(name, _)| *name).collect()
}

/// GET /tokenMetrics, /v1/tokenMetrics and /backends/jobs are declared, but their handlers are never registered.
fn dead_routes(document: &mut Document) -> bool {
    const DEAD: [&str; 3] = ["GET /tokenMetrics", "GET /v1/tokenMetrics", "GET /backends/jobs"];
    let before = document.operations.len();
    document.operations.retain(|operation| !DEAD.contains(&operation.key.as_str()));
    before - document.operations.len() == DEAD.len()
}

fn toggle_paths(document: &mut Document) -> bool {
    let pin = move_route(
        document,
        "/api/models/toggle-pinned/{name}/{action}",
        "/models/toggle-pinned/{name}/{action}",
        ["pin", "unpin"],
    );
    let state = move_route(
        document,
        "/api/models/{name}/{action}",
        "/models/toggle-state/{name}/{action}",
        ["enable", "disable"],
    );
    pin && state
}

fn move_route(document: &mut Document, from: &str, to: &str, actions: [&str; 2]) -> bool {
    let Some(operation) = document.operation_mut(&format!("PUT {from}")) else { return false };
    operation.key = format!("PUT {to}");
    operation.template = to.to_owned();
    operation.parameters.retain(|parameter| parameter.name != "action");
    operation.parameters.push(parameter("action", Place::Path, json!({"type": "string", "enum": actions})));
    true
}

/// `{uuid}` stands in the path, but is not declared. The literal template must not be sent.
fn job_ids(document: &mut Document) -> bool {
    everywhere(["GET /models/jobs/{uuid}", "GET /backends/jobs/{uuid}"], |key| {
        on(document, key, |operation| {
            operation.parameters.push(parameter("uuid", Place::Path, json!({"type": "string", "pattern": "^[^{}]+$"})))
        })
    })
}

/// The validation tag of the field leaked into `required`.
fn optional_file(document: &mut Document) -> bool {
    definition(document, "schema.OpenAIRequest", |schema| {
        schema.as_object_mut().and_then(|s| s.remove("required")).is_some()
    })
}

fn config_patch(document: &mut Document) -> bool {
    on(document, "PATCH /api/models/config-json/{name}", |operation| {
        operation.body = Some(json_body(true, json!({"type": "object", "minProperties": 1})));
    })
}

fn voice_body(document: &mut Document) -> bool {
    let text = json!({"type": "string", "minLength": 1});
    let schema = json!({"type": "object", "required": ["text", "model_id"], "additionalProperties": false,
        "properties": {"text": text, "model_id": text, "language_code": {"type": "string"}}});
    on(document, "POST /v1/text-to-speech/{voice-id}", |operation| operation.body = Some(json_body(true, schema)))
}

fn audio_answers(document: &mut Document) -> bool {
    everywhere(["POST /v1/text-to-speech/{voice-id}", "POST /v1/sound-generation"], |key| {
        answers(document, key, "audio/x-wav", json!({"type": "file"}))
    })
}

fn p2p_object(document: &mut Document) -> bool {
    answers(document, "GET /api/p2p", "application/json", json!({"$ref": "#/definitions/schema.P2PNodesResponse"}))
}

fn p2p_token(document: &mut Document) -> bool {
    answers(document, "GET /api/p2p/token", "text/plain", json!({"type": "string"}))
}

/// The handler also reads language, prompt, response_format, diarize and translate; granularities are repeated
/// fields, with or without brackets, and never split at commas. The plain-text format is called `txt`. The answer is
/// no map of strings.
fn transcription(document: &mut Document) -> bool {
    let formats = json!({"type": "string", "enum": ["", "json", "verbose_json", "txt", "srt", "vtt", "lrc"]});
    let granularities = json!({"type": "array", "items": {"type": "string", "enum": ["word", "segment"]}});
    let result = json!({"type": "object", "properties": {"text": {"type": "string"}, "language": {"type": "string"},
        "duration": {"type": "number"}, "segments": {"type": "array"}, "words": {"type": "array"}}});
    let answered = answers(document, "POST /v1/audio/transcriptions", "application/json", result);
    let sent = fields(document, "POST /v1/audio/transcriptions", |fields| {
        fields.retain(|field| field.name != "timestamp_granularities");
        for name in ["timestamp_granularities", "timestamp_granularities[]"] {
            fields.push(Field {
                kind: FieldKind::Text { schema: granularities.clone(), style: Style::Repeated },
                ..text_field(name, json!({}))
            });
        }
        fields.push(text_field("response_format", formats.clone()));
        for name in ["language", "prompt"] {
            fields.push(text_field(name, json!({"type": "string"})));
        }
        for name in ["diarize", "translate"] {
            fields.push(text_field(name, json!({"type": "boolean"})));
        }
    });
    answered && sent
}

fn logprobs(document: &mut Document) -> bool {
    definition(document, "schema.LogprobsValue", |schema| replace(schema, json!({"type": ["boolean", "integer"]})))
}

fn system_blocks(document: &mut Document) -> bool {
    property(
        document,
        "schema.AnthropicRequest",
        "system",
        json!({"type": ["string", "array"], "items": {"type": "object"}}),
    )
}

fn moderation_text(document: &mut Document) -> bool {
    property(
        document,
        "schema.ModerationRequest",
        "input",
        json!({"type": ["string", "array"], "items": {"type": "string"}}),
    )
}

/// A custom marshaller adds `error`; the struct's field is hidden from the document.
fn operation_error(document: &mut Document) -> bool {
    definition(document, "galleryop.OpStatus", |schema| {
        let Some(properties) = schema.pointer_mut("/properties").and_then(Value::as_object_mut) else { return false };
        properties.insert("error".to_owned(), json!({"type": "string"})).is_none()
    })
}

fn shutdown_message(document: &mut Document) -> bool {
    answers(
        document,
        "POST /backend/shutdown",
        "application/json",
        json!({"type": "object", "properties": {"message": {"type": "string"}}}),
    )
}

fn monitor_body(document: &mut Document) -> bool {
    on(document, "GET /backend/monitor", |operation| {
        operation.body = Some(json_body(false, json!({"type": "object", "properties": {"model": {"type": "string"}}})));
    })
}

fn diarization_formats(document: &mut Document) -> bool {
    fields(document, "POST /v1/audio/diarization", |fields| {
        fields.retain(|field| field.name != "response_format");
        fields.push(text_field(
            "response_format",
            json!({"type": "string", "enum": ["", "json", "verbose_json", "rttm"]}),
        ));
    })
}

fn profile_json(document: &mut Document) -> bool {
    let text = json!({"type": "string"});
    let schema = json!({"type": "object", "required": ["name", "transcript", "consent_confirmed", "audio_base64"], "properties": {
        "name": text, "description": text, "language": text, "transcript": text, "audio_base64": text, "consent_confirmed": {"type": "boolean"}}});
    on(document, "POST /api/voice-profiles", |operation| {
        if let Some(body) = &mut operation.body {
            body.media.retain(|media| media.form.is_some());
            body.media.push(Media { name: "application/json".to_owned(), schema, form: None });
        }
    })
}

/// `params[key]=value` fields go to the backend; the rate is bounded because the server resamples to it.
fn transform_fields(document: &mut Document) -> bool {
    everywhere(["POST /audio/transform", "POST /audio/transformations"], |key| {
        fields(document, key, |fields| {
            fields.retain(|field| field.name != "sample_rate");
            let rate = json!({"type": "integer", "anyOf": [{"enum": [0]}, {"minimum": 8_000, "maximum": 192_000}]});
            fields.push(text_field("sample_rate", rate));
            fields.push(Field { keyed: true, ..text_field("params", json!({"type": "string"})) });
        })
    })
}

fn model_filters(document: &mut Document) -> bool {
    everywhere(["GET /v1/models", "GET /v1/models/capabilities"], |key| {
        on(document, key, |operation| {
            operation.parameters.push(parameter("filter", Place::Query, json!({"type": "string"})));
            operation.parameters.push(parameter("excludeConfigured", Place::Query, json!({"type": "boolean"})));
        })
    })
}

fn traces_list(document: &mut Document) -> bool {
    everywhere(["GET /api/traces", "GET /api/backend-traces"], |key| {
        answers(document, key, "application/json", json!({"type": "array", "items": {"type": "object"}}))
    })
}

/// The first five fields of the type have no JSON names.
fn installed_backends(document: &mut Document) -> bool {
    let (text, flag) = (json!({"type": "string"}), json!({"type": "boolean"}));
    let backend = json!({"type": "object", "required": ["Name", "RunFile", "IsMeta", "IsSystem", "Metadata"], "properties": {
        "Name": text, "RunFile": text, "IsMeta": flag, "IsSystem": flag, "Metadata": {"type": ["object", "null"]},
        "upgrade_available": flag, "available_version": text, "nodes": {"type": "array", "items": {"type": "object"}}}});
    answers(document, "GET /backends", "application/json", json!({"type": "array", "items": backend}))
}

fn guide_forms(document: &mut Document) -> bool {
    on(document, "GET /api/instructions/{name}", |operation| {
        operation.responses.iter_mut().filter(|response| response.status == "200").for_each(|response| {
            response.media.retain(|(media, _)| media != "text/markdown");
            response.media.push(("text/markdown".to_owned(), json!({"type": "string"})));
        });
    })
}

/// Public routes that clients use to find their way, and the one that serves the document.
fn missing_routes(document: &mut Document) -> bool {
    for path in ["/healthz", "/readyz", "/version", "/swagger/doc.json"] {
        document.operations.push(Operation {
            key: format!("GET {path}"),
            id: None,
            method: "GET".to_owned(),
            template: path.to_owned(),
            parameters: Vec::new(),
            body: None,
            responses: Vec::new(),
        });
    }
    true
}

/// Correct every operation, also after one is missing.
fn everywhere<const N: usize>(keys: [&str; N], mut correct: impl FnMut(&str) -> bool) -> bool {
    keys.into_iter().filter(|key| correct(key)).count() == N
}

fn on(document: &mut Document, key: &str, change: impl FnOnce(&mut Operation)) -> bool {
    document.operation_mut(key).map(change).is_some()
}

fn fields(document: &mut Document, key: &str, change: impl Fn(&mut Vec<Field>)) -> bool {
    let Some(body) = document.operation_mut(key).and_then(|operation| operation.body.as_mut()) else { return false };
    let forms: Vec<&mut Form> = body.media.iter_mut().filter_map(|media| media.form.as_mut()).collect();
    let found = !forms.is_empty();
    forms.into_iter().for_each(|form| change(&mut form.fields));
    found
}

fn answers(document: &mut Document, key: &str, media: &str, schema: Value) -> bool {
    on(document, key, |operation| {
        operation.responses.retain(|response| !response.status.starts_with('2'));
        operation.responses.push(Response {
            status: "200".to_owned(),
            media: vec![(media.to_owned(), schema)],
            headers: Vec::new(),
        });
    })
}

fn definition(document: &mut Document, name: &str, change: impl FnOnce(&mut Value) -> bool) -> bool {
    let root = Arc::make_mut(&mut document.root);
    root.get_mut("definitions").and_then(|all| all.get_mut(name)).is_some_and(change)
}

fn property(document: &mut Document, name: &str, property: &str, schema: Value) -> bool {
    definition(document, name, |definition| {
        let found = definition.get_mut("properties").and_then(|all| all.get_mut(property));
        found.is_some_and(|place| replace(place, schema))
    })
}

fn replace(place: &mut Value, with: Value) -> bool {
    let changed = *place != with;
    *place = with;
    changed
}

fn parameter(name: &str, place: Place, schema: Value) -> Parameter {
    let style = Style::Joined { by: ',', decoded_first: true };
    Parameter {
        name: name.to_owned(),
        place,
        required: place == Place::Path,
        schema,
        style,
        explode: false,
        bare: false,
    }
}

fn text_field(name: &str, schema: Value) -> Field {
    let style = Style::Joined { by: ',', decoded_first: true };
    Field {
        name: name.to_owned(),
        required: false,
        kind: FieldKind::Text { schema, style },
        keyed: false,
        headers: Vec::new(),
    }
}

fn json_body(required: bool, schema: Value) -> Body {
    Body { required, media: vec![Media { name: "application/json".to_owned(), schema, form: None }] }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The vendored copy; absent only before the first import.
    fn vendored() -> Option<Document> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../specs/localai/swagger.yaml");
        std::fs::read_to_string(path).ok().map(|text| Document::parse(&text).unwrap())
    }

    #[test]
    fn every_correction_finds_its_defect_in_the_vendored_document() {
        let Some(mut document) = vendored() else {
            eprintln!("specs/localai/swagger.yaml is absent; nothing to check");
            return;
        };
        assert_eq!(apply(&mut document), Vec::<&str>::new());
    }

    #[test]
    fn another_document_is_served_as_it_is() {
        let mut document = Document::from_value(json!({"swagger": "2.0", "paths": {"/a": {"get": {}}}})).unwrap();
        assert_eq!(apply(&mut document).len(), CORRECTIONS.len() - 1);
        assert_eq!(document.operations.first().map(|o| o.key.as_str()), Some("GET /a"));
    }
}
