//! The ways in which upstreams are spoken to.

mod anthropic;
mod calls;
mod ollama;
mod openai;
#[cfg(test)]
mod tests;

pub(crate) use ollama::OllamaStream;

use std::num::NonZeroU32;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, InvalidHeaderValue};
use serde_json::Value;
use toolwright_http::{Secret, Url};

use crate::{
    answer::Answer,
    catalogue::{ModelSpec, Temperature},
    request::{Effort, Request},
};

/// How an upstream is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI's chat completions.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Ollama's own chat API.
    Ollama,
}

/// A request with everything that was decided about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing<'a> {
    pub(crate) model: &'a str,
    pub(crate) request: &'a Request,
    pub(crate) spec: &'a ModelSpec,
    pub(crate) effort: Option<Effort>,
    pub(crate) max_output_tokens: Option<NonZeroU32>,
    pub(crate) asks_for_usage: bool,
}

impl Outgoing<'_> {
    fn temperature(&self) -> Option<u8> {
        (self.spec.temperature == Temperature::Zero).then_some(0)
    }
}

impl Dialect {
    /// Where questions go. A path in the base URL is kept. OpenAI's own ends with its version, and a bare host gets it;
    /// the other dialects have theirs beside it.
    pub(crate) fn endpoint(self, base: &Url) -> Url {
        let given = base.path().trim_end_matches('/');
        let above = given.strip_suffix("/v1").unwrap_or(given);
        let path = match self {
            Dialect::OpenAi if given.is_empty() => "/v1/chat/completions".to_owned(),
            Dialect::OpenAi => format!("{given}/chat/completions"),
            Dialect::Anthropic => format!("{above}/v1/messages"),
            Dialect::Ollama => format!("{above}/api/chat"),
        };
        let mut endpoint = base.clone();
        endpoint.set_path(&path);
        endpoint
    }

    /// Adds what the dialect wants among the headers. Gateways look for their key in one place or the other, whatever
    /// the dialect; a provider gets it in its own place alone.
    pub(crate) fn add_headers(
        self,
        headers: &mut HeaderMap,
        key: Option<&Secret>,
        is_gateway: bool,
    ) -> Result<(), InvalidHeaderValue> {
        if self == Dialect::Anthropic {
            headers.insert(HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));
        }
        let Some(key) = key else { return Ok(()) };
        let hidden = |text: &str| {
            HeaderValue::from_str(text).map(|mut value| {
                value.set_sensitive(true);
                value
            })
        };
        if self == Dialect::Anthropic {
            headers.insert(HeaderName::from_static("x-api-key"), hidden(key.expose())?);
        }
        if self != Dialect::Anthropic || is_gateway {
            headers.insert(AUTHORIZATION, hidden(&format!("Bearer {}", key.expose()))?);
        }
        Ok(())
    }

    /// The body of a request.
    pub(crate) fn body(self, outgoing: &Outgoing<'_>) -> Value {
        match self {
            Dialect::OpenAi => openai::body(outgoing),
            Dialect::Anthropic => anthropic::body(outgoing),
            Dialect::Ollama => ollama::body(outgoing),
        }
    }

    /// Reads a complete message in its non-streamed shape.
    ///
    /// # Errors
    /// What the message lacks.
    pub(crate) fn answer(self, message: &Value) -> Result<Answer, &'static str> {
        match self {
            Dialect::OpenAi => openai::answer(message),
            Dialect::Anthropic => anthropic::answer(message),
            Dialect::Ollama => ollama::answer(message),
        }
    }
}

/// A member that is a text; empty where it is not there.
fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The items of a member that is a list.
fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
