//! OpenAI's chat completions, as OpenAI and many others serve them.

use serde_json::{Map, Value, json};

use super::{
    Outgoing,
    calls::{Calls, sent_back},
    list, text,
};
use crate::{
    answer::{Answer, StopReason, Usage},
    catalogue::Provider,
    request::{Message, ToolCall, Turn},
};

/// The name of a schema on the wire; nothing depends on it.
const SCHEMA_NAME: &str = "result";

pub(super) fn body(outgoing: &Outgoing<'_>) -> Value {
    let Outgoing { request, spec, .. } = outgoing;
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    set("model", outgoing.model.into());
    set("messages", messages(outgoing));
    set("stream", true.into());
    if outgoing.asks_for_usage {
        set("stream_options", json!({"include_usage": true}));
    }
    if !request.tools.is_empty() {
        let tool = |tool: &crate::request::ToolDefinition| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters}})
        };
        set("tools", request.tools.iter().map(tool).collect());
    }
    if let Some(schema) = &request.output_schema {
        let schema = json!({"name": SCHEMA_NAME, "strict": true, "schema": schema});
        set("response_format", json!({"type": "json_schema", "json_schema": schema}));
    }
    if let Some(limit) = outgoing.max_output_tokens {
        // OpenAI's newer models refuse the old name, most other servers know only that.
        let is_openai = spec.native_provider == Some(Provider::OpenAi);
        set(if is_openai { "max_completion_tokens" } else { "max_tokens" }, limit.get().into());
    }
    if let Some(temperature) = outgoing.temperature() {
        set("temperature", temperature.into());
    }
    if let Some(effort) = outgoing.effort {
        set("reasoning_effort", effort.name().into());
    }
    Value::Object(body)
}

fn messages(outgoing: &Outgoing<'_>) -> Value {
    let request = outgoing.request;
    let system = (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
    system.into_iter().chain(request.messages.iter().map(message)).collect()
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant(turn) => assistant(turn),
        Message::ToolResult { call_id, content, .. } => {
            json!({"role": "tool", "tool_call_id": call_id, "content": content})
        }
    }
}

fn assistant(turn: &Turn) -> Value {
    let mut out = json!({"role": "assistant", "content": turn.text});
    if !turn.calls.is_empty() {
        let calls: Value = turn.calls.iter().map(call).collect();
        if let Value::Object(members) = &mut out {
            members.insert("tool_calls".to_owned(), calls);
        }
    }
    out
}

fn call(call: &ToolCall) -> Value {
    let mut members = call.extra.clone();
    members.insert("id".to_owned(), call.id.clone().into());
    members.insert("type".to_owned(), "function".into());
    let function = json!({"name": call.name, "arguments": sent_back(call).to_string()});
    members.insert("function".to_owned(), function);
    Value::Object(members)
}

pub(super) fn answer(completion: &Value) -> Result<Answer, &'static str> {
    let choice = list(completion, "choices").first().ok_or("it has no choices")?;
    let message = choice.get("message").ok_or("its choice has no message")?;
    let mut calls = Calls::default();
    for call in list(message, "tool_calls") {
        push(&mut calls, call);
    }
    let usage = completion.get("usage").unwrap_or(&Value::Null);
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    let reasoning = [text(message, "reasoning_content"), text(message, "reasoning")];
    Ok(Answer {
        text: content(message),
        reasoning: reasoning.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned(),
        calls: calls.into_vec(),
        stop: StopReason::named(text(choice, "finish_reason")),
        usage: Usage { input_tokens: count("prompt_tokens"), output_tokens: count("completion_tokens") },
        reasoning_blocks: Vec::new(),
    })
}

/// The text, whether it came as such or as parts.
fn content(message: &Value) -> String {
    match message.get("content") {
        Some(Value::Array(parts)) => parts.iter().map(|part| text(part, "text")).collect(),
        _ => text(message, "content").to_owned(),
    }
}

fn push(calls: &mut Calls, call: &Value) {
    let function = call.get("function").unwrap_or(&Value::Null);
    let mut extra = call.as_object().cloned().unwrap_or_default();
    extra.retain(|name, _| !matches!(name.as_str(), "id" | "type" | "function" | "index"));
    calls.push(text(call, "id"), text(function, "name"), function.get("arguments"), extra);
}
