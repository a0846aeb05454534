//! The reading of an answer by its status and media type.

use encoding_rs::{Encoding, UTF_8};
use reqwest::StatusCode;
use serde_json::Value;
use toolwright_core::{Code, Envelope, Payload, StreamDialect, ToolError};

use super::{
    Reply,
    binary::{self, Keeping},
    collect::{self, Unread},
    explain, headers,
};
use crate::{auth::Tokens, config::Config, context::CallContext, media::MediaType, saved::SavedFiles, stream};

/// The longest text that comes with an error status: error pages of proxies can be long.
const LONGEST_ERROR_TEXT: usize = 4096;

/// What an answer is read with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) config: &'a Config,
    pub(crate) saved: &'a SavedFiles,
    pub(crate) tokens: &'a Tokens,
    pub(crate) context: &'a CallContext,
    /// Media types that the document declares.
    pub(crate) produces: &'a [&'a str],
    /// How events are put together.
    pub(crate) dialect: Option<StreamDialect>,
    /// True where the request cannot have changed anything.
    pub(crate) changes_nothing: bool,
    /// True where the content is secret: it never goes to a file.
    pub(crate) secret: bool,
    /// True where members with the name of a secret are hidden, in progress too.
    pub(crate) masks_names: bool,
}

/// Reads an answer to its end.
pub(crate) async fn read(reader: Reader<'_>, mut reply: Reply) -> Envelope {
    let media_type = reply.media_type();
    let mut envelope = Envelope {
        ok: reply.status.is_success(),
        status_code: Some(reply.status.as_u16()),
        content_type: media_type.as_ref().map(|media_type| media_type.essence().to_owned()),
        headers: headers::kept(&reply.headers, &reader.context.keep_headers),
        ..Envelope::default()
    };
    if let Err(unread) = read_body(reader, &mut reply, media_type.as_ref(), &mut envelope).await {
        fail(&mut envelope, unread);
    }
    if !envelope.ok && envelope.error.is_none() {
        envelope.error = Some(status_error(&reply, &envelope));
    }
    if envelope.ok {
        warn_of_undeclared(reader, &mut envelope);
    }
    envelope
}

fn fail(envelope: &mut Envelope, unread: Unread) {
    envelope.ok = false;
    if let Some(size) = unread.size_bytes {
        envelope.extra.insert("size_bytes".to_owned(), size.into());
    }
    envelope.error = Some(unread.error);
}

async fn read_body(
    reader: Reader<'_>,
    reply: &mut Reply,
    media_type: Option<&MediaType>,
    envelope: &mut Envelope,
) -> Result<(), Unread> {
    if matches!(reply.status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED) {
        return Ok(());
    }
    match media_type {
        Some(kind) if kind.is_event_stream() && envelope.ok => stream::read(reader, reply, envelope).await,
        Some(kind) if kind.is_json() => {
            let body = collect::whole(reply, reader.config, reader.context, reader.changes_nothing).await?;
            read_json(reader, &body, kind, envelope).await
        }
        Some(kind) if kind.is_json_lines() => {
            let Reader { config, context, changes_nothing, .. } = reader;
            let body = collect::counted(reply, config, context, changes_nothing, separator(kind)).await?;
            read_lines(&body, kind, envelope);
            Ok(())
        }
        Some(kind) if kind.is_text() || kind.is_event_stream() => {
            let body = collect::whole(reply, reader.config, reader.context, reader.changes_nothing).await?;
            read_text(&body, kind, envelope);
            Ok(())
        }
        _ => binary::read(reader, reply, media_type, envelope).await,
    }
}

async fn read_json(reader: Reader<'_>, body: &[u8], kind: &MediaType, envelope: &mut Envelope) -> Result<(), Unread> {
    if body.is_empty() {
        return Ok(());
    }
    if let Some(data) = parsed(body, kind) {
        envelope.payload = Payload::Data(data);
        return Ok(());
    }
    let found = match std::str::from_utf8(body) {
        Ok(_) => "text",
        Err(_) => "binary content",
    };
    envelope
        .warnings
        .push(format!("the answer calls itself {} and is not JSON; it is given as {found}", kind.essence()));
    match found {
        "text" => read_text(body, kind, envelope),
        _ => {
            let keeping = Keeping::new(reader, "application/octet-stream", None);
            keeping.small(body.to_vec().into(), envelope).await?;
        }
    }
    Ok(())
}

/// What ends a value: that of a text sequence is ended by the next one's, and may have lines (RFC 7464 section 2.1).
fn separator(kind: &MediaType) -> u8 {
    if kind.record_separator().is_empty() { b'\n' } else { 0x1e }
}

/// One JSON value a line: the list of them. A line that is none leaves everything as text.
fn read_lines(body: &[u8], kind: &MediaType, envelope: &mut Envelope) {
    if body.is_empty() {
        return;
    }
    let separator = separator(kind);
    let values = body.split(|byte| *byte == separator).filter(|value| !value.trim_ascii().is_empty());
    match values.map(serde_json::from_slice).collect::<Result<Vec<Value>, _>>() {
        Ok(values) => envelope.payload = Payload::Data(values.into()),
        Err(_) => {
            let essence = kind.essence();
            envelope.warnings.push(format!("not every line of the {essence} is JSON; the answer is given as text"));
            read_text(body, kind, envelope);
        }
    }
}

/// JSON is UTF-8 (RFC 8259 section 8.1), and in the declared charset where an older server writes it so.
fn parsed(body: &[u8], kind: &MediaType) -> Option<Value> {
    let as_utf8 = serde_json::from_slice(body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body)).ok();
    as_utf8.or_else(|| {
        let (text, _, lossy) = charset(kind)?.decode(body);
        if lossy { None } else { serde_json::from_str(&text).ok() }
    })
}

/// The declared encoding, where it is known and not UTF-8 or its subset ASCII (WHATWG Encoding standard, section 4.2).
fn charset(kind: &MediaType) -> Option<&'static Encoding> {
    let label = kind.charset().filter(|label| !matches!(*label, "us-ascii" | "ascii"))?;
    Encoding::for_label(label.as_bytes()).filter(|encoding| *encoding != UTF_8)
}

pub(crate) fn read_text(body: &[u8], kind: &MediaType, envelope: &mut Envelope) {
    if body.is_empty() {
        return;
    }
    let mut text = decode(body, kind, &mut envelope.warnings);
    if !envelope.ok && text.len() > LONGEST_ERROR_TEXT {
        envelope.warnings.push(format!("the text of the error was cut; it has {} bytes", text.len()));
        text = explain::cut(&text, LONGEST_ERROR_TEXT);
    }
    envelope.payload = Payload::Text(text);
}

fn decode(body: &[u8], kind: &MediaType, warnings: &mut Vec<String>) -> String {
    if let Some(encoding) = charset(kind) {
        let (text, _, lossy) = encoding.decode(body);
        if lossy {
            warnings.push(format!("the text is not all {}; what cannot be read is replaced", encoding.name()));
        }
        return text.into_owned();
    }
    match std::str::from_utf8(body) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text).to_owned(),
        Err(_) => {
            warnings.push("the text is not UTF-8; what cannot be read is replaced".to_owned());
            String::from_utf8_lossy(body).into_owned()
        }
    }
}

fn status_error(reply: &Reply, envelope: &Envelope) -> ToolError {
    let status = reply.status;
    let redirect = status.is_redirection() && status != StatusCode::NOT_MODIFIED;
    if redirect {
        let message = "the upstream redirects to another origin, which is not followed; check the base URL";
        return ToolError::new(Code::UpstreamError, message);
    }
    let (body, message) = match &envelope.payload {
        Payload::Data(data) => (Some(data), explain::message_of(data)),
        Payload::Text(text) if !text.trim_start().starts_with('<') => (None, Some(explain::one_line(text))),
        _ => (None, None),
    };
    let message = message.as_deref().filter(|text| !text.is_empty());
    ToolError::new(Code::UpstreamError, explain::refusal(status, &reply.headers, body, message))
}

/// The document may be wrong about its answers; that is worth a word and no more.
fn warn_of_undeclared(reader: Reader<'_>, envelope: &mut Envelope) {
    let produces = reader.produces;
    if produces.is_empty() || matches!(envelope.payload, Payload::Empty) {
        return;
    }
    let Some(received) = envelope.content_type.as_deref() else {
        envelope.warnings.push("the answer names no media type".to_owned());
        return;
    };
    let declared = produces.iter().any(|declared| matches(MediaType::of(declared).essence(), received));
    // A document may leave out that a request for a stream is answered by one.
    let is_stream = received == "text/event-stream" && reader.dialect.is_some();
    if !declared && !is_stream {
        envelope.warnings.push(format!("the answer is {received}; the document declares {}", produces.join(", ")));
    }
}

/// Whether a declared type or range covers a received type. `audio/x-wav` and `audio/wav` are one type.
pub(crate) fn matches(declared: &str, received: &str) -> bool {
    let current = |essence: &str| essence.replacen("/x-", "/", 1);
    match declared.split_once('/') {
        Some(("*", "*")) => true,
        Some((kind, "*")) => received.split_once('/').is_some_and(|(received, _)| received == kind),
        _ => current(declared) == current(received),
    }
}
