//! What arrived, for tests to look at.

use crate::violation::Violation;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How an exchange ended, seen from the upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Still running.
    Open,
    /// The answer went out in full.
    Complete,
    /// The client went away first, or a fault cut the connection.
    Aborted,
}

/// A part of a multipart body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The field's name.
    pub name: String,
    /// The file's name, of file parts.
    pub filename: Option<String>,
    /// The part's media type as sent.
    pub content_type: Option<String>,
    /// All headers of the part: names (lower case) and values.
    pub headers: Vec<(String, String)>,
    /// The content.
    pub bytes: Bytes,
}

/// A message of a WebSocket exchange, as the client sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A text message.
    Text(String),
    /// A binary message; only its length is kept.
    Binary(usize),
    /// The client's close message with its code, if any.
    Close(Option<u16>),
}

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Counts up from 1 for each mock.
    pub id: u64,
    /// The method.
    pub method: String,
    /// The path as sent, still percent-encoded.
    pub path: String,
    /// The query as sent, still percent-encoded, without `?`.
    pub query: Option<String>,
    /// Header names (lower case) and values, in order; bytes that are not UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Bytes,
    /// The parts, of multipart bodies.
    pub parts: Vec<Part>,
    /// The matching operation as `METHOD /template`.
    pub operation: Option<String>,
    /// Fields beyond the schema that the schema does not forbid, as JSON pointers.
    pub extra_fields: Vec<String>,
    /// What the client sent over the WebSocket.
    pub frames: Vec<Frame>,
    /// How it ended.
    pub outcome: Outcome,
}

impl Recorded {
    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> Option<serde_json::Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The first part of this name.
    pub fn part(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.name == name)
    }
}

/// The shared log of a mock. Old records are dropped beyond the limits, so that a mock under load stays small.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    inner: Arc<Mutex<Inner>>,
    keep: usize,
}

/// Bodies together beyond this many bytes push the oldest records out.
const MOST_BODY_BYTES: usize = 256 << 20;

#[derive(Debug, Default)]
struct Inner {
    last_id: u64,
    requests: VecDeque<Recorded>,
    violations: VecDeque<Violation>,
    body_bytes: usize,
    open: usize,
    most_open: usize,
}

impl Log {
    pub(crate) fn new(keep: usize) -> Self {
        Self { inner: Arc::default(), keep }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keep a request and count it as open until its [`Ticket`] is dropped.
    pub(crate) fn add(&self, mut request: Recorded) -> Ticket {
        let mut inner = self.lock();
        inner.last_id += 1;
        inner.open += 1;
        inner.most_open = inner.most_open.max(inner.open);
        request.id = inner.last_id;
        let ticket = Ticket { log: self.clone(), id: request.id, complete: false };
        inner.body_bytes += request.body.len();
        inner.requests.push_back(request);
        while inner.requests.len() > self.keep || inner.body_bytes > MOST_BODY_BYTES {
            let Some(oldest) = inner.requests.pop_front() else { break };
            inner.body_bytes -= oldest.body.len();
        }
        ticket
    }

    pub(crate) fn violate(&self, found: impl IntoIterator<Item = Violation>) {
        let mut inner = self.lock();
        inner.violations.extend(found);
        while inner.violations.len() > self.keep {
            inner.violations.pop_front();
        }
    }

    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.lock().requests.iter().cloned().collect()
    }

    pub(crate) fn violations(&self) -> Vec<Violation> {
        self.lock().violations.iter().cloned().collect()
    }

    pub(crate) fn most_open(&self) -> usize {
        self.lock().most_open
    }

    pub(crate) fn clear(&self) {
        let mut inner = self.lock();
        inner.requests.clear();
        inner.violations.clear();
        inner.body_bytes = 0;
        inner.most_open = inner.open;
    }

    fn update(&self, id: u64, change: impl FnOnce(&mut Recorded)) {
        if let Some(request) = self.lock().requests.iter_mut().rev().find(|r| r.id == id) {
            change(request);
        }
    }
}

/// Held while an exchange runs; dropping it before [`Ticket::complete`] marks the exchange as aborted.
#[derive(Debug)]
pub(crate) struct Ticket {
    log: Log,
    id: u64,
    complete: bool,
}

impl Ticket {
    pub(crate) fn complete(&mut self) {
        self.complete = true;
    }

    pub(crate) fn frame(&self, frame: Frame) {
        self.log.update(self.id, |request| request.frames.push(frame));
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let outcome = if self.complete { Outcome::Complete } else { Outcome::Aborted };
        self.log.update(self.id, |request| request.outcome = outcome);
        let mut inner = self.log.lock();
        inner.open = inner.open.saturating_sub(1);
    }
}
