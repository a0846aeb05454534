//! What the caller says in an exchange, and its bounds.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;
use toolwright_core::{Code, Exchange, ToolError};

use crate::{config::Config, context::CallContext};

const MOST_MESSAGES: u64 = 10_000;
/// The real server closes the session on a longer message, with the answers so far.
const LARGEST_FRAME: usize = 1024 * 1024;
const DEFAULT_SECONDS: f64 = 10.0;
/// Left of the call's own deadline for the closing handshake and the result.
const RESERVE: Duration = Duration::from_millis(200);

/// One side of an exchange, read from the arguments.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) outgoing: Vec<Message>,
    pub(crate) max_messages: usize,
    /// True where the last outgoing message asks the upstream to flush and close.
    pub(crate) flushes: bool,
    timeout: Duration,
}

impl Conversation {
    pub(crate) fn read(config: &Config, exchange: Exchange, arguments: &Map<String, Value>) -> Result<Self, ToolError> {
        let (outgoing, default_messages) = match exchange {
            Exchange::Receive => (Vec::new(), 50),
            Exchange::Session => (session(config, arguments)?, 100),
        };
        let asked = arguments.get("max_messages").and_then(Value::as_u64).unwrap_or(default_messages);
        let seconds = arguments.get("timeout_seconds").and_then(Value::as_f64).unwrap_or(DEFAULT_SECONDS);
        Ok(Conversation {
            outgoing,
            max_messages: usize::try_from(asked.clamp(1, MOST_MESSAGES)).unwrap_or(1),
            flushes: exchange == Exchange::Session,
            timeout: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs_f64(DEFAULT_SECONDS)),
        })
    }

    /// When the exchange ends at the latest, if it begins now: one bound for all of it, the handshake included.
    pub(crate) fn until(&self, context: &CallContext) -> Instant {
        Instant::now() + self.timeout.min(context.remaining().saturating_sub(RESERVE))
    }
}

/// The opening, the frames, and the request to flush.
fn session(config: &Config, arguments: &Map<String, Value>) -> Result<Vec<Message>, ToolError> {
    let mut opening = arguments
        .get("session")
        .and_then(Value::as_object)
        .cloned()
        .ok_or_else(|| ToolError::invalid("`session` must be an object: the settings of the session"))?;
    let kind = opening.entry("type").or_insert_with(|| json!("session.update"));
    if kind != "session.update" {
        return Err(ToolError::invalid("`session.type` must be session.update: the first message opens the session"));
    }
    let frames = arguments.get("frames_base64").and_then(Value::as_array);
    let mut outgoing = vec![Message::text(Value::Object(opening).to_string())];
    let mut total = 0u64;
    for (index, frame) in frames.into_iter().flatten().enumerate() {
        let frame = decode(index, frame)?;
        if frame.len() > LARGEST_FRAME {
            let message = format!(
                "`frames_base64/{index}` holds {} bytes; a frame holds at most {LARGEST_FRAME}: split it",
                frame.len()
            );
            return Err(ToolError::new(Code::TooLarge, message));
        }
        total += frame.len() as u64;
        if total > config.max_upload_bytes {
            let limit = config.max_upload_bytes;
            let message = format!("`frames_base64` holds more than {limit} bytes (setting MAX_UPLOAD_BYTES)");
            return Err(ToolError::new(Code::TooLarge, message));
        }
        outgoing.push(Message::binary(frame));
    }
    outgoing.push(Message::text(json!({"type": "session.close"}).to_string()));
    Ok(outgoing)
}

fn decode(index: usize, frame: &Value) -> Result<Vec<u8>, ToolError> {
    let text = frame.as_str().unwrap_or_default();
    STANDARD.decode(text.strip_prefix("base64:").unwrap_or(text)).map_err(|error| {
        ToolError::new(Code::FileRefused, format!("`frames_base64/{index}` is not valid base64: {error}"))
    })
}
