//! Answers without streams or state.

use super::MODELS;
use super::chat::CREATED;
use crate::answer::Answer;
use crate::check::Call;
use crate::document::Document;
use crate::sample::media;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub(super) fn answer(document: &Document, key: &str, call: &Call) -> Option<Answer> {
    match key {
        "GET /healthz" | "GET /readyz" => Some(Answer::text("OK")),
        "GET /version" => Some(Answer::json(200, &json!({"version": "v3.5.0 (mock)"}))),
        "GET /swagger/doc.json" => Some(Answer::json(200, &document.root)),
        "GET /metrics" => Some(Answer::bytes(200, "text/plain; version=0.0.4; charset=utf-8", METRICS)),
        "GET /v1/models" => Some(Answer::json(
            200,
            &json!({"object": "list", "data": models(call, &|id| json!({"id": id, "object": "model"}))}),
        )),
        "GET /v1/models/capabilities" => {
            Some(Answer::json(200, &json!({"object": "list", "data": models(call, &capabilities)})))
        }
        "GET /system" => Some(Answer::json(
            200,
            &json!({"backends": ["llama-cpp", "whisper"], "loaded_models": [{"id": MODELS[0], "backend": "llama-cpp"}]}),
        )),
        "GET /api/p2p/token" => Some(Answer::text("bW9jay1wMnAtdG9rZW4=")),
        "GET /backends" => Some(Answer::json(200, &installed_backends())),
        "GET /api/instructions" => Some(Answer::json(200, &guides())),
        "GET /api/instructions/{name}" if call.query_value("format").as_deref() != Some("json") => Some(guide(call)),
        "GET /api/traces" | "GET /api/backend-traces" => Some(traces(call)),
        "PATCH /api/models/config-json/{name}" => Some(patched(call)),
        "POST /backend/shutdown" => Some(shut_down(call)),
        "POST /v1/embeddings" => Some(embeddings(&call.json()?)),
        "POST /v1/images/generations" => Some(generated(call, "generated-images", "png", &media::png())),
        "POST /v1/images/inpainting" | "POST /v1/images/upscale" => {
            Some(generated(call, "generated-images", "png", &media::png()))
        }
        "POST /video" => Some(generated(call, "generated-videos", "mp4", b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom")),
        "POST /3d/generations" => Some(generated(call, "generated-3d", "glb", &media::glb())),
        "POST /3d/remesh" => Some(Answer::bytes(200, "model/gltf-binary", media::glb())),
        _ => None,
    }
}

/// The counters that LocalAI exports: call times, and tokens by user, model and kind.
const METRICS: &str = "\
# HELP api_call api calls
# TYPE api_call histogram
api_call_bucket{method=\"POST\",path=\"/v1/chat/completions\",le=\"0.5\"} 3
api_call_bucket{method=\"POST\",path=\"/v1/chat/completions\",le=\"+Inf\"} 4
api_call_sum{method=\"POST\",path=\"/v1/chat/completions\"} 2.75
api_call_count{method=\"POST\",path=\"/v1/chat/completions\"} 4
# HELP localai_tokens_total Cumulative tokens
# TYPE localai_tokens_total counter
localai_tokens_total{kind=\"prompt\",served_model=\"gemma-3-4b-it\",user=\"local\"} 7
localai_tokens_total{kind=\"completion\",served_model=\"gemma-3-4b-it\",user=\"local\"} 12
localai_tokens_total{kind=\"prompt\",served_model=\"한국어-모델\",user=\"local\"} 5
# HELP localai_billed_requests_total Cumulative requests
# TYPE localai_billed_requests_total counter
localai_billed_requests_total{endpoint=\"/v1/chat/completions\",served_model=\"gemma-3-4b-it\",user=\"local\"} 4
";

/// The models whose names match the `filter` expression.
fn models(call: &Call, entry: &dyn Fn(&str) -> Value) -> Vec<Value> {
    let filter = call.query_value("filter").and_then(|text| regex::Regex::new(&text).ok());
    MODELS.iter().filter(|id| filter.as_ref().is_none_or(|f| f.is_match(id))).map(|id| entry(id)).collect()
}

fn capabilities(id: &str) -> Value {
    let speech = id.starts_with("whisper");
    let (can, input) =
        if speech { (json!(["transcript"]), json!(["audio"])) } else { (json!(["chat", "tools"]), json!(["text"])) };
    json!({"id": id, "object": "model", "capabilities": can, "input_modalities": input, "output_modalities": ["text"]})
}

/// 50 unless asked, 1,000 at most, 0 for all of them; the total travels in headers.
fn traces(call: &Call) -> Answer {
    let number = |name: &str, default: usize| call.query_value(name).and_then(|n| n.parse().ok()).unwrap_or(default);
    let (limit, offset) = (number("limit", 50).min(1_000), number("offset", 0));
    const TOTAL: usize = 3;
    let trace = |n: usize| json!({"id": format!("trace-{n}"), "request": {"method": "POST", "path": "/v1/chat/completions"}, "response": {"status": 200}});
    let wanted = if limit == 0 { TOTAL } else { limit };
    let page: Vec<Value> = (0..TOTAL).skip(offset).take(wanted).map(trace).collect();
    Answer::json(200, &json!(page))
        .with("x-total-count", TOTAL.to_string())
        .with("x-trace-offset", offset.to_string())
        .with("x-trace-limit", limit.to_string())
}

/// Installed backends: a system one without metadata, and one of the gallery.
fn installed_backends() -> Value {
    json!([
        {"Name": "llama-cpp", "RunFile": "/backends/llama-cpp/run.sh", "IsMeta": false, "IsSystem": false,
         "Metadata": {"name": "llama-cpp", "version": "1.0.0"}, "upgrade_available": true, "available_version": "1.1.0"},
        {"Name": "whisper", "RunFile": "/usr/share/whisper/run.sh", "IsMeta": false, "IsSystem": true, "Metadata": null},
    ])
}

/// The topics of the guides.
fn guides() -> Value {
    let topic = |name: &str, about: &str| json!({"name": name, "description": about, "url": format!("/api/instructions/{name}")});
    let topics = [
        topic("chat-inference", "Chat and completions"),
        topic("audio", "Speech in and out"),
        topic("agents", "Agent tasks"),
    ];
    json!({"instructions": topics, "hint": "Fetch a topic for its guide."})
}

fn guide(call: &Call) -> Answer {
    let text = format!("# {}\n\nHow this area of the API is used.\n", call.path_value("name"));
    Answer::bytes(200, "text/markdown; charset=UTF-8", text)
}

fn patched(call: &Call) -> Answer {
    match call.json() {
        Some(Value::Object(changes)) if !changes.is_empty() => {
            let message = format!("Model '{}' updated", call.path_value("name"));
            Answer::json(
                200,
                &json!({"success": true, "message": message, "config_revision": "2", "pending_cleanup": false}),
            )
        }
        _ => Answer::json(400, &json!({"error": "Request body is empty"})),
    }
}

/// 404 for a model that is not loaded.
fn shut_down(call: &Call) -> Answer {
    let body = call.json().unwrap_or_default();
    match body.get("model").and_then(Value::as_str) {
        Some(model) if !model.starts_with("missing") => {
            Answer::json(200, &json!({"message": format!("model {model} shut down")}))
        }
        _ => Answer::error(404, "model is not loaded", ""),
    }
}

fn embeddings(request: &Value) -> Answer {
    let count = request.get("input").and_then(Value::as_array).map_or(1, Vec::len);
    let data: Vec<Value> = (0..count)
        .map(|index| json!({"object": "embedding", "index": index, "embedding": [0.25, -0.5, 0.125]}))
        .collect();
    Answer::json(
        200,
        &json!({"object": "list", "model": super::chat::model(request), "data": data, "usage": {"prompt_tokens": 7, "total_tokens": 7}}),
    )
}

/// `data` with the file as base64 or as a URL, as `response_format` says; pictures come once per `n`.
fn generated(call: &Call, folder: &str, extension: &str, file: &[u8]) -> Answer {
    let request = call.json().unwrap_or_default();
    let format = request.get("response_format");
    let word = format.and_then(Value::as_str).or_else(|| format.and_then(|f| f.get("type")).and_then(Value::as_str));
    let count = request.get("n").and_then(Value::as_u64).unwrap_or(1).clamp(1, 10);
    let host = call.header("host").unwrap_or("127.0.0.1");
    let item = |index: u64| match word {
        Some("b64_json") => json!({"b64_json": STANDARD.encode(file), "index": index}),
        _ => json!({"url": format!("http://{host}/{folder}/{index}.{extension}"), "index": index}),
    };
    let data: Vec<Value> = (0..count).map(item).collect();
    Answer::json(200, &json!({"id": "gen-1", "created": CREATED, "data": data}))
}
