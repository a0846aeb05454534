//! Every way in which the mock misbehaves.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod client;

use client::{client, serve, swagger};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use toolwright_mock::{Fault, Mock, Outcome};

fn object_upstream() -> Mock {
    serve(swagger(
        "/a",
        "get",
        json!({"operationId": "readA", "responses": {"200": {"schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}}}),
    ))
}

/// The status, headers and body of an answer under a fault; the body is an error where the connection was cut.
struct Met {
    status: u16,
    headers: reqwest::header::HeaderMap,
    body: Result<Vec<u8>, reqwest::Error>,
}

impl Met {
    fn text(self) -> String {
        String::from_utf8(self.body.unwrap()).unwrap()
    }
}

async fn met(fault: Fault) -> Met {
    let mock = object_upstream();
    mock.fault("GET /a", fault, 1);
    let answer = client().get(format!("{}/a", mock.url())).send().await.unwrap();
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    Met { status, headers, body: answer.bytes().await.map(|bytes| bytes.to_vec()) }
}

#[tokio::test]
async fn without_a_fault_the_sample_is_answered() {
    let mock = object_upstream();
    assert_eq!(client().get(format!("{}/a", mock.url())).send().await.unwrap().text().await.unwrap(), r#"{"n":1}"#);
}

#[tokio::test]
async fn a_fault_is_used_up_and_reached_by_every_name() {
    let mock = object_upstream();
    for name in ["*", "GET /a", "/a", "readA"] {
        mock.fault(name, Fault::Status { code: 500, body: None, retry_after: None }, 1);
        let status = |mock: &Mock| client().get(format!("{}/a", mock.url())).send();
        assert_eq!(status(&mock).await.unwrap().status(), 500, "{name}");
        assert_eq!(status(&mock).await.unwrap().status(), 200, "{name}");
    }
}

#[tokio::test]
async fn delay_answers_later() {
    let start = Instant::now();
    assert_eq!(met(Fault::Delay(80)).await.status, 200);
    assert!(start.elapsed() >= Duration::from_millis(80));
}

#[tokio::test]
async fn status_carries_body_and_retry_after() {
    let answer = met(Fault::Status { code: 429, body: Some("later".into()), retry_after: Some(2) }).await;
    assert_eq!((answer.status, answer.headers["retry-after"].to_str().unwrap()), (429, "2"));
    assert_eq!(answer.text(), "later");
}

#[tokio::test]
async fn bodies_can_be_empty_null_or_of_another_type() {
    assert_eq!(met(Fault::EmptyBody).await.text(), "");
    assert_eq!(met(Fault::NullBody).await.text(), "null");
    assert_eq!(met(Fault::WrongType).await.text(), r#"["unexpected"]"#);
}

#[tokio::test]
async fn truncated_sends_less_than_it_declares() {
    let answer = met(Fault::Truncated).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-length"], "1007");
    assert!(answer.body.is_err());
}

#[tokio::test]
async fn a_dropped_socket_gives_no_answer() {
    let mock = object_upstream();
    mock.fault("*", Fault::DroppedSocket, 1);
    assert!(client().get(format!("{}/a", mock.url())).send().await.is_err());
    assert_eq!(mock.requests()[0].outcome, Outcome::Aborted);
}

#[tokio::test]
async fn malformed_sse_ends_without_a_last_event() {
    let answer = met(Fault::MalformedSse).await;
    assert_eq!(answer.headers["content-type"], "text/event-stream");
    assert!(answer.body.unwrap().ends_with(b"\"ended\"}"));
}

#[tokio::test]
async fn oversized_keeps_the_media_type_and_is_valid_json() {
    let answer = met(Fault::Oversized(100_000)).await;
    assert_eq!(answer.headers["content-type"], "application/json");
    let text: Value = serde_json::from_slice(&answer.body.unwrap()).unwrap();
    assert_eq!(text.as_str().unwrap().len(), 100_000);
}

#[tokio::test]
async fn slow_drip_sends_everything_in_the_end() {
    let start = Instant::now();
    assert_eq!(met(Fault::SlowDrip { bytes: 2, every_ms: 20 }).await.text(), r#"{"n":1}"#);
    assert!(start.elapsed() >= Duration::from_millis(60));
}

#[tokio::test]
async fn content_types_can_be_garbage() {
    assert_eq!(met(Fault::GarbageContentType).await.headers["content-type"], "??; not a media type / at all");
}

#[tokio::test]
async fn a_loading_model_says_so_and_then_answers() {
    let mock = object_upstream();
    mock.fault("*", Fault::ModelLoading { retry_after: 1 }, 2);
    let mut codes = Vec::new();
    for _ in 0..3 {
        let answer = client().get(format!("{}/a", mock.url())).send().await.unwrap();
        codes.push(answer.status().as_u16());
        if answer.status() == 503 {
            assert_eq!(answer.headers()["retry-after"], "1");
            let body: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
            assert_eq!((&body["error"]["code"], &body["loading"]["progress"]), (&json!("model_loading"), &json!(42.0)));
        }
    }
    assert_eq!(codes, [503, 503, 200]);
}

#[tokio::test]
async fn redirects_go_where_they_are_told() {
    let answer = met(Fault::Redirect("http://169.254.169.254/".into())).await;
    assert_eq!((answer.status, answer.headers["location"].to_str().unwrap()), (307, "http://169.254.169.254/"));
}

#[tokio::test]
async fn gzip_is_declared_and_decodable() {
    assert_eq!(met(Fault::Gzip).await.text(), r#"{"n":1}"#);
}

#[tokio::test]
async fn a_request_may_ask_for_its_fault_by_header() {
    let mock = object_upstream();
    let answer = client().get(format!("{}/a", mock.url())).header("x-mock-fault", "status:418").send().await.unwrap();
    assert_eq!(answer.status(), 418);
}

#[tokio::test]
async fn a_fault_that_does_not_exist_is_refused_with_those_that_do() {
    let mock = object_upstream();
    let answer = client().get(format!("{}/a", mock.url())).header("x-mock-fault", "stauts:418").send().await.unwrap();
    assert_eq!(answer.status(), 400);
    let text = answer.text().await.unwrap();
    assert!(text.contains("stauts:418") && text.contains("status:CODE") && text.contains("no_close"), "{text}");
}

#[tokio::test]
async fn planned_faults_take_the_words_of_the_header() {
    let mock = object_upstream();
    let plan = |body: &'static str| {
        let request = client().post(format!("{}/__mock/faults", mock.url()));
        request.header("content-type", "application/json").body(body).send()
    };
    assert_eq!(plan(r#"{"operation": "GET /a", "fault": "status:418"}"#).await.unwrap().status(), 204);
    let answer = client().get(format!("{}/a", mock.url())).send().await.unwrap();
    assert_eq!(answer.status(), 418);
    assert_eq!(plan(r#"{"fault": "nonsense"}"#).await.unwrap().status(), 400);
}
