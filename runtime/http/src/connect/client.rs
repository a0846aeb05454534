//! The client that talks to the upstream, made on first use and once.

use std::{fmt, sync::OnceLock, time::Duration};

use reqwest::{Client, NoProxy, Proxy, redirect::Policy};
use toolwright_core::{Code, ToolError};

use super::tls::Certificates;
use crate::config::{Config, ConfigError};

/// Hosts that never go through a proxy.
const LOOPBACK: &str = "localhost,127.0.0.0/8,::1";

/// An HTTP client that costs nothing until it is used. It follows no redirect, reads no proxy from the environment, and
/// trusts the public authorities and those of its configuration.
pub struct LazyClient {
    certificates: Certificates,
    proxy: Option<Proxy>,
    idle_timeout: Option<Duration>,
    client: OnceLock<Result<Client, ToolError>>,
}

/// Without the proxy, whose URL may hold a password.
impl fmt::Debug for LazyClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyClient").finish_non_exhaustive()
    }
}

impl LazyClient {
    /// Checks what can be checked without making the client.
    ///
    /// # Errors
    /// When a certificate file or the proxy cannot be used.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        let certificates = match (&config.ca_file, &config.client_cert_file) {
            (None, None) => Certificates::default(),
            _ => Certificates::read(config)?,
        };
        Ok(LazyClient { certificates, proxy: proxy(config)?, idle_timeout: None, client: OnceLock::new() })
    }

    /// Closes connections that nothing was sent over for that long; without it, after 90 seconds.
    #[must_use]
    pub fn with_idle_timeout(mut self, limit: Duration) -> Self {
        self.idle_timeout = Some(limit);
        self
    }

    /// Takes any certificate of the other side. Whoever is between can then read everything: for tests and for networks
    /// that are trusted as a whole.
    #[must_use]
    pub fn trusting_any_certificate(mut self) -> Self {
        self.certificates.trust_any();
        self
    }

    /// The client, made at the first call.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn get(&self, config: &Config) -> Result<&Client, ToolError> {
        self.client.get_or_init(|| self.build(config)).as_ref().map_err(Clone::clone)
    }

    fn build(&self, config: &Config) -> Result<Client, ToolError> {
        let tls = self.certificates.client_config().map_err(|error| unusable(&error.to_string()))?;
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .tcp_nodelay(true)
            .connect_timeout(config.connect_timeout)
            .user_agent(&config.user_agent);
        if let Some(limit) = self.idle_timeout {
            builder = builder.pool_idle_timeout(limit);
        }
        if let Some(proxy) = &self.proxy {
            builder = builder.proxy(proxy.clone());
        }
        builder.build().map_err(|error| unusable(&error.to_string()))
    }
}

fn proxy(config: &Config) -> Result<Option<Proxy>, ConfigError> {
    let Some(url) = &config.https_proxy else { return Ok(None) };
    let proxy = Proxy::https(url.expose()).map_err(|_| ConfigError::Proxy)?;
    let bypass = match &config.no_proxy {
        Some(hosts) => format!("{LOOPBACK},{hosts}"),
        None => LOOPBACK.to_owned(),
    };
    Ok(Some(proxy.no_proxy(NoProxy::from_string(&bypass))))
}

fn unusable(why: &str) -> ToolError {
    ToolError::new(Code::UpstreamUnreachable, format!("the HTTP client cannot be made: {why}"))
}
