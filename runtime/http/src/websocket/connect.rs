//! The opening handshake.

use reqwest::{
    StatusCode, Url,
    header::{HeaderMap, HeaderValue, USER_AGENT},
};
use serde_json::Value;
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    Connector, MaybeTlsStream, WebSocketStream, client_async_tls_with_config,
    tungstenite::{self, client::IntoClientRequest, handshake::client::Request, protocol::WebSocketConfig},
};
use toolwright_core::{Code, ToolError};

use super::{Refusal, Session};
use crate::{
    answer::{message_of, sentence},
    auth::{self, Credentials, Tokens},
    connect::LazyClient,
    encode::Target,
    send::unreachable,
};

/// No message of an exchange is larger, whatever the limit on answers is.
const LARGEST_MESSAGE: u64 = 16 * 1024 * 1024;

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Connects and shakes hands, within the connect timeout and the deadline.
pub(crate) async fn open(
    session: Session<'_>,
    client: &LazyClient,
    tokens: &Tokens,
    target: Target,
) -> Result<Socket, Refusal> {
    let (config, context) = (session.config, session.context);
    let credentials = auth::obtain(config, client.get(config)?, tokens, None, context).await?;
    let request = request(session, target.url, &target.headers, &credentials)?;
    let address = address(session, &request)?;
    let tls = client.tls()?;
    let largest = usize::try_from(session.config.max_response_bytes.min(LARGEST_MESSAGE)).unwrap_or(usize::MAX);
    let limits = WebSocketConfig::default().max_message_size(Some(largest)).max_frame_size(Some(largest));
    let opening = async {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        client_async_tls_with_config(request, stream, Some(limits), Some(Connector::Rustls(tls))).await
    };
    let bounded = session.context.bound(timeout(session.config.connect_timeout, opening)).await;
    match bounded.map_err(|interrupted| interrupted.into_error(true))? {
        Ok(Ok((socket, _))) => Ok(socket),
        Ok(Err(error)) => Err(refused(session, error)),
        Err(elapsed) => Err(unreachable(session.config, &elapsed).into()),
    }
}

fn request(
    session: Session<'_>,
    mut url: Url,
    headers: &HeaderMap,
    credentials: &Credentials,
) -> Result<Request, ToolError> {
    let invalid = || ToolError::invalid("the exchange has no address that can be connected to");
    let scheme = if url.scheme() == "https" { "wss" } else { "ws" };
    url.set_scheme(scheme).map_err(|()| invalid())?;
    credentials.add_to_url(&mut url);
    let mut request = url.as_str().into_client_request().map_err(|_| invalid())?;
    let out = request.headers_mut();
    out.extend(headers.clone());
    if let Ok(agent) = HeaderValue::from_str(&session.config.user_agent) {
        out.insert(USER_AGENT, agent);
    }
    credentials.add_to_headers(out);
    Ok(request)
}

fn address(session: Session<'_>, request: &Request) -> Result<(String, u16), ToolError> {
    let url = &session.config.base_url;
    let host = request.uri().host().map(|host| host.trim_start_matches('[').trim_end_matches(']').to_owned());
    host.zip(url.port_or_known_default())
        .ok_or_else(|| ToolError::invalid("the exchange has no address that can be connected to"))
}

/// A handshake without success: an answer of the upstream, or none.
fn refused(session: Session<'_>, error: tungstenite::Error) -> Refusal {
    let tungstenite::Error::Http(response) = error else {
        return unreachable(session.config, &error).into();
    };
    let status = StatusCode::from_u16(response.status().as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    let body = response.body().as_deref().and_then(|body| serde_json::from_slice::<Value>(body).ok());
    let message = body.as_ref().and_then(message_of);
    let error = ToolError::new(Code::UpstreamError, sentence(status, message.as_deref()));
    Refusal { status: Some(status.as_u16()), error }
}
