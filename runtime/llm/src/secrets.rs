//! Where keys come from: asked for by name, and only when a model is made that needs one.

use toolwright_http::Secret;

/// The key of the gateway.
pub(crate) const GATEWAY_KEY: &str = "llm_api_key";

/// Gives secrets by their logical names: `llm_api_key` (the gateway's), `openai_api_key`, `anthropic_api_key`.
pub trait Secrets: Send + Sync {
    /// The secret of that name; `None` where nobody set it.
    ///
    /// # Errors
    /// When the place that holds it cannot be read.
    fn get(&self, name: &str) -> Result<Option<Secret>, SecretFault>;
}

/// Why a secret cannot be read. The text must not hold any part of a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SecretFault(pub String);

/// No secret at all, for gateways that want none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSecrets;

impl Secrets for NoSecrets {
    fn get(&self, _name: &str) -> Result<Option<Secret>, SecretFault> {
        Ok(None)
    }
}
