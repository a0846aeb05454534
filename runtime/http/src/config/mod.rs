//! What an upstream client needs to know, as plain data.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use reqwest::Url;
use toolwright_core::Access;
pub use toolwright_core::Secret;

use crate::known_secrets::KnownSecrets;

/// The settings of one upstream.
#[derive(Debug, Clone)]
pub struct Config {
    /// Name of the server: part of resource URIs (`toolwright://<server>/files/<name>`) and of the placeholder that
    /// stands for the API key in printed requests.
    pub server_name: String,
    /// Where the upstream is. A path in it is kept in front of every route.
    pub base_url: Url,
    /// True where the operator chose the base URL: it then replaces every server that the document declares.
    pub base_url_configured: bool,
    /// Hosts beside the base URL's that operations may be served by, as `host` or `host:port`. They get no credentials.
    pub upstream_hosts: Vec<String>,
    /// Sent as `Authorization: Bearer …`, to the upstream's origin only, unless `access` has schemes that take it.
    pub api_key: Option<Secret>,
    /// Security schemes and server variables of the document.
    pub access: Access,
    /// Values of the settings that `access` declares, by key.
    pub settings: BTreeMap<String, Secret>,
    /// Deadline of a call that brings none of its own.
    pub request_timeout: Duration,
    /// Longest time to wait for a connection.
    pub connect_timeout: Duration,
    /// Largest file input, in bytes.
    pub max_upload_bytes: u64,
    /// Largest answer, in bytes, after decompression.
    pub max_response_bytes: u64,
    /// Binary content up to this many bytes also comes inside the result.
    pub inline_binary_limit: u64,
    /// Whether binary content is saved to a file.
    pub save_binary: bool,
    /// Where binary content is saved; created when first needed.
    pub output_dir: PathBuf,
    /// The folder that file inputs given as a path lie below.
    pub file_root: PathBuf,
    /// Whether file inputs may be given as an `http` or `https` URL.
    pub file_urls: bool,
    /// Total size of the saved files in bytes; the oldest are removed to stay below.
    pub output_quota_bytes: u64,
    /// Whether the events of a stream stay in the result beside the assembled message.
    pub stream_events: bool,
    /// Whether binary content up to the inline limit also comes as base64 inside the envelope.
    pub inline_base64: bool,
    /// Whether a call waits while the upstream answers that its model is still loading.
    pub loading_wait: bool,
    /// Whether fields that hold secrets are shown.
    pub reveal_secrets: bool,
    /// URL of the proxy for `https` upstreams. Loopback and file inputs never use it.
    pub https_proxy: Option<Secret>,
    /// Hosts that bypass the proxy: names, addresses and networks, separated by commas.
    pub no_proxy: Option<String>,
    /// PEM file of certificate authorities trusted beside the public ones.
    pub ca_file: Option<PathBuf>,
    /// PEM file with a client certificate chain and its private key.
    pub client_cert_file: Option<PathBuf>,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// Where credentials are noted, those too that calls bring: for whoever takes them out of the log.
    pub known_secrets: KnownSecrets,
}

const MIB: u64 = 1024 * 1024;

impl Config {
    /// A configuration with the defaults: 300 s deadline, 10 s to connect, 100 MiB each way, 1 MiB inline, 1 GiB of
    /// saved files in a temporary folder, no URL inputs.
    #[must_use]
    pub fn new(server_name: impl Into<String>, base_url: Url) -> Self {
        let server_name = server_name.into();
        let state = std::env::temp_dir().join("toolwright").join(&server_name);
        Config {
            server_name,
            base_url,
            base_url_configured: true,
            upstream_hosts: Vec::new(),
            api_key: None,
            access: Access::NONE,
            settings: BTreeMap::new(),
            request_timeout: Duration::from_secs(300),
            connect_timeout: Duration::from_secs(10),
            max_upload_bytes: 100 * MIB,
            max_response_bytes: 100 * MIB,
            inline_binary_limit: MIB,
            save_binary: true,
            output_dir: state.join("output"),
            file_root: state.join("files"),
            file_urls: false,
            output_quota_bytes: 1024 * MIB,
            stream_events: true,
            inline_base64: false,
            loading_wait: true,
            reveal_secrets: false,
            https_proxy: None,
            no_proxy: None,
            ca_file: None,
            client_cert_file: None,
            user_agent: concat!("toolwright/", env!("CARGO_PKG_VERSION")).to_owned(),
            known_secrets: KnownSecrets::default(),
        }
    }
}

impl Config {
    /// The value of a setting of the document; nothing where it is empty.
    pub(crate) fn setting(&self, key: &str) -> Option<&str> {
        let own = self.settings.get(key);
        let value = own.or_else(|| self.api_key.as_ref().filter(|_| key == "api_key"));
        value.map(Secret::expose).filter(|text| !text.is_empty())
    }
}

/// What is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The base URL cannot be read.
    #[error("the base URL {0:?} is not a URL: write it like http://127.0.0.1:8080")]
    BaseUrl(String),
    /// The base URL names another protocol.
    #[error("the base URL must begin with http:// or https://, not {0}://")]
    BaseScheme(String),
    /// The base URL has parts that cannot be kept.
    #[error("the base URL must not hold {0}")]
    BaseParts(&'static str),
    /// The User-Agent cannot be a header.
    #[error("the user agent has characters that a header cannot hold")]
    UserAgent,
    /// The API key cannot be a header.
    #[error("the API key has characters that a header cannot hold, such as a line break")]
    ApiKey,
    /// The proxy cannot be read. The URL is left out: it may hold a password.
    #[error("the HTTPS proxy is not a URL: write it like http://proxy.example:3128")]
    Proxy,
    /// A PEM file cannot be used.
    #[error("{what} {path}: {reason}", path = path.display())]
    Pem {
        /// Which file.
        what: &'static str,
        /// Its path.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// Reads a base URL: `http` or `https`, a host, perhaps a path; no user, query or fragment.
///
/// # Errors
/// Names what must be changed.
pub fn parse_base_url(text: &str) -> Result<Url, ConfigError> {
    let url = Url::parse(text.trim()).map_err(|_| ConfigError::BaseUrl(without_user(text)))?;
    check_base_url(&url)?;
    Ok(url)
}

pub(crate) fn check_base_url(url: &Url) -> Result<(), ConfigError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(ConfigError::BaseScheme(url.scheme().to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ConfigError::BaseParts("a user name or password: set the API key instead"));
    }
    if url.query().is_some() {
        return Err(ConfigError::BaseParts("a query string"));
    }
    if url.fragment().is_some() {
        return Err(ConfigError::BaseParts("a fragment (#…)"));
    }
    Ok(())
}

/// An unreadable URL may still hold a password in front of an `@`.
fn without_user(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, rest)) => format!("…@{rest}"),
        None => text.to_owned(),
    }
}
