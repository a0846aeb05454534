use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::mpsc,
    time::Instant,
};
use toolwright_core::{Code, HttpBinding, Payload, Risk, ToolSpec};

use super::retry::retry_after;
use crate::{
    CallContext, Progress,
    testing::{GET, POST_JSON, Server, Setting, answer, json_answer, object, tool},
};

const LOADING: &str = r#"{"error":{"code":"model_loading","message":"loading"},"loading":{"model":"m","percent":40}}"#;

fn loading(retry_after: &str) -> Vec<u8> {
    let headers = [("content-type", "application/json"), ("retry-after", retry_after)];
    answer("503 Service Unavailable", &headers, LOADING)
}

fn busy(retry_after: &str) -> Vec<u8> {
    answer("503 Service Unavailable", &[("retry-after", retry_after)], "")
}

/// A row that changes what is there.
fn writing(binding: HttpBinding) -> ToolSpec {
    ToolSpec { risk: Risk::Write, ..tool(binding) }
}

fn within(limit: Duration) -> CallContext {
    CallContext::within(limit)
}

/// A server that takes the request and never answers.
async fn silent() -> Server {
    Server::running(|_, stream| async move {
        tokio::time::sleep(Duration::from_secs(30)).await;
        drop(stream);
    })
    .await
}

#[tokio::test]
async fn a_loading_model_is_waited_for_and_reported() {
    let server = Server::in_turn(vec![loading("0"), loading("0"), json_answer("1")]).await;
    let (sender, mut receiver) = mpsc::channel(8);
    let context = CallContext { progress: Progress::to(sender), ..within(Duration::from_secs(10)) };
    let upstream = Setting::for_server(&server).upstream();
    let envelope = upstream.execute(&tool(POST_JSON), object(json!({"request": {"a": 1}})), &context).await;
    drop(context);
    assert!(envelope.ok, "{envelope:?}");
    let mut updates = Vec::new();
    while let Some(update) = receiver.recv().await {
        updates.push((update.progress, update.message));
    }
    let said = "the model is loading: model m, percent 40";
    assert_eq!(updates, [(1.0, said.to_owned()), (2.0, said.to_owned())]);
    let bodies: Vec<String> = server.requests().iter().map(|request| request.text()).collect();
    assert_eq!(bodies, [r#"{"a":1}"#; 3]);
}

#[tokio::test]
async fn a_loading_model_is_not_waited_for_where_that_is_switched_off() {
    let server = Server::in_turn(vec![loading("0"), json_answer("1")]).await;
    let setting = Setting::for_server(&server).with(|config| config.loading_wait = false);
    assert_eq!(setting.call(&tool(GET), json!({})).await.status_code, Some(503));
    let server = Server::in_turn(vec![loading("0"), json_answer("1")]).await;
    let setting = Setting::for_server(&server).with(|config| config.loading_wait = false);
    let envelope = setting.call(&tool(POST_JSON), json!({})).await;
    assert_eq!(envelope.status_code, Some(503));
    assert!(matches!(envelope.payload, Payload::Data(_)));
    assert_eq!(envelope.headers, [("retry-after".to_owned(), "0".to_owned())]);
    assert_eq!(
        envelope.error.unwrap().message,
        "the upstream answered 503 (Service Unavailable): loading (model m, percent 40); try again now"
    );
}

#[tokio::test]
async fn a_model_that_loads_beyond_the_deadline_is_the_answer() {
    let server = Server::with(loading("60")).await;
    let started = Instant::now();
    let context = within(Duration::from_secs(5));
    let envelope = Setting::for_server(&server).upstream().execute(&tool(GET), object(json!({})), &context).await;
    assert_eq!(envelope.status_code, Some(503));
    assert!(started.elapsed() < Duration::from_secs(2));
    let message = envelope.error.unwrap().message;
    assert!(message.ends_with(": loading (model m, percent 40); try again in 60 s"), "{message}");
}

#[tokio::test]
async fn an_upstream_that_names_a_time_is_quoted() {
    for (status, wanted) in [
        (
            "503 Service Unavailable",
            "the upstream answered 503 (Service Unavailable) without saying why; try again in 90 s",
        ),
        (
            "429 Too Many Requests",
            "the upstream answered 429 (Too Many Requests) without saying why; try again in 90 s",
        ),
        ("500 Internal Server Error", "the upstream answered 500 (Internal Server Error) without saying why"),
    ] {
        let server = Server::with(answer(status, &[("retry-after", "90")], "")).await;
        let envelope = Setting::for_server(&server).call(&tool(GET), json!({})).await;
        assert_eq!(envelope.error.unwrap().message, wanted);
    }
}

#[tokio::test]
async fn a_safe_call_is_tried_again() {
    let server = Server::in_turn(vec![busy("0"), busy("0"), json_answer("1")]).await;
    assert!(Setting::for_server(&server).call(&tool(GET), json!({})).await.ok);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn attempts_are_bounded() {
    let server = Server::with(busy("0")).await;
    let envelope = Setting::for_server(&server).call(&tool(GET), json!({})).await;
    assert_eq!(envelope.status_code, Some(503));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_call_that_may_change_something_is_never_tried_again() {
    let server = Server::with(busy("0")).await;
    assert!(!Setting::for_server(&server).call(&writing(POST_JSON), json!({})).await.ok);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_computation_that_was_turned_away_is_tried_again() {
    let spec = ToolSpec { risk: Risk::Compute, ..tool(POST_JSON) };
    for status in ["503 Service Unavailable", "429 Too Many Requests"] {
        let server = Server::in_turn(vec![answer(status, &[("retry-after", "0")], ""), json_answer("1")]).await;
        assert!(Setting::for_server(&server).call(&spec, json!({"request": 1})).await.ok, "{status}");
        let bodies: Vec<String> = server.requests().iter().map(|request| request.text()).collect();
        assert_eq!(bodies, ["1", "1"]);
    }
}

#[tokio::test]
async fn a_computation_that_may_have_begun_is_not_tried_again() {
    let spec = ToolSpec { risk: Risk::Compute, ..tool(POST_JSON) };
    for first in [
        answer("503 Service Unavailable", &[], ""),
        answer("502 Bad Gateway", &[("retry-after", "0")], ""),
        answer("503 Service Unavailable", &[("retry-after", "31")], ""),
        Vec::new(),
    ] {
        let server = Server::in_turn(vec![first, json_answer("1")]).await;
        assert!(!Setting::for_server(&server).call(&spec, json!({})).await.ok);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_safe_call_survives_a_dropped_connection() {
    let server = Server::in_turn(vec![Vec::new(), json_answer("1")]).await;
    assert!(Setting::for_server(&server).call(&tool(GET), json!({})).await.ok);
}

#[tokio::test]
async fn a_call_that_may_change_something_does_not_outlive_a_dropped_connection() {
    let server = Server::in_turn(vec![Vec::new(), json_answer("1")]).await;
    let envelope = Setting::for_server(&server).call(&tool(POST_JSON), json!({})).await;
    assert_eq!(envelope.code(), Some(Code::UpstreamUnreachable));
    assert_eq!(server.requests().len(), 1);
    let message = envelope.error.unwrap().message;
    assert!(message.starts_with("the upstream at http://127.0.0.1:"), "{message}");
    assert!(message.contains(" dropped the connection before it answered: "), "{message}");
    assert!(message.ends_with("; it may already have been applied: read the state before trying again"), "{message}");
}

#[tokio::test]
async fn a_safe_call_whose_connection_is_always_dropped_may_be_tried_again() {
    let server = Server::with(Vec::new()).await;
    let message = Setting::for_server(&server).call(&tool(GET), json!({})).await.error.unwrap().message;
    assert!(message.ends_with("; it may have crashed or restarted: try again"), "{message}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_may_be_that_of_a_change() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    let server = Server::with(cut).await;
    let message = Setting::for_server(&server).call(&writing(POST_JSON), json!({})).await.error.unwrap().message;
    assert!(message.ends_with("; it may already have been applied: read the state before trying again"), "{message}");
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let headers = |text: &str| HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_str(text).unwrap())]);
    let later = httpdate::fmt_http_date(now + Duration::from_secs(7));
    let earlier = httpdate::fmt_http_date(now - Duration::from_secs(7));
    assert_eq!(retry_after(&headers("120"), now), Some(Duration::from_secs(120)));
    assert_eq!(retry_after(&headers(&later), now), Some(Duration::from_secs(7)));
    assert_eq!(retry_after(&headers(&earlier), now), Some(Duration::ZERO));
    assert_eq!(retry_after(&headers("soon"), now), None);
    assert_eq!(retry_after(&HeaderMap::new(), now), None);
}

#[tokio::test]
async fn the_deadline_ends_a_call_and_says_what_may_have_happened() {
    let server = silent().await;
    let upstream = Setting::for_server(&server).upstream();
    let context = within(Duration::from_millis(200));
    let envelope = upstream.execute(&tool(POST_JSON), object(json!({})), &context).await;
    let error = envelope.error.unwrap();
    assert_eq!(error.code, Code::Deadline);
    assert!(error.message.ends_with("it may already have been applied: read the state before trying again"));
    let envelope = upstream.execute(&tool(GET), object(json!({})), &within(Duration::from_millis(200))).await;
    assert!(envelope.error.unwrap().message.ends_with("ask for less, or raise the request timeout"));
}

#[tokio::test]
async fn the_deadline_holds_while_the_answer_comes() {
    let server = Server::running(|_, mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nx").await;
        tokio::time::sleep(Duration::from_secs(30)).await;
    })
    .await;
    let context = within(Duration::from_millis(300));
    let envelope = Setting::for_server(&server).upstream().execute(&tool(GET), object(json!({})), &context).await;
    assert_eq!(envelope.code(), Some(Code::Deadline));
    assert_eq!(envelope.status_code, Some(200));
}

#[tokio::test]
async fn cancelling_drops_the_connection() {
    let (gone, mut told) = mpsc::channel(1);
    let server = Server::running(move |_, mut stream| {
        let gone = gone.clone();
        async move {
            // Nothing more is sent, so that reading ends only when the other side closes.
            if matches!(stream.read(&mut [0]).await, Ok(0) | Err(_)) {
                let _ = gone.send(()).await;
            }
        }
    })
    .await;
    let context = within(Duration::from_secs(10));
    let cancel = context.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(150)).await;
        cancel.cancel();
    });
    let envelope = Setting::for_server(&server).upstream().execute(&tool(GET), object(json!({})), &context).await;
    assert_eq!(envelope.code(), Some(Code::Cancelled));
    assert!(tokio::time::timeout(Duration::from_secs(5), told.recv()).await.is_ok());
}

#[tokio::test]
async fn an_upstream_that_is_not_there_is_named_without_secrets() {
    let server = Server::with("").await;
    let setting = Setting::for_server(&server).with(|config| {
        // Port 1 of loopback has no listener.
        config.base_url = "http://127.0.0.1:1/base".parse().unwrap();
        config.api_key = Some("key-12345".into());
    });
    let envelope = setting.call(&tool(GET), json!({})).await;
    let error = envelope.error.unwrap();
    assert_eq!(error.code, Code::UpstreamUnreachable);
    assert!(error.message.starts_with("cannot reach the upstream at http://127.0.0.1:1: "), "{}", error.message);
    assert!(error.message.ends_with("check that it runs there and that the base URL is right"));
    assert!(!error.message.contains("key-12345"));
    assert_eq!(envelope.status_code, None);
}

#[tokio::test]
async fn a_host_that_does_not_exist_is_named_as_such() {
    let server = Server::with("").await;
    let setting = Setting::for_server(&server).with(|config| config.base_url = "http://host.invalid".parse().unwrap());
    let message = setting.call(&tool(GET), json!({})).await.error.unwrap().message;
    assert!(message.ends_with("check the host name in the base URL"), "{message}");
}

#[tokio::test]
async fn redirects_on_the_origin_are_followed_with_the_key() {
    let redirect = answer("302 Found", &[("location", "/moved")], "");
    let server = Server::in_turn(vec![redirect, json_answer("1")]).await;
    let setting = Setting::for_server(&server).with(|config| config.api_key = Some("key-12345".into()));
    assert!(setting.call(&tool(POST_JSON), json!({"request": 1})).await.ok);
    let second = &server.requests()[1];
    assert_eq!(second.line, "GET /moved HTTP/1.1");
    assert_eq!(second.header("authorization"), Some("Bearer key-12345"));
    assert_eq!((second.body.len(), second.header("content-type")), (0, None));
}

#[tokio::test]
async fn a_redirect_that_keeps_the_method_repeats_the_body() {
    let redirect = answer("308 Permanent Redirect", &[("location", "/moved")], "");
    let server = Server::in_turn(vec![redirect, json_answer("1")]).await;
    assert!(Setting::for_server(&server).call(&tool(POST_JSON), json!({"request": 1})).await.ok);
    let second = &server.requests()[1];
    assert_eq!((second.line.as_str(), second.text().as_str()), ("POST /moved HTTP/1.1", "1"));
}

#[tokio::test]
async fn redirects_to_another_origin_are_not_followed() {
    let elsewhere = Server::with(json_answer("1")).await;
    let location = format!("{}steal", elsewhere.url);
    let server = Server::with(answer("307 Temporary Redirect", &[("location", &location)], "")).await;
    let setting = Setting::for_server(&server).with(|config| config.api_key = Some("key-12345".into()));
    let envelope = setting.call(&tool(GET), json!({})).await;
    assert!(!envelope.ok);
    assert_eq!(envelope.status_code, Some(307));
    assert!(envelope.error.unwrap().message.contains("another origin"));
    assert_eq!(elsewhere.requests().len(), 0);
}

#[tokio::test]
async fn redirects_are_bounded() {
    let server = Server::with(answer("302 Found", &[("location", "/again")], "")).await;
    let envelope = Setting::for_server(&server).call(&tool(GET), json!({})).await;
    assert_eq!(envelope.error.unwrap().message, "the upstream redirects too often");
}

#[tokio::test]
async fn a_proxy_is_never_used_for_loopback() {
    let proxy = Server::with(answer("500 Internal Server Error", &[], "")).await;
    let server = Server::with(json_answer("1")).await;
    let setting = Setting::for_server(&server).with(|config| config.https_proxy = Some(proxy.url.as_str().into()));
    assert!(setting.call(&tool(GET), json!({})).await.ok);
    let secure = setting.with(|config| {
        let port = config.base_url.port().unwrap();
        config.base_url = format!("https://localhost:{port}").parse().unwrap();
        // The server speaks no TLS and waits for more.
        config.connect_timeout = Duration::from_millis(300);
    });
    secure.call(&tool(GET), json!({})).await;
    assert_eq!(proxy.requests().len(), 0);
}

#[tokio::test]
async fn a_proxy_is_used_for_other_secure_upstreams() {
    let proxy = Server::with(answer("502 Bad Gateway", &[], "")).await;
    let setting = Setting::for_server(&proxy).with(|config| {
        config.base_url = "https://upstream.example".parse().unwrap();
        config.https_proxy = Some(proxy.url.as_str().into());
    });
    assert_eq!(setting.call(&tool(GET), json!({})).await.code(), Some(Code::UpstreamUnreachable));
    assert_eq!(proxy.requests()[0].line, "CONNECT upstream.example:443 HTTP/1.1");
}

#[tokio::test]
async fn a_refusal_in_the_middle_of_an_upload_is_the_answer() {
    let server =
        Server::with_head_only(answer("413 Payload Too Large", &[("content-type", "text/plain")], "15 MB")).await;
    let arguments = json!({"request": "x".repeat(20_000_000)});
    let envelope = Setting::for_server(&server).call(&tool(POST_JSON), arguments).await;
    assert_eq!(envelope.status_code, Some(413), "{envelope:?}");
}
