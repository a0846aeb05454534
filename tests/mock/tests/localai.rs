//! The personality of LocalAI: the real server where it differs from its document, and its streams and jobs.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod client;

use client::{Form, client, events, post_form, serve_localai, violations};
use serde_json::{Map, Value, json};
use toolwright_mock::{Fault, Kind, Mock};

/// A document that declares these operations, each with a free JSON body where it is a POST, PUT or PATCH.
fn localai(operations: &[(&str, &str)]) -> Mock {
    let mut paths = Map::new();
    for (method, path) in operations {
        let body = json!([{"in": "body", "name": "request", "schema": {}}]);
        let parameters = if *method == "post" { body } else { json!([]) };
        paths.insert(
            (*path).to_owned(),
            json!({*method: {"parameters": parameters, "responses": {"200": {"schema": {"type": "string"}}}}}),
        );
    }
    serve_localai(
        json!({"swagger": "2.0", "paths": paths, "definitions": {"schema.P2PNodesResponse": {"type": "object"}}}),
    )
}

async fn get(mock: &Mock, path: &str) -> (u16, String) {
    let answer = client().get(format!("{}{path}", mock.url())).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

async fn get_json(mock: &Mock, path: &str) -> Value {
    serde_json::from_str(&get(mock, path).await.1).unwrap()
}

async fn post(mock: &Mock, path: &str, body: Value) -> reqwest::Response {
    let request = client().post(format!("{}{path}", mock.url())).header("content-type", "application/json");
    request.body(body.to_string()).send().await.unwrap()
}

async fn post_json(mock: &Mock, path: &str, body: Value) -> Value {
    serde_json::from_slice(&post(mock, path, body).await.bytes().await.unwrap()).unwrap()
}

async fn put(mock: &Mock, path: &str) -> u16 {
    client().put(format!("{}{path}", mock.url())).send().await.unwrap().status().as_u16()
}

fn question() -> Value {
    json!([{"role": "user", "content": "안녕"}])
}

fn weather() -> Value {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    json!({"type": "function", "function": {"name": "weather", "parameters": parameters}})
}

#[tokio::test]
async fn declared_routes_without_a_handler_are_404() {
    let mock = localai(&[("get", "/tokenMetrics"), ("get", "/v1/tokenMetrics"), ("get", "/backends/jobs")]);
    for path in ["/tokenMetrics", "/v1/tokenMetrics", "/backends/jobs"] {
        assert_eq!(get(&mock, path).await.0, 404, "{path}");
    }
    assert_eq!(mock.violations().len(), 3);
}

#[tokio::test]
async fn toggles_live_under_their_real_paths() {
    let mock = localai(&[("put", "/api/models/toggle-pinned/{name}/{action}"), ("put", "/api/models/{name}/{action}")]);
    assert_eq!(put(&mock, "/models/toggle-pinned/org%2Fm/pin").await, 200);
    assert_eq!(put(&mock, "/models/toggle-state/m/disable").await, 200);
    assert_eq!(violations(&mock), []);
    assert_eq!(put(&mock, "/api/models/m/enable").await, 404);
    put(&mock, "/models/toggle-state/m/pin").await;
    assert_eq!(
        violations(&mock),
        [(Kind::UnknownRoute, "request line".into()), (Kind::BadValue, "path action".into())]
    );
}

#[tokio::test]
async fn an_install_is_followed_until_it_is_done() {
    for (start, poll, id) in [("/models/apply", "/models/jobs", "uuid"), ("/backends/apply", "/backends/jobs", "id")] {
        let mock = localai(&[("post", start), ("get", &format!("{poll}/{{uuid}}"))]);
        let started = post_json(&mock, start, json!({"id": "모델"})).await;
        let job = format!("{poll}/{}", started[id].as_str().unwrap());
        let mut done = Vec::new();
        for _ in 0..3 {
            done.push(get_json(&mock, &job).await["processed"] == true);
        }
        assert_eq!(done, [false, false, true], "{start}");
        assert_eq!(get_json(&mock, &job).await["gallery_element_name"], "모델");
        assert_eq!(violations(&mock), []);
    }
}

#[tokio::test]
async fn an_unknown_job_is_a_plain_error_and_the_bare_template_a_violation() {
    let mock = localai(&[("get", "/backends/jobs/{uuid}")]);
    assert_eq!(get(&mock, "/backends/jobs/nope").await.0, 500);
    assert_eq!(violations(&mock), []);
    get(&mock, "/backends/jobs/%7Buuid%7D").await;
    assert_eq!(violations(&mock), [(Kind::BadValue, "path uuid".into())]);
}

#[tokio::test]
async fn a_configuration_patch_needs_an_object() {
    let mock = localai(&[("patch", "/api/models/config-json/{name}")]);
    let patch = |body: &'static str| {
        client()
            .patch(format!("{}/api/models/config-json/m", mock.url()))
            .header("content-type", "application/json")
            .body(body)
            .send()
    };
    assert_eq!(patch("").await.unwrap().status(), 400);
    let answer: Value =
        serde_json::from_slice(&patch(r#"{"threads":2}"#).await.unwrap().bytes().await.unwrap()).unwrap();
    assert_eq!(answer["success"], true);
}

#[tokio::test]
async fn a_voice_has_a_body_of_its_own_and_answers_audio() {
    let mock = localai(&[("post", "/v1/text-to-speech/{voice-id}")]);
    let spoken = post(&mock, "/v1/text-to-speech/v", json!({"text": "안녕", "model_id": "m"})).await;
    assert_eq!(spoken.headers()["content-type"], "audio/x-wav");
    assert_eq!(violations(&mock), []);
    assert_eq!(post(&mock, "/v1/text-to-speech/v", json!({"model": "m", "input": "안녕"})).await.status(), 400);
    assert!(mock.violations().iter().all(|v| v.kind == Kind::BadBody) && !mock.violations().is_empty());
}

#[tokio::test]
async fn p2p_answers_an_object_and_a_text() {
    let mock = localai(&[("get", "/api/p2p"), ("get", "/api/p2p/token")]);
    assert!(get_json(&mock, "/api/p2p").await.is_object());
    assert!(serde_json::from_str::<Value>(&get(&mock, "/api/p2p/token").await.1).is_err());
}

#[tokio::test]
async fn metrics_count_tokens() {
    let text = get(&localai(&[("get", "/metrics")]), "/metrics").await.1;
    assert!(text.contains("localai_tokens_total{kind=\"completion\""));
}

#[tokio::test]
async fn models_are_listed_and_filtered() {
    let mock = localai(&[("get", "/v1/models")]);
    let all = get_json(&mock, "/v1/models").await;
    assert_eq!(all["data"].as_array().unwrap().len(), 3);
    assert_eq!(get_json(&mock, "/v1/models?filter=%ED%95%9C").await["data"][0]["id"], "한국어-모델");
    assert_eq!(violations(&mock), []);
}

#[tokio::test]
async fn a_guide_is_markdown_unless_json_is_asked_for() {
    let mock = localai(&[("get", "/api/instructions/{name}")]);
    for (query, expected) in
        [("", "text/markdown"), ("?format=markdown", "text/markdown"), ("?format=json", "application/json")]
    {
        let answer = client().get(format!("{}/api/instructions/chat{query}", mock.url())).send().await.unwrap();
        assert!(answer.headers()["content-type"].to_str().unwrap().starts_with(expected), "{query}");
    }
}

#[tokio::test]
async fn installed_backends_have_the_names_of_their_type() {
    let mock = localai(&[("get", "/backends")]);
    let backends = get_json(&mock, "/backends").await;
    assert_eq!(backends[0]["Name"], "llama-cpp");
    assert!(backends[1]["Metadata"].is_null());
}

#[tokio::test]
async fn traces_are_paged_in_headers() {
    let mock = localai(&[("get", "/api/traces")]);
    let answer = client().get(format!("{}/api/traces", mock.url())).send().await.unwrap();
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!([header("x-total-count"), header("x-trace-offset"), header("x-trace-limit")], ["3", "0", "50"]);
}

#[tokio::test]
async fn chat_answers_and_streams_the_same_text() {
    let mock = localai(&[("post", "/v1/chat/completions")]);
    let whole = post_json(&mock, "/v1/chat/completions", json!({"messages": question()})).await;
    let text = whole["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(text.contains("안녕"));

    let request = json!({"messages": question(), "stream": true, "stream_options": {"include_usage": true}});
    let answer = post(&mock, "/v1/chat/completions", request).await;
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let stream = answer.text().await.unwrap();
    assert!(stream.ends_with("data: [DONE]\n\n"));
    let chunks = events(&stream);
    let joined: String = chunks.iter().filter_map(|c| c["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(joined, text);
    assert_eq!(chunks.last().unwrap()["usage"]["total_tokens"], 19);
}

#[tokio::test]
async fn chat_calls_a_tool_that_it_is_offered() {
    let mock = localai(&[("post", "/v1/chat/completions")]);
    let whole = post_json(&mock, "/v1/chat/completions", json!({"messages": question(), "tools": [weather()]})).await;
    assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(whole["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "weather");

    let request = json!({"messages": question(), "tools": [weather()], "stream": true});
    let chunks = events(&post(&mock, "/v1/chat/completions", request).await.text().await.unwrap());
    let arguments: String = chunks
        .iter()
        .filter_map(|c| c["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].as_str())
        .collect();
    assert_eq!(arguments, r#"{"city":"city"}"#);
}

#[tokio::test]
async fn completions_stream_texts() {
    let mock = localai(&[("post", "/v1/completions")]);
    let stream = post(&mock, "/v1/completions", json!({"prompt": "하나", "stream": true})).await.text().await.unwrap();
    let joined: String = events(&stream).iter().filter_map(|c| c["choices"][0]["text"].as_str()).collect();
    assert!(joined.starts_with("You said: 하나"));
}

#[tokio::test]
async fn messages_stream_named_events() {
    let mock = localai(&[("post", "/v1/messages")]);
    let stream =
        post(&mock, "/v1/messages", json!({"messages": question(), "stream": true})).await.text().await.unwrap();
    let mut names: Vec<&str> = stream.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    names.dedup();
    assert_eq!(
        names,
        [
            "message_start",
            "ping",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    let whole = post_json(&mock, "/v1/messages", json!({"messages": question()})).await;
    let joined: String = events(&stream).iter().filter_map(|e| e["delta"]["text"].as_str()).collect();
    assert_eq!(whole["content"][0]["text"], joined);
}

#[tokio::test]
async fn responses_are_numbered_and_can_be_resumed() {
    let mock = localai(&[("post", "/v1/responses"), ("get", "/v1/responses/{id}")]);
    let stream = post(&mock, "/v1/responses", json!({"input": "하나", "stream": true})).await.text().await.unwrap();
    let numbers: Vec<u64> = events(&stream).iter().map(|e| e["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    let all = events(&stream);
    assert_eq!(
        all.last().unwrap()["response"]["output"][0]["content"][0]["text"],
        "You said: 하나 안녕하세요, this is the mock model."
    );

    let resumed = events(&get(&mock, "/v1/responses/resp_9?stream=true&starting_after=2").await.1);
    assert_eq!(resumed[0]["sequence_number"], 3);
}

fn transcription() -> Mock {
    let field = |name: &str, kind: &str, required: bool| json!({"in": "formData", "name": name, "type": kind, "required": required});
    let parameters = json!([field("model", "string", true), field("file", "file", true), field("stream", "boolean", false),
        {"in": "formData", "name": "timestamp_granularities", "type": "array", "items": {"type": "string"}, "collectionFormat": "csv"}]);
    let operation = json!({"consumes": ["multipart/form-data"], "parameters": parameters, "responses": {}});
    serve_localai(json!({"swagger": "2.0", "paths": {"/v1/audio/transcriptions": {"post": operation}}}))
}

fn recording() -> Form {
    Form::default().text("model", "whisper").file("file", "a.wav", "audio/wav", b"RIFF")
}

#[tokio::test]
async fn granularities_are_repeated_fields() {
    let mock = transcription();
    let url = format!("{}/v1/audio/transcriptions", mock.url());
    let both = recording()
        .text("timestamp_granularities[]", "word")
        .text("timestamp_granularities[]", "segment")
        .text("language", "ko");
    let answer: Value = serde_json::from_slice(&post_form(url.clone(), both).await.bytes().await.unwrap()).unwrap();
    assert_eq!(answer["words"][0]["word"], "안녕하세요,");
    assert_eq!(violations(&mock), []);
    post_form(url, recording().text("timestamp_granularities", "word,segment")).await;
    assert_eq!(violations(&mock), [(Kind::BadValue, "part timestamp_granularities /0".into())]);
}

#[tokio::test]
async fn transcriptions_have_text_formats_and_the_plain_one_is_called_txt() {
    let mock = transcription();
    let url = format!("{}/v1/audio/transcriptions", mock.url());
    let answer = post_form(url.clone(), recording().text("response_format", "txt")).await;
    assert_eq!(answer.headers()["content-type"], "text/plain; charset=UTF-8");
    assert_eq!(violations(&mock), []);
    assert_eq!(post_form(url, recording().text("response_format", "text")).await.status(), 400);
    assert_eq!(violations(&mock), [(Kind::BadValue, "part response_format".into())]);
}

#[tokio::test]
async fn transcriptions_stream_their_text() {
    let mock = transcription();
    let answer = post_form(format!("{}/v1/audio/transcriptions", mock.url()), recording().text("stream", "true")).await;
    let all = events(&answer.text().await.unwrap());
    let joined: String = all.iter().filter_map(|e| e["delta"].as_str()).collect();
    assert_eq!(
        (&all.last().unwrap()["type"], all.last().unwrap()["text"].as_str()),
        (&json!("transcript.text.done"), Some(joined.as_str()))
    );
}

#[tokio::test]
async fn speech_is_an_attachment_or_chunks() {
    let mock = localai(&[("post", "/v1/audio/speech")]);
    let whole = post(&mock, "/v1/audio/speech", json!({"input": "안녕"})).await;
    assert!(whole.headers()["content-disposition"].to_str().unwrap().starts_with("attachment"));
    assert!(whole.bytes().await.unwrap().starts_with(b"RIFF"));
    let chunked = post(&mock, "/v1/audio/speech", json!({"input": "안녕", "stream": true})).await;
    assert_eq!(
        (chunked.headers()["content-type"].to_str().unwrap(), chunked.headers().get("content-length")),
        ("audio/wav", None)
    );
}

#[tokio::test]
async fn pictures_come_as_url_or_base64() {
    let mock = localai(&[("post", "/v1/images/generations")]);
    let url = post_json(&mock, "/v1/images/generations", json!({"prompt": "집", "n": 2})).await;
    assert!(url["data"][1]["url"].as_str().unwrap().contains("/generated-images/"));
    let inline =
        post_json(&mock, "/v1/images/generations", json!({"prompt": "집", "response_format": "b64_json"})).await;
    assert!(inline["data"][0]["b64_json"].as_str().unwrap().starts_with("iVBORw0KGgo"));
}

#[tokio::test]
async fn transforms_take_free_parameters_and_name_their_inputs() {
    let field = |name: &str, kind: &str| json!({"in": "formData", "name": name, "type": kind});
    let operation = json!({"consumes": ["multipart/form-data"], "parameters": [field("model", "string"), field("audio", "file"), field("reference", "file")], "responses": {}});
    let mock = serve_localai(json!({"swagger": "2.0", "paths": {"/audio/transform": {"post": operation}}}));
    let form = Form::default().text("model", "vqe").text("params[gain]", "3").text("sample_rate", "0");
    let form = form.file("audio", "a.wav", "audio/wav", b"RIFF").file("reference", "b.wav", "audio/wav", b"RIFF");
    let answer = post_form(format!("{}/audio/transform", mock.url()), form).await;
    assert_eq!(violations(&mock), []);
    for name in ["x-audio-input-url", "x-audio-reference-url", "x-audio-stems"] {
        assert!(answer.headers().contains_key(name), "{name}");
    }
}

/// A 16-bit mono WAV of silence.
fn silence(seconds: u32) -> Vec<u8> {
    let data = vec![0; 16_000 * seconds as usize];
    let mut file = b"RIFF".to_vec();
    file.extend((36 + data.len() as u32).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend(8_000u32.to_le_bytes());
    file.extend(16_000u32.to_le_bytes());
    file.extend(b"\x02\0\x10\0data");
    file.extend((data.len() as u32).to_le_bytes());
    file.extend(data);
    file
}

#[tokio::test]
async fn a_voice_profile_needs_consent_and_a_second_of_sound() {
    let field = |name: &str, kind: &str| json!({"in": "formData", "name": name, "type": kind});
    let parameters = json!([
        field("name", "string"),
        field("transcript", "string"),
        field("consent_confirmed", "boolean"),
        field("audio", "file")
    ]);
    let operation =
        json!({"consumes": ["multipart/form-data", "application/json"], "parameters": parameters, "responses": {}});
    let mock = serve_localai(json!({"swagger": "2.0", "paths": {"/api/voice-profiles": {"post": operation}}}));
    let url = format!("{}/api/voice-profiles", mock.url());
    let form = |consent: &str, seconds| {
        let texts = Form::default().text("name", "지수").text("transcript", "안녕").text("consent_confirmed", consent);
        texts.file("audio", "v.wav", "audio/wav", &silence(seconds))
    };
    assert_eq!(post_form(url.clone(), form("true", 2)).await.status(), 201);
    assert_eq!(violations(&mock), []);
    assert_eq!(post_form(url.clone(), form("false", 2)).await.status(), 400);
    assert_eq!(post_form(url, form("true", 0)).await.status(), 400);
    assert_eq!(mock.violations().len(), 2);
}

#[tokio::test]
async fn a_stream_can_fail_in_its_middle() {
    let mock = localai(&[("post", "/v1/chat/completions")]);
    mock.fault("*", Fault::StreamError, 1);
    let stream = post(&mock, "/v1/chat/completions", json!({"messages": question(), "stream": true}))
        .await
        .text()
        .await
        .unwrap();
    let all = events(&stream);
    assert_eq!((all.len() > 1, &all.last().unwrap()["error"]["code"]), (true, &json!(500)));
}

#[tokio::test]
async fn useful_routes_beside_the_document_exist() {
    let mock = localai(&[]);
    assert_eq!(get(&mock, "/readyz").await, (200, "OK".to_owned()));
    assert_eq!(get_json(&mock, "/swagger/doc.json").await["swagger"], "2.0");
}

#[tokio::test]
async fn a_stream_can_end_in_its_middle() {
    let mock = localai(&[("post", "/v1/chat/completions")]);
    mock.fault("*", Fault::Truncated, 1);
    let answer = post(&mock, "/v1/chat/completions", json!({"messages": question(), "stream": true})).await;
    assert_eq!(answer.headers().get("content-length"), None);
    assert!(answer.bytes().await.is_err());
}
