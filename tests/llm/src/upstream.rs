//! The model server and the same model behind Ollama's protocol.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use anyhow::Context;
use serde_json::{Value, json};
use toolwright_http::CallContext;
use toolwright_llm::{LlmConfig, Message, Model, Models, NoSecrets, Request, RetryPolicy};

/// Where the model is.
pub(crate) struct Upstream {
    model: String,
    url: String,
    ollama_url: String,
}

impl Upstream {
    pub(crate) fn from_environment() -> anyhow::Result<Self> {
        let read = |name: &str| std::env::var(name).with_context(|| format!("{name} is not set: use tests/llm/run"));
        Ok(Upstream { model: read("MODEL")?, url: read("MODEL_URL")?, ollama_url: read("OLLAMA_URL")? })
    }

    pub(crate) fn name(&self) -> &str {
        &self.model
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The model in OpenAI's dialect.
    pub(crate) fn openai(&self) -> anyhow::Result<Model> {
        self.made(&self.url, json!({}), json!({}))
    }

    pub(crate) fn anthropic(&self) -> anyhow::Result<Model> {
        self.made(&self.url, json!({"dialect": "anthropic"}), json!({}))
    }

    pub(crate) fn ollama(&self) -> anyhow::Result<Model> {
        self.made(&self.ollama_url, json!({"dialect": "ollama"}), json!({}))
    }

    /// With that many seconds for an answer.
    pub(crate) fn hasty(&self, seconds: f64) -> anyhow::Result<Model> {
        self.made(&self.url, json!({}), json!({"response_timeout": seconds}))
    }

    fn made(&self, url: &str, mut properties: Value, mut config: Value) -> anyhow::Result<Model> {
        merge(&mut properties, "temperature", json!("zero"));
        merge(&mut config, "backend", json!("openai_compatible"));
        merge(&mut config, "base_url", json!(url));
        merge(&mut config, "models", json!({self.model.clone(): properties}));
        let models = Models::new(LlmConfig::from_value(&config)?, Arc::new(NoSecrets));
        // A repeated question would hide a fault.
        Ok(models.model(&self.model)?.with_retry(RetryPolicy::never()))
    }
}

fn merge(table: &mut Value, name: &str, value: Value) {
    if let Value::Object(members) = table {
        members.insert(name.to_owned(), value);
    }
}

/// A question with an answer of at most so many tokens.
pub(crate) fn question(text: impl Into<String>, tokens: u32) -> Request {
    Request { messages: vec![Message::user(text)], max_output_tokens: NonZeroU32::new(tokens), ..Request::default() }
}

/// Enough for any check, on a machine that is busy with something else.
pub(crate) fn patience() -> CallContext {
    CallContext::within(Duration::from_secs(120))
}
