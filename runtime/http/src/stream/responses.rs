//! OpenAI Responses events.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::assembly::{Step, index, kind};
use crate::answer::message_of;

/// A response being put together. Its last event carries it whole; until then its items are kept as they come.
#[derive(Debug, Default)]
pub(crate) struct Responses {
    response: Option<Value>,
    items: BTreeMap<u64, Value>,
}

impl Responses {
    pub(crate) fn take(&mut self, data: &Value) -> Step {
        if let Some(response) = data.get("response").filter(|response| response.is_object()) {
            self.response = Some(response.clone());
        }
        match kind(data) {
            "response.completed" | "response.incomplete" | "response.cancelled" => return Step::done(),
            "response.failed" => {
                let error = data.pointer("/response/error").and_then(message_of);
                return Step::failure(error.unwrap_or_else(|| "the response failed without saying why".to_owned()));
            }
            "response.output_item.added" | "response.output_item.done" => {
                if let Some(item) = data.get("item") {
                    self.items.insert(index(data, "output_index"), item.clone());
                }
            }
            "response.content_part.added" | "response.content_part.done" => {
                if let (Some(part), Some(place)) = (data.get("part"), self.part(data)) {
                    *place = part.clone();
                }
            }
            "response.output_text.delta" => return self.text(data, "text"),
            "response.refusal.delta" => return self.text(data, "refusal"),
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                return Step::text(delta(data));
            }
            "response.function_call_arguments.delta" => {
                let item = self.items.entry(index(data, "output_index")).or_insert_with(|| json!({}));
                append(item, "arguments", delta(data));
            }
            _ => {}
        }
        Step::default()
    }

    fn text(&mut self, data: &Value, member: &str) -> Step {
        if let Some(part) = self.part(data) {
            append(part, member, delta(data));
        }
        Step::text(delta(data))
    }

    /// The content part that an event speaks of; made where no event announced it.
    fn part(&mut self, data: &Value) -> Option<&mut Value> {
        /// More parts than this in one item are a mistake of the upstream's.
        const MOST_PARTS: usize = 1024;
        let item = self.items.entry(index(data, "output_index")).or_insert_with(|| json!({"type": "message"}));
        let content = item.as_object_mut()?.entry("content").or_insert_with(|| json!([])).as_array_mut()?;
        let at = usize::try_from(index(data, "content_index")).ok().filter(|at| *at < MOST_PARTS)?;
        while content.len() <= at {
            content.push(json!({"type": "output_text"}));
        }
        content.get_mut(at)
    }

    pub(crate) fn finish(self) -> Option<Value> {
        let items: Vec<Value> = self.items.into_values().collect();
        let Some(mut response) = self.response else {
            return (!items.is_empty()).then(|| json!({"object": "response", "output": items}));
        };
        let has_output = response.get("output").and_then(Value::as_array).is_some_and(|output| !output.is_empty());
        if let (false, false, Value::Object(members)) = (has_output, items.is_empty(), &mut response) {
            members.insert("output".to_owned(), items.into());
        }
        Some(response)
    }
}

fn delta(data: &Value) -> &str {
    data.get("delta").and_then(Value::as_str).unwrap_or_default()
}

fn append(value: &mut Value, member: &str, more: &str) {
    let Value::Object(members) = value else { return };
    match members.entry(member).or_insert_with(|| json!("")) {
        Value::String(text) => text.push_str(more),
        other => *other = more.into(),
    }
}
