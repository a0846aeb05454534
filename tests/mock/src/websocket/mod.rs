//! LocalAI's two WebSocket exchanges.

mod audio;
mod logs;

use crate::answer::Answer;
use crate::check::Call;
use crate::exchange::Upstream;
use crate::fault::Fault;
use crate::record::{Frame, Ticket};
use crate::respond::{self, Body, Cut};
use crate::violation::{Finding, Kind};
use hyper::Response;
use hyper::header::{CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, UPGRADE};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use std::time::Duration;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message, Role, WebSocketConfig};

/// LocalAI takes at most this many bytes in one message.
const MOST_MESSAGE_BYTES: usize = 1 << 20;

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Which exchange an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exchange {
    BackendLogs,
    AudioTransform,
}

impl Exchange {
    pub(crate) fn of(key: &str) -> Option<Self> {
        match key {
            "GET /ws/backend-logs/{modelId}" => Some(Self::BackendLogs),
            "GET /audio/transformations/stream" => Some(Self::AudioTransform),
            _ => None,
        }
    }
}

/// Faults that answer the handshake instead of the exchange.
pub(crate) fn answers_over_http(fault: &Fault) -> bool {
    matches!(fault, Fault::Status { .. } | Fault::Redirect(_) | Fault::ModelLoading { .. } | Fault::GarbageContentType)
}

/// What an exchange works with.
struct Session {
    upstream: Arc<Upstream>,
    operation: &'static str,
    fault: Option<Fault>,
    ticket: Ticket,
}

impl Session {
    fn violate(&self, what: impl Into<String>) {
        let finding = Finding::new(Kind::BadMessage, "websocket", what);
        self.upstream.log.violate([finding.of(self.operation)]);
    }

    fn saw(&self, message: &Message) {
        match message {
            Message::Text(text) => self.ticket.frame(Frame::Text(text.as_str().to_owned())),
            Message::Binary(bytes) => self.ticket.frame(Frame::Binary(bytes.len())),
            Message::Close(close) => self.ticket.frame(Frame::Close(close.as_ref().map(|c| c.code.into()))),
            _ => {}
        }
    }
}

/// Agree to the upgrade and run the exchange on a task of its own.
pub(crate) async fn accept(
    upstream: Arc<Upstream>,
    exchange: Exchange,
    upgrade: OnUpgrade,
    call: &Call,
    fault: Option<Fault>,
    ticket: Ticket,
) -> Result<Response<Body>, Cut> {
    if let Some(Fault::Delay(ms)) = fault {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    let operation = match exchange {
        Exchange::BackendLogs => "GET /ws/backend-logs/{modelId}",
        Exchange::AudioTransform => "GET /audio/transformations/stream",
    };
    let session = Session { upstream, operation, fault, ticket };
    let Some(key) = call.header("sec-websocket-key").filter(|_| call.header("sec-websocket-version") == Some("13"))
    else {
        session.violate("the handshake lacks Sec-WebSocket-Key or version 13");
        return Ok(respond::response("GET", Answer::error(400, "Bad Request", ""), None));
    };
    // The audio exchange takes any origin; the logs only that of the server itself.
    if exchange == Exchange::BackendLogs
        && let Some(origin) = call.header("origin")
        && origin.split_once("://").map(|(_, host)| host) != call.header("host")
    {
        session.violate("the Origin is not this host");
        return Ok(respond::response("GET", Answer::error(403, "Forbidden", ""), None));
    }
    let mut response = Response::new(Body::default());
    *response.status_mut() = hyper::StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    if let Ok(accepted) = HeaderValue::from_str(&derive_accept_key(key.as_bytes())) {
        headers.insert(SEC_WEBSOCKET_ACCEPT, accepted);
    }
    let model = call.path_value("modelId");
    tokio::spawn(async move {
        let Ok(upgraded) = upgrade.await else { return };
        let limits = WebSocketConfig::default()
            .max_message_size(Some(MOST_MESSAGE_BYTES))
            .max_frame_size(Some(MOST_MESSAGE_BYTES));
        let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(limits)).await;
        match exchange {
            Exchange::BackendLogs => logs::run(session, socket, &model).await,
            Exchange::AudioTransform => audio::run(session, socket).await,
        }
    });
    Ok(response)
}

fn error_message(text: &str) -> Message {
    Message::text(serde_json::json!({"type": "error", "error": text}).to_string())
}

fn closing(code: CloseCode) -> Message {
    Message::Close(Some(CloseFrame { code, reason: "".into() }))
}
