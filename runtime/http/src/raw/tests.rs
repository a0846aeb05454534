use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use toolwright_core::{Code, Envelope};

use super::RawRequest;
use crate::{
    CallContext,
    testing::{Request, Server, Setting, json_answer, object},
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
async fn methods_are_upper_cased_and_known() {
    let (_, requests) = send(&RawRequest { method: "delete".to_owned(), ..get("/x") }).await;
    assert_eq!(requests[0].line, "DELETE /base/x HTTP/1.1");
    for method in ["CONNECT", "TRACE", "G ET", ""] {
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
