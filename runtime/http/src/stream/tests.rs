use std::time::Duration;

use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, sync::mpsc};
use toolwright_core::{Code, Envelope, HttpBinding, Payload, StreamDialect};

use super::parser::{Event, LONGEST_EVENT, Parser, TooLong};
use crate::{
    CallContext, Progress,
    testing::{POST_JSON, Server, Setting, object, tool},
};

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

const SAMPLE: &str = concat!(
    ": keep-alive\r\n\r\n",
    "data:{\"choices\":[{\"delta\":{\"content\":\"안\"}}]}\r\n\r\n",
    "event: message\r\nid: 7\r\ndata: {\"choices\":[{\"delta\":\r\ndata: {\"content\":\"녕\"}}]}\r\n\r\n",
    ":\r\n\r\n",
    "data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\r\n\r\n",
);
const FAILURE: &str = "data: {\"error\":{\"message\":\"out of memory\"}}\r\n\r\n";
const DONE: &str = "data:[DONE]\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"late\"}}]}\r\n\r\n";

fn parsed(text: &[u8], cut: usize) -> Vec<Event> {
    let mut parser = Parser::default();
    let mut events = Vec::new();
    for piece in text.chunks(cut) {
        parser.feed(piece, &mut events).unwrap();
    }
    events
}

fn event(name: Option<&str>, data: &str) -> Event {
    Event { name: name.map(str::to_owned), data: data.to_owned() }
}

const fn streaming(dialect: StreamDialect) -> HttpBinding {
    HttpBinding { stream: Some(dialect), ..POST_JSON }
}

async fn streamed(dialect: StreamDialect, events: &str) -> Envelope {
    let server = Server::with(format!("{HEAD}{events}")).await;
    let setting = Setting::for_server(&server);
    setting.call(&tool(streaming(dialect)), json!({"request": {"stream": true}})).await
}

fn data(envelope: &Envelope) -> Value {
    match &envelope.payload {
        Payload::Events { data: Some(data), .. } => data.clone(),
        other => panic!("no assembled message: {other:?}"),
    }
}

fn events_as_json(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

#[test]
fn lines_end_with_either_mark_or_both() {
    let wanted = vec![event(None, "a"), event(None, "b"), event(None, "c")];
    assert_eq!(parsed(b"data: a\n\ndata: b\r\rdata: c\r\n\r\n", 64), wanted);
}

#[test]
fn the_cuts_between_pieces_do_not_matter() {
    let text = SAMPLE.as_bytes();
    let whole = parsed(text, text.len());
    for size in 1..text.len() {
        assert_eq!(parsed(text, size), whole, "pieces of {size} bytes");
    }
}

#[test]
fn data_lines_are_joined_and_one_space_is_dropped() {
    assert_eq!(parsed(b"data:  a\ndata:b\ndata\n\n", 64), vec![event(None, " a\nb\n")]);
}

#[test]
fn an_event_without_data_is_not_dispatched_and_its_name_is_forgotten() {
    assert_eq!(parsed(b"event: x\n\ndata: a\n\n", 64), vec![event(None, "a")]);
}

#[test]
fn a_mark_of_byte_order_is_dropped_at_the_beginning_only() {
    let marked = "\u{feff}data: a\n\n\u{feff}data: b\n\n";
    assert_eq!(parsed(marked.as_bytes(), 1), vec![event(None, "a")]);
}

#[test]
fn an_unfinished_event_is_not_dispatched() {
    assert_eq!(parsed(b"data: a\n", 64), vec![]);
}

#[test]
fn an_event_over_the_limit_is_an_error() {
    let mut parser = Parser::default();
    assert_eq!(parser.feed(&vec![b'x'; LONGEST_EVENT + 1], &mut Vec::new()), Err(TooLong));
}

#[test]
fn data_lines_count_together_towards_the_limit() {
    let mut parser = Parser::default();
    let line = format!("data: {}\n", "x".repeat(LONGEST_EVENT / 4));
    let fed: Result<Vec<()>, TooLong> = (0..5).map(|_| parser.feed(line.as_bytes(), &mut Vec::new())).collect();
    assert_eq!(fed, Err(TooLong));
}

#[tokio::test]
async fn chat_chunks_become_one_message() {
    let envelope = streamed(StreamDialect::OpenAi, &format!("{SAMPLE}{DONE}")).await;
    assert!(envelope.ok, "{envelope:?}");
    let data = data(&envelope);
    assert_eq!(data["choices"][0]["message"], json!({"role": "assistant", "content": "안녕"}));
    assert_eq!(data["usage"]["total_tokens"], 3);
}

#[tokio::test]
async fn nothing_is_read_after_done() {
    let envelope = streamed(StreamDialect::OpenAi, &format!("{SAMPLE}{DONE}")).await;
    let Payload::Events { events, .. } = &envelope.payload else { panic!() };
    assert_eq!(events.len(), 3);
}

#[tokio::test]
async fn every_way_of_cutting_the_answer_gives_the_same_message() {
    for size in [1, 2, 3, 7, 64, 4096] {
        let server = Server::running(move |_, mut stream| async move {
            stream.set_nodelay(true).unwrap();
            stream.write_all(HEAD.as_bytes()).await.unwrap();
            for piece in format!("{SAMPLE}{DONE}").as_bytes().chunks(size) {
                if stream.write_all(piece).await.is_err() || stream.flush().await.is_err() {
                    return;
                }
                tokio::task::yield_now().await;
            }
        })
        .await;
        let spec = tool(streaming(StreamDialect::OpenAi));
        let envelope = Setting::for_server(&server).call(&spec, json!({"request": {"stream": true}})).await;
        assert_eq!(data(&envelope)["choices"][0]["message"]["content"], "안녕", "pieces of {size} bytes");
    }
}

#[tokio::test]
async fn an_error_within_the_stream_is_a_failure_with_the_text_so_far() {
    let envelope = streamed(StreamDialect::OpenAi, &format!("{SAMPLE}{FAILURE}{DONE}")).await;
    assert!(!envelope.ok);
    let error = envelope.error.clone().unwrap();
    assert_eq!(error.code, Code::UpstreamError);
    assert_eq!(error.message, "the upstream broke the stream off with an error: out of memory");
    assert_eq!(data(&envelope)["choices"][0]["message"]["content"], "안녕");
}

#[tokio::test]
async fn a_stream_that_ends_early_is_a_failure_with_the_text_so_far() {
    let envelope = streamed(StreamDialect::OpenAi, SAMPLE).await;
    assert!(!envelope.ok);
    let message = &envelope.error.as_ref().unwrap().message;
    assert!(message.starts_with("the stream ended before it was complete"), "{message}");
    assert_eq!(data(&envelope)["choices"][0]["message"]["content"], "안녕");
}

#[tokio::test]
async fn a_finish_reason_completes_a_stream_without_done() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]});
    let envelope = streamed(StreamDialect::OpenAi, &events_as_json(&[chunk])).await;
    assert!(envelope.ok, "{envelope:?}");
    assert_eq!(data(&envelope)["choices"][0]["finish_reason"], "stop");
}

#[tokio::test]
async fn tool_calls_are_put_together_by_index() {
    let call = |call: Value| json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    let chunks = [
        call(json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "add", "arguments": ""}})),
        call(json!({"index": 1, "id": "c2", "type": "function", "function": {"name": "sub", "arguments": "{}"}})),
        call(json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "", "arguments": "{\"a\":"}})),
        call(json!({"index": 0, "function": {"arguments": "1}"}})),
    ];
    let envelope = streamed(StreamDialect::OpenAi, &format!("{}{DONE}", events_as_json(&chunks))).await;
    let data = data(&envelope);
    assert_eq!(data["object"], "chat.completion");
    assert_eq!(
        data["choices"][0]["message"],
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{\"a\":1}"}},
            {"id": "c2", "type": "function", "function": {"name": "sub", "arguments": "{}"}},
        ]})
    );
}

#[tokio::test]
async fn text_completion_chunks_become_one_completion() {
    let chunk = |text: &str| json!({"object": "text_completion", "choices": [{"index": 0, "text": text}]});
    let envelope =
        streamed(StreamDialect::OpenAi, &format!("{}{DONE}", events_as_json(&[chunk("a"), chunk("b")]))).await;
    assert_eq!(data(&envelope), json!({"object": "text_completion", "choices": [{"index": 0, "text": "ab"}]}));
}

#[tokio::test]
async fn anthropic_events_become_one_message_and_pings_vanish() {
    let events = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":2}}}\n\n",
        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"add\",\"input\":{}}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"1}\"}}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":5}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );
    let envelope = streamed(StreamDialect::Anthropic, events).await;
    assert!(envelope.ok, "{envelope:?}");
    assert_eq!(
        data(&envelope),
        json!({
            "id": "m", "role": "assistant",
            "content": [{"type": "text", "text": "Hi"}, {"type": "tool_use", "id": "t", "name": "add", "input": {"a": 1}}],
            "usage": {"input_tokens": 2, "output_tokens": 5}, "stop_reason": "tool_use",
        })
    );
    let Payload::Events { events, .. } = &envelope.payload else { panic!() };
    assert!(events.iter().all(|event| event["type"] != "ping"));
}

#[tokio::test]
async fn a_message_without_its_stop_is_incomplete() {
    let events = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n";
    let envelope = streamed(StreamDialect::Anthropic, events).await;
    assert_eq!(envelope.code(), Some(Code::UpstreamError));
    assert_eq!(data(&envelope)["id"], "m");
}

#[tokio::test]
async fn the_last_responses_event_carries_the_response() {
    let events = events_as_json(&[
        json!({"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}}),
        json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hi"}),
        json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [{"type": "message"}]}}),
    ]);
    let envelope = streamed(StreamDialect::Responses, &events).await;
    assert!(envelope.ok);
    assert_eq!(data(&envelope), json!({"id": "r", "status": "completed", "output": [{"type": "message"}]}));
}

#[tokio::test]
async fn a_failed_response_is_a_failure_with_what_was_said() {
    let events = events_as_json(&[
        json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hi"}),
        json!({"type": "response.failed", "response": {"id": "r", "error": {"message": "no memory"}}}),
    ]);
    let envelope = streamed(StreamDialect::Responses, &events).await;
    assert!(envelope.error.as_ref().unwrap().message.ends_with("no memory"));
    assert_eq!(data(&envelope)["output"][0]["content"][0]["text"], "Hi");
}

#[tokio::test]
async fn transcript_events_become_one_transcript() {
    let events = events_as_json(&[
        json!({"type": "transcript.text.delta", "delta": "안"}),
        json!({"type": "transcript.text.delta", "delta": "녕"}),
        json!({"type": "transcript.text.done", "text": "안녕"}),
    ]);
    let envelope = streamed(StreamDialect::Transcript, &events).await;
    assert_eq!(data(&envelope), json!({"text": "안녕"}));
}

#[tokio::test]
async fn deltas_are_progress() {
    let server = Server::with(format!("{HEAD}{SAMPLE}{DONE}")).await;
    let setting = Setting::for_server(&server);
    let (sender, mut receiver) = mpsc::channel(16);
    let mut context = CallContext::within(Duration::from_secs(5));
    context.progress = Progress::to(sender);
    let arguments = object(json!({"request": {"stream": true}}));
    setting.upstream().execute(&tool(streaming(StreamDialect::OpenAi)), arguments, &context).await;
    drop(context);
    let mut said = Vec::new();
    while let Some(update) = receiver.recv().await {
        said.push((update.progress, update.message));
    }
    assert_eq!(said, vec![(1.0, "안".to_owned()), (2.0, "녕".to_owned())]);
}

#[tokio::test]
async fn a_credential_is_no_progress_in_whatever_pieces_it_comes() {
    const KEY: &str = "key-12345";
    for pieces in [&["my key-12345!"][..], &["my key-", "12345", "!"], &["my k", "e", "y-12345!"], &["key-key-12345"]] {
        let deltas: Vec<Value> =
            pieces.iter().map(|piece| json!({"choices": [{"index": 0, "delta": {"content": piece}}]})).collect();
        let server = Server::with(format!("{HEAD}{}{DONE}", events_as_json(&deltas))).await;
        let setting = Setting::for_server(&server).with(|config| config.api_key = Some(KEY.into()));
        let (sender, mut receiver) = mpsc::channel(16);
        let context = CallContext { progress: Progress::to(sender), ..CallContext::within(Duration::from_secs(5)) };
        let arguments = object(json!({"request": {"stream": true}}));
        setting.upstream().execute(&tool(streaming(StreamDialect::OpenAi)), arguments, &context).await;
        drop(context);
        let mut shown = String::new();
        while let Some(update) = receiver.recv().await {
            shown.push_str(&update.message);
        }
        assert_eq!(shown, pieces.concat().replace(KEY, "[masked]"), "{pieces:?}");
    }
}

#[tokio::test]
async fn a_watcher_who_is_slow_gets_the_text_in_fewer_pieces() {
    let (sender, mut receiver) = mpsc::channel(1);
    let progress = Progress::to(sender);
    let mut watch = super::watch::Watch::new(&progress);
    watch.show("a");
    watch.show("b");
    watch.show("c");
    assert_eq!(receiver.recv().await.unwrap().message, "a");
    watch.flush();
    assert_eq!(receiver.recv().await.unwrap().message, "bc");
}

#[tokio::test]
async fn events_beyond_the_bound_are_left_out_and_the_message_is_whole() {
    let chunk = events_as_json(&[json!({"choices": [{"index": 0, "delta": {"content": "ab"}}]})]).repeat(600);
    let envelope = streamed(StreamDialect::OpenAi, &format!("{chunk}{DONE}")).await;
    assert_eq!(data(&envelope)["choices"][0]["message"]["content"].as_str().unwrap().len(), 1200);
    let Payload::Events { events, truncated, .. } = &envelope.payload else { panic!() };
    assert_eq!((events.len(), *truncated), (500, true));
}

#[tokio::test]
async fn without_stream_events_only_the_message_stays() {
    let server = Server::with(format!("{HEAD}{SAMPLE}{DONE}")).await;
    let setting = Setting::for_server(&server).with(|config| config.stream_events = false);
    let envelope = setting.call(&tool(streaming(StreamDialect::OpenAi)), json!({"request": {"stream": true}})).await;
    assert!(matches!(envelope.payload, Payload::Data(_)));
}

#[tokio::test]
async fn events_that_nobody_described_keep_their_names() {
    let server = Server::with(format!("{HEAD}event: tick\ndata: {{\"n\":1}}\n\ndata: plain\n\n")).await;
    let envelope = Setting::for_server(&server).call(&tool(POST_JSON), json!({})).await;
    assert!(envelope.ok);
    let Payload::Events { data: None, events, .. } = &envelope.payload else { panic!() };
    assert_eq!(events, &vec![json!({"event": "tick", "data": {"n": 1}}), json!("plain")]);
}

#[tokio::test]
async fn a_stream_is_asked_for_by_its_media_type() {
    let server = Server::with(format!("{HEAD}{DONE}")).await;
    let spec = tool(streaming(StreamDialect::OpenAi));
    Setting::for_server(&server).call(&spec, json!({"request": {"stream": true}})).await;
    assert_eq!(server.only_request().header("accept"), Some("text/event-stream, */*;q=0.5"));
}

#[tokio::test]
async fn events_that_are_no_chunks_do_not_make_a_complete_stream() {
    for events in ["data: {\"choices\": [{\n\ndata: {]\n\n", "data: half\n\n"] {
        let envelope = streamed(StreamDialect::OpenAi, events).await;
        assert_eq!(envelope.code(), Some(Code::UpstreamError), "{events:?}");
    }
    assert!(streamed(StreamDialect::OpenAi, "data: half\n\ndata: [DONE]\n\n").await.ok);
}

#[tokio::test]
async fn tool_calls_with_one_index_are_told_apart_by_their_ids() {
    let call = |call: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    let text = events_as_json(&[
        call(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}})),
        call(json!({"index": 0, "id": "a", "function": {"arguments": "}"}})),
        call(json!({"index": 0, "id": "b", "function": {"name": "f", "arguments": "["}})),
        call(json!({"index": 0, "function": {"arguments": "]"}})),
    ]);
    let envelope = streamed(StreamDialect::OpenAi, &format!("{text}data: [DONE]\n\n")).await;
    let calls = &data(&envelope)["choices"][0]["message"]["tool_calls"];
    assert_eq!((&calls[0]["id"], &calls[0]["function"]["arguments"]), (&json!("a"), &json!("{}")));
    assert_eq!((&calls[1]["id"], &calls[1]["function"]["arguments"]), (&json!("b"), &json!("[]")));
}
