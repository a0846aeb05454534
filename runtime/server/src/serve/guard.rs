//! Who may talk to the HTTP server.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq as _;

use crate::App;
use crate::settings::{Secret, Settings};

/// Refuses requests for other hosts, as a rebound DNS name sends them, and those without the token.
pub(super) async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    if !host_is_allowed(request.uri().host(), headers, &app.settings) {
        return (StatusCode::FORBIDDEN, "this Host is not allowed; see MCP_ALLOWED_HOSTS\n").into_response();
    }
    match &app.settings.auth_token {
        Some(token) if !is_authorized(headers, token) => {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
            (StatusCode::UNAUTHORIZED, challenge, "a bearer token is required\n").into_response()
        }
        _ => next.run(request).await,
    }
}

/// Compares in time that does not depend on where the tokens differ (RFC 6750 section 2.1 for the header).
fn is_authorized(headers: &HeaderMap, token: &Secret) -> bool {
    let given = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes()).unwrap_or_default();
    let scheme = given.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"bearer "));
    let credentials = given.get(7..).unwrap_or_default().trim_ascii();
    scheme && bool::from(credentials.ct_eq(token.expose().as_bytes()))
}

/// Hosts that clients may use; `None` for any, which the operator writes as `*`.
pub(super) fn allowed_hosts(settings: &Settings) -> Option<Vec<String>> {
    let configured = &settings.allowed_hosts.0;
    if configured.iter().any(|host| host == "*") {
        return None;
    }
    let bound = settings.host.0;
    let bound = (!bound.is_unspecified()).then(|| bound.to_string());
    let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    Some(loopback.into_iter().chain(bound).chain(configured.iter().cloned()).collect())
}

/// Web origins that may call: pages of this machine while only this machine can reach the server, and configured ones.
pub(super) fn allowed_origins(settings: &Settings) -> Vec<String> {
    let local = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
    let local = if settings.host.0.is_loopback() { &local[..] } else { &[] };
    local.iter().map(|origin| (*origin).to_owned()).chain(settings.allowed_origins.0.iter().cloned()).collect()
}

fn host_is_allowed(in_uri: Option<&str>, headers: &HeaderMap, settings: &Settings) -> bool {
    let Some(allowed) = allowed_hosts(settings) else { return true };
    let is_allowed = |given: &str| {
        let name = without_port(given);
        allowed.iter().any(|host| {
            host.eq_ignore_ascii_case(given) || without_port(host).eq_ignore_ascii_case(name) && !has_port(host)
        })
    };
    // Whatever is between the client and this server may go by another of them (RFC 9112 sections 3.2 and 3.2.2).
    let given = headers.get_all(header::HOST).iter().map(|value| value.to_str().unwrap_or_default()).chain(in_uri);
    let mut given = given.peekable();
    given.peek().is_some() && given.all(is_allowed)
}

fn has_port(host: &str) -> bool {
    without_port(host).len() < host.trim_start_matches('[').trim_end_matches(']').len()
}

/// The name or address of a `Host` value; an IPv6 address has its brackets taken off.
fn without_port(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or(rest);
    }
    match host.split_once(':') {
        // A bare IPv6 address has several colons and no port.
        Some((name, port)) if !port.contains(':') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::settings;

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn the_token_must_match_in_full() {
        let token = Secret::new("abc");
        let authorized = |value: &str| is_authorized(&headers(header::AUTHORIZATION, value), &token);
        assert!(authorized("Bearer abc") && authorized("bearer abc"));
        assert!(
            !authorized("Bearer ab") && !authorized("Bearer abcd") && !authorized("abc") && !authorized("Basic abc")
        );
        assert!(!is_authorized(&HeaderMap::new(), &token));
    }

    #[test]
    fn loopback_names_are_hosts_with_any_port_and_others_are_not() {
        let state = tempfile::tempdir().unwrap();
        let allowed = |host: &str| host_is_allowed(None, &headers(header::HOST, host), &settings(&state));
        for host in ["localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"] {
            assert!(allowed(host), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:8000", "127.0.0.1.evil.example", ""] {
            assert!(!allowed(host), "{host}");
        }
    }

    #[test]
    fn every_host_that_a_request_names_must_be_allowed() {
        let state = tempfile::tempdir().unwrap();
        let settings = settings(&state);
        let local = headers(header::HOST, "localhost");
        assert!(host_is_allowed(Some("localhost"), &local, &settings));
        assert!(!host_is_allowed(Some("evil.example"), &local, &settings));
        let mut two = local;
        two.append(header::HOST, "evil.example".parse().unwrap());
        assert!(!host_is_allowed(None, &two, &settings));
        assert!(!host_is_allowed(None, &HeaderMap::new(), &settings));
    }

    #[test]
    fn a_configured_host_with_a_port_allows_that_port_only() {
        let state = tempfile::tempdir().unwrap();
        let mut settings = settings(&state);
        settings.allowed_hosts.0 = vec!["tools.example:444".into(), "any.example".into()];
        let allowed = |host: &str| host_is_allowed(None, &headers(header::HOST, host), &settings);
        assert!(allowed("tools.example:444") && allowed("any.example:9"));
        assert!(!allowed("tools.example:445") && !allowed("tools.example"));
    }

    #[test]
    fn no_local_page_may_call_a_server_that_others_reach() {
        let state = tempfile::tempdir().unwrap();
        let mut settings = settings(&state);
        settings.host.0 = [0, 0, 0, 0].into();
        assert!(allowed_origins(&settings).is_empty());
    }
}
