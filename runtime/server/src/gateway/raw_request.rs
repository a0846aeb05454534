//! `raw_request`: any request below the base URL, for what no tool covers.

use std::time::Duration;

use serde_json::{Map, Value};
use toolwright_core::fixed::RAW_REQUEST;
use toolwright_core::{Binding, Envelope, Method, Risk, ToolError, ToolSpec};
use toolwright_http::{CallContext, RawRequest};

use super::fixed::Fixed;
use crate::App;
use crate::call::named_failure;
use crate::confirm::Intent;

pub(super) const TOOL: Fixed = Fixed(&RAW_REQUEST);

/// The most of a path that an audit line tells, in characters.
const LONGEST_PATH: usize = 256;

/// A request that may be sent.
pub(super) struct Admitted {
    pub(super) request: RawRequest,
    timeout: Option<Duration>,
    /// Pointers into the answer that must be masked.
    secrets: Vec<&'static str>,
    warnings: Vec<String>,
}

/// What comes before any I/O.
///
/// # Errors
/// The result of the refused call.
pub(super) fn admitted(app: &App, arguments: Map<String, Value>) -> Result<Admitted, Box<Envelope>> {
    let mut accepted = TOOL.check(app, arguments)?;
    let timeout = timeout(app, &accepted.arguments);
    let request = request(&mut accepted.arguments);
    let secrets = admit(app, &request).map_err(|error| Box::new(named_failure(TOOL.name, error)))?;
    Ok(Admitted { request, timeout, secrets, warnings: accepted.warnings })
}

/// What is denied by name stays denied by path, and what is masked by name stays masked: the pointers into the answer.
///
/// # Errors
/// `not_allowed`, as the tool of that path is refused.
pub(crate) fn admit(app: &App, request: &RawRequest) -> Result<Vec<&'static str>, ToolError> {
    let operations = operations(app, request);
    operations.iter().try_for_each(|row| app.exposure.admit(row))?;
    Ok(operations.iter().flat_map(|row| row.secrets).copied().collect())
}

/// The envelope of the request.
pub(super) async fn call(app: &App, arguments: Map<String, Value>, context: &CallContext) -> Envelope {
    let shown = arguments.clone();
    let admitted = match admitted(app, arguments) {
        Ok(admitted) => admitted,
        Err(refused) => return *refused,
    };
    let Admitted { request, timeout, secrets, warnings } = admitted;
    let risk = risk(app, &request);
    let intent = Intent { name: TOOL.name, title: TOOL.title(app), risk, arguments: &shown };
    if let Err(error) = app.confirm(intent, context).await {
        return named_failure(TOOL.name, error);
    }
    if !risk.leaves_state() {
        // The tool's name, which the line of every such call has, says nothing here. A query may hold secrets.
        let path: String =
            request.path.split(['?', '#']).next().unwrap_or_default().chars().take(LONGEST_PATH).collect();
        tracing::info!(target: "toolwright::audit", method = request.method.as_str(), path, "raw request");
    }
    let mut envelope = app.raw_request(&request, &secrets, timeout, context).await;
    envelope.warnings.splice(0..0, warnings);
    if !envelope.ok {
        envelope.extra.entry("tool_name").or_insert_with(|| TOOL.name.into());
    }
    envelope
}

/// What a request may do: what the operation of that path does, or, by its method alone, anything.
fn risk(app: &App, request: &RawRequest) -> Risk {
    if !request.only_reads() {
        return Risk::Destructive;
    }
    operations(app, request).iter().map(|row| row.risk).max().unwrap_or(Risk::ReadOnly)
}

/// The asked deadline, at most the server's own.
fn timeout(app: &App, arguments: &Map<String, Value>) -> Option<Duration> {
    let seconds = arguments.get("timeout_seconds").and_then(Value::as_f64)?;
    Some(Duration::try_from_secs_f64(seconds).ok()?.min(app.settings.request_timeout.0))
}

fn request(arguments: &mut Map<String, Value>) -> RawRequest {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let object = |value: Option<Value>| match value {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    RawRequest {
        is_authored: false,
        method: text(arguments.get("method")),
        path: text(arguments.get("path")),
        query: object(arguments.remove("query")),
        headers: object(arguments.remove("extra_headers"))
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())))
            .collect(),
        body: arguments.remove("body"),
    }
}

/// The operations of the catalog that this request would carry out.
fn operations(app: &App, request: &RawRequest) -> Vec<&'static ToolSpec> {
    let method = match request.method.trim().to_ascii_uppercase().as_str() {
        "HEAD" => "GET".to_owned(),
        other => other.to_owned(),
    };
    let path = request.path.split(['?', '#']).next().unwrap_or_default();
    // Proxies decode a path before servers take it apart.
    let readings = [segments(path), segments(&decoded(path))];
    let is_this = |row: &&ToolSpec| {
        let is_route = |template: &str| readings.iter().any(|path| fits(template, path));
        routes(row).any(|(known, template)| known == method && is_route(template))
    };
    app.catalog.tools().iter().filter(is_this).collect()
}

/// The declared route of a row and the real one.
fn routes(row: &ToolSpec) -> impl Iterator<Item = (&'static str, &'static str)> {
    let real = match row.binding {
        Binding::Http(http) => Some((http.method.as_str(), http.path)),
        Binding::WebSocket(socket) => Some((Method::Get.as_str(), socket.path)),
        _ => None,
    };
    std::iter::once((row.declared.method, row.declared.path)).chain(real)
}

/// Decoded segments in lower case, without empty ones, dots and parameters (`;a=b`, RFC 3986 section 3.3): servers differ
/// in what they take for the same path, and each such reading of a denied path is denied.
fn segments(path: &str) -> Vec<String> {
    let mut segments = Vec::new();
    for segment in path.split(['/', '\\']) {
        let name = segment.split(';').next().unwrap_or_default();
        match name {
            "" | "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(decoded(name)),
        }
    }
    segments
}

fn fits(template: &str, path: &[String]) -> bool {
    let parts: Vec<&str> = template.split('/').filter(|part| !part.is_empty()).collect();
    let fit = |(part, segment): (&&str, &String)| part.contains('{') || part.to_lowercase() == *segment;
    parts.len() == path.len() && parts.iter().zip(path).all(fit)
}

/// Percent-decoded (RFC 3986 section 2.1) and in lower case.
fn decoded(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| tail.get(..2)).flatten();
        let byte = escaped.and_then(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).to_lowercase()
}
