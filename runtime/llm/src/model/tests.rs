use std::sync::Mutex;

use serde_json::json;
use toolwright_http::Progress;

use super::*;
use crate::{
    request::Message,
    testing::{Scripted, Server, Step, chunk, context, done, event_stream, head, json_answer, said, write},
};

fn question() -> Request {
    Request { messages: vec![Message::user("Hi")], ..Request::default() }
}

async fn ask(server: &Server, settings: Value) -> Result<Answer, ModelError> {
    server.model("m", settings).complete(&question(), &context()).await
}

fn streaming(text: &str) -> Vec<Step> {
    vec![event_stream(), write(text)]
}

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

#[tokio::test]
async fn an_answer_is_streamed_and_put_together() {
    let server = Server::playing(vec![vec![
        event_stream(),
        write(": keep-alive\n\n"),
        write(&chunk(json!({"content": "Good "}))),
        Step::Pause(milliseconds(20)),
        write(&(chunk(json!({"content": "day"})) + &done("stop"))),
    ]])
    .await;
    let answer = ask(&server, json!({})).await.unwrap();
    assert_eq!(answer.text, "Good day");
    let asked = &server.asked()[0];
    assert!(asked.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", asked.head);
    assert!(asked.head.contains("authorization: Bearer key-1\r\n"));
    assert_eq!(asked.body["stream"], true);
    assert_eq!(asked.body["stream_options"], json!({"include_usage": true}));
}

#[tokio::test]
async fn every_dialect_finds_its_way() {
    let anthropic = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Hi\"}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
    );
    let server = Server::playing(vec![streaming(anthropic)]).await;
    let model = server.model("claude-x", json!({}));
    assert_eq!(model.complete(&question(), &context()).await.unwrap().text, "Hi");
    let head = &server.asked()[0].head;
    assert!(head.starts_with("POST /v1/messages ") && head.contains("anthropic-version: 2023-06-01"), "{head}");

    let line = "{\"message\":{\"content\":\"Hi\"},\"done\":true,\"done_reason\":\"stop\"}\n";
    let lines = vec![self::head("200 OK", "content-type: application/x-ndjson\r\n"), write(line)];
    let server = Server::playing(vec![lines]).await;
    let model = server.model("m", json!({"models": {"m": {"dialect": "ollama"}}}));
    assert_eq!(model.complete(&question(), &context()).await.unwrap().text, "Hi");
    assert!(server.asked()[0].head.starts_with("POST /api/chat "));
}

#[tokio::test]
async fn keep_alives_do_not_extend_the_time_for_an_answer() {
    let server = Server::playing(vec![vec![
        event_stream(),
        write(&chunk(json!({"content": "So"}))),
        Step::KeepAlive(milliseconds(20)),
    ]])
    .await;
    let model = server.model("m", json!({"response_timeout": 0.3})).with_retry(RetryPolicy::never());
    let started = Instant::now();
    let error = model.complete(&question(), &context()).await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(3));
    assert_eq!(error.to_string(), "the model \"m\" did not finish its answer within 0.3 s (llm.response_timeout)");
    assert_eq!(error.partial(), "So");
    assert!(error.transient().is_some(), "another try may help");
}

#[tokio::test]
async fn an_error_within_a_stream_is_one_and_keeps_what_had_come() {
    let text =
        chunk(json!({"content": "So"})) + "data: {\"error\":{\"message\":\"out of memory\"}}\n\n" + &done("stop");
    let server = Server::playing(vec![streaming(&text)]).await;
    let error = ask(&server, json!({})).await.unwrap_err();
    assert!(error.to_string().ends_with("broke the answer off with an error: out of memory"), "{error}");
    assert_eq!((error.partial(), server.asked().len()), ("So", 1));
}

#[tokio::test]
async fn a_stream_that_is_cut_is_asked_for_again_word_for_word() {
    let server = Server::playing(vec![streaming(&chunk(json!({"content": "So"}))), streaming(&said("Hi"))]).await;
    assert_eq!(ask(&server, json!({})).await.unwrap().text, "Hi");
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].body, asked[1].body);
}

#[tokio::test]
async fn the_last_error_of_all_attempts_is_returned_as_it_is() {
    let refused = |what: &str| json_answer("503 Service Unavailable", "", &json!({"error": {"message": what}}));
    let server = Server::playing(vec![refused("one"), refused("two"), refused("three")]).await;
    let error = ask(&server, json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "the upstream of the model \"m\" answered 503: three");
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn what_cannot_pass_is_not_asked_again() {
    let body = json!({"error": {"message": "too long", "type": "exceed_context_size_error"}});
    let server = Server::playing(vec![json_answer("400 Bad Request", "", &body)]).await;
    let error = ask(&server, json!({})).await.unwrap_err();
    assert_eq!(server.asked().len(), 1);
    let ModelError::Refused(refused) = error else { panic!("{error}") };
    assert_eq!((refused.status, refused.kind.as_deref()), (400, Some("exceed_context_size_error")));
}

#[tokio::test]
async fn a_refused_key_is_not_repeated_and_its_name_is_told() {
    let body = json!({"error": {"message": "Incorrect key key-1", "code": "key-1"}});
    let server = Server::playing(vec![json_answer("401 Unauthorized", "", &body)]).await;
    let error = ask(&server, json!({})).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("key-1"), "{error:?}");
    assert!(error.to_string().ends_with("Incorrect key [secret]; check the secret \"llm_api_key\""), "{error}");
}

#[tokio::test]
async fn a_gateway_that_counts_no_tokens_is_asked_without_from_then_on() {
    let refusal = json_answer("400 Bad Request", "", &json!({"error": {"message": "unknown field stream_options"}}));
    let server = Server::playing(vec![refusal, streaming(&said("a")), streaming(&said("b"))]).await;
    let model = server.model("m", json!({}));
    assert_eq!(model.complete(&question(), &context()).await.unwrap().text, "a");
    assert_eq!(model.complete(&question(), &context()).await.unwrap().text, "b");
    let asked: Vec<bool> = server.asked().iter().map(|asked| asked.body.get("stream_options").is_some()).collect();
    assert_eq!(asked, [true, false, false]);
}

#[tokio::test]
async fn tokens_are_not_counted_where_the_setting_says_so() {
    let server = Server::playing(vec![streaming(&said("a"))]).await;
    ask(&server, json!({"stream_usage": false})).await.unwrap();
    assert_eq!(server.asked()[0].body.get("stream_options"), None);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = Server::playing(vec![vec![head("302 Found", "location: http://elsewhere.test/\r\n")]]).await;
    let error = ask(&server, json!({})).await.unwrap_err();
    assert!(error.to_string().contains("redirects are not followed"), "{error}");
}

#[tokio::test]
async fn a_web_page_is_no_answer_that_was_cut_and_is_not_asked_for_again() {
    let page = vec![head("200 OK", "content-type: text/html; charset=utf-8\r\n"), write("<html>Welcome</html>")];
    let server = Server::playing(vec![page]).await;
    let error = ask(&server, json!({})).await.unwrap_err();
    assert!(error.to_string().contains("it is a web page; check llm.base_url"), "{error}");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn cancelling_closes_the_connection() {
    let server = Server::playing(vec![vec![event_stream(), Step::KeepAlive(milliseconds(10))]]).await;
    let context = context();
    let cancel = context.cancel.clone();
    tokio::spawn(async move {
        sleep(milliseconds(60)).await;
        cancel.cancel();
    });
    let error = server.model("m", json!({})).complete(&question(), &context).await.unwrap_err();
    assert_eq!(error, ModelError::Cancelled { model: "m".into() });
    for _ in 0..200 {
        if *server.left.lock().unwrap() == 1 {
            return;
        }
        sleep(milliseconds(10)).await;
    }
    panic!("the connection stayed open");
}

#[tokio::test]
async fn the_deadline_of_the_call_ends_it_whatever_the_time_for_an_answer() {
    let server = Server::playing(vec![vec![event_stream(), Step::KeepAlive(milliseconds(10))]]).await;
    let context = CallContext::within(milliseconds(100));
    let error = server.model("m", json!({})).complete(&question(), &context).await.unwrap_err();
    assert_eq!(error, ModelError::Deadline { model: "m".into() });
}

#[tokio::test]
async fn nobody_waits_for_a_retry_that_comes_after_the_deadline() {
    let answer = json_answer("429 Too Many Requests", "retry-after: 60\r\n", &json!({}));
    let server = Server::playing(vec![answer]).await;
    let model = server.model("m", json!({})).with_retry(RetryPolicy::default());
    let started = Instant::now();
    let error = model.complete(&question(), &context()).await.unwrap_err();
    assert_eq!(error.status(), Some(429));
    assert!(error.to_string().ends_with("; try again in 60 s"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(5));
    let total = RetryPolicy::default().within(Duration::from_secs(1));
    let model = server.model("m", json!({})).with_retry(total);
    assert_eq!(model.complete(&question(), &context()).await.unwrap_err().status(), Some(429));
}

#[tokio::test(start_paused = true)]
async fn whoever_is_told_of_retries_learns_attempt_pause_and_error() {
    let upstream = Scripted::answering([(500, "{}".into()), (529, "{}".into()), (200, said("Hi"))]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let events = told.clone();
    let on_retry = OnRetry::new(move |event: &RetryEvent<'_>| {
        assert!(event.delay >= Duration::from_secs(2));
        events.lock().unwrap().push((event.attempt, event.error.status()));
    });
    let model = upstream.model("m").with_on_retry(on_retry);
    assert_eq!(model.complete(&question(), &context()).await.unwrap().text, "Hi");
    assert_eq!(*told.lock().unwrap(), [(1, Some(500)), (2, Some(529))]);
}

#[tokio::test]
async fn an_effort_that_the_model_does_not_take_is_refused_before_anything_is_sent() {
    let upstream = Scripted::streaming([]);
    let request = Request { reasoning_effort: Some(Effort::High), ..question() };
    let model = upstream.model("claude-haiku-4-5-20251001");
    let error = model.complete(&request, &context()).await.unwrap_err();
    assert!(error.to_string().contains("claude-haiku-4-5-20251001"), "{error}");
    assert!(upstream.asked().is_empty());
}

#[tokio::test]
async fn a_limit_of_length_is_used_as_given_and_the_default_is_capped_by_the_model() {
    let limit = |given: Option<u32>| async move {
        let server = Server::playing(vec![streaming(&said("a"))]).await;
        let config = json!({
            "backend": "openai_compatible", "base_url": server.url, "models": {"m": {"max_output_tokens": 100}}});
        let models = crate::Models::new(crate::LlmConfig::from_value(&config).unwrap(), Arc::new(crate::NoSecrets))
            .with_default_max_output_tokens(NonZeroU32::new(500).unwrap());
        let request = Request { max_output_tokens: given.and_then(NonZeroU32::new), ..question() };
        models.model("m").unwrap().complete(&request, &context()).await.unwrap();
        server.asked()[0].body["max_tokens"].clone()
    };
    assert_eq!(limit(Some(300)).await, 300);
    assert_eq!(limit(None).await, 100);
}

#[tokio::test]
async fn nobody_there_is_told_with_the_place() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let config = json!({"backend": "openai_compatible", "base_url": format!("http://127.0.0.1:{port}")});
    let models = crate::Models::new(crate::LlmConfig::from_value(&config).unwrap(), Arc::new(crate::NoSecrets));
    let model = models.model("m").unwrap().with_retry(RetryPolicy::never());
    let error = model.complete(&question(), &context()).await.unwrap_err();
    assert!(error.to_string().contains(&format!("127.0.0.1:{port}")), "{error}");
    assert!(error.transient().is_some());
}

#[tokio::test]
async fn the_text_is_shown_to_whoever_watches() {
    let upstream = Scripted::streaming([said("Hi")]);
    let (sender, mut receiver) = tokio::sync::mpsc::channel(4);
    let mut context = context();
    context.progress = Progress::to(sender);
    upstream.model("m").complete(&question(), &context).await.unwrap();
    assert_eq!(receiver.recv().await.unwrap().message, "Hi");
}

#[tokio::test]
async fn the_operators_headers_are_sent_and_never_repeated_by_an_error() {
    let body = json!({"error": {"message": "team-7 has no access"}});
    let server = Server::playing(vec![json_answer("403 Forbidden", "", &body)]).await;
    let error = ask(&server, json!({"default_headers": {"x-team": "team-7"}})).await.unwrap_err();
    assert!(server.asked()[0].head.contains("x-team: team-7\r\n"));
    assert!(!error.to_string().contains("team-7"), "{error}");
}
