//! OpenAI's chat, completion and edit dialect.

use super::{MODELS, sse};
use crate::answer::Answer;
use crate::check::Call;
use crate::sample;
use serde_json::{Value, json};
use std::time::Duration;

/// The time of everything that has one.
pub(super) const CREATED: u64 = 1_767_323_045;

pub(super) fn answer(key: &str, call: &Call, pause: Duration) -> Option<Answer> {
    match key {
        "POST /v1/chat/completions" | "POST /v1/mcp/chat/completions" => Some(chat(&call.json()?, pause)),
        "POST /v1/completions" => Some(completion(&call.json()?, pause)),
        "POST /v1/edits" => Some(edit(&call.json()?)),
        _ => None,
    }
}

/// The model that was asked for, else the first.
pub(super) fn model(request: &Value) -> String {
    let asked = request.get("model").and_then(Value::as_str).filter(|m| !m.is_empty());
    asked.unwrap_or(MODELS[0]).to_owned()
}

pub(super) fn wants_stream(request: &Value) -> bool {
    request.get("stream") == Some(&Value::Bool(true))
}

/// The text of the last message: a string, or the text parts of a list.
pub(super) fn last_text(messages: Option<&Value>) -> String {
    let last = messages.and_then(Value::as_array).and_then(|all| all.last());
    match last.and_then(|message| message.get("content")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|p| p.get("text").and_then(Value::as_str)).collect(),
        _ => String::new(),
    }
}

/// What the mock model says: the question comes back, so that a test sees that it arrived.
pub(super) fn reply(question: &str) -> String {
    format!("You said: {question} 안녕하세요, this is the mock model.")
}

/// A call of the first function that the request offers, with sample arguments, unless calls are switched off.
pub(super) fn function_call(request: &Value) -> Option<(String, String)> {
    if request.get("tool_choice").and_then(Value::as_str) == Some("none") {
        return None;
    }
    let tool = request.get("tools")?.as_array()?.first()?;
    let function = tool.get("function").unwrap_or(tool);
    let name = function.get("name")?.as_str()?.to_owned();
    let schema = function.get("parameters").or_else(|| function.get("input_schema"));
    let arguments = schema.map_or_else(|| json!({}), |schema| sample::json::sample(schema, schema));
    Some((name, arguments.to_string()))
}

fn usage() -> Value {
    json!({"prompt_tokens": 7, "completion_tokens": 12, "total_tokens": 19})
}

fn chat(request: &Value, pause: Duration) -> Answer {
    let call = function_call(request);
    let text = reply(&last_text(request.get("messages")));
    if wants_stream(request) {
        return sse::stream(chat_events(request, &text, call), pause);
    }
    let (message, reason) = match call {
        Some((name, arguments)) => {
            let call = json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
        None => (json!({"role": "assistant", "content": text}), "stop"),
    };
    let body = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": CREATED, "model": model(request),
        "choices": [{"index": 0, "finish_reason": reason, "message": message}], "usage": usage(),
    });
    Answer::json(200, &body)
}

fn chat_events(request: &Value, text: &str, call: Option<(String, String)>) -> Vec<String> {
    let model = model(request);
    let chunk = |choices: Value| json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": CREATED, "model": model, "choices": choices});
    let delta = |delta: Value| sse::data(&chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])));
    let mut events = vec![delta(json!({"role": "assistant", "content": ""}))];
    let reason = match call {
        Some((name, arguments)) => {
            events.push(delta(json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": ""}}]})));
            let piece = |text: String| delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}));
            events.extend(sse::tokens(&arguments).into_iter().map(piece));
            "tool_calls"
        }
        None => {
            events.extend(sse::tokens(text).into_iter().map(|token| delta(json!({"content": token}))));
            "stop"
        }
    };
    events.push(sse::data(&chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}]))));
    let mut last = chunk(json!([]));
    if request.pointer("/stream_options/include_usage") == Some(&Value::Bool(true))
        && let Some(fields) = last.as_object_mut()
    {
        fields.insert("usage".to_owned(), usage());
        events.push(sse::data(&last));
    }
    events.push(sse::DONE.to_owned());
    events
}

fn prompt(request: &Value) -> String {
    match request.get("prompt") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(all)) => all.first().and_then(Value::as_str).unwrap_or("").to_owned(),
        _ => String::new(),
    }
}

fn completion(request: &Value, pause: Duration) -> Answer {
    let text = reply(&prompt(request));
    let body = |choice: Value| json!({"id": "cmpl-1", "object": "text_completion", "created": CREATED, "model": model(request), "choices": [choice]});
    if !wants_stream(request) {
        let mut whole = body(json!({"index": 0, "finish_reason": "stop", "text": text}));
        if let Some(fields) = whole.as_object_mut() {
            fields.insert("usage".to_owned(), usage());
        }
        return Answer::json(200, &whole);
    }
    let pieces =
        sse::tokens(&text).into_iter().map(|t| sse::data(&body(json!({"index": 0, "text": t, "finish_reason": null}))));
    let last = sse::data(&body(json!({"index": 0, "text": "", "finish_reason": "stop"})));
    sse::stream(pieces.chain([last, sse::DONE.to_owned()]).collect::<Vec<_>>(), pause)
}

fn edit(request: &Value) -> Answer {
    let input = request.get("input").and_then(Value::as_str).unwrap_or("");
    Answer::json(
        200,
        &json!({"object": "edit", "created": CREATED, "choices": [{"index": 0, "text": reply(input)}], "usage": usage()}),
    )
}
