//! Ollama's own chat API: lines of JSON, arguments as objects, `format` for a schema.

use serde_json::{Map, Value, json};

use super::{
    Outgoing,
    calls::{Calls, sent_back},
    list, text,
};
use crate::{
    answer::{Answer, StopReason, Usage},
    request::{Effort, Message, ToolCall},
};

pub(super) fn body(outgoing: &Outgoing<'_>) -> Value {
    let request = outgoing.request;
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    set("model", outgoing.model.into());
    let system = (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
    set("messages", system.into_iter().chain(request.messages.iter().map(message)).collect());
    set("stream", true.into());
    if !request.tools.is_empty() {
        let tool = |tool: &crate::request::ToolDefinition| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters}})
        };
        set("tools", request.tools.iter().map(tool).collect());
    }
    if let Some(schema) = &request.output_schema {
        set("format", schema.clone());
    }
    match outgoing.effort {
        None => {}
        Some(Effort::None) => set("think", false.into()),
        Some(effort) => set("think", effort.name().into()),
    }
    let mut options = Map::new();
    if let Some(limit) = outgoing.max_output_tokens {
        options.insert("num_predict".to_owned(), limit.get().into());
    }
    if let Some(temperature) = outgoing.temperature() {
        options.insert("temperature".to_owned(), temperature.into());
    }
    if !options.is_empty() {
        set("options", Value::Object(options));
    }
    Value::Object(body)
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant(turn) if turn.calls.is_empty() => json!({"role": "assistant", "content": turn.text}),
        Message::Assistant(turn) => {
            let calls: Value = turn.calls.iter().map(call).collect();
            json!({"role": "assistant", "content": turn.text, "tool_calls": calls})
        }
        Message::ToolResult { tool_name, content, .. } => {
            json!({"role": "tool", "tool_name": tool_name, "content": content})
        }
    }
}

fn call(call: &ToolCall) -> Value {
    json!({"function": {"name": call.name, "arguments": sent_back(call)}})
}

pub(super) fn answer(reply: &Value) -> Result<Answer, &'static str> {
    let message = reply.get("message").ok_or("it has no message")?;
    let mut calls = Calls::default();
    for call in list(message, "tool_calls") {
        let function = call.get("function").unwrap_or(&Value::Null);
        calls.push(text(call, "id"), text(function, "name"), function.get("arguments"), Map::new());
    }
    let count = |name: &str| reply.get(name).and_then(Value::as_u64);
    Ok(Answer {
        text: text(message, "content").to_owned(),
        reasoning: text(message, "thinking").to_owned(),
        calls: calls.into_vec(),
        stop: StopReason::named(text(reply, "done_reason")),
        usage: Usage { input_tokens: count("prompt_eval_count"), output_tokens: count("eval_count") },
        reasoning_blocks: Vec::new(),
    })
}

/// A reply being put together from its lines.
#[derive(Debug, Default)]
pub(crate) struct OllamaStream {
    content: String,
    thinking: String,
    calls: Vec<Value>,
    /// The last line, which says why the answer ended and what it cost.
    last: Map<String, Value>,
}

impl OllamaStream {
    /// Takes a line; the text that it brought, and whether it was the last.
    pub(crate) fn take(&mut self, line: &Value) -> (Option<String>, bool) {
        let message = line.get("message").unwrap_or(&Value::Null);
        self.content.push_str(text(message, "content"));
        self.thinking.push_str(text(message, "thinking"));
        self.calls.extend_from_slice(list(message, "tool_calls"));
        let done = line.get("done") == Some(&Value::Bool(true));
        if done && let Some(members) = line.as_object() {
            self.last = members.clone();
        }
        let shown = [text(message, "content"), text(message, "thinking")].into_iter().find(|text| !text.is_empty());
        (shown.map(str::to_owned), done)
    }

    /// The reply in its non-streamed shape.
    pub(crate) fn finish(self) -> Value {
        let mut reply = self.last;
        let message = json!({
            "role": "assistant", "content": self.content, "thinking": self.thinking, "tool_calls": self.calls});
        reply.insert("message".to_owned(), message);
        Value::Object(reply)
    }
}
