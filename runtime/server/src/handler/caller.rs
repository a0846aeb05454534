//! Who calls: for the log, so that an audit line says on whose behalf state was changed.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tracing::Span;

/// The span of a request: its id, the client's own name for itself, and its address over HTTP.
pub(super) fn span(context: &RequestContext<RoleServer>) -> Span {
    let span = tracing::info_span!(
        target: "toolwright::call",
        "request",
        id = %context.id,
        client = tracing::field::Empty,
        address = tracing::field::Empty,
    );
    if !span.is_disabled() {
        if let Some(client) = context.client_info() {
            span.record("client", super::shown(&client.name));
        }
        if let Some(address) = address(context) {
            span.record("address", tracing::field::display(address));
        }
    }
    span
}

fn address(context: &RequestContext<RoleServer>) -> Option<SocketAddr> {
    let parts = context.extensions.get::<Parts>()?;
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0)
}
