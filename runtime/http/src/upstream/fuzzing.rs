//! Ways in for `tests/fuzz`: the whole way of a call, without its network.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::atomic::AtomicU32,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::stream;
use reqwest::{
    Body, Response, StatusCode, Url,
    header::{HeaderName, HeaderValue},
};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::http;
use toolwright_core::{Binding, Envelope, ToolError, ToolSpec};

use super::{Expected, Upstream};
use crate::{
    answer::{Masks, Reply},
    auth,
    context::CallContext,
    plan::PlannedBody,
    send::{self, Attempt},
    websocket,
};

/// A request as it goes over the wire.
#[derive(Debug)]
pub struct WrittenRequest {
    /// The method's token.
    pub method: String,
    /// Where it goes.
    pub url: Url,
    /// Headers by lower-case name, credentials included.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Upstream {
    /// The request that [`Upstream::execute`] would send first.
    ///
    /// # Errors
    /// The error that it would report instead.
    pub async fn write(&self, spec: &ToolSpec, arguments: &Map<String, Value>) -> Result<WrittenRequest, ToolError> {
        let (context, config) = (self.context_for(spec), &self.inner.config);
        let mut planned = self.plan(spec, arguments)?;
        let body = std::mem::replace(&mut planned.body, PlannedBody::None);
        let payload = self.open(body, &context).await?;
        let client = self.inner.client.get(config)?;
        let credentials = auth::obtain(config, client, &self.inner.tokens, planned.security, &context).await?;
        let leaves_state = spec.risk.leaves_state();
        let attempt = Attempt {
            config,
            client,
            planned: &planned,
            payload: &payload,
            credentials: &credentials,
            leaves_state,
            observed: &context.observed,
            sent: AtomicU32::new(0),
        };
        let mut request = attempt.request(planned.method.clone(), planned.url.clone(), true);
        let body = request.body_mut().take().unwrap_or_default();
        let body = Response::from(http::Response::new(body)).bytes().await;
        let headers = request.headers().iter();
        Ok(WrittenRequest {
            method: request.method().to_string(),
            url: request.url().clone(),
            headers: headers.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect(),
            body: body.map_err(|_| ToolError::invalid("a file input cannot be read"))?.to_vec(),
        })
    }

    /// What [`Upstream::execute`] would make of an answer whose body comes in these pieces; headers that HTTP does not
    /// allow are left out.
    pub async fn read_answer(
        &self,
        spec: &ToolSpec,
        status: StatusCode,
        headers: &[(&str, &[u8])],
        pieces: Vec<Bytes>,
    ) -> Envelope {
        let context = self.context_for(spec);
        let masks = Masks::new(&self.inner.config, spec.secrets);
        let (produces, dialect) = match spec.binding {
            Binding::Http(binding) => (binding.produces, binding.stream),
            _ => (&[][..], None),
        };
        let expected = Expected { produces, dialect, masks, leaves_state: true };
        let mut reply = Reply::new(response(status, headers, pieces), None);
        let _ = send::loading(&mut reply).await;
        let _ = send::retry_after(&reply.headers, std::time::SystemTime::UNIX_EPOCH);
        let mut envelope = self.read(reply, expected, true, &context).await;
        self.inner.shapes.compare(spec, &mut envelope);
        self.mask(masks, &mut envelope, &context).await;
        envelope
    }

    /// What an exchange that only listens would make of WebSocket frames that come in these pieces.
    pub async fn read_frames(&self, pieces: Vec<Bytes>, context: &CallContext) -> Envelope {
        let session = websocket::Session { config: &self.inner.config, saved: &self.inner.saved, context };
        let mut envelope = session.receive(Spoken(pieces.into())).await.unwrap_or_else(Envelope::failure);
        self.mask(Masks::new(&self.inner.config, &[]), &mut envelope, context).await;
        envelope
    }
}

fn response(status: StatusCode, headers: &[(&str, &[u8])], pieces: Vec<Bytes>) -> Response {
    let body = Body::wrap_stream(stream::iter(pieces.into_iter().map(Ok::<_, io::Error>)));
    let mut response = http::Response::new(body);
    *response.status_mut() = status;
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_bytes(value)) {
            response.headers_mut().append(name, value);
        }
    }
    Response::from(response)
}

/// A connection whose other side says these bytes, piece by piece, and hears nothing.
#[derive(Debug)]
struct Spoken(VecDeque<Bytes>);

impl AsyncRead for Spoken {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if let Some(mut piece) = self.0.pop_front() {
            let taken = piece.split_to(piece.len().min(buffer.remaining()));
            buffer.put_slice(&taken);
            if !piece.is_empty() {
                self.0.push_front(piece);
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Spoken {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
