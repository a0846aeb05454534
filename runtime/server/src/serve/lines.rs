//! The transport of stdio: one JSON-RPC message a line, read up to a limit, and an answer for what cannot be read.
//!
//! rmcp's own transport drops lines that are no JSON, and lines over 16 MiB, without a word, so that the client waits
//! for ever. Models do write such lines: half of an emoji, cut in two, becomes a lone surrogate, which JSON text may
//! hold and no UTF-8 string can.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// A buffer that one large message made is given back when it is larger than this.
const KEPT_BYTES: usize = 1 << 20;

/// How much of the end of a message that is too long is kept: clients write the id first or last.
const TAIL_BYTES: usize = 256;

/// Lines of JSON-RPC in both directions.
pub(super) struct Lines<R, W> {
    read: BufReader<R>,
    write: Arc<Mutex<Option<W>>>,
    /// Longest line that is read, in bytes.
    longest: usize,
    /// What has come of the current line. Kept here, since `receive` may be dropped in its middle.
    line: Vec<u8>,
    /// True while the rest of a line that is too long is skipped; `line` then holds its beginning and its end.
    is_skipping: bool,
    answering: Option<JoinHandle<()>>,
}

/// What reading came to.
enum Read {
    Line,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Lines<R, W> {
    pub(super) fn new((read, write): (R, W), longest: usize) -> Self {
        Lines {
            read: BufReader::new(read),
            write: Arc::new(Mutex::new(Some(write))),
            longest,
            line: Vec::new(),
            is_skipping: false,
            answering: None,
        }
    }

    /// Reads to the end of a line. What was read stays in `line` when this is dropped and called again.
    async fn read_line(&mut self) -> Read {
        loop {
            let available = match self.read.fill_buf().await {
                Ok([]) => return Read::End,
                Ok(available) => available,
                Err(error) => {
                    tracing::error!(target: "toolwright::server", %error, "stdin cannot be read");
                    return Read::End;
                }
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            let consumed = part.len() + usize::from(end.is_some());
            self.line.extend_from_slice(part);
            self.read.consume(consumed);
            if self.is_skipping || self.line.len() > self.longest {
                self.is_skipping = true;
                self.shorten();
            }
            if end.is_some() {
                let too_long = std::mem::take(&mut self.is_skipping);
                return if too_long { Read::TooLong } else { Read::Line };
            }
        }
    }

    /// Keeps the beginning and the end of a line that is too long.
    fn shorten(&mut self) {
        if let Some(end) = self.line.len().checked_sub(TAIL_BYTES).filter(|end| *end > TAIL_BYTES) {
            self.line.drain(TAIL_BYTES..end);
            self.line.shrink_to(KEPT_BYTES);
        }
    }

    fn clear(&mut self) {
        self.line.clear();
        self.line.shrink_to(KEPT_BYTES);
    }

    /// Answers a line that is no message. In a task, since `receive` may be dropped in the middle of a write.
    fn refuse(&mut self, error: ErrorData) {
        tracing::warn!(target: "toolwright::server", error = %error.message, "refused a message");
        let answer = TxJsonRpcMessage::<RoleServer>::error(error, request_id(&self.line));
        let write = Arc::clone(&self.write);
        self.answering = Some(tokio::spawn(async move {
            if let Err(error) = send(&write, &answer).await {
                tracing::warn!(target: "toolwright::server", %error, "a refusal could not be sent");
            }
        }));
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move { send(&write, &message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answering) = &mut self.answering {
                // A refusal that could not be sent has been logged.
                let _ = answering.await;
                self.answering = None;
            }
            let read = self.read_line().await;
            let refusal = match read {
                Read::End => return None,
                Read::TooLong => Some(too_long(self.longest)),
                Read::Line => match message(&self.line) {
                    Ok(Some(message)) => {
                        self.clear();
                        return Some(message);
                    }
                    Ok(None) => None,
                    Err(refusal) => Some(refusal),
                },
            };
            if let Some(refusal) = refusal {
                self.refuse(refusal);
            }
            self.clear();
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        if let Some(answering) = self.answering.take() {
            // As above.
            let _ = answering.await;
        }
        drop(self.write.lock().await.take());
        Ok(())
    }
}

async fn send<W: AsyncWrite + Unpin>(
    write: &Mutex<Option<W>>,
    message: &TxJsonRpcMessage<RoleServer>,
) -> Result<(), io::Error> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut write = write.lock().await;
    let write = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    write.write_all(&line).await?;
    write.flush().await
}

/// The message of a line; `None` for a line that asks for nothing.
fn message(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, ErrorData> {
    // RFC 8259 section 8.1 lets readers ignore a byte order mark.
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    let error = match serde_json::from_slice(line) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    if let Some(message) = without_lone_surrogates(line).and_then(|whole| serde_json::from_slice(&whole).ok()) {
        tracing::warn!(target: "toolwright::server", "replaced half characters (lone surrogates) in a message");
        return Ok(Some(message));
    }
    match serde_json::from_slice::<Value>(line) {
        // Notifications of other protocols ask for no answer.
        Ok(value) if value.get("method").is_some() && value.get("id").is_none() => Ok(None),
        Ok(_) => Err(ErrorData::invalid_request(format!("no JSON-RPC message: {error}"), None)),
        // Whatever a wrapper printed into the pipe was no message to begin with.
        Err(_) if !line.starts_with(b"{") && !line.starts_with(b"[") => Ok(None),
        Err(error) => Err(ErrorData::new(ErrorCode::PARSE_ERROR, format!("no JSON: {error}"), None)),
    }
}

fn too_long(longest: usize) -> ErrorData {
    let message = format!("the message is larger than {longest} bytes (setting MAX_REQUEST_BYTES)");
    ErrorData::invalid_request(message, None)
}

/// The id of a message that cannot be read as a whole, where it stands at the beginning or the end.
fn request_id(line: &[u8]) -> Option<RequestId> {
    if let Ok(value) = serde_json::from_slice::<Value>(line) {
        return serde_json::from_value(value.get("id")?.clone()).ok();
    }
    let text = String::from_utf8_lossy(line);
    id_at_the_beginning(text.trim()).or_else(|| id_at_the_end(text.trim()))
}

/// `{"id":1,…` or `{"jsonrpc":"2.0","id":1,…`
fn id_at_the_beginning(text: &str) -> Option<RequestId> {
    let mut rest = text.strip_prefix('{')?.trim_start();
    if rest.starts_with("\"jsonrpc\"") {
        rest = rest.split_once(',')?.1.trim_start();
    }
    let value = rest.strip_prefix("\"id\"")?.trim_start().strip_prefix(':')?;
    serde_json::from_str(value.split([',', '}']).next()?).ok()
}

/// `…,"id":1}`. Without the comma it is `{"id":1}`, an argument at the end of a message that is cut short.
fn id_at_the_end(text: &str) -> Option<RequestId> {
    let (before, rest) = text.rsplit_once("\"id\"")?;
    let value = rest.trim_start().strip_prefix(':')?.strip_suffix('}')?;
    before.trim_end().ends_with(',').then(|| serde_json::from_str(value).ok())?
}

/// The JSON text with U+FFFD in place of each escaped half of a surrogate pair; `None` where there is none.
fn without_lone_surrogates(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    while let Some((first, tail)) = rest.split_first() {
        let (kept, taken): (&[u8], usize) = match (first, escaped_unit(rest)) {
            (b'\\', Some(unit)) if is_half(unit) => {
                let low = rest.get(6..).and_then(escaped_unit);
                match low {
                    Some(low) if unit < 0xDC00 && (0xDC00..0xE000).contains(&low) => (rest.get(..12)?, 12),
                    _ => {
                        found = true;
                        (b"\\ufffd", 6)
                    }
                }
            }
            // The character behind a backslash begins no escape of its own.
            (b'\\', _) if !tail.is_empty() => (rest.get(..2)?, 2),
            _ => (rest.get(..1)?, 1),
        };
        out.extend_from_slice(kept);
        rest = rest.get(taken..)?;
    }
    found.then_some(out)
}

/// The UTF-16 code unit of the escape `\uXXXX` with which `text` begins.
fn escaped_unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

fn is_half(unit: u16) -> bool {
    (0xD800..0xE000).contains(&unit)
}

#[cfg(test)]
mod tests;
