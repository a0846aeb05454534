//! The exchange itself: both sides speak at once, so that neither waits for the other with full buffers.

use std::time::Duration;

use futures_util::{Sink, SinkExt, Stream, StreamExt};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, sleep_until, timeout},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message,
        error::ProtocolError,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};
use toolwright_core::{Code, ToolError};

use super::inbox::{Inbox, Taken};
use crate::{
    answer::{Unread, one_line},
    context::{CallContext, Interrupted},
};

/// The longest wait for the closing handshake.
const CLOSING: Duration = Duration::from_millis(500);

/// How an exchange ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The upstream closed normally.
    Closed,
    /// The upstream dropped the connection: as its way to end where it was asked to finish and had answered, else a
    /// failure, for this reason.
    Dropped { failure: Option<String> },
    /// The upstream closed with a code that means trouble.
    ClosedWith(u16, String),
    /// As many messages came as were asked for; with words still to say, or from a session, more may have followed.
    MaxMessages { cut: bool },
    /// The time was over, with everything said.
    Timeout,
    /// The time was over before everything was said.
    Stuck,
    /// A message reported an error.
    Reported(String),
    /// The connection broke.
    Broken(String),
    /// A limit, the deadline or the caller ended it.
    Stopped(ToolError),
}

impl Ended {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Ended::Closed | Ended::ClosedWith(..) => "close",
            Ended::Dropped { .. } => "dropped",
            Ended::MaxMessages { .. } => "max_messages",
            Ended::Timeout | Ended::Stuck => "timeout",
            Ended::Reported(_) => "error_message",
            Ended::Broken(_) => "broken_connection",
            Ended::Stopped(_) => "limit",
        }
    }

    pub(crate) fn warning(&self) -> Option<String> {
        matches!(self, Ended::Dropped { failure: None }).then(|| {
            "the upstream dropped the connection instead of closing it; the last message may be missing".to_owned()
        })
    }

    pub(crate) fn leaves_messages_out(&self) -> bool {
        matches!(self, Ended::MaxMessages { cut: true } | Ended::Stopped(_))
    }

    pub(crate) fn into_error(self) -> Option<ToolError> {
        match self {
            Ended::Closed | Ended::Dropped { failure: None } | Ended::MaxMessages { .. } | Ended::Timeout => None,
            Ended::ClosedWith(code, reason) => {
                let why = if reason.is_empty() { "without saying why".to_owned() } else { reason };
                Some(ToolError::new(
                    Code::UpstreamError,
                    format!("the upstream closed the exchange with code {code}: {why}"),
                ))
            }
            Ended::Stuck => Some(ToolError::new(
                Code::Deadline,
                "the upstream did not take all frames in time; raise timeout_seconds or send fewer frames",
            )),
            Ended::Reported(message) => {
                Some(ToolError::new(Code::UpstreamError, format!("the upstream reported an error: {message}")))
            }
            Ended::Dropped { failure: Some(why) } | Ended::Broken(why) => {
                Some(ToolError::new(Code::UpstreamUnreachable, format!("the connection to the upstream broke: {why}")))
            }
            Ended::Stopped(error) => Some(error),
        }
    }
}

/// The bounds of an exchange.
#[derive(Debug)]
pub(crate) struct Talk<'a> {
    pub(crate) context: &'a CallContext,
    pub(crate) until: Instant,
    pub(crate) flushes: bool,
}

impl Talk<'_> {
    /// Says everything and listens meanwhile, until one of the bounds or the upstream ends it.
    pub(crate) async fn hold<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        socket: WebSocketStream<S>,
        outgoing: Vec<Message>,
        inbox: &mut Inbox<'_>,
    ) -> Ended {
        let (mut sink, mut source) = socket.split();
        let ended = self.talk(&mut sink, &mut source, outgoing, inbox).await;
        let ours = matches!(ended, Ended::MaxMessages { .. } | Ended::Timeout | Ended::Reported(_));
        if ours {
            // Politeness with a bound: the result does not depend on it.
            let goodbye = sink.send(Message::Close(Some(CloseFrame { code: CloseCode::Normal, reason: "".into() })));
            drop(timeout(CLOSING, goodbye).await);
        }
        ended
    }

    async fn talk(
        &self,
        sink: &mut (impl Sink<Message, Error = tungstenite::Error> + Unpin),
        source: &mut (impl Stream<Item = Result<Message, tungstenite::Error>> + Unpin),
        outgoing: Vec<Message>,
        inbox: &mut Inbox<'_>,
    ) -> Ended {
        let saying = async {
            for message in outgoing {
                sink.send(message).await?;
            }
            Ok::<(), tungstenite::Error>(())
        };
        tokio::pin!(saying);
        let mut said = false;
        loop {
            tokio::select! {
                () = self.context.cancel.cancelled() => return Ended::Stopped(Interrupted::Cancelled.into_error(true)),
                () = sleep_until(self.until) => return if said { Ended::Timeout } else { Ended::Stuck },
                received = source.next() => {
                    if let Some(ended) = self.hear(received, said, inbox).await {
                        return ended;
                    }
                }
                outcome = &mut saying, if !said => match outcome {
                    Ok(()) => said = true,
                    // The reading side learns why.
                    Err(tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed) => said = true,
                    Err(error) => return Ended::Broken(error.to_string()),
                },
            }
        }
    }

    /// Takes what the other side sent; `Some` where that ended the exchange.
    async fn hear(
        &self,
        received: Option<Result<Message, tungstenite::Error>>,
        said: bool,
        inbox: &mut Inbox<'_>,
    ) -> Option<Ended> {
        let message = match received {
            Some(Ok(message)) => message,
            None | Some(Err(tungstenite::Error::ConnectionClosed)) => return Some(Ended::Closed),
            Some(Err(error)) => return Some(self.broken(&error, said, inbox)),
        };
        match message {
            Message::Close(frame) => Some(closed(frame)),
            Message::Text(text) => self.taken(inbox.take_text(&text)),
            Message::Binary(bytes) => match inbox.take_binary(bytes).await {
                Ok(taken) => self.taken(taken),
                Err(Unread { error, .. }) => Some(Ended::Stopped(error)),
            },
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => None,
        }
    }

    fn taken(&self, taken: Taken) -> Option<Ended> {
        match taken {
            Taken::More => None,
            Taken::Full => Some(Ended::MaxMessages { cut: self.flushes }),
            Taken::Error(message) if self.flushes => Some(Ended::Reported(one_line(&message))),
            Taken::Error(_) => None,
            Taken::TooMuch(error) => Some(Ended::Stopped(error)),
        }
    }

    /// Some servers end a session by dropping the connection. After they were asked to finish, that is an end, unless they
    /// never said a word.
    fn broken(&self, error: &tungstenite::Error, said: bool, inbox: &Inbox<'_>) -> Ended {
        let dropped = match error {
            tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => true,
            tungstenite::Error::Io(error) => {
                matches!(error.kind(), std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::UnexpectedEof)
            }
            _ => false,
        };
        let finished = said && self.flushes && !inbox.is_empty();
        match dropped {
            true => Ended::Dropped { failure: (!finished).then(|| error.to_string()) },
            false => Ended::Broken(error.to_string()),
        }
    }
}

/// Codes 1000 and 1001 are normal, and so is a close without a code (RFC 6455 section 7.4.1).
fn closed(frame: Option<CloseFrame>) -> Ended {
    match frame {
        None => Ended::Closed,
        Some(frame) if matches!(frame.code, CloseCode::Normal | CloseCode::Away | CloseCode::Status) => Ended::Closed,
        Some(frame) => Ended::ClosedWith(frame.code.into(), one_line(&frame.reason)),
    }
}
