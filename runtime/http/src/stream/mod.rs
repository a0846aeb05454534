//! Event streams (`text/event-stream`): events as progress, and one assembled message at the end.

mod anthropic;
mod assembly;
mod events;
mod message;
mod openai;
mod parser;
mod responses;
#[cfg(test)]
mod tests;
mod transcript;
mod watch;

use serde_json::Value;
use toolwright_core::{Code, Envelope, Payload, ToolError};

use self::{
    assembly::{Assembly, Step},
    events::Events,
};
pub use self::{
    message::{MessageStream, Taken},
    parser::{Event, LONGEST_EVENT, Parser, TooLong},
    watch::Watch,
};
use crate::answer::{Reader, Reply, Unread, check_size, cut, mask_text, message_of, next_piece, scrub_note};

/// Longest text of an event that nobody described, shown to people who watch.
const LONGEST_NOTE: usize = 200;

/// Reads a stream until it says that it is done. Whatever went wrong, what has come until then stays in the envelope.
pub(crate) async fn read(reader: Reader<'_>, reply: &mut Reply, envelope: &mut Envelope) -> Result<(), Unread> {
    let mut stream = Stream {
        reader,
        assembly: Assembly::of(reader.dialect),
        events: Events::default(),
        watch: Watch::new(&reader.context.progress),
    };
    let outcome = stream.pump(reply).await;
    stream.watch.flush();
    envelope.payload = payload(reader, stream.assembly.finish(), stream.events);
    outcome
}

fn payload(reader: Reader<'_>, data: Option<Value>, events: Events) -> Payload {
    match data {
        Some(data) if !reader.config.stream_events => Payload::Data(data),
        data => {
            let (events, truncated) = events.into_parts();
            Payload::Events { data, events, truncated }
        }
    }
}

/// A stream while it is read.
struct Stream<'a> {
    reader: Reader<'a>,
    assembly: Assembly,
    events: Events,
    watch: Watch<'a>,
}

impl Stream<'_> {
    async fn pump(&mut self, reply: &mut Reply) -> Result<(), Unread> {
        let mut parser = Parser::default();
        let mut received = 0u64;
        loop {
            let piece = next_piece(reply, self.reader.context, self.reader.changes_nothing, received).await;
            let Some(bytes) = piece.map_err(cut_short)? else { return self.end() };
            received += bytes.len() as u64;
            check_size(self.reader.config, received)?;
            let mut complete = Vec::new();
            let fed = parser.feed(&bytes, &mut complete);
            for event in complete {
                if self.take(&event)? {
                    return Ok(());
                }
            }
            fed.map_err(|_| too_long())?;
        }
    }

    /// Takes one event; true where the stream is done.
    fn take(&mut self, event: &Event) -> Result<bool, Unread> {
        if event.data.trim() == "[DONE]" {
            return Ok(true);
        }
        let data = serde_json::from_str(&event.data).unwrap_or_else(|_| Value::String(event.data.clone()));
        if is_ping(event, &data) {
            return Ok(false);
        }
        self.events.keep(event, &data);
        let step = match failure(event, &data) {
            Some(message) => Step::failure(message),
            None => self.assembly.take(&data),
        };
        if let Some(message) = step.failure {
            let message = format!("the upstream broke the stream off with an error: {message}");
            return Err(ToolError::new(Code::UpstreamError, message).into());
        }
        match (&self.assembly, &step.text) {
            _ if self.reader.secret => {}
            (Assembly::Unknown, _) => self.watch.show(&self.note(event)),
            (_, Some(text)) => self.watch.show(text),
            _ => {}
        }
        Ok(step.done)
    }

    /// An event that nobody described, as people see it.
    fn note(&self, event: &Event) -> String {
        let mut text = event.data.clone();
        // Before it is cut: a part of a credential would be no longer known for one.
        scrub_note(&mut text, self.reader.context.progress.secrets());
        if self.reader.masks_names {
            mask_text(&mut text);
        }
        cut(&text, LONGEST_NOTE)
    }

    fn end(&self) -> Result<(), Unread> {
        let said_anything = !self.events.is_empty() || matches!(self.assembly, Assembly::Unknown);
        if said_anything && self.assembly.may_end() {
            return Ok(());
        }
        let message = "the stream ended before it was complete; what had come until then is kept";
        Err(ToolError::new(Code::UpstreamError, message).into())
    }
}

/// A connection that breaks within a stream, in the same words as a stream that just ends.
fn cut_short(error: ToolError) -> Unread {
    match error.code {
        Code::UpstreamUnreachable => {
            let message = format!("the stream ended before it was complete: {}", error.message);
            ToolError::new(error.code, message).into()
        }
        _ => error.into(),
    }
}

fn too_long() -> ToolError {
    ToolError::new(Code::TooLarge, format!("an event of the stream is larger than {LONGEST_EVENT} bytes"))
}

fn is_ping(event: &Event, data: &Value) -> bool {
    event.name.as_deref() == Some("ping") || assembly::kind(data) == "ping"
}

/// The message of an event that reports an error: `{"error": …}`, `event: error`, or `"type": "error"`.
fn failure(event: &Event, data: &Value) -> Option<String> {
    let named = event.name.as_deref() == Some("error") || assembly::kind(data) == "error";
    let carried = data.get("error").filter(|error| !error.is_null());
    (named || carried.is_some())
        .then(|| carried.and_then(message_of).or_else(|| message_of(data)))
        .map(|message| message.unwrap_or_else(|| "it does not say why".to_owned()))
}
