//! Anthropic's messages.

use serde_json::{Map, Value, json};

use super::{
    Outgoing,
    calls::{Calls, sent_back},
    text,
};
use crate::{
    answer::{Answer, StopReason, Usage},
    request::{Message, Turn},
};

/// The API wants a limit; where nobody knows one, this is it.
const MOST_TOKENS: u32 = 64_000;

pub(super) fn body(outgoing: &Outgoing<'_>) -> Value {
    let request = outgoing.request;
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    set("model", outgoing.model.into());
    set("max_tokens", outgoing.max_output_tokens.map_or(MOST_TOKENS, std::num::NonZeroU32::get).into());
    if !request.system.is_empty() {
        set("system", request.system.clone().into());
    }
    set("messages", messages(&request.messages));
    set("stream", true.into());
    if !request.tools.is_empty() {
        let tool = |tool: &crate::request::ToolDefinition| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters});
        set("tools", request.tools.iter().map(tool).collect());
    }
    let mut output = Map::new();
    if let Some(effort) = outgoing.effort {
        output.insert("effort".to_owned(), effort.name().into());
    } else if let Some(temperature) = outgoing.temperature() {
        set("temperature", temperature.into());
    }
    if let Some(schema) = &request.output_schema {
        output.insert("format".to_owned(), json!({"type": "json_schema", "schema": schema}));
    }
    if !output.is_empty() {
        set("output_config", Value::Object(output));
    }
    Value::Object(body)
}

/// All results of one turn stand in one message, and no message is empty.
fn messages(messages: &[Message]) -> Value {
    let mut out: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = blocks(message);
        if blocks.is_empty() {
            continue;
        }
        match out.last_mut() {
            Some((last, kept)) if *last == role => kept.extend(blocks),
            _ => out.push((role, blocks)),
        }
    }
    out.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn blocks(message: &Message) -> (&'static str, Vec<Value>) {
    let written = |text: &str| (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
    match message {
        Message::User(text) => ("user", written(text).into_iter().collect()),
        Message::Assistant(turn) => ("assistant", assistant(turn, written(&turn.text))),
        Message::ToolResult { call_id, content, is_error, .. } => {
            let block =
                json!({"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error});
            ("user", vec![block])
        }
    }
}

fn assistant(turn: &Turn, text: Option<Value>) -> Vec<Value> {
    let call = |call: &crate::request::ToolCall| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": sent_back(call)});
    turn.reasoning_blocks.iter().cloned().chain(text).chain(turn.calls.iter().map(call)).collect()
}

pub(super) fn answer(message: &Value) -> Result<Answer, &'static str> {
    let blocks = message.get("content").and_then(Value::as_array).ok_or("it has no content")?;
    let mut answer = Answer { stop: StopReason::named(text(message, "stop_reason")), ..Answer::default() };
    let mut calls = Calls::default();
    for block in blocks {
        match text(block, "type") {
            "text" => answer.text.push_str(text(block, "text")),
            "thinking" | "redacted_thinking" => {
                answer.reasoning.push_str(text(block, "thinking"));
                answer.reasoning_blocks.push(block.clone());
            }
            "tool_use" => calls.push(text(block, "id"), text(block, "name"), block.get("input"), Map::new()),
            _ => {}
        }
    }
    answer.calls = calls.into_vec();
    let usage = message.get("usage").unwrap_or(&Value::Null);
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    // What was read from a cache is counted apart from the rest.
    let read = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"].map(count);
    let input_tokens = read.into_iter().flatten().reduce(u64::saturating_add);
    answer.usage = Usage { input_tokens, output_tokens: count("output_tokens") };
    Ok(answer)
}
