//! Requests of the caller's own making: any path of the upstream, and nothing beyond it.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use reqwest::{
    Method,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{Map, Value};
use toolwright_core::{Style, ToolError};

use crate::{
    body,
    config::Config,
    encode::{self, Escape, header_value, percent_literal},
    plan::{Planned, PlannedBody},
};

/// A request that no tool describes.
#[derive(Debug, Clone, Default)]
pub struct RawRequest {
    /// HTTP method, in any letter case: any token but CONNECT and TRACE.
    pub method: String,
    /// Path below the base URL, with a leading `/`; a query string may follow.
    pub path: String,
    /// Further query parameters; arrays are repeated.
    pub query: Map<String, Value>,
    /// The body: JSON, or text of the type that `content-type` in `headers` names. `None` for no body.
    pub body: Option<Value>,
    /// Headers, from a short list of allowed names.
    pub headers: BTreeMap<String, String>,
    /// True where the server's author wrote the request and not its caller: then any header may be set that the server does
    /// not set itself.
    pub is_authored: bool,
}

impl RawRequest {
    /// Whether its method only reads. CONNECT and TRACE, which are safe too (RFC 9110 section 9.2.1), are never sent.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        matches!(self.method.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS")
    }
}

/// Longer than any registered method.
const LONGEST_METHOD: usize = 64;

/// Headers that a caller may set. Credentials, cookies, `Host` and forwarding headers are not among them.
const ALLOWED: [&str; 13] = [
    "accept",
    "accept-language",
    "content-type",
    "if-match",
    "if-none-match",
    "if-modified-since",
    "if-unmodified-since",
    "idempotency-key",
    "last-event-id",
    "prefer",
    "range",
    "x-correlation-id",
    "x-request-id",
];

/// Plans a raw request.
///
/// # Errors
/// `invalid_arguments`, saying what must be changed.
pub(crate) fn plan(config: &Config, request: &RawRequest) -> Result<Planned, ToolError> {
    let method = method(&request.method)?;
    let mut headers = headers(&request.headers, request.is_authored)?;
    let (path, query) = path(&request.path)?;
    let mut all: Vec<String> = query.into_iter().collect();
    for (name, value) in &request.query {
        let pairs = encode::pairs(name, value, Style::Form, true, &[], Escape::Percent);
        all.extend(pairs.into_iter().map(|(name, text)| format!("{name}={text}")));
    }
    let url = encode::join(&config.base_url, &path, &all)?;
    let body = match &request.body {
        Some(value) => {
            let declared = headers.remove(CONTENT_TYPE).and_then(|value| value.to_str().ok().map(str::to_owned));
            body::whole(config, "body", declared.as_deref().unwrap_or("application/json"), value)?
        }
        None => PlannedBody::None,
    };
    headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
    Ok(Planned::new(config, method, url, headers, body, None))
}

/// Any token (RFC 9110 section 9.1), in capitals. CONNECT asks for a tunnel, and TRACE for the request with its key.
fn method(given: &str) -> Result<Method, ToolError> {
    let token = given.trim().to_ascii_uppercase();
    Method::from_bytes(token.as_bytes())
        .ok()
        .filter(|method| !matches!(*method, Method::CONNECT | Method::TRACE) && token.len() <= LONGEST_METHOD)
        .ok_or_else(|| {
            ToolError::invalid("`method` must be an HTTP method such as GET, POST or PURGE, and not CONNECT or TRACE")
        })
}

/// The path and its query, encoded where they are not yet.
fn path(given: &str) -> Result<(String, Option<String>), ToolError> {
    let invalid = |why: &str| Err(ToolError::invalid(format!("`path` {why}")));
    if !given.starts_with('/') || given.starts_with("//") || given.contains("://") {
        return invalid("must be an absolute path of the upstream, such as /v1/models, without a host");
    }
    if given.contains('#') || given.contains('\\') || given.chars().any(char::is_control) {
        return invalid("must not hold `#`, `\\` or control characters; write them percent-encoded");
    }
    let (path, query) = match given.split_once('?') {
        Some((path, query)) => (path, Some(percent_literal(query))),
        None => (given, None),
    };
    let is_dots = |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    if path.split('/').any(is_dots) {
        return invalid("must not hold the segments `.` and `..`");
    }
    Ok((percent_literal(path), query))
}

fn headers(given: &BTreeMap<String, String>, is_authored: bool) -> Result<HeaderMap, ToolError> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let lower = name.trim().to_ascii_lowercase();
        let is_free = is_authored && !encode::is_reserved_header(&lower);
        if !is_free && !ALLOWED.contains(&lower.as_str()) {
            let allowed = ALLOWED.join(", ");
            return Err(ToolError::invalid(format!("the header {name:?} cannot be set here; allowed are {allowed}")));
        }
        let name = HeaderName::from_bytes(lower.as_bytes()).map_err(|_| ToolError::invalid("not a header name"))?;
        headers.insert(name, header_value("extra_headers", value)?);
    }
    Ok(headers)
}
