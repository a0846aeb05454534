//! What is known about models. The catalogue is advice: an id that it does not hold is used all the same.

use std::num::NonZeroU32;

use crate::{dialect::Dialect, request::Effort};

/// How the temperature is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temperature {
    /// 0 is sent.
    Zero,
    /// None is sent: the model refuses it, or nobody knows.
    Omit,
}

/// Who serves a model without a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// `https://api.openai.com`
    OpenAi,
    /// `https://api.anthropic.com`
    Anthropic,
    /// An Ollama of this machine, at its default port.
    Ollama,
}

impl Provider {
    /// The dialect that the provider speaks.
    #[must_use]
    pub fn dialect(self) -> Dialect {
        match self {
            Provider::OpenAi => Dialect::OpenAi,
            Provider::Anthropic => Dialect::Anthropic,
            Provider::Ollama => Dialect::Ollama,
        }
    }

    /// Where the provider is.
    pub(crate) fn base_url(self) -> &'static str {
        match self {
            Provider::OpenAi => "https://api.openai.com/v1",
            Provider::Anthropic => "https://api.anthropic.com",
            Provider::Ollama => "http://127.0.0.1:11434",
        }
    }

    /// The secret that it wants.
    pub(crate) fn key(self) -> Option<&'static str> {
        match self {
            Provider::OpenAi => Some("openai_api_key"),
            Provider::Anthropic => Some("anthropic_api_key"),
            Provider::Ollama => None,
        }
    }
}

/// The properties of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSpec {
    /// How the temperature is set.
    pub temperature: Temperature,
    /// Whether a reasoning effort may be sent.
    pub supports_reasoning_effort: bool,
    /// The effort of requests that name none.
    pub default_reasoning_effort: Option<Effort>,
    /// Who serves it without a gateway; `None` where only a gateway does.
    pub native_provider: Option<Provider>,
    /// The dialect, where it is not the provider's.
    pub dialect: Option<Dialect>,
    /// The most tokens that it writes in one answer.
    pub max_output_tokens: Option<NonZeroU32>,
    /// Whether the deployment can hold the answer to a JSON schema while it is written.
    pub constrained_output: bool,
}

/// What holds where nothing is said.
const PLAIN: ModelSpec = ModelSpec {
    temperature: Temperature::Omit,
    supports_reasoning_effort: true,
    default_reasoning_effort: None,
    native_provider: None,
    dialect: None,
    max_output_tokens: None,
    constrained_output: false,
};

const ANTHROPIC: ModelSpec = ModelSpec { native_provider: Some(Provider::Anthropic), ..PLAIN };

const CATALOGUE: [(&str, ModelSpec); 9] = [
    ("claude-opus-5", ModelSpec { temperature: Temperature::Zero, ..ANTHROPIC }),
    ("claude-sonnet-4-6", ModelSpec { temperature: Temperature::Zero, ..ANTHROPIC }),
    ("claude-opus-4-8", ANTHROPIC),
    ("claude-sonnet-5", ANTHROPIC),
    (
        "claude-haiku-4-5-20251001",
        ModelSpec { temperature: Temperature::Zero, supports_reasoning_effort: false, ..ANTHROPIC },
    ),
    ("gpt-5.6", ModelSpec { native_provider: Some(Provider::OpenAi), ..PLAIN }),
    ("gemini-3.1-pro-preview", ModelSpec { temperature: Temperature::Zero, ..PLAIN }),
    ("gemini-3.5-flash", ModelSpec { temperature: Temperature::Zero, ..PLAIN }),
    ("grok-4.6", PLAIN),
];

/// The ids of the catalogue.
pub fn known_models() -> impl Iterator<Item = &'static str> {
    CATALOGUE.iter().map(|(id, _)| *id)
}

/// The properties of a model of the catalogue.
pub(crate) fn known(id: &str) -> Option<ModelSpec> {
    CATALOGUE.iter().find(|(known, _)| *known == id).map(|(_, spec)| *spec)
}

/// The properties that an unknown id suggests.
pub(crate) fn inferred(id: &str) -> ModelSpec {
    let is_openai = || {
        let is_o_series = id.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        id.starts_with("gpt-") || is_o_series
    };
    if id.starts_with("claude-") {
        return ANTHROPIC;
    }
    if is_openai() {
        return ModelSpec { native_provider: Some(Provider::OpenAi), ..PLAIN };
    }
    // Most likely a local model: their servers decode within a grammar, and the models are those that need it.
    ModelSpec { constrained_output: true, ..PLAIN }
}

impl ModelSpec {
    /// The dialect that the model is spoken to in.
    #[must_use]
    pub fn adapter_dialect(&self) -> Dialect {
        self.dialect.or(self.native_provider.map(Provider::dialect)).unwrap_or(Dialect::OpenAi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_id_suggests_its_provider() {
        let provider = |id| inferred(id).native_provider;
        assert_eq!(provider("claude-next"), Some(Provider::Anthropic));
        assert_eq!(provider("gpt-9"), Some(Provider::OpenAi));
        assert_eq!(provider("o4-mini"), Some(Provider::OpenAi));
        assert_eq!(provider("opus"), None);
        assert_eq!(provider("qwen3"), None);
    }

    #[test]
    fn an_unknown_id_gets_no_temperature_and_may_have_an_effort() {
        let spec = inferred("qwen3");
        assert_eq!((spec.temperature, spec.supports_reasoning_effort), (Temperature::Omit, true));
    }

    #[test]
    fn the_catalogue_holds_nine_ids_each_once() {
        let mut ids: Vec<_> = known_models().collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 9);
    }

    #[test]
    fn a_dialect_of_its_own_outranks_the_providers_and_without_both_it_is_openai() {
        assert_eq!(ANTHROPIC.adapter_dialect(), Dialect::Anthropic);
        assert_eq!(ModelSpec { dialect: Some(Dialect::OpenAi), ..ANTHROPIC }.adapter_dialect(), Dialect::OpenAi);
        assert_eq!(PLAIN.adapter_dialect(), Dialect::OpenAi);
    }
}
