//! The transport of stdio: one JSON-RPC message a line, read up to a limit, and an answer for what cannot be read.
//!
//! rmcp's own transport drops lines that are no JSON, and lines over 16 MiB, without a word, so that the client waits
//! for ever.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, MetaObject};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::message::{message, request_id, trimmed};
use crate::tasks::experimental::{self, Sort};
use crate::tasks::extension;

/// A buffer that one large message made is given back when it is larger than this.
const KEPT_BYTES: usize = 1 << 20;

/// How much of the end of a message that is too long is kept: clients write the id first or last.
const TAIL_BYTES: usize = 256;

/// Lines of JSON-RPC in both directions.
pub(crate) struct Lines<R, W> {
    read: BufReader<R>,
    write: Arc<Mutex<Option<W>>>,
    /// Longest line that is read, in bytes.
    longest: usize,
    /// What has come of the current line. Kept here, since `receive` may be dropped in its middle.
    line: Vec<u8>,
    /// True while the rest of a line that is too long is skipped; `line` then holds its beginning and its end.
    is_skipping: bool,
    answering: Option<JoinHandle<()>>,
    /// `_meta` of acknowledgements, where the server has tasks, about which rmcp cannot say everything.
    task_meta: Option<MetaObject>,
}

/// What reading came to.
enum Read {
    Line,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Lines<R, W> {
    pub(crate) fn new((read, write): (R, W), longest: usize, task_meta: Option<MetaObject>) -> Self {
        Lines {
            read: BufReader::new(read),
            write: Arc::new(Mutex::new(Some(write))),
            longest,
            line: Vec::new(),
            is_skipping: false,
            answering: None,
            task_meta,
        }
    }

    /// What the current line says.
    fn message(&self) -> Result<Option<RxJsonRpcMessage<RoleServer>>, ErrorData> {
        match self.task_meta.as_ref().map(|_| Sort::of(&self.line)) {
            Some(Sort::Task(claimed)) => message(&claimed),
            _ => message(&self.line),
        }
    }

    /// Reads to the end of a line. What was read stays in `line` when this is dropped and called again.
    async fn read_line(&mut self) -> Read {
        loop {
            let available = match self.read.fill_buf().await {
                Ok([]) if self.line.is_empty() => return Read::End,
                // The last line may lack its line break.
                Ok([]) => return end_of_line(&mut self.is_skipping),
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
                return end_of_line(&mut self.is_skipping);
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
        let message = match &self.task_meta {
            Some(meta) => extension::acknowledged(experimental::declared(message), meta),
            None => message,
        };
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
                Read::Line if is_stray(&self.line) => None,
                Read::Line => match self.message() {
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

/// Whether a line is no message to begin with: blank, or what a wrapper script printed into the pipe. The log says how
/// long it was and not what it said, since nobody knows what that may be.
fn is_stray(line: &[u8]) -> bool {
    let line = trimmed(line);
    let is_stray = !line.starts_with(b"{")
        && !line.starts_with(b"[")
        && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err();
    if is_stray && !line.is_empty() {
        let bytes = line.len();
        tracing::warn!(target: "toolwright::server", bytes, "ignored a line of stdin that is no JSON");
    }
    is_stray
}

/// What a line was that ends here; the next one is not skipped.
fn end_of_line(is_skipping: &mut bool) -> Read {
    if std::mem::take(is_skipping) { Read::TooLong } else { Read::Line }
}

fn too_long(longest: usize) -> ErrorData {
    let message = format!("the message is larger than {longest} bytes (setting MAX_REQUEST_BYTES)");
    ErrorData::invalid_request(message, None)
}

#[cfg(test)]
mod tests;
