//! OpenAI transcription events.

use serde_json::{Map, Value, json};

use super::assembly::{Step, kind};

/// A transcript being put together.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    text: String,
    whole: Option<Map<String, Value>>,
}

impl Transcript {
    pub(crate) fn take(&mut self, data: &Value) -> Step {
        match kind(data) {
            "transcript.text.delta" => {
                let delta = data.get("delta").and_then(Value::as_str).unwrap_or_default();
                self.text.push_str(delta);
                Step::text(delta)
            }
            "transcript.text.done" => {
                self.whole = data.as_object().cloned();
                Step::done()
            }
            _ => Step::default(),
        }
    }

    pub(crate) fn finish(self) -> Option<Value> {
        match self.whole {
            Some(mut whole) => {
                whole.shift_remove("type");
                whole.entry("text").or_insert(Value::String(self.text));
                Some(Value::Object(whole))
            }
            None => (!self.text.is_empty()).then(|| json!({"text": self.text})),
        }
    }
}
