//! What a model answered.

use crate::request::{ToolCall, Turn};

/// An answer, put together from its stream.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// The text, as the model wrote it.
    pub text: String,
    /// Reasoning that came apart from the text.
    pub reasoning: String,
    /// The calls that the model makes.
    pub calls: Vec<ToolCall>,
    /// Why it ended.
    pub stop: StopReason,
    /// What it cost, where the upstream says so.
    pub usage: Usage,
    /// Signed reasoning that the model wants back.
    pub(crate) reasoning_blocks: Vec<serde_json::Value>,
}

impl Answer {
    /// The answer as a turn of the conversation, to be sent back with the next request.
    #[must_use]
    pub fn into_turn(self) -> Turn {
        Turn { text: self.text, calls: self.calls, reasoning_blocks: self.reasoning_blocks }
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StopReason {
    /// The model was done.
    End,
    /// It waits for the results of its calls.
    ToolCalls,
    /// It was cut at the limit of its length.
    Length,
    /// It, or a filter, refused to answer.
    Refusal,
    /// Something else, as the upstream says it.
    Other(String),
    /// The upstream does not say.
    #[default]
    Unknown,
}

impl StopReason {
    /// The reason by its name in any of the dialects.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "" => StopReason::Unknown,
            "stop" | "end_turn" | "stop_sequence" => StopReason::End,
            "tool_calls" | "tool_use" | "function_call" => StopReason::ToolCalls,
            "length" | "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
            "refusal" | "content_filter" => StopReason::Refusal,
            other => StopReason::Other(other.to_owned()),
        }
    }
}

/// Tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Read by the model.
    pub input_tokens: Option<u64>,
    /// Written by the model.
    pub output_tokens: Option<u64>,
}

impl Usage {
    /// Adds the cost of a further answer.
    pub(crate) fn add(&mut self, other: Usage) {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or_default().saturating_add(b.unwrap_or_default())),
        };
        self.input_tokens = sum(self.input_tokens, other.input_tokens);
        self.output_tokens = sum(self.output_tokens, other.output_tokens);
    }
}
