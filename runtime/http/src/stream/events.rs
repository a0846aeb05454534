//! The events that stay in a result: bounded, since each of them costs the reader tokens.

use serde_json::{Value, json};

use super::parser::Event;

const MOST_EVENTS: usize = 500;
const MOST_BYTES: usize = 128 * 1024;

/// Events kept for the result.
#[derive(Debug, Default)]
pub(crate) struct Events {
    kept: Vec<Value>,
    bytes: usize,
    truncated: bool,
}

impl Events {
    /// Keeps an event while there is room; from the first that does not fit, none is kept.
    pub(crate) fn keep(&mut self, event: &Event, data: &Value) {
        self.bytes = self.bytes.saturating_add(event.data.len());
        if self.truncated || self.kept.len() >= MOST_EVENTS || self.bytes > MOST_BYTES {
            self.truncated = true;
            return;
        }
        self.kept.push(shown(event, data));
    }

    /// True where no event has come.
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty() && !self.truncated
    }

    /// The events, and whether some are missing.
    pub(crate) fn into_parts(self) -> (Vec<Value>, bool) {
        (self.kept, self.truncated)
    }
}

/// The data of an event. A name that the data does not repeat stands beside it.
fn shown(event: &Event, data: &Value) -> Value {
    match &event.name {
        Some(name) if data.get("type").and_then(Value::as_str) != Some(name) => json!({"event": name, "data": data}),
        _ => data.clone(),
    }
}
