//! How a request gets to its upstream. A trait, so that tests and recordings can stand in for the network.

use std::{future::Future, pin::Pin, sync::Arc};

use bytes::Bytes;
use futures_util::{StreamExt, stream::BoxStream};
use reqwest::header::HeaderMap;
use toolwright_http::{Config, LazyClient, Url, innermost, no_answer};

use crate::config::{LlmConfig, Verify};

/// A request. Its headers hold credentials, so it is not printable.
#[derive(Clone)]
pub struct WireRequest {
    /// Where it goes, by POST.
    pub url: Url,
    /// Its headers.
    pub headers: HeaderMap,
    /// The JSON body.
    pub body: Bytes,
}

/// The beginning of an answer.
pub struct WireReply {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as it comes. Dropping it closes the connection.
    pub body: BoxStream<'static, Result<Bytes, WireError>>,
}

/// The connection failed, before the answer or within it. Both may be tried again: asking a model changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// There was no answer.
    #[error("{0}")]
    NoAnswer(String),
    /// The connection ended within the answer.
    #[error("{0}")]
    BrokeOff(String),
}

/// A request on its way.
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<WireReply, WireError>> + Send + 'a>>;

/// Sends requests to one upstream. Dropping it closes its connections.
pub trait Transport: Send + Sync {
    /// Sends a request, and gives the answer as soon as it begins.
    fn send(&self, request: WireRequest) -> Sending<'_>;
}

/// Makes a transport: one for each model that is asked for, after everything about it was checked.
pub trait Connect: Send + Sync {
    /// A transport to that origin. Nothing may be sent yet.
    ///
    /// # Errors
    /// What is wrong with the settings.
    fn connect(&self, origin: &Url, config: &LlmConfig) -> Result<Arc<dyn Transport>, String>;
}

/// The HTTP client of the other tools: the same TLS, no redirects, nothing from the environment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Connection;

impl Connect for Connection {
    fn connect(&self, origin: &Url, config: &LlmConfig) -> Result<Arc<dyn Transport>, String> {
        let mut settings = Config::new("llm", origin.clone());
        if let Verify::Authorities(path) = &config.verify {
            settings.ca_file = Some(path.clone());
        }
        let client = LazyClient::new(&settings).map_err(|error| error.to_string())?;
        let client = client.with_idle_timeout(config.keepalive_expiry);
        let client = match config.verify {
            Verify::Nothing => client.trusting_any_certificate(),
            Verify::Public | Verify::Authorities(_) => client,
        };
        Ok(Arc::new(Http { settings, client }))
    }
}

struct Http {
    settings: Config,
    client: LazyClient,
}

impl Transport for Http {
    fn send(&self, request: WireRequest) -> Sending<'_> {
        Box::pin(async move {
            let client = self.client.get(&self.settings).map_err(|error| WireError::NoAnswer(error.message))?;
            let sent = client.post(request.url).headers(request.headers).body(request.body).send().await;
            let reply = sent.map_err(|error| WireError::NoAnswer(no_answer(&self.settings, &error, true).message))?;
            let (status, headers) = (reply.status().as_u16(), reply.headers().clone());
            let body = reply.bytes_stream().map(|piece| piece.map_err(|error| WireError::BrokeOff(innermost(&error))));
            Ok(WireReply { status, headers, body: body.boxed() })
        })
    }
}
