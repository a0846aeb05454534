//! The message that a stream's events add up to, by dialect.

use serde_json::Value;
use toolwright_core::StreamDialect;

use super::{anthropic::Anthropic, openai::OpenAi, responses::Responses, transcript::Transcript};

/// What an event meant.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Step {
    /// Text for people who watch.
    pub(crate) text: Option<String>,
    /// True where the message is complete with this event.
    pub(crate) done: bool,
    /// What went wrong, where the event says so.
    pub(crate) failure: Option<String>,
}

impl Step {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Step { text: Some(text.into()), ..Step::default() }
    }

    pub(crate) fn done() -> Self {
        Step { done: true, ..Step::default() }
    }

    pub(crate) fn failure(message: impl Into<String>) -> Self {
        Step { failure: Some(message.into()), ..Step::default() }
    }
}

/// A message being put together.
#[derive(Debug)]
pub(crate) enum Assembly {
    OpenAi(OpenAi),
    Anthropic(Anthropic),
    Responses(Responses),
    Transcript(Transcript),
    /// Events of a kind that nobody described.
    Unknown,
}

impl Assembly {
    pub(crate) fn of(dialect: Option<StreamDialect>) -> Self {
        match dialect {
            Some(StreamDialect::OpenAi) => Assembly::OpenAi(OpenAi::default()),
            Some(StreamDialect::Anthropic) => Assembly::Anthropic(Anthropic::default()),
            Some(StreamDialect::Responses) => Assembly::Responses(Responses::default()),
            Some(StreamDialect::Transcript) => Assembly::Transcript(Transcript::default()),
            None => Assembly::Unknown,
        }
    }

    /// Takes the data of one event.
    pub(crate) fn take(&mut self, data: &Value) -> Step {
        match self {
            Assembly::OpenAi(message) => message.take(data),
            Assembly::Anthropic(message) => message.take(data),
            Assembly::Responses(message) => message.take(data),
            Assembly::Transcript(message) => message.take(data),
            Assembly::Unknown => Step::default(),
        }
    }

    /// True where the stream may end here although no event said that it is done.
    pub(crate) fn may_end(&self) -> bool {
        match self {
            Assembly::OpenAi(message) => message.may_end(),
            Assembly::Unknown => true,
            Assembly::Anthropic(_) | Assembly::Responses(_) | Assembly::Transcript(_) => false,
        }
    }

    /// The message in its non-streamed shape, as far as it has come; `None` where nothing has.
    pub(crate) fn finish(self) -> Option<Value> {
        match self {
            Assembly::OpenAi(message) => message.finish(),
            Assembly::Anthropic(message) => message.finish(),
            Assembly::Responses(message) => message.finish(),
            Assembly::Transcript(message) => message.finish(),
            Assembly::Unknown => None,
        }
    }
}

/// The `type` of an event.
pub(crate) fn kind(data: &Value) -> &str {
    data.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// A member that is an index.
pub(crate) fn index(data: &Value, name: &str) -> u64 {
    data.get(name).and_then(Value::as_u64).unwrap_or_default()
}
