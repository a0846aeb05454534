use serde_json::json;
use toolwright_core::{Code, Payload};

use crate::testing::{GET, POST_JSON, Server, Setting, answer, json_answer, tool};

#[tokio::test]
async fn json_is_data() {
    let server = Server::with(json_answer(r#"{"id":12345678901234567890123,"name":"안녕"}"#)).await;
    let envelope = Setting::for_server(&server).call(&tool(GET), json!({})).await;
    assert!(envelope.ok, "{envelope:?}");
    assert_eq!(envelope.status_code, Some(200));
    assert_eq!(envelope.content_type.as_deref(), Some("application/json"));
    let Payload::Data(data) = envelope.payload else { panic!("{:?}", envelope.payload) };
    assert_eq!(data.to_string(), r#"{"id":12345678901234567890123,"name":"안녕"}"#);
}

#[tokio::test]
async fn a_body_is_sent_as_json_with_explicit_nulls_and_every_digit() {
    let server = Server::with(json_answer("{}")).await;
    let request = serde_json::from_str(r#"{"request":{"a":null,"n":9007199254740993,"t":"모델"}}"#).unwrap();
    Setting::for_server(&server).call(&tool(POST_JSON), request).await;
    let seen = server.only_request();
    assert_eq!(seen.line, "POST /thing HTTP/1.1");
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.text(), r#"{"a":null,"n":9007199254740993,"t":"모델"}"#);
}

#[tokio::test]
async fn an_absent_body_is_not_sent() {
    let server = Server::with(json_answer("{}")).await;
    Setting::for_server(&server).call(&tool(POST_JSON), json!({})).await;
    let seen = server.only_request();
    assert_eq!(seen.header("content-type"), None);
    assert_eq!(seen.body, b"");
}

#[tokio::test]
async fn no_content_is_success_whatever_type_it_claims() {
    let server =
        Server::with("HTTP/1.1 204 No Content\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n").await;
    let envelope = Setting::for_server(&server).call(&tool(GET), json!({})).await;
    assert!(envelope.ok);
    assert!(matches!(envelope.payload, Payload::Empty));
}

#[tokio::test]
async fn an_error_status_is_a_failure_with_its_body_and_one_sentence() {
    let body = r#"{"error":{"message":"model not found","code":404}}"#;
    let server = Server::with(answer("404 Not Found", &[("content-type", "application/json")], body)).await;
    let envelope = Setting::for_server(&server).call(&tool(GET), json!({})).await;
    assert!(!envelope.ok);
    let error = envelope.error.unwrap();
    assert_eq!(error.code, Code::UpstreamError);
    assert_eq!(error.message, "the upstream answered 404 (Not Found): model not found");
    assert!(matches!(envelope.payload, Payload::Data(_)));
}
