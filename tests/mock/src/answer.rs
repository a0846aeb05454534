//! An answer before it becomes an HTTP response: plain data that faults can still bend.

use bytes::Bytes;
use serde_json::Value;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) payload: Payload,
}

#[derive(Debug, Clone)]
pub(crate) enum Payload {
    Whole(Bytes),
    /// Sent piece by piece, with a pause before each but the first, without a declared length.
    Pieces {
        pieces: Vec<Bytes>,
        pause: Duration,
    },
    /// Half of this and then the end of the connection; with `declared`, under a length that is larger than the whole.
    Cut {
        whole: Bytes,
        declared: bool,
    },
    /// This many bytes, made while they are sent; `quoted` makes them one JSON string.
    Endless {
        bytes: u64,
        quoted: bool,
    },
}

impl Answer {
    pub(crate) fn bytes(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            content_type: Some(content_type.to_owned()),
            headers: Vec::new(),
            payload: Payload::Whole(body.into()),
        }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::bytes(status, "application/json", body.to_string())
    }

    pub(crate) fn text(body: impl Into<String>) -> Self {
        Self::bytes(200, "text/plain; charset=UTF-8", body.into())
    }

    pub(crate) fn empty(status: u16) -> Self {
        Self { status, content_type: None, headers: Vec::new(), payload: Payload::Whole(Bytes::new()) }
    }

    /// LocalAI's and OpenAI's error body.
    pub(crate) fn error(status: u16, message: &str, kind: &str) -> Self {
        Self::json(status, &serde_json::json!({"error": {"message": message, "code": status, "type": kind}}))
    }

    pub(crate) fn pieces(content_type: &str, pieces: Vec<Bytes>, pause: Duration) -> Self {
        Self {
            status: 200,
            content_type: Some(content_type.to_owned()),
            headers: Vec::new(),
            payload: Payload::Pieces { pieces, pause },
        }
    }

    pub(crate) fn endless(content_type: &str, bytes: u64) -> Self {
        let quoted = content_type.contains("json");
        Self {
            status: 200,
            content_type: Some(content_type.to_owned()),
            headers: Vec::new(),
            payload: Payload::Endless { bytes, quoted },
        }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// All bytes of the body; empty for an endless one.
    pub(crate) fn whole(&self) -> Bytes {
        match &self.payload {
            Payload::Whole(bytes) | Payload::Cut { whole: bytes, .. } => bytes.clone(),
            Payload::Pieces { pieces, .. } => pieces.iter().flat_map(|piece| piece.iter().copied()).collect(),
            Payload::Endless { .. } => Bytes::new(),
        }
    }
}
