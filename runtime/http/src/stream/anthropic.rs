//! Anthropic message events.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::assembly::{Step, index, kind};

/// A message being put together.
#[derive(Debug, Default)]
pub(crate) struct Anthropic {
    message: Map<String, Value>,
    blocks: BTreeMap<u64, Block>,
}

/// One content block: its members, and the JSON text of a tool's input as it comes.
#[derive(Debug, Default)]
struct Block {
    members: Map<String, Value>,
    input: String,
}

impl Anthropic {
    pub(crate) fn take(&mut self, data: &Value) -> Step {
        match kind(data) {
            "message_start" => self.start(data),
            "content_block_start" => {
                let members = data.get("content_block").and_then(Value::as_object).cloned().unwrap_or_default();
                self.blocks.insert(index(data, "index"), Block { members, input: String::new() });
            }
            "content_block_delta" => {
                let block = self.blocks.entry(index(data, "index")).or_default();
                return data.get("delta").map_or_else(Step::default, |delta| block.take(delta));
            }
            "message_delta" => self.change(data),
            "message_stop" => return Step::done(),
            _ => {}
        }
        Step::default()
    }

    fn start(&mut self, data: &Value) {
        if let Some(Value::Object(message)) = data.get("message") {
            self.message = message.clone();
        }
    }

    fn change(&mut self, data: &Value) {
        for (name, value) in data.get("delta").and_then(Value::as_object).into_iter().flatten() {
            self.message.insert(name.clone(), value.clone());
        }
        let Some(Value::Object(usage)) = data.get("usage") else { return };
        let kept = self.message.entry("usage").or_insert_with(|| json!({}));
        if let Value::Object(kept) = kept {
            kept.extend(usage.iter().filter(|(_, value)| !value.is_null()).map(|(k, v)| (k.clone(), v.clone())));
        }
    }

    pub(crate) fn finish(self) -> Option<Value> {
        let Anthropic { mut message, blocks } = self;
        if message.is_empty() && blocks.is_empty() {
            return None;
        }
        let content: Vec<Value> = blocks.into_values().map(Block::finish).collect();
        message.insert("content".to_owned(), content.into());
        Some(Value::Object(message))
    }
}

impl Block {
    fn take(&mut self, delta: &Value) -> Step {
        let text = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
        match kind(delta) {
            "text_delta" => {
                self.append("text", text("text"));
                Step::text(text("text"))
            }
            "thinking_delta" => {
                self.append("thinking", text("thinking"));
                Step::text(text("thinking"))
            }
            "signature_delta" => {
                self.append("signature", text("signature"));
                Step::default()
            }
            "input_json_delta" => {
                self.input.push_str(text("partial_json"));
                Step::default()
            }
            "citations_delta" => {
                let citations = self.members.entry("citations").or_insert_with(|| json!([]));
                if let (Value::Array(citations), Some(citation)) = (citations, delta.get("citation")) {
                    citations.push(citation.clone());
                }
                Step::default()
            }
            _ => Step::default(),
        }
    }

    fn append(&mut self, name: &str, more: &str) {
        match self.members.entry(name).or_insert_with(|| json!("")) {
            Value::String(text) => text.push_str(more),
            other => *other = more.into(),
        }
    }

    fn finish(mut self) -> Value {
        if !self.input.is_empty() {
            // Unfinished JSON stays text, so that nothing is lost.
            let input = serde_json::from_str(&self.input).unwrap_or(Value::String(self.input));
            self.members.insert("input".to_owned(), input);
        }
        Value::Object(self.members)
    }
}
