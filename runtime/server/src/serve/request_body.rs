//! Request bodies that are no message: repaired where that is possible, else answered as JSON-RPC errors.
//!
//! rmcp answers them with 415 and a line of text, as if the media type were wrong.

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::RoleServer;
use rmcp::model::{MetaObject, ProtocolVersion};
use rmcp::service::TxJsonRpcMessage;
use tokio::time::timeout;

use serde_json::Value;

use super::message::{message, request_id, without_lone_surrogates};
use crate::App;
use crate::tasks::experimental::{self, Sort};

/// A larger body is not kept for the message of its refusal.
const KEPT_BYTES: usize = 1 << 20;

/// Reads the body whole, which the protocol's service does in any case.
pub(super) async fn read(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let limit = app.settings.max_request_bytes.0;
    let reading = to_bytes(body, usize::try_from(limit).unwrap_or(usize::MAX));
    // A client that stops in the middle would hold its connection for as long as it likes.
    let Ok(read) = timeout(app.settings.request_timeout.0, reading).await else {
        let message = "the body did not arrive within the time of a call (setting REQUEST_TIMEOUT)\n";
        return (StatusCode::REQUEST_TIMEOUT, [(header::CONNECTION, "close")], message).into_response();
    };
    let Ok(bytes) = read else {
        let message = format!("the body is larger than {limit} bytes (setting MAX_REQUEST_BYTES), or broke off\n");
        return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
    };
    let bytes = whole(bytes);
    let is_older = app.tasks.is_some() && !is_modern(&parts.headers);
    let (lack, bytes) = match is_older.then(|| Sort::of(&bytes)) {
        Some(Sort::Task(claimed)) => (None, claimed.into()),
        Some(Sort::Handshake) => (Some(Lack::Tasks { may_list: app.settings.auth_token.is_some() }), bytes),
        Some(Sort::Other) => (None, bytes),
        // The protocol's service makes sure that the header is the method of the body.
        None if is_acknowledged(&parts.headers) => (app.task_meta().map(Lack::Meta), bytes),
        None => (None, bytes),
    };
    if !app.settings.sessions.0 {
        // Of an earlier process, or made up: without sessions it names nothing.
        parts.headers.remove("mcp-session-id");
    }
    // What the client declared is the length as it came.
    parts.headers.remove(header::CONTENT_LENGTH);
    let kept = (bytes.len() <= KEPT_BYTES).then(|| bytes.clone());
    let is_json =
        parts.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let answer = next.run(Request::from_parts(parts, Body::from(bytes))).await;
    if let Some(lack) = lack.filter(|_| answer.status().is_success()) {
        return completed(answer, lack).await;
    }
    if answer.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE || !is_json {
        return answer;
    }
    let bytes = kept.unwrap_or_default();
    let Err(error) = message(&bytes) else { return answer };
    tracing::warn!(target: "toolwright::server", error = %error.message, "refused a message");
    let refusal = TxJsonRpcMessage::<RoleServer>::error(error, request_id(&bytes));
    (StatusCode::BAD_REQUEST, Json(refusal)).into_response()
}

/// Whether the headers say that the message is of an era in which each names its version; one without it is malformed.
fn is_modern(headers: &HeaderMap) -> bool {
    let version = headers.get("mcp-protocol-version").and_then(|version| version.to_str().ok());
    // ISO dates compare as text.
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Whether rmcp answers the request with an acknowledgement, to which it lets a handler add nothing.
fn is_acknowledged(headers: &HeaderMap) -> bool {
    headers.get("mcp-method").is_some_and(|method| method == "tasks/update" || method == "tasks/cancel")
}

/// What rmcp leaves out of a result.
enum Lack {
    /// What the server can do with tasks, in the answer of a handshake.
    Tasks { may_list: bool },
    /// `_meta` of an acknowledgement.
    Meta(MetaObject),
}

impl Lack {
    fn fill(&self, result: &mut Value) {
        match self {
            Lack::Tasks { may_list } => experimental::declare(result, *may_list),
            Lack::Meta(meta) => experimental::set(result, "_meta", Value::Object(meta.0.clone())),
        }
    }
}

/// The answer with what its result still lacks. One that holds no JSON stays as it is.
async fn completed(answer: Response, lack: Lack) -> Response {
    let (mut parts, body) = answer.into_parts();
    let Ok(bytes) = to_bytes(body, KEPT_BYTES).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let text = String::from_utf8_lossy(&bytes);
    let message = completed_message(&text, &lack).unwrap_or_else(|| completed_events(&text, &lack));
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(message))
}

/// The message with its result completed; `None` where it is no JSON.
fn completed_message(message: &str, lack: &Lack) -> Option<String> {
    let mut message: Value = serde_json::from_str(message).ok()?;
    if let Some(result) = message.get_mut("result") {
        lack.fill(result);
    }
    Some(message.to_string())
}

/// The same for events, whose messages stand on one line each: with sessions, answers come as a stream.
fn completed_events(events: &str, lack: &Lack) -> String {
    let line = |line: &str| {
        let message = line.strip_prefix("data:").and_then(|message| completed_message(message, lack));
        message.map_or_else(|| line.to_owned(), |message| format!("data: {message}\n"))
    };
    events.split_inclusive('\n').map(line).collect()
}

/// The body without halves of characters.
fn whole(bytes: Bytes) -> Bytes {
    let may_hold_a_half = bytes.contains(&b'\\') && bytes.windows(3).any(|window| window.eq_ignore_ascii_case(b"\\ud"));
    let repaired = may_hold_a_half.then(|| without_lone_surrogates(&bytes)).flatten();
    match repaired {
        Some(repaired) => {
            tracing::warn!(target: "toolwright::server", "replaced half characters (lone surrogates) in a message");
            repaired.into()
        }
        None => bytes,
    }
}
