//! The opening handshake.

use reqwest::{
    Client, Response, StatusCode, Upgraded,
    header::{CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE},
};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, timeout_at},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        handshake::{client::generate_key, derive_accept_key},
        protocol::{Role, WebSocketConfig},
    },
};
use toolwright_core::{Code, ToolError};

use super::{Refusal, Session};
use crate::{
    answer::{message_of, refusal},
    auth::{self, Tokens},
    config::Config,
    connect::LazyClient,
    plan::Planned,
    send::{self, no_answer, unreachable},
};

/// No message of an exchange is larger, whatever the limit on answers is.
const LARGEST_MESSAGE: u64 = 16 * 1024 * 1024;

/// How much of a refusal's body is read for its message.
const LARGEST_REFUSAL: usize = 64 * 1024;

pub(crate) type Socket = WebSocketStream<Upgraded>;

/// Connects and shakes hands, within the connect timeout, the exchange's own time and the deadline. The HTTP client does
/// it, so that proxy, TLS and certificates are those of every other call.
pub(crate) async fn open(
    session: Session<'_>,
    client: &LazyClient,
    tokens: &Tokens,
    planned: Planned,
    until: Instant,
) -> Result<Socket, Refusal> {
    let client = client.get(session.config)?;
    let connected = Instant::now() + session.config.connect_timeout;
    let opening = timeout_at(connected.min(until), shake_hands(session, client, tokens, planned));
    match session.context.bound(opening).await.map_err(|interrupted| interrupted.into_error(true))? {
        Ok(upgraded) => Ok(client_side(upgraded?, session.config).await),
        Err(_) if until <= connected => Err(out_of_time().into()),
        Err(elapsed) => Err(unreachable(session.config, &elapsed).into()),
    }
}

/// Our side of a connection whose handshake is done.
pub(crate) async fn client_side<S: AsyncRead + AsyncWrite + Unpin>(
    connection: S,
    config: &Config,
) -> WebSocketStream<S> {
    let largest = usize::try_from(config.max_response_bytes.min(LARGEST_MESSAGE)).unwrap_or(usize::MAX);
    let limits = WebSocketConfig::default().max_message_size(Some(largest)).max_frame_size(Some(largest));
    WebSocketStream::from_raw_socket(connection, Role::Client, Some(limits)).await
}

fn out_of_time() -> ToolError {
    let message = "the upstream did not open the exchange in time; raise timeout_seconds, or check that it is not busy";
    ToolError::new(Code::Deadline, message)
}

/// The handshake of RFC 6455 section 4.1.
async fn shake_hands(
    session: Session<'_>,
    client: &Client,
    tokens: &Tokens,
    planned: Planned,
) -> Result<Upgraded, Refusal> {
    let failed = |error: &reqwest::Error| Refusal::from(no_answer(session.config, error, true));
    let mut credentials = auth::obtain(session.config, client, tokens, planned.security, session.context).await?;
    let is_own_origin = planned.url.origin() == session.config.base_url.origin();
    if is_own_origin {
        credentials.forward(&session.context.forwarded);
        session.config.known_secrets.learn(session.context.forwarded.texts());
    }
    let key = generate_key();
    let Planned { mut url, mut headers, .. } = planned;
    credentials.add_to_url(&mut url);
    credentials.add_to_headers(&mut headers);
    let mut observed = send::observe(&session.context.observed, "GET", &url, 0, 0, is_own_origin);
    if let Some(observed) = &observed {
        send::add_headers(&mut headers, observed.as_ref());
    }
    let request = client
        .get(url)
        .headers(headers)
        .header(CONNECTION, HeaderValue::from_static("Upgrade"))
        .header(UPGRADE, HeaderValue::from_static("websocket"))
        .header(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"))
        .header(SEC_WEBSOCKET_KEY, &key);
    let answered = request.send().await;
    if let Some(observed) = &mut observed {
        match &answered {
            Ok(response) => observed.answered(response.status().as_u16()),
            Err(error) => observed.failed(if error.is_connect() { "connect" } else { "broke_off" }),
        }
    }
    let response = answered.map_err(|error| failed(&error))?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        if response.status() == StatusCode::UNAUTHORIZED {
            tokens.forget(credentials.fetched()).await;
        }
        return Err(refused(response).await);
    }
    let accepted = response.headers().get(SEC_WEBSOCKET_ACCEPT).map(HeaderValue::as_bytes);
    if accepted != Some(derive_accept_key(key.as_bytes()).as_bytes()) {
        let message = "the upstream's answer to the handshake does not match its key (Sec-WebSocket-Accept)";
        return Err(ToolError::new(Code::UpstreamError, message).into());
    }
    response.upgrade().await.map_err(|error| failed(&error))
}

/// A handshake that the upstream answered otherwise.
async fn refused(mut response: Response) -> Refusal {
    let status = response.status();
    let mut body = Vec::new();
    while let Ok(Some(part)) = response.chunk().await {
        body.extend_from_slice(&part);
        if body.len() > LARGEST_REFUSAL {
            break;
        }
    }
    let body = serde_json::from_slice::<Value>(&body).ok();
    let message = body.as_ref().and_then(message_of);
    let told = refusal(status, response.headers(), body.as_ref(), message.as_deref());
    let error = ToolError::new(Code::UpstreamError, told);
    Refusal { status: Some(status.as_u16()), error }
}
