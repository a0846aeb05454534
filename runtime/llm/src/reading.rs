//! From the bytes of an answer to its message, however they are cut, and whatever breaks on the way.

#[cfg(test)]
mod tests;

use serde_json::Value;
use toolwright_core::StreamDialect;
use toolwright_http::{Event, LONGEST_EVENT, MessageStream, Parser, message_of};

use crate::{
    answer::Answer,
    dialect::{Dialect, OllamaStream},
};

/// An answer in bytes, at most.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// An answer while it is read.
#[derive(Debug)]
pub(crate) struct Reading {
    dialect: Dialect,
    framing: Framing,
    message: Message,
    received: usize,
    /// True when an event or line of the answer has come.
    has_begun: bool,
}

#[derive(Debug)]
enum Framing {
    Events(Parser),
    Lines(Vec<u8>),
    /// Not streamed although that was asked for.
    Whole(Vec<u8>),
}

#[derive(Debug)]
enum Message {
    Events(MessageStream),
    Lines(OllamaStream),
    Whole(Value),
}

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wrong {
    /// It reports an error itself.
    Reported(Reported),
    /// It ended too early.
    Cut,
    /// It went over a limit.
    TooLarge(String),
    /// It is not what it should be.
    Unreadable(String),
}

/// An error as an upstream reports it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Reported {
    /// Its `type`.
    pub(crate) kind: Option<String>,
    /// Its `code`.
    pub(crate) code: Option<String>,
    /// Its sentence.
    pub(crate) message: Option<String>,
}

/// What bytes brought.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Brought {
    /// Text for people who watch.
    pub(crate) text: String,
    /// True where the answer is complete, and nothing after it matters.
    pub(crate) done: bool,
}

impl Reading {
    /// An answer of that dialect, whose `Content-Type` is given.
    pub(crate) fn new(dialect: Dialect, media_type: &str) -> Self {
        let is_json = media_type.to_ascii_lowercase().starts_with("application/json");
        let (framing, message) = match dialect {
            Dialect::Ollama => (Framing::Lines(Vec::new()), Message::Lines(OllamaStream::default())),
            _ if is_json => (Framing::Whole(Vec::new()), Message::Whole(Value::Null)),
            Dialect::OpenAi => events(StreamDialect::OpenAi),
            Dialect::Anthropic => events(StreamDialect::Anthropic),
        };
        Reading { dialect, framing, message, received: 0, has_begun: false }
    }

    /// Takes the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Brought, Wrong> {
        self.received = self.received.saturating_add(bytes.len());
        if self.received > MOST_BYTES {
            return Err(Wrong::TooLarge(format!("it has more than {MOST_BYTES} bytes")));
        }
        let mut brought = Brought::default();
        match &mut self.framing {
            Framing::Whole(kept) => kept.extend_from_slice(bytes),
            Framing::Events(parser) => {
                let mut complete = Vec::new();
                let fed = parser.feed(bytes, &mut complete);
                for event in complete {
                    if self.take_event(&event, &mut brought)? {
                        return Ok(brought);
                    }
                }
                fed.map_err(|_| too_long("an event"))?;
            }
            Framing::Lines(kept) => {
                // What was kept has no line end in it.
                let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| kept.len() + at + 1);
                kept.extend_from_slice(bytes);
                let lines: Vec<u8> = kept.drain(..end).collect();
                if kept.len() > LONGEST_EVENT {
                    return Err(too_long("a line"));
                }
                self.take_lines(&lines, &mut brought)?;
            }
        }
        Ok(brought)
    }

    /// The connection has ended: the answer, where it may end here.
    pub(crate) fn end(mut self) -> Result<Answer, (Wrong, String)> {
        match self.settle() {
            Ok(()) => self.finish(),
            Err(wrong) => {
                let partial = self.partial();
                Err((wrong, partial))
            }
        }
    }

    fn settle(&mut self) -> Result<(), Wrong> {
        match &mut self.framing {
            Framing::Whole(kept) => {
                let kept = std::mem::take(kept);
                let whole: Value = match serde_json::from_slice(&kept) {
                    Ok(whole) => whole,
                    Err(error) if error.is_eof() => return Err(Wrong::Cut),
                    Err(error) => return Err(Wrong::Unreadable(format!("it is not JSON: {error}"))),
                };
                if let Some(reported) = reported(None, &whole) {
                    return Err(Wrong::Reported(reported));
                }
                self.message = Message::Whole(whole);
                Ok(())
            }
            // The last line need not have an end.
            Framing::Lines(kept) => {
                let rest = std::mem::take(kept);
                let mut brought = Brought::default();
                match self.take_lines(&rest, &mut brought) {
                    Ok(()) if brought.done => Ok(()),
                    Ok(()) | Err(Wrong::Unreadable(_)) => Err(Wrong::Cut),
                    Err(wrong) => Err(wrong),
                }
            }
            Framing::Events(_) => match &self.message {
                Message::Events(message) if self.has_begun && message.may_end() => Ok(()),
                _ => Err(Wrong::Cut),
            },
        }
    }

    /// The answer, of which everything has come.
    pub(crate) fn finish(self) -> Result<Answer, (Wrong, String)> {
        let dialect = self.dialect;
        let message = self.into_message().unwrap_or_default();
        dialect.answer(&message).map_err(|reason| (Wrong::Unreadable(reason.to_owned()), String::new()))
    }

    /// The text of an answer of which not everything has come.
    pub(crate) fn partial(self) -> String {
        let dialect = self.dialect;
        let message = self.into_message();
        message.and_then(|message| dialect.answer(&message).ok()).map(|answer| answer.text).unwrap_or_default()
    }

    fn into_message(self) -> Option<Value> {
        match self.message {
            Message::Events(message) => message.finish(),
            Message::Lines(message) => Some(message.finish()),
            Message::Whole(message) => Some(message),
        }
    }

    /// Takes an event; true where the answer is complete.
    fn take_event(&mut self, event: &Event, brought: &mut Brought) -> Result<bool, Wrong> {
        if event.data.trim() == "[DONE]" {
            brought.done = true;
            return Ok(true);
        }
        let data: Value = serde_json::from_str(&event.data).unwrap_or_else(|_| Value::String(event.data.clone()));
        if let Some(reported) = reported(event.name.as_deref(), &data) {
            return Err(Wrong::Reported(reported));
        }
        if !data.is_object() {
            return Err(Wrong::Unreadable("an event of its stream is no JSON object".to_owned()));
        }
        self.has_begun = true;
        let Message::Events(message) = &mut self.message else { return Ok(false) };
        let taken = message.take(&data);
        brought.text.push_str(&taken.text.unwrap_or_default());
        brought.done = taken.done;
        Ok(taken.done)
    }

    fn take_lines(&mut self, lines: &[u8], brought: &mut Brought) -> Result<(), Wrong> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            let line: Value = serde_json::from_slice(line)
                .map_err(|error| Wrong::Unreadable(format!("a line of its stream is not JSON: {error}")))?;
            if let Some(reported) = reported(None, &line) {
                return Err(Wrong::Reported(reported));
            }
            let Message::Lines(message) = &mut self.message else { return Ok(()) };
            let (text, done) = message.take(&line);
            brought.text.push_str(&text.unwrap_or_default());
            brought.done = done;
            if done {
                return Ok(());
            }
        }
        Ok(())
    }
}

fn events(dialect: StreamDialect) -> (Framing, Message) {
    (Framing::Events(Parser::default()), Message::Events(MessageStream::new(dialect)))
}

fn too_long(what: &str) -> Wrong {
    Wrong::TooLarge(format!("{what} of its stream has more than {LONGEST_EVENT} bytes"))
}

/// The error that an event, a line or a body reports: `{"error": …}`, `event: error`, `"type": "error"`, or, as some
/// gateways send it, the error itself where an answer should be.
fn reported(event: Option<&str>, data: &Value) -> Option<Reported> {
    let carries = data.get("error").is_some_and(|error| !error.is_null());
    let is_named = event == Some("error") || data.get("type").and_then(Value::as_str) == Some("error");
    let has = |name: &str| data.get(name).is_some_and(|value| !value.is_null());
    let is_itself =
        data.get("message").is_some_and(Value::is_string) && (has("code") || has("type")) && !has("choices");
    (carries || is_named || is_itself).then(|| reported_in(data))
}

/// What an error body says.
pub(crate) fn reported_in(body: &Value) -> Reported {
    let error = body.get("error").filter(|error| !error.is_null());
    let object = error.filter(|error| error.is_object()).unwrap_or(body);
    let name = |member: &str| match object.get(member) {
        Some(Value::String(text)) if !text.is_empty() && text != "error" => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    Reported {
        kind: name("type"),
        code: name("code"),
        message: error.and_then(message_of).or_else(|| message_of(body)),
    }
}
