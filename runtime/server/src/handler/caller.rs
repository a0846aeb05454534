//! Who calls: for the log, so that an audit line says on whose behalf state was changed; and what of the request goes along.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use toolwright_http::ForwardedHeaders;
use tracing::Span;

/// The span of a request: its id, the client's own name for itself, and its address over HTTP.
pub(super) fn span(context: &RequestContext<RoleServer>) -> Span {
    let span = tracing::info_span!(
        target: "toolwright::call",
        "request",
        id = tracing::field::Empty,
        client = tracing::field::Empty,
        address = tracing::field::Empty,
    );
    if !span.is_disabled() {
        span.record("id", tracing::field::display(super::shown(&context.id.to_string())));
        if let Some(client) = context.client_info() {
            span.record("client", super::shown(&client.name));
        }
        if let Some(address) = address(context) {
            span.record("address", tracing::field::display(address));
        }
    }
    span
}

/// The headers of the caller's request that the operator lets through. There are none over stdio.
pub(crate) fn forwarded(context: &RequestContext<RoleServer>, names: &[String]) -> ForwardedHeaders {
    match headers(context) {
        Some(headers) if !names.is_empty() => ForwardedHeaders::pick(names, headers),
        _ => ForwardedHeaders::default(),
    }
}

/// The headers of the caller's request. There are none over stdio.
pub(crate) fn headers(context: &RequestContext<RoleServer>) -> Option<&HeaderMap> {
    context.extensions.get::<Parts>().map(|parts| &parts.headers)
}

fn address(context: &RequestContext<RoleServer>) -> Option<SocketAddr> {
    let parts = context.extensions.get::<Parts>()?;
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0)
}
