//! What a caller sees when the upstream misbehaves: always a result of the one shape, never a protocol error.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolwright_e2e::{Session, Stage, structured};
use toolwright_mock::{Fault, Outcome};

async fn stage(environment: &[(&str, &str)]) -> (Stage, Session) {
    let stage = Stage::set().unwrap();
    let session = stage.session(environment).await.unwrap();
    (stage, session)
}

/// The answer of `list_models` (or of a streamed chat) while the upstream has that fault.
async fn answer_to(fault: Fault) -> Value {
    let (stage, session) = stage(&[]).await;
    stage.mock.fault("GET /v1/models", fault, 20);
    let result = session.call("list_models", json!({})).await.unwrap();
    let answer = structured(&result);
    assert_eq!(result.is_error.unwrap_or(false), answer["ok"] == false, "isError is exactly not ok: {answer}");
    answer
}

fn chat(stream: bool) -> Value {
    json!({"request": {"model": "m", "stream": stream, "messages": [{"role": "user", "content": "안녕"}]}})
}

fn failure(answer: &Value) -> (bool, &str) {
    assert!(answer["error"].as_str().is_some_and(|error| !error.is_empty()), "{answer}");
    (answer["ok"] == true, answer["code"].as_str().unwrap_or_default())
}

#[tokio::test]
async fn an_error_status_is_a_result_with_its_body() {
    let answer = answer_to(Fault::Status {
        code: 404,
        body: Some(r#"{"error":{"message":"no such model"}}"#.into()),
        retry_after: None,
    })
    .await;
    assert_eq!(failure(&answer), (false, "upstream_error"));
    assert_eq!(answer["status_code"], 404);
    assert!(answer["error"].as_str().unwrap().contains("no such model"), "{answer}");
}

#[tokio::test]
async fn no_content_is_success() {
    let (_stage, session) = stage(&[]).await;
    let result = session.execute("clear_request_traces", json!({})).await.unwrap();
    let answer = structured(&result);
    assert_eq!((&answer["ok"], &answer["status_code"]), (&json!(true), &json!(204)));
    assert!(answer.get("data").is_none() && answer.get("text").is_none(), "{answer}");
}

#[tokio::test]
async fn an_empty_body_is_success_without_data() {
    let answer = answer_to(Fault::EmptyBody).await;
    assert_eq!(answer["ok"], true);
    assert!(answer.get("data").is_none(), "{answer}");
}

#[tokio::test]
async fn a_wrong_type_is_a_warning() {
    let answer = answer_to(Fault::WrongType).await;
    assert_eq!(answer["ok"], true);
    assert!(answer.get("data").is_some(), "{answer}");
    assert!(answer["warnings"][0].as_str().is_some_and(|warning| warning.contains("declares object")), "{answer}");
}

#[tokio::test]
async fn null_is_data() {
    let answer = answer_to(Fault::NullBody).await;
    assert_eq!((&answer["ok"], answer.get("data")), (&json!(true), Some(&Value::Null)));
}

#[tokio::test]
async fn a_busy_upstream_is_asked_again_where_that_is_safe() {
    let (stage, session) = stage(&[]).await;
    stage.mock.fault("GET /v1/models", Fault::Status { code: 503, body: None, retry_after: Some(0) }, 1);
    let answer = structured(&session.call("list_models", json!({})).await.unwrap());
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(stage.mock.requests().len(), 2);
}

#[tokio::test]
async fn a_write_is_never_sent_twice() {
    let (stage, session) = stage(&[]).await;
    stage.mock.fault("*", Fault::DroppedSocket, 1);
    let result = session.execute("delete_model", json!({"name": "m"})).await.unwrap();
    let answer = structured(&result);
    assert_eq!(failure(&answer), (false, "upstream_unreachable"));
    assert!(answer["error"].as_str().unwrap().contains("may already have been applied"), "{answer}");
    assert_eq!(stage.mock.requests().len(), 1);
}

#[tokio::test]
async fn a_computation_that_was_turned_away_is_asked_again() {
    let (stage, session) = stage(&[]).await;
    stage.mock.fault("*", Fault::Status { code: 503, body: None, retry_after: Some(0) }, 1);
    let answer = structured(&session.call("chat", chat(false)).await.unwrap());
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(stage.mock.requests().len(), 2);
}

#[tokio::test]
async fn a_loading_model_is_waited_for_and_reported() {
    let (stage, session) = stage(&[]).await;
    stage.mock.fault("*", Fault::ModelLoading { retry_after: 1 }, 2);
    let answer = structured(&session.call("chat", chat(false)).await.unwrap());
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(stage.mock.requests().len(), 3);
    assert!(!session.progress().is_empty(), "waiting is reported as progress");
}

#[tokio::test]
async fn waiting_for_a_model_can_be_turned_off() {
    let (stage, session) = stage(&[("LOCALAI_MCP_LOADING_WAIT", "false")]).await;
    stage.mock.fault("*", Fault::ModelLoading { retry_after: 1 }, 1);
    let answer = structured(&session.call("chat", chat(false)).await.unwrap());
    assert_eq!(failure(&answer), (false, "upstream_error"));
    assert_eq!(answer["headers"]["retry-after"], "1");
    assert!(answer["error"].as_str().unwrap().ends_with("try again in 1 s"), "{answer}");
}

#[tokio::test]
async fn a_slow_upstream_meets_the_deadline() {
    let (stage, session) = stage(&[("LOCALAI_REQUEST_TIMEOUT", "1")]).await;
    stage.mock.fault("*", Fault::Delay(30_000), 1);
    let started = Instant::now();
    let answer = structured(&session.call("chat", chat(false)).await.unwrap());
    assert_eq!(failure(&answer), (false, "deadline"));
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn a_drip_does_not_extend_the_deadline() {
    let (stage, session) = stage(&[("LOCALAI_REQUEST_TIMEOUT", "1")]).await;
    stage.mock.fault("*", Fault::SlowDrip { bytes: 1, every_ms: 200 }, 1);
    let answer = structured(&session.call("list_models", json!({})).await.unwrap());
    assert_eq!(failure(&answer), (false, "deadline"));
}

#[tokio::test]
async fn a_cut_answer_is_a_failure() {
    let answer = answer_to(Fault::Truncated).await;
    assert_eq!(failure(&answer), (false, "upstream_unreachable"));
}

#[tokio::test]
async fn a_dropped_connection_is_a_failure_that_says_what_to_check() {
    let answer = answer_to(Fault::DroppedSocket).await;
    assert_eq!(failure(&answer), (false, "upstream_unreachable"));
}

#[tokio::test]
async fn an_answer_beyond_the_limit_is_refused_while_it_is_read() {
    let (stage, session) = stage(&[("LOCALAI_MCP_MAX_RESPONSE_BYTES", "100000")]).await;
    stage.mock.fault("*", Fault::Oversized(50_000_000), 1);
    let answer = structured(&session.call("list_models", json!({})).await.unwrap());
    assert_eq!(failure(&answer), (false, "too_large"));
    assert!(answer["error"].as_str().unwrap().contains("100000"), "{answer}");
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(stage.mock.requests()[0].outcome, Outcome::Aborted, "the rest is not read");
}

#[tokio::test]
async fn a_garbled_content_type_keeps_the_answer() {
    let answer = answer_to(Fault::GarbageContentType).await;
    assert_eq!(answer["ok"], true, "{answer}");
}

#[tokio::test]
async fn a_broken_stream_keeps_what_arrived() {
    let (stage, session) = stage(&[]).await;
    stage.mock.fault("*", Fault::MalformedSse, 1);
    let answer = structured(&session.call("chat", chat(true)).await.unwrap());
    assert!(answer.get("events").is_some() || answer.get("error").is_some(), "{answer}");
}

#[tokio::test]
async fn an_error_inside_a_stream_is_a_failure() {
    let (stage, session) = stage(&[]).await;
    stage.mock.fault("*", Fault::StreamError, 1);
    let answer = structured(&session.call("chat", chat(true)).await.unwrap());
    assert_eq!(failure(&answer), (false, "upstream_error"));
}

#[tokio::test]
async fn a_redirect_elsewhere_is_not_followed() {
    let answer = answer_to(Fault::Redirect("http://127.0.0.2:9/secret".into())).await;
    assert_eq!(answer["ok"], false, "{answer}");
}

#[tokio::test]
async fn a_compressed_answer_is_read() {
    let answer = answer_to(Fault::Gzip).await;
    assert_eq!(answer["ok"], true);
    assert!(answer["data"]["data"].is_array(), "{answer}");
}

#[tokio::test]
async fn an_upstream_that_is_down_never_stops_the_start() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[("LOCALAI_BASE_URL", "http://127.0.0.1:9")]).await.unwrap();
    let answer = structured(&session.call("list_models", json!({})).await.unwrap());
    assert_eq!(failure(&answer), (false, "upstream_unreachable"));
}
