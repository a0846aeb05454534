use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use toolwright_core::{Code, Envelope, Payload};

use super::RawRequest;
use crate::{
    CallContext, Progress,
    testing::{Request, Server, Setting, answer, json_answer, object},
};

fn get(path: &str) -> RawRequest {
    RawRequest { method: "get".to_owned(), path: path.to_owned(), ..RawRequest::default() }
}

fn with_header(name: &str, value: &str) -> RawRequest {
    RawRequest { headers: BTreeMap::from([(name.to_owned(), value.to_owned())]), ..get("/v1/models") }
}

async fn send(request: &RawRequest) -> (Envelope, Vec<Request>) {
    let server = Server::with(json_answer("{}")).await;
    let setting = Setting::for_server(&server).with(|config| {
        config.base_url.set_path("/base");
        config.api_key = Some("key-12345".into());
    });
    let envelope = setting.upstream().send_raw(request, &[], &CallContext::within(Duration::from_secs(5))).await;
    (envelope, server.requests())
}

#[tokio::test]
async fn a_path_of_the_upstream_is_requested_with_its_key() {
    let query = object(json!({"a": "x y", "b": [1, 2], "c": null}));
    let (envelope, requests) = send(&RawRequest { query, ..get("/v1/models?filter=모") }).await;
    assert!(envelope.ok);
    assert_eq!(requests[0].line, "GET /base/v1/models?filter=%EB%AA%A8&a=x%20y&b=1&b=2 HTTP/1.1");
    assert_eq!(requests[0].header("authorization"), Some("Bearer key-12345"));
}

#[tokio::test]
async fn encoded_characters_stay_as_they_are() {
    let (_, requests) = send(&get("/models/org%2Fm")).await;
    assert_eq!(requests[0].line, "GET /base/models/org%2Fm HTTP/1.1");
}

#[tokio::test]
async fn paths_that_lead_elsewhere_are_refused() {
    for path in [
        "",
        "v1/models",
        "//evil.example/",
        "http://evil.example/",
        "/x://y",
        "/a/../b",
        "/a/./b",
        "/a/%2e%2E/b",
        "/..",
        "/a/.%2e",
        "/a\\..\\b",
        "/a#b",
        "/a\r\nHost: evil",
        "/a\tb",
    ] {
        let (envelope, requests) = send(&get(path)).await;
        assert_eq!(envelope.code(), Some(Code::InvalidArguments), "{path:?}");
        assert_eq!(requests.len(), 0, "{path:?}");
    }
}

#[tokio::test]
async fn methods_are_tokens_in_capitals() {
    let (_, requests) = send(&RawRequest { method: "delete".to_owned(), ..get("/x") }).await;
    assert_eq!(requests[0].line, "DELETE /base/x HTTP/1.1");
    let (_, requests) = send(&RawRequest { method: "purge".to_owned(), ..get("/x") }).await;
    assert_eq!(requests[0].line, "PURGE /base/x HTTP/1.1");
    let (_, requests) = send(&RawRequest { method: "X-A!".to_owned(), ..get("/x") }).await;
    assert_eq!(requests[0].line, "X-A! /base/x HTTP/1.1");
    let long = "M".repeat(65);
    for method in ["CONNECT", "trace", "G ET", "", "GET\r\nX: y", "A/B", "겟", long.as_str()] {
        let (envelope, _) = send(&RawRequest { method: method.to_owned(), ..get("/x") }).await;
        assert_eq!(envelope.code(), Some(Code::InvalidArguments), "{method}");
    }
}

#[tokio::test]
async fn only_listed_headers_may_be_set() {
    let (envelope, requests) = send(&with_header("Accept-Language", "ko")).await;
    assert!(envelope.ok);
    assert_eq!(requests[0].header("accept-language"), Some("ko"));
    for name in [
        "Authorization",
        "aUTHORIZATION",
        "Host",
        "Cookie",
        "X-Forwarded-Host",
        "X-API-Key",
        "Connection",
        " authorization",
    ] {
        let (envelope, requests) = send(&with_header(name, "x")).await;
        assert_eq!(envelope.code(), Some(Code::InvalidArguments), "{name}");
        assert_eq!(requests.len(), 0, "{name}");
    }
}

#[tokio::test]
async fn header_values_cannot_begin_another_header() {
    let (envelope, requests) = send(&with_header("accept", "x\r\nAuthorization: y")).await;
    assert_eq!(envelope.code(), Some(Code::InvalidArguments));
    assert_eq!(requests.len(), 0);
}

#[tokio::test]
async fn a_body_is_json_or_what_its_type_says() {
    let body = |value: Value| RawRequest { method: "POST".to_owned(), body: Some(value), ..get("/x") };
    let (_, requests) = send(&body(json!({"a": null}))).await;
    assert_eq!(requests[0].header("content-type"), Some("application/json"));
    assert_eq!(requests[0].text(), r#"{"a":null}"#);
    let headers = BTreeMap::from([("content-type".to_owned(), "text/plain".to_owned())]);
    let (_, requests) = send(&RawRequest { headers, ..body(json!("안녕")) }).await;
    assert_eq!((requests[0].header("content-type"), requests[0].text().as_str()), (Some("text/plain"), "안녕"));
}

/// The data or text of an answer to a raw request, and its warnings.
async fn answered(kind: &str, body: &str, reveals: bool) -> (Value, Vec<String>) {
    let server = Server::with(answer("200 OK", &[("content-type", kind)], body)).await;
    let setting = Setting::for_server(&server).with(|config| config.reveal_secrets = reveals);
    let context = CallContext::within(Duration::from_secs(5));
    let envelope = setting.upstream().send_raw(&get("/api/settings"), &[], &context).await;
    let value = match envelope.payload {
        Payload::Data(data) => data,
        Payload::Text(text) => text.into(),
        Payload::Events { events, .. } => events.into(),
        other => panic!("{other:?}"),
    };
    (value, envelope.warnings)
}

const SETTINGS: &str = r#"{"api_keys":["S1","S2"],"p2p_token":"S3","openai_api_key":"S4","watchdog":true,
    "nested":{"password":"S5","secret":{"deep":["S6"]}},"hf_token":"","token":null,"max_tokens":7,"token_count":3,
    "env":[{"name":"OPENAI_API_KEY","value":"S7"},{"name":"PATH","value":"/bin"}],
    "body":"{\"api_key\":\"S8\",\"n\":1}","api_key":5,"cookie":false}"#;

#[tokio::test]
async fn members_with_the_name_of_a_secret_are_masked() {
    let (data, warnings) = answered("application/json", SETTINGS, false).await;
    let wanted = json!({
        "api_keys": ["[masked]", "[masked]"], "p2p_token": "[masked]", "openai_api_key": "[masked]", "watchdog": true,
        "nested": {"password": "[masked]", "secret": {"deep": ["[masked]"]}}, "hf_token": "", "token": null,
        "max_tokens": 7, "token_count": 3,
        "env": [{"name": "OPENAI_API_KEY", "value": "[masked]"}, {"name": "PATH", "value": "/bin"}],
        "body": "{\"api_key\":\"[masked]\",\"n\":1}", "api_key": 5, "cookie": false,
    });
    assert_eq!(data, wanted);
    assert_eq!(warnings, ["8 secret values are masked; the server's operator can show them (setting REVEAL_SECRETS)"]);
}

#[tokio::test]
async fn members_with_the_name_of_a_secret_are_shown_where_the_setting_allows() {
    let (data, warnings) = answered("application/json", SETTINGS, true).await;
    assert_eq!(data, serde_json::from_str::<Value>(SETTINGS).unwrap());
    assert_eq!(warnings, [""; 0]);
}

#[tokio::test]
async fn text_and_events_are_masked_too() {
    let (text, warnings) = answered("text/plain", r#"{"api_key":"S"}"#, false).await;
    assert_eq!(text, r#"{"api_key":"[masked]"}"#);
    assert_eq!(warnings, ["1 secret value is masked; the server's operator can show them (setting REVEAL_SECRETS)"]);
    let (events, _) = answered("text/event-stream", "data: {\"token\":\"S\"}\n\ndata: [DONE]\n\n", false).await;
    assert!(events.to_string().contains("[masked]") && !events.to_string().contains("\"S\""), "{events}");
}

#[tokio::test]
async fn pieces_of_text_and_descriptions_of_secrets_are_none() {
    for body in [
        r#"{"logprobs":{"content":[{"token":"Hi","logprob":-0.1,"top_logprobs":[{"token":"Hi","logprob":-0.1}]}]}}"#,
        r#"{"properties":{"api_key":{"type":"string","description":"The key."}},"paths":{"/p2p/token":{"get":{"summary":"s"}}}}"#,
        r#"{"securityDefinitions":{"api_key":{"type":"apiKey","name":"Authorization","in":"header"}}}"#,
        r#"{"usage":{"prompt_tokens":1},"tokens":["a"],"eos_token":"</s>","next_page_token":"p"}"#,
    ] {
        let (data, warnings) = answered("application/json", body, false).await;
        assert_eq!(data.to_string(), body);
        assert_eq!(warnings, [""; 0]);
    }
}

#[tokio::test]
async fn an_error_that_repeats_a_secret_is_masked() {
    let body = r#"{"error":{"message":"bad settings {\"password\":\"S9\"}"},"api_key":"S10"}"#;
    let server = Server::with(answer("400 Bad Request", &[("content-type", "application/json")], body)).await;
    let context = CallContext::within(Duration::from_secs(5));
    let envelope = Setting::for_server(&server).upstream().send_raw(&get("/x"), &[], &context).await;
    let told = Value::Object(envelope.to_json()).to_string();
    assert!(!told.contains("S9") && !told.contains("S10"), "{told}");
    assert!(told.contains("2 secret values are masked"), "{told}");
}

#[tokio::test]
async fn progress_never_shows_a_secret() {
    let body = "data: {\"token\":\"S11\"}\n\n";
    let server = Server::with(answer("200 OK", &[("content-type", "text/event-stream")], body)).await;
    let (sender, mut receiver) = tokio::sync::mpsc::channel(8);
    let context = CallContext { progress: Progress::to(sender), ..CallContext::within(Duration::from_secs(5)) };
    Setting::for_server(&server).upstream().send_raw(&get("/x"), &[], &context).await;
    drop(context);
    let mut shown = String::new();
    while let Some(update) = receiver.recv().await {
        shown.push_str(&update.message);
    }
    assert!(shown.contains("[masked]") && !shown.contains("S11"), "{shown}");
}

#[tokio::test]
async fn the_servers_author_may_set_any_header_that_the_server_does_not_set_itself() {
    let authored = |name: &str| RawRequest { is_authored: true, ..with_header(name, "strict") };
    let (_, requests) = send(&authored("X-Mode")).await;
    assert_eq!(requests[0].header("x-mode"), Some("strict"));
    for name in ["Authorization", "Host", "Cookie"] {
        let (envelope, requests) = send(&authored(name)).await;
        assert_eq!((envelope.code(), requests.len()), (Some(Code::InvalidArguments), 0), "{name}");
    }
}

#[tokio::test]
async fn a_call_keeps_the_headers_that_it_asks_for() {
    let server = Server::with(answer("200 OK", &[("ETag", "\"a\""), ("Server", "x")], "")).await;
    let keep_headers = ["etag".to_owned()].into();
    let context = CallContext { keep_headers, ..CallContext::within(Duration::from_secs(5)) };
    let envelope = Setting::for_server(&server).upstream().send_raw(&get("/x"), &[], &context).await;
    assert_eq!(envelope.headers, [("etag".to_owned(), "\"a\"".to_owned())]);
}
