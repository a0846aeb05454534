//! The operator's settings: the table `[llm]`, as plain data.

mod reading;
mod shown;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use serde_json::Value;
use toolwright_http::{Secret, Url};

use crate::catalogue::ModelSpec;

/// Where models are served, and what the operator knows about them.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmConfig {
    /// One gateway, or every model at its provider.
    pub backend: Backend,
    /// Headers of every request. Their values are never shown: they may hold credentials.
    pub default_headers: BTreeMap<String, Secret>,
    /// Which certificates are believed.
    pub verify: Verify,
    /// How long an unused connection stays open.
    pub keepalive_expiry: Duration,
    /// From the sending of a request to the last byte of its answer.
    pub response_timeout: Duration,
    /// Whether a gateway is asked to count tokens in streams. It is not asked again once it has refused that.
    pub stream_usage: bool,
    /// What differs from the catalogue, by model id. Only what is named.
    pub(crate) models: BTreeMap<String, Overlay>,
}

/// Where models are served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backend {
    /// One gateway for every model. A path in the address is kept; without one, the API's usual one is used.
    OpenAiCompatible {
        /// The gateway's address.
        base_url: Url,
    },
    /// Every model at its own provider.
    Native,
}

/// Which certificates are believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verify {
    /// Those of public authorities.
    Public,
    /// Those of public authorities and of the authorities in that PEM file.
    Authorities(PathBuf),
    /// Any.
    Nothing,
}

/// Changes to the properties of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Overlay {
    pub(crate) temperature: Option<crate::Temperature>,
    pub(crate) supports_reasoning_effort: Option<bool>,
    pub(crate) default_reasoning_effort: Option<crate::Effort>,
    /// `Some(None)` says that only a gateway serves it.
    pub(crate) native_provider: Option<Option<crate::Provider>>,
    pub(crate) dialect: Option<crate::Dialect>,
    pub(crate) max_output_tokens: Option<std::num::NonZeroU32>,
    pub(crate) constrained_output: Option<bool>,
}

/// One thing that is wrong with the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The field, such as `llm.base_url`.
    pub field: String,
    /// What is wrong, and what to write.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// Everything that is wrong with the settings, at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFaults(pub Vec<Fault>);

impl fmt::Display for ConfigFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Fault::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for ConfigFaults {}

impl LlmConfig {
    /// A configuration of that backend with the defaults: public certificates, connections kept for 5 s, 300 s an answer.
    #[must_use]
    pub fn new(backend: Backend) -> Self {
        LlmConfig {
            backend,
            default_headers: BTreeMap::new(),
            verify: Verify::Public,
            keepalive_expiry: Duration::from_secs(5),
            response_timeout: Duration::from_secs(300),
            stream_usage: true,
            models: BTreeMap::new(),
        }
    }

    /// Reads the table `[llm]`, whatever file format it was written in.
    ///
    /// # Errors
    /// Everything that is wrong with it, each fault with its field.
    pub fn from_value(table: &Value) -> Result<Self, ConfigFaults> {
        reading::read(table)
    }

    /// The properties of a model: the catalogue's, or those that its id suggests, with what the operator changed.
    #[must_use]
    pub fn spec(&self, id: &str) -> ModelSpec {
        let base = crate::catalogue::known(id).unwrap_or_else(|| crate::catalogue::inferred(id));
        self.models.get(id).map_or(base, |overlay| overlay.over(base))
    }
}

impl Overlay {
    /// Only the named fields change. A model of Ollama's dialect can be constrained, unless somebody says otherwise.
    fn over(&self, base: ModelSpec) -> ModelSpec {
        let dialect = self.dialect.or(base.dialect);
        let native_provider = self.native_provider.unwrap_or(base.native_provider);
        let is_ollama = (ModelSpec { dialect, native_provider, ..base }).adapter_dialect() == crate::Dialect::Ollama;
        ModelSpec {
            temperature: self.temperature.unwrap_or(base.temperature),
            supports_reasoning_effort: self.supports_reasoning_effort.unwrap_or(base.supports_reasoning_effort),
            default_reasoning_effort: self.default_reasoning_effort.or(base.default_reasoning_effort),
            native_provider,
            dialect,
            max_output_tokens: self.max_output_tokens.or(base.max_output_tokens),
            constrained_output: self.constrained_output.unwrap_or(base.constrained_output || is_ollama),
        }
    }
}
