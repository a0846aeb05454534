//! What was received: text as it is, binary frames in one file.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::{Bytes, BytesMut};
use serde_json::{Map, Value, json};
use toolwright_core::{Envelope, ToolError};

use super::{Session, too_much};
use crate::{
    answer::{Unread, cut, link, message_of, scrub_note, tolerate},
    saved::PartialFile,
};

const BINARY: &str = "application/octet-stream";
const LONGEST_NOTE: usize = 200;

/// What became of a message.
#[derive(Debug)]
pub(crate) enum Taken {
    /// There is room for more.
    More,
    /// It was the last that was asked for.
    Full,
    /// It reports an error.
    Error(String),
    /// It went over the limit on bytes.
    TooMuch(ToolError),
}

/// The messages of an exchange.
#[derive(Debug)]
pub(crate) struct Inbox<'a> {
    session: Session<'a>,
    max_messages: usize,
    messages: Vec<Value>,
    bytes: u64,
    frames: Frames,
}

/// Binary frames, joined in the order in which they came.
#[derive(Debug, Default)]
struct Frames {
    total: u64,
    /// The content while it is within the inline limit.
    inline: BytesMut,
    file: Option<PartialFile>,
    warnings: Vec<String>,
    unsaved: bool,
}

impl<'a> Inbox<'a> {
    pub(crate) fn new(session: Session<'a>, max_messages: usize) -> Self {
        Inbox { session, max_messages, messages: Vec::new(), bytes: 0, frames: Frames::default() }
    }

    /// True where nothing was received yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(crate) fn take_text(&mut self, text: &str) -> Taken {
        if let Err(error) = self.count(text.len()) {
            return Taken::TooMuch(error);
        }
        let message = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        let error = (message.get("type").and_then(Value::as_str) == Some("error"))
            .then(|| message_of(&message).unwrap_or_else(|| "it does not say why".to_owned()));
        let mut note = text.to_owned();
        // Before it is cut: a part of a credential would be no longer known for one.
        scrub_note(&mut note, self.session.context.progress.secrets());
        self.keep(message, cut(&note, LONGEST_NOTE), error)
    }

    /// Takes a binary frame. Its bytes go to the file, not into the message.
    pub(crate) async fn take_binary(&mut self, bytes: Bytes) -> Result<Taken, Unread> {
        if let Err(error) = self.count(bytes.len()) {
            return Ok(Taken::TooMuch(error));
        }
        let mut message = Map::new();
        message.insert("binary".to_owned(), true.into());
        message.insert("offset".to_owned(), self.frames.total.into());
        message.insert("size_bytes".to_owned(), bytes.len().into());
        if self.session.config.inline_base64 && self.fits_inline(bytes.len()) {
            message.insert("binary_base64".to_owned(), STANDARD.encode(&bytes).into());
        }
        let note = format!("{} bytes", bytes.len());
        self.append(bytes).await?;
        Ok(self.keep(Value::Object(message), note, None))
    }

    fn keep(&mut self, message: Value, note: String, error: Option<String>) -> Taken {
        self.messages.push(message);
        self.session.context.progress.say(&note);
        match error {
            Some(error) => Taken::Error(error),
            None if self.messages.len() >= self.max_messages => Taken::Full,
            None => Taken::More,
        }
    }

    fn count(&mut self, size: usize) -> Result<(), ToolError> {
        self.bytes += size as u64;
        let limit = self.session.config.max_response_bytes;
        if self.bytes > limit { Err(too_much(limit)) } else { Ok(()) }
    }

    fn fits_inline(&self, more: usize) -> bool {
        self.frames.total + more as u64 <= self.session.config.inline_binary_limit
    }

    async fn append(&mut self, bytes: Bytes) -> Result<(), Unread> {
        if self.fits_inline(bytes.len()) {
            self.frames.inline.extend_from_slice(&bytes);
        }
        let frames = &mut self.frames;
        frames.total += bytes.len() as u64;
        if !self.session.config.save_binary || frames.unsaved {
            return Ok(());
        }
        if frames.file.is_none() {
            let begun = self.session.saved.begin(Some("frames.pcm"), BINARY).await;
            frames.file = tolerate(begun, &mut frames.warnings)?;
        }
        let written = match &mut frames.file {
            Some(file) => tolerate(file.write(&bytes).await, &mut frames.warnings)?,
            None => None,
        };
        if written.is_none() {
            frames.unsaved = true;
            frames.file = None;
        }
        Ok(())
    }

    /// The messages; the joined frames go into the envelope.
    pub(crate) async fn finish(self, envelope: &mut Envelope) -> Result<Vec<Value>, Unread> {
        let Inbox { session, messages, frames, .. } = self;
        envelope.warnings.extend(frames.warnings);
        if frames.total == 0 {
            return Ok(messages);
        }
        let saved = match frames.file {
            Some(file) => tolerate(file.commit().await, &mut envelope.warnings)?,
            None => None,
        };
        let mut binary = json!({"size_bytes": frames.total, "mime_type": BINARY});
        if let (Some(saved), Value::Object(members)) = (&saved, &mut binary) {
            members.insert("saved_path".to_owned(), saved.path.to_string_lossy().into());
            members.insert("resource_uri".to_owned(), saved.uri.as_str().into());
        }
        envelope.extra.insert("binary".to_owned(), binary);
        envelope.attachments.extend(saved.as_ref().map(link));
        if frames.inline.len() as u64 == frames.total {
            let uri =
                saved.map_or_else(|| format!("toolwright://{}/unsaved/frames", session.config.server_name), |s| s.uri);
            envelope.attachments.insert(0, crate::answer::blob(uri, &frames.inline, BINARY));
        }
        Ok(messages)
    }
}
