//! Anthropic's Messages dialect.

use super::chat::{function_call, last_text, model, reply, wants_stream};
use super::sse;
use crate::answer::Answer;
use crate::check::Call;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn answer(key: &str, call: &Call, pause: Duration) -> Option<Answer> {
    (key == "POST /v1/messages").then(|| call.json()).flatten().map(|request| message(&request, pause))
}

fn message(request: &Value, pause: Duration) -> Answer {
    let call = function_call(request);
    let text = reply(&last_text(request.get("messages")));
    let reason = if call.is_some() { "tool_use" } else { "end_turn" };
    if wants_stream(request) {
        return sse::stream(events(request, &text, call, reason), pause);
    }
    let content = match call {
        Some((name, arguments)) => {
            let input: Value = serde_json::from_str(&arguments).unwrap_or_default();
            json!([{"type": "tool_use", "id": "toolu_1", "name": name, "input": input}])
        }
        None => json!([{"type": "text", "text": text}]),
    };
    let usage = json!({"input_tokens": 7, "output_tokens": 12});
    Answer::json(200, &head(request, &content, &json!(reason), &usage))
}

fn head(request: &Value, content: &Value, reason: &Value, usage: &Value) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": model(request),
        "content": content, "stop_reason": reason, "stop_sequence": null, "usage": usage,
    })
}

fn events(request: &Value, text: &str, call: Option<(String, String)>, reason: &str) -> Vec<String> {
    let event = |name: &str, body: Value| {
        let mut whole = json!({"type": name});
        if let (Some(fields), Value::Object(more)) = (whole.as_object_mut(), body) {
            fields.extend(more);
        }
        sse::named(name, &whole)
    };
    let start = head(request, &json!([]), &Value::Null, &json!({"input_tokens": 7, "output_tokens": 0}));
    let mut events = vec![event("message_start", json!({"message": start})), event("ping", json!({}))];
    let (block, deltas): (Value, Vec<Value>) = match call {
        Some((name, arguments)) => (
            json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}),
            sse::tokens(&arguments)
                .into_iter()
                .map(|t| json!({"type": "input_json_delta", "partial_json": t}))
                .collect(),
        ),
        None => (
            json!({"type": "text", "text": ""}),
            sse::tokens(text).into_iter().map(|t| json!({"type": "text_delta", "text": t})).collect(),
        ),
    };
    events.push(event("content_block_start", json!({"index": 0, "content_block": block})));
    events.extend(deltas.into_iter().map(|delta| event("content_block_delta", json!({"index": 0, "delta": delta}))));
    events.push(event("content_block_stop", json!({"index": 0})));
    events.push(event(
        "message_delta",
        json!({"delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 12}}),
    ));
    events.push(event("message_stop", json!({})));
    events
}
