//! From a model id to a model that can be asked.

use std::{
    collections::BTreeSet,
    fmt,
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use toolwright_http::{Secret, Url};

use crate::{
    catalogue::ModelSpec,
    clock::{Clock, SystemClock},
    config::{Backend, LlmConfig},
    error::ModelError,
    model::{Model, Parts},
    secrets::{GATEWAY_KEY, Secrets},
    transport::{Connect, Connection},
};

/// Makes models of ids. Making it, and making a model, sends nothing.
pub struct Models {
    config: LlmConfig,
    secrets: Arc<dyn Secrets>,
    connect: Arc<dyn Connect>,
    clock: Arc<dyn Clock>,
    default_max_output_tokens: Option<NonZeroU32>,
    /// Unknown ids that were told of.
    told: Mutex<BTreeSet<String>>,
    /// True when the gateway has refused to count tokens in streams.
    usage_refused: Arc<AtomicBool>,
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Where a model is, and which secret opens it.
struct Place {
    base_url: Url,
    secret: Option<&'static str>,
    is_gateway: bool,
}

impl Models {
    /// Models of that configuration. Secrets are asked for when a model is made, not before.
    #[must_use]
    pub fn new(config: LlmConfig, secrets: Arc<dyn Secrets>) -> Self {
        Models {
            config,
            secrets,
            connect: Arc::new(Connection),
            clock: Arc::new(SystemClock),
            default_max_output_tokens: None,
            told: Mutex::default(),
            usage_refused: Arc::default(),
        }
    }

    /// Takes transports from there instead of the network.
    #[must_use]
    pub fn with_connect(mut self, connect: Arc<dyn Connect>) -> Self {
        self.connect = connect;
        self
    }

    /// Takes time and chance from there.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The most tokens of an answer whose request names no limit; never more than the model's own.
    #[must_use]
    pub fn with_default_max_output_tokens(mut self, tokens: NonZeroU32) -> Self {
        self.default_max_output_tokens = Some(tokens);
        self
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &LlmConfig {
        &self.config
    }

    /// Checks whether a model can be had: where it is served, and whether the key that it needs is there.
    ///
    /// # Errors
    /// [`ModelError::GatewayOnly`], [`ModelError::KeyMissing`], [`ModelError::KeyUnreadable`] or
    /// [`ModelError::HeaderInvalid`].
    pub fn validate(&self, id: &str) -> Result<(), ModelError> {
        let spec = self.config.spec(id);
        let place = self.place(id, &spec)?;
        self.headers(id, &spec, &place).map(drop)
    }

    /// A model. It owns its connections: dropping it and its clones closes them.
    ///
    /// # Errors
    /// As [`Models::validate`], or [`ModelError::Client`] where the settings of connections cannot be used.
    pub fn model(&self, id: &str) -> Result<Model, ModelError> {
        let spec = self.config.spec(id);
        let place = self.place(id, &spec)?;
        let (headers, hidden) = self.headers(id, &spec, &place)?;
        self.tell_unknown(id);
        let transport = self
            .connect
            .connect(&place.base_url, &self.config)
            .map_err(|reason| ModelError::Client { model: id.to_owned(), reason })?;
        let dialect = spec.adapter_dialect();
        Ok(Model::new(Parts {
            id: id.to_owned(),
            spec,
            dialect,
            endpoint: dialect.endpoint(&place.base_url),
            headers,
            hidden,
            secret_name: place.secret,
            transport,
            clock: self.clock.clone(),
            response_timeout: self.config.response_timeout,
            default_max_output_tokens: self.default_max_output_tokens(&spec),
            counts_usage: self.config.stream_usage || !place.is_gateway,
            usage_refused: self.usage_refused.clone(),
        }))
    }

    fn place(&self, id: &str, spec: &ModelSpec) -> Result<Place, ModelError> {
        let unavailable = || ModelError::GatewayOnly { model: id.to_owned() };
        match &self.config.backend {
            Backend::OpenAiCompatible { base_url } => {
                Ok(Place { base_url: base_url.clone(), secret: Some(GATEWAY_KEY), is_gateway: true })
            }
            Backend::Native => {
                let provider = spec.native_provider.ok_or_else(unavailable)?;
                let base_url = Url::parse(provider.base_url()).map_err(|_| unavailable())?;
                Ok(Place { base_url, secret: provider.key(), is_gateway: false })
            }
        }
    }

    /// The headers of every request, and the secrets among them.
    fn headers(&self, id: &str, spec: &ModelSpec, place: &Place) -> Result<(HeaderMap, Vec<Secret>), ModelError> {
        let invalid = |name: &str| ModelError::HeaderInvalid { model: id.to_owned(), name: name.to_owned() };
        let key = self.key(id, place)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        spec.adapter_dialect()
            .add_headers(&mut headers, key.as_ref(), place.is_gateway)
            .map_err(|_| invalid(place.secret.unwrap_or_default()))?;
        for (name, value) in &self.config.default_headers {
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid(name))?;
            let mut value = HeaderValue::from_str(value.expose()).map_err(|_| invalid(name))?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        let hidden = key.into_iter().chain(self.config.default_headers.values().cloned()).collect();
        Ok((headers, hidden))
    }

    /// A gateway may want no key; a provider always does.
    fn key(&self, id: &str, place: &Place) -> Result<Option<Secret>, ModelError> {
        let Some(name) = place.secret else { return Ok(None) };
        let found = self.secrets.get(name).map_err(|fault| ModelError::KeyUnreadable {
            model: id.to_owned(),
            secret: name,
            reason: fault.to_string(),
        })?;
        let found = found.filter(|key| !key.expose().trim().is_empty());
        match found {
            None if !place.is_gateway => Err(ModelError::KeyMissing { model: id.to_owned(), secret: name }),
            found => Ok(found),
        }
    }

    fn default_max_output_tokens(&self, spec: &ModelSpec) -> Option<NonZeroU32> {
        match (self.default_max_output_tokens, spec.max_output_tokens) {
            (Some(default), Some(most)) => Some(default.min(most)),
            (default, most) => default.or(most),
        }
    }

    fn tell_unknown(&self, id: &str) {
        if crate::catalogue::known(id).is_some() {
            return;
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(id.to_owned()) {
            tracing::warn!(model = id, "the model is not in the catalogue; its properties are guessed from its id");
        }
    }
}

#[cfg(test)]
mod tests;
