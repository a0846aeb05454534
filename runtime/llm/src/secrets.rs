//! Where keys come from: asked for by name, and only when a model is made that needs one.

pub use toolwright_core::{NoSecrets, SecretFault, Secrets};

/// The key of the gateway.
pub(crate) const GATEWAY_KEY: &str = "llm_api_key";
