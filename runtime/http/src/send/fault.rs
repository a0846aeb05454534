//! What can go wrong before there is an answer, in words that say what to check.

use std::error::Error;

use toolwright_core::{Code, ToolError};

use crate::{config::Config, context::MAYBE_APPLIED};

/// An attempt without an answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The connection failed or broke off.
    #[error("{0}")]
    Network(#[from] reqwest::Error),
    /// More redirects than are followed.
    #[error("the upstream redirects too often")]
    TooManyRedirects,
}

impl Fault {
    /// True where the connection was there and broke off before the answer: worth another attempt where the call is safe.
    pub(crate) fn is_broken_connection(&self) -> bool {
        matches!(self, Fault::Network(error) if error.is_request() && !error.is_connect() && !error.is_timeout())
    }

    /// What kind of fault it is, for counts and traces.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Fault::Network(error) if error.is_timeout() => "timeout",
            Fault::Network(error) if error.is_connect() => "connect",
            Fault::Network(_) => "broke_off",
            Fault::TooManyRedirects => "too_many_redirects",
        }
    }

    pub(crate) fn into_error(self, config: &Config, changes_nothing: bool) -> ToolError {
        match self {
            Fault::Network(error) => no_answer(config, &error, changes_nothing),
            Fault::TooManyRedirects => ToolError::new(Code::UpstreamError, self.to_string()),
        }
    }
}

/// `upstream_unreachable` for a request without an answer: nobody was there, or the connection ended after the request
/// had begun. `changes_nothing` says that the request may be repeated freely.
#[must_use]
pub fn no_answer(config: &Config, error: &reqwest::Error, changes_nothing: bool) -> ToolError {
    if error.is_connect() || error.is_builder() {
        return unreachable(config, error);
    }
    let origin = config.base_url.origin().ascii_serialization();
    let reason = innermost(error);
    let advice = match changes_nothing {
        true => "it may have crashed or restarted: try again",
        false => MAYBE_APPLIED,
    };
    let message = format!("the upstream at {origin} dropped the connection before it answered: {reason}; {advice}");
    ToolError::new(Code::UpstreamUnreachable, message)
}

/// `upstream_unreachable`, with the reason and what to check. Only the origin of the upstream is named: paths and
/// queries may hold values that are nobody's business.
pub(crate) fn unreachable(config: &Config, error: &(dyn Error + 'static)) -> ToolError {
    let origin = config.base_url.origin().ascii_serialization();
    let reason = innermost(error);
    let advice = match reason.to_ascii_lowercase() {
        reason if reason.contains("certificate") => {
            "check the certificate, or set the CA file where the upstream has a private authority"
        }
        reason if reason.contains("dns") || reason.contains("lookup") || reason.contains("name") => {
            "check the host name in the base URL"
        }
        _ => "check that it runs there and that the base URL is right",
    };
    ToolError::new(Code::UpstreamUnreachable, format!("cannot reach the upstream at {origin}: {reason}; {advice}"))
}

/// `upstream_unreachable` for a connection that ended within an answer.
pub(crate) fn broke_off(received: u64, changes_nothing: bool) -> ToolError {
    let advice = match changes_nothing {
        true => "it may have crashed or run out of memory",
        false => MAYBE_APPLIED,
    };
    ToolError::new(
        Code::UpstreamUnreachable,
        format!("the upstream broke off its answer after {received} bytes; {advice}"),
    )
}

/// The last error of a chain says what happened; the ones above it repeat the URL.
#[must_use]
pub fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut current = error;
    while let Some(source) = current.source() {
        current = source;
    }
    match current.downcast_ref::<reqwest::Error>() {
        Some(error) if error.is_timeout() => "no connection within the time limit".to_owned(),
        Some(_) => "the request failed".to_owned(),
        None => current.to_string(),
    }
}
