//! The settings that hold, for people.

use std::time::Duration;

use super::{
    Backend, LlmConfig, Verify,
    reading::{DIALECTS, PROVIDERS, TEMPERATURES},
};
use crate::catalogue::ModelSpec;

/// What is not said and has no default.
const UNSET: &str = "–";

impl LlmConfig {
    /// Every field with its value, defaults too. Those of headers have none: they may hold credentials. Of models, those
    /// that the table names, with all their properties.
    pub(crate) fn shown(&self) -> Vec<(String, Option<String>)> {
        let mut rows = Vec::new();
        let mut row = |field: String, value: Option<String>| rows.push((format!("llm.{field}"), value));
        let backend = match &self.backend {
            Backend::OpenAiCompatible { base_url } => {
                row("base_url".to_owned(), Some(base_url.to_string()));
                "openai_compatible"
            }
            Backend::Native => "native",
        };
        let verify = match &self.verify {
            Verify::Public => "true".to_owned(),
            Verify::Nothing => "false".to_owned(),
            Verify::Authorities(path) => path.display().to_string(),
        };
        for (name, value) in [
            ("backend", backend.to_owned()),
            ("verify", verify),
            ("keepalive_expiry", seconds(self.keepalive_expiry)),
            ("response_timeout", seconds(self.response_timeout)),
            ("stream_usage", self.stream_usage.to_string()),
        ] {
            row(name.to_owned(), Some(value));
        }
        for name in self.default_headers.keys() {
            row(format!("default_headers.{}", key(name)), None);
        }
        for id in self.models.keys() {
            for (name, value) in properties(&self.spec(id)) {
                row(format!("models.{id:?}.{name}"), Some(value));
            }
        }
        rows
    }
}

fn properties(spec: &ModelSpec) -> [(&'static str, String); 7] {
    let effort = spec.default_reasoning_effort.map_or(UNSET, |effort| effort.name());
    let tokens = spec.max_output_tokens.map_or_else(|| UNSET.to_owned(), |tokens| tokens.to_string());
    [
        ("temperature", named(&TEMPERATURES, spec.temperature)),
        ("supports_reasoning_effort", spec.supports_reasoning_effort.to_string()),
        ("default_reasoning_effort", effort.to_owned()),
        ("native_provider", named(&PROVIDERS, spec.native_provider)),
        ("dialect", named(&DIALECTS, spec.adapter_dialect())),
        ("max_output_tokens", tokens),
        ("constrained_output", spec.constrained_output.to_string()),
    ]
}

/// The word that the table has for a value.
fn named<T: PartialEq>(choices: &[(&str, T)], value: T) -> String {
    choices.iter().find(|(_, choice)| *choice == value).map_or(UNSET, |(name, _)| *name).to_owned()
}

fn seconds(span: Duration) -> String {
    format!("{} s", span.as_secs_f64())
}

/// A key as TOML writes it. Names of headers have signs that TOML wants in quotes.
fn key(name: &str) -> String {
    let is_bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_bare { name.to_owned() } else { format!("{name:?}") }
}
