//! Asks language models for a tool.
//!
//! A *model id* is what a tool names; where it is served is the operator's business ([`LlmConfig`]): behind one
//! OpenAI-compatible gateway, or at its provider. [`Models`] makes a [`Model`] of an id, and checks everything that can
//! be checked before there is a connection. [`Model::complete`] asks once: the answer is streamed underneath, put together,
//! bounded by one time limit that keep-alives do not extend, and asked for again where that can help ([`RetryPolicy`]).
//! [`submit_structured`] asks until there is a value that fits a schema. Everything that a model or an upstream says is
//! untrusted data. [`LlmExecutor`] does this for tools of the tool language.
//!
//! ```no_run
//! use std::{sync::Arc, time::Duration};
//!
//! use serde_json::json;
//! use toolwright_http::CallContext;
//! use toolwright_llm::{LlmConfig, Message, Models, NoSecrets, OutputSchema, Structured, submit_structured};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let config = LlmConfig::from_value(&json!({
//!     "backend": "openai_compatible",
//!     "base_url": "http://127.0.0.1:8080/v1",
//!     "models": {"qwen3-4b": {"temperature": "zero"}}
//! }))?;
//! let model = Models::new(config, Arc::new(NoSecrets)).model("qwen3-4b")?;
//!
//! let schema = OutputSchema::new(json!({
//!     "type": "object",
//!     "properties": {"city": {"type": "string"}},
//!     "required": ["city"],
//!     "additionalProperties": false
//! }))?;
//! let question = vec![Message::user("What is the capital of France?")];
//! let asked = Structured::new(schema, "Answer in English.", question);
//! let submitted = submit_structured(&model, &asked, &CallContext::within(Duration::from_secs(60))).await?;
//! println!("{} after {} turns", submitted.value, submitted.turns);
//! # Ok(())
//! # }
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod answer;
mod catalogue;
mod clock;
mod config;
mod dialect;
mod error;
mod executor;
mod model;
mod models;
mod reading;
mod request;
mod retry;
mod secrets;
mod structured;
#[cfg(test)]
mod testing;
mod transport;

pub use answer::{Answer, StopReason, Usage};
pub use catalogue::{ModelSpec, Provider, Temperature, known_models};
pub use clock::{Clock, SystemClock};
pub use config::{Backend, ConfigFaults, Fault, LlmConfig, Verify};
pub use dialect::Dialect;
pub use error::{Broken, ModelError, Refused};
pub use executor::LlmExecutor;
pub use model::Model;
pub use models::Models;
pub use request::{Arguments, Effort, Message, Request, ToolCall, ToolDefinition, Turn};
pub use retry::{OnRetry, PolicyError, RetryEvent, RetryPolicy};
pub use secrets::{NoSecrets, SecretFault, Secrets};
pub use structured::{
    Cleaned, NotSubmitted, OutputSchema, SchemaError, Strategy, Structured, StructuredError, Submitted, Tools, Unclear,
    submit_structured, submit_with_tools, without_reasoning,
};
pub use transport::{Connect, Connection, Sending, Transport, WireError, WireReply, WireRequest};
