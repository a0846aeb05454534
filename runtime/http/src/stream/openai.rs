//! OpenAI chat and text completion chunks.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::assembly::{Step, index};

/// Members whose text is replaced by a later chunk; all other text is continued.
const REPLACED: [&str; 6] = ["role", "id", "type", "name", "object", "finish_reason"];

/// A completion being put together.
#[derive(Debug, Default)]
pub(crate) struct OpenAi {
    head: Map<String, Value>,
    choices: BTreeMap<u64, Map<String, Value>>,
    /// True where an event was no chunk: something between here and the upstream broke the stream.
    is_broken: bool,
}

impl OpenAi {
    pub(crate) fn take(&mut self, chunk: &Value) -> Step {
        let Value::Object(members) = chunk else {
            self.is_broken = true;
            return Step::default();
        };
        for (name, value) in members.iter().filter(|(name, _)| *name != "choices") {
            if !value.is_null() {
                self.head.insert(name.clone(), value.clone());
            }
        }
        let mut text = String::new();
        for choice in members.get("choices").and_then(Value::as_array).into_iter().flatten() {
            text.push_str(visible(choice));
            let Value::Object(choice_members) = choice else { continue };
            let kept = self.choices.entry(index(choice, "index")).or_default();
            for (name, value) in choice_members {
                // A streamed `delta` is the non-streamed `message`.
                merge(kept, if name == "delta" { "message" } else { name }, value);
            }
        }
        Step { text: (!text.is_empty()).then_some(text), ..Step::default() }
    }

    /// Without `[DONE]`, a stream is complete when every choice says why it ended and nothing else was among them.
    pub(crate) fn may_end(&self) -> bool {
        let says_why = |reason: &Value| reason.as_str().is_some_and(|reason| !reason.is_empty());
        !self.is_broken && self.choices.values().all(|choice| choice.get("finish_reason").is_some_and(says_why))
    }

    pub(crate) fn finish(self) -> Option<Value> {
        let OpenAi { mut head, choices, .. } = self;
        if choices.is_empty() {
            return None;
        }
        if let Some(Value::String(object)) = head.get_mut("object") {
            *object = object.trim_end_matches(".chunk").to_owned();
        }
        let choices: Vec<Value> = choices.into_iter().map(|(index, choice)| finish_choice(index, choice)).collect();
        let usage = head.shift_remove("usage");
        head.insert("choices".to_owned(), choices.into());
        if let Some(usage) = usage {
            head.insert("usage".to_owned(), usage);
        }
        Some(Value::Object(head))
    }
}

/// The text of a chunk that people read.
fn visible(choice: &Value) -> &str {
    ["/delta/content", "/text", "/delta/reasoning_content", "/delta/reasoning", "/message/content"]
        .iter()
        .find_map(|pointer| choice.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty()))
        .unwrap_or_default()
}

fn finish_choice(index: u64, mut choice: Map<String, Value>) -> Value {
    choice.shift_remove("index");
    let mut out = Map::new();
    out.insert("index".to_owned(), index.into());
    if let Some(Value::Object(mut message)) = choice.shift_remove("message") {
        let mut whole = Map::new();
        whole.insert("role".to_owned(), message.shift_remove("role").unwrap_or_else(|| json!("assistant")));
        whole.insert("content".to_owned(), message.shift_remove("content").unwrap_or(Value::Null));
        whole.append(&mut message);
        for call in whole.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Value::Object(call) = call {
                call.shift_remove("index");
            }
        }
        out.insert("message".to_owned(), Value::Object(whole));
    }
    out.append(&mut choice);
    Value::Object(out)
}

/// Adds a chunk's member to what has come so far.
fn merge(kept: &mut Map<String, Value>, name: &str, value: &Value) {
    match (kept.get_mut(name), value) {
        (Some(_), Value::Null) => {}
        (Some(Value::String(text)), Value::String(more)) if !REPLACED.contains(&name) => text.push_str(more),
        // Some servers repeat a member empty in later chunks.
        (Some(Value::String(text)), Value::String(more)) if !text.is_empty() && more.is_empty() => {}
        (Some(Value::Object(members)), Value::Object(more)) => {
            for (name, value) in more {
                merge(members, name, value);
            }
        }
        (Some(Value::Array(items)), Value::Array(more)) => more.iter().for_each(|item| merge_item(items, item)),
        (None, Value::Array(first)) => {
            let mut items = Vec::new();
            first.iter().for_each(|item| merge_item(&mut items, item));
            kept.insert(name.to_owned(), items.into());
        }
        (_, value) => {
            kept.insert(name.to_owned(), value.clone());
        }
    }
}

/// Items with an `index` are continued by later items of the same index; others are appended. Some gateways give every
/// tool call the same index: one with an id of its own is an item of its own.
fn merge_item(items: &mut Vec<Value>, item: &Value) {
    let position = item.get("index").filter(|index| index.is_number());
    let same = items.iter_mut().rev().find(|kept| position.is_some() && kept.get("index") == position);
    let same = same.filter(|kept| !have_different_ids(kept, item));
    match (same, item) {
        (Some(Value::Object(kept)), Value::Object(more)) => {
            for (name, value) in more {
                merge(kept, name, value);
            }
        }
        _ => items.push(item.clone()),
    }
}

fn have_different_ids(kept: &Value, item: &Value) -> bool {
    let id = |item: &Value| item.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()).map(str::to_owned);
    matches!((id(kept), id(item)), (Some(kept), Some(other)) if kept != other)
}
