//! A request before anything is opened or sent: what a dry run shows, and what every attempt is made from.

use bytes::Bytes;
use reqwest::{
    Url,
    header::{ACCEPT, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{Map, Value};
use toolwright_core::{
    Binding, Code, Hidden, HttpBinding, Method, NoRoute, Requirements, StreamDialect, ToolError, ToolSpec,
    WebSocketBinding,
};

use crate::{auth, body, config::Config, encode, files::FileInput, hidden, server};

/// A request, planned and not sent.
#[derive(Debug)]
pub struct Planned {
    pub(crate) method: reqwest::Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: PlannedBody,
    /// The call's own requirements of credentials; `None` where the server's hold.
    pub(crate) security: Option<Requirements>,
    /// Options of `curl` that stand for the credentials where the request is printed.
    pub(crate) credentials: Vec<String>,
    /// True where it opens a WebSocket.
    pub(crate) websocket: bool,
}

/// The body of a planned request.
#[derive(Debug)]
pub(crate) enum PlannedBody {
    /// No body.
    None,
    /// Bytes of a media type.
    Bytes { media_type: String, bytes: Bytes },
    /// One file as the whole body.
    File { media_type: String, file: FileInput },
    /// The parts of a multipart body, and its media type without the boundary.
    Multipart { media_type: String, parts: Vec<Part> },
}

/// One part of a multipart body.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) content: PartContent,
    /// Further headers.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Part {
    /// A part without further headers.
    pub(crate) fn new(name: String, content: PartContent) -> Self {
        Part { name, content, headers: Vec::new() }
    }
}

/// What a part holds.
#[derive(Debug)]
pub(crate) enum PartContent {
    /// Text without a content type of its own.
    Text(String),
    /// Text of a media type: a value as JSON, or what the document says the part is.
    Typed { text: String, media_type: String },
    /// A file, sent as the media type where the document says one.
    File { file: FileInput, media_type: Option<&'static str> },
}

/// Plans a tool's request.
///
/// # Errors
/// `no_route` where the real server lacks the route; `invalid_arguments` or `file_refused` where a value cannot be sent.
pub(crate) fn plan(config: &Config, spec: &ToolSpec, arguments: &Map<String, Value>) -> Result<Planned, ToolError> {
    match spec.binding {
        Binding::Http(binding) => plan_http(config, &binding, arguments),
        Binding::WebSocket(binding) => plan_websocket(config, &binding, arguments),
        Binding::NoRoute(missing) => Err(no_route(&missing)),
        Binding::Native | Binding::Expression(_) | Binding::Steps(_) | Binding::Linked(_) => Err(own(spec.name)),
    }
}

/// Plans an exchange's handshake.
pub(crate) fn plan_websocket(
    config: &Config,
    binding: &WebSocketBinding,
    arguments: &Map<String, Value>,
) -> Result<Planned, ToolError> {
    let base = base(config, binding.server, binding.hidden)?;
    let target = encode::target(&base, binding.path, binding.parameters, arguments)?;
    let (method, body) = (reqwest::Method::GET, PlannedBody::None);
    let planned = Planned::new(config, method, target.url, target.headers, body, binding.security);
    Ok(Planned { websocket: true, ..planned })
}

pub(crate) fn plan_http(
    config: &Config,
    binding: &HttpBinding,
    arguments: &Map<String, Value>,
) -> Result<Planned, ToolError> {
    let base = base(config, binding.server, binding.hidden)?;
    let target = encode::target(&base, binding.path, binding.parameters, arguments)?;
    let body = body::plan(config, &binding.body, arguments)?;
    let mut headers = target.headers;
    headers.insert(ACCEPT, accept(binding, arguments));
    Ok(Planned::new(config, wire(binding.method)?, target.url, headers, body, binding.security))
}

/// The base URL of a request. Hidden secrets go to the upstream's own origin alone.
fn base(config: &Config, server: Option<&str>, hidden: &[Hidden]) -> Result<Url, ToolError> {
    let base = server::base(config, server)?;
    if base.origin() != config.base_url.origin() && hidden::holds_secret(config, hidden) {
        let message = "a secret setting would be sent with this call to another origin than the API's own";
        return Err(ToolError::new(Code::NotAllowed, message));
    }
    Ok(base)
}

fn wire(method: Method) -> Result<reqwest::Method, ToolError> {
    reqwest::Method::from_bytes(method.as_str().as_bytes())
        .map_err(|_| ToolError::invalid("the method of this operation is not an HTTP token"))
}

impl Planned {
    /// Credentials go to the upstream's own origin alone: to any other, the call needs none.
    pub(crate) fn new(
        config: &Config,
        method: reqwest::Method,
        url: Url,
        headers: HeaderMap,
        body: PlannedBody,
        security: Option<Requirements>,
    ) -> Self {
        let none: Option<Requirements> = Some(&[]);
        let security = if url.origin() == config.base_url.origin() { security } else { none };
        let credentials = auth::placeholders(config, security);
        Planned { method, url, headers, body, security, credentials, websocket: false }
    }

    /// The URL as it will be requested.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The method as it will be requested.
    #[must_use]
    pub fn method(&self) -> &str {
        self.method.as_str()
    }
}

/// What a server carries out itself.
pub(crate) fn own(tool: &str) -> ToolError {
    ToolError::new(Code::NotAllowed, format!("{tool} is carried out by its server and is no request of the API"))
}

pub(crate) fn no_route(missing: &NoRoute) -> ToolError {
    ToolError::new(Code::NoRoute, missing_text(missing))
}

pub(crate) fn missing_text(missing: &NoRoute) -> String {
    match missing.instead {
        Some(tool) => format!("{}; use {tool} instead", missing.missing.trim_end_matches('.')),
        None => missing.missing.to_owned(),
    }
}

/// What the caller can read: the declared types first, and anything else as well, since real answers differ.
fn accept(binding: &HttpBinding, arguments: &Map<String, Value>) -> HeaderValue {
    let streams = binding.stream.is_some_and(|dialect| asks_for_stream(dialect, arguments));
    let declared: Vec<&str> = if streams { vec!["text/event-stream"] } else { binding.produces.to_vec() };
    if declared.is_empty() || declared.contains(&"*/*") {
        return HeaderValue::from_static("*/*");
    }
    HeaderValue::from_str(&format!("{}, */*;q=0.5", declared.join(", ")))
        .unwrap_or_else(|_| HeaderValue::from_static("*/*"))
}

/// True where an argument, or a field of the body, named `stream` is true.
fn asks_for_stream(_: StreamDialect, arguments: &Map<String, Value>) -> bool {
    let is_true = |value: &Value| value == &Value::Bool(true) || value.as_str() == Some("true");
    arguments
        .iter()
        .any(|(name, value)| (name == "stream" && is_true(value)) || value.get("stream").is_some_and(is_true))
}
