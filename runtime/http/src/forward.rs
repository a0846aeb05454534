//! Headers of a caller's request that its calls carry to the upstream. Nothing is forwarded unless it is named: MCP
//! forbids to pass on a token that was issued for the MCP server itself (Authorization, Token Passthrough).

#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

use reqwest::header::{HeaderMap, HeaderName};

/// Headers that end at this server: of the connection (RFC 9110 section 7.6.1), of its message, and of MCP. What shapes the
/// answer is the server's own to ask for.
const OURS: [&str; 25] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "if-match",
    "if-none-match",
    "if-range",
    "keep-alive",
    "origin",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// Headers of one caller, to be sent to the upstream's own origin. They take the place of configured credentials of the
/// same name, and never show themselves.
#[derive(Clone, Default)]
pub struct ForwardedHeaders(Arc<HeaderMap>);

impl fmt::Debug for ForwardedHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl ForwardedHeaders {
    /// Those of the headers that are named and may be forwarded.
    #[must_use]
    pub fn pick(names: &[String], headers: &HeaderMap) -> Self {
        let mut picked = HeaderMap::new();
        for name in names.iter().filter(|name| why_not(name).is_none()) {
            let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else { continue };
            for value in headers.get_all(&name) {
                let mut value = value.clone();
                value.set_sensitive(true);
                picked.append(name.clone(), value);
            }
        }
        ForwardedHeaders(Arc::new(picked))
    }

    /// True where nothing goes along.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each header with its values.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.0
    }

    /// The texts that an answer must not repeat: each value, and the token of an `Authorization`.
    pub(crate) fn texts(&self) -> Vec<String> {
        let values = self.0.values().filter_map(|value| value.to_str().ok());
        values
            .flat_map(|text| [Some(text), text.split_once(' ').map(|(_, token)| token)])
            .flatten()
            .map(str::to_owned)
            .collect()
    }
}

/// Why a header can never be forwarded; nothing where it can.
#[must_use]
pub fn why_not(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    if HeaderName::from_bytes(name.as_bytes()).is_err() {
        return Some("it is no name of a header");
    }
    let is_ours = OURS.contains(&lower.as_str()) || lower.starts_with("mcp-") || lower.starts_with("x-forwarded-");
    is_ours.then_some("it belongs to the connection or the message, and ends at this server")
}
