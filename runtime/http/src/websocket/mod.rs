//! WebSocket exchanges (RFC 6455): bounded in messages, bytes and time; a normal close is success.

mod arguments;
mod connect;
mod exchange;
mod inbox;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::Instant,
};
use tokio_tungstenite::WebSocketStream;
use toolwright_core::{Code, Envelope, Payload, ToolError, WebSocketBinding};

use self::{
    arguments::Conversation,
    exchange::{Ended, Talk},
    inbox::Inbox,
};
use crate::{
    answer::Unread, auth::Tokens, config::Config, connect::LazyClient, context::CallContext, plan, saved::SavedFiles,
};

/// What an exchange is carried out with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Session<'a> {
    pub(crate) config: &'a Config,
    pub(crate) saved: &'a SavedFiles,
    pub(crate) context: &'a CallContext,
}

/// A handshake that the upstream answered with a status of its own.
#[derive(Debug)]
struct Refusal {
    status: Option<u16>,
    error: ToolError,
}

impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Self {
        Refusal { status: None, error }
    }
}

impl Session<'_> {
    /// Carries out an exchange.
    pub(crate) async fn run(
        self,
        client: &LazyClient,
        tokens: &Tokens,
        binding: &WebSocketBinding,
        arguments: &Map<String, Value>,
    ) -> Envelope {
        let started = Instant::now();
        let mut envelope = match self.converse(client, tokens, binding, arguments).await {
            Ok(envelope) => envelope,
            Err(refusal) => Envelope { status_code: refusal.status, ..Envelope::failure(refusal.error) },
        };
        envelope.elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
        envelope
    }

    async fn converse(
        self,
        client: &LazyClient,
        tokens: &Tokens,
        binding: &WebSocketBinding,
        arguments: &Map<String, Value>,
    ) -> Result<Envelope, Refusal> {
        let conversation = Conversation::read(self.config, binding.exchange, arguments)?;
        let planned = plan::plan_websocket(self.config, binding, arguments)?;
        let until = conversation.until(self.context);
        let socket = connect::open(self, client, tokens, planned, until).await?;
        // Only now: a token may have been fetched for the handshake.
        let context = self.context.without_credentials(self.config, tokens).await;
        let session = Session { context: &context, ..self };
        Ok(session.talk(socket, conversation, until).await)
    }

    /// An exchange over an open connection.
    async fn talk<S>(self, socket: WebSocketStream<S>, conversation: Conversation, until: Instant) -> Envelope
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut inbox = Inbox::new(self, conversation.max_messages);
        let talk = Talk { context: self.context, until, flushes: conversation.flushes };
        let ended = talk.hold(socket, conversation.outgoing, &mut inbox).await;
        conclude(ended, inbox).await
    }

    /// What a caller that says nothing receives over a connection.
    #[cfg(feature = "fuzzing")]
    pub(crate) async fn receive(self, connection: impl AsyncRead + AsyncWrite + Unpin) -> Result<Envelope, ToolError> {
        let conversation = Conversation::read(self.config, toolwright_core::Exchange::Receive, &Map::new())?;
        let until = conversation.until(self.context);
        Ok(self.talk(connect::client_side(connection, self.config).await, conversation, until).await)
    }
}

/// The envelope of an exchange that took place. Its messages stay, however it ended.
async fn conclude(ended: Ended, inbox: Inbox<'_>) -> Envelope {
    let mut envelope = Envelope { ok: true, ..Envelope::default() };
    envelope.extra.insert("ended_by".to_owned(), ended.name().into());
    envelope.warnings.extend(ended.warning());
    let truncated = ended.leaves_messages_out();
    if let Some(error) = ended.into_error() {
        envelope.ok = false;
        envelope.error = Some(error);
    }
    match inbox.finish(&mut envelope).await {
        Ok(messages) => envelope.payload = Payload::Messages { messages, truncated },
        Err(Unread { error, .. }) => {
            envelope.ok = false;
            envelope.error.get_or_insert(error);
        }
    }
    envelope
}

/// A limit on what one exchange may carry.
fn too_much(limit: u64) -> ToolError {
    ToolError::new(
        Code::TooLarge,
        format!("the exchange went over {limit} bytes, the most that is taken (setting MAX_RESPONSE_BYTES)"),
    )
}
