//! The typed client for Rust programs: the same rows, the same path.

#[cfg(test)]
mod tests;

use serde_json::Value;
use toolwright_core::{Code, Envelope, Payload, Tool, ToolError};

use crate::{
    config::{Config, ConfigError},
    context::CallContext,
    upstream::Upstream,
};

/// Calls tools as Rust values.
#[derive(Debug, Clone)]
pub struct Client {
    upstream: Upstream,
}

/// A successful call.
#[derive(Debug, Clone)]
pub struct Reply<T> {
    /// What the tool returns.
    pub data: T,
    /// The whole envelope: status, headers, files, warnings.
    pub envelope: Envelope,
}

impl Client {
    /// A client of that upstream.
    ///
    /// # Errors
    /// When a setting cannot be used.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Ok(Client { upstream: Upstream::new(config)? })
    }

    /// The upstream below, for contexts of one's own and for saved files.
    #[must_use]
    pub fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// Calls a tool within its deadline.
    ///
    /// # Errors
    /// The failure of the envelope, or `upstream_error` where the answer has another shape than the tool's output.
    pub async fn call<T: Tool>(&self, tool: &T) -> Result<Reply<T::Output>, ToolError> {
        self.call_within(tool, &self.upstream.context_for(&T::SPEC)).await
    }

    /// Calls a tool with a deadline, a cancellation and a progress of the caller's.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn call_within<T: Tool>(&self, tool: &T, context: &CallContext) -> Result<Reply<T::Output>, ToolError> {
        let arguments = tool.arguments()?;
        let envelope = self.upstream.execute(&T::SPEC, arguments, context).await;
        if let Some(error) = &envelope.error {
            return Err(error.clone());
        }
        let data = serde_json::from_value(content(&envelope)).map_err(|error| {
            ToolError::new(Code::UpstreamError, format!("the answer has another shape than {}: {error}", T::SPEC.name))
        })?;
        Ok(Reply { data, envelope })
    }
}

/// What the output is read from: data, text as a string, the metadata of binary content, or null.
fn content(envelope: &Envelope) -> Value {
    match &envelope.payload {
        Payload::Data(data) | Payload::Events { data: Some(data), .. } => data.clone(),
        Payload::Text(text) => text.as_str().into(),
        Payload::Empty => Value::Null,
        Payload::Events { .. } | Payload::Messages { .. } | Payload::Binary(_) | Payload::Content(_) => {
            Value::Object(envelope.to_json())
        }
    }
}
