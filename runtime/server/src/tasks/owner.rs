//! Whose a task is.

use axum::http::header;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use crate::handler::headers;

/// Who calls, as far as the server can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user whose process this is, over stdio.
    User,
    /// Whoever holds these credentials.
    Holder(String),
    /// Anyone who reaches the server. What such callers know of each other's tasks is their ids, which cannot be guessed.
    Anyone,
}

impl Owner {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let Some(headers) = headers(context) else { return Owner::User };
        let Some(given) = headers.get(header::AUTHORIZATION) else { return Owner::Anyone };
        let given = String::from_utf8_lossy(given.as_bytes());
        let (scheme, credentials) = given.split_once(' ').unwrap_or((&given, ""));
        Owner::Holder(format!("{} {}", scheme.to_ascii_lowercase(), credentials.trim()))
    }

    /// Whether the owner may ask for all of its tasks: anyone's would be those of strangers.
    pub(crate) fn may_list(&self) -> bool {
        *self != Owner::Anyone
    }
}
