//! From an answer and a fault to what hyper sends.

use crate::answer::{Answer, Payload};
use crate::fault::Fault;
use crate::record::Ticket;
use crate::sample::media;
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::Response;
use hyper::body::Frame;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::{Value, json};
use std::time::Duration;

/// Ends the connection: returned by the service before an answer, or by a body in its middle.
#[derive(Debug, thiserror::Error)]
#[error("the connection is cut on purpose")]
pub(crate) struct Cut;

pub(crate) type Body = UnsyncBoxBody<Bytes, Cut>;

/// Time for bytes to leave before the connection is cut.
const BEFORE_CUT: Duration = Duration::from_millis(30);

/// Bend an answer, waiting where the fault says so.
pub(crate) async fn bend(fault: Fault, answer: Answer) -> Result<Answer, Cut> {
    Ok(match fault {
        Fault::Delay(ms) => {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            answer
        }
        Fault::NoClose => answer,
        Fault::DroppedSocket => return Err(Cut),
        Fault::Status { code, body, retry_after } => status(code, body, retry_after),
        Fault::EmptyBody => Answer { payload: Payload::Whole(Bytes::new()), ..answer },
        Fault::WrongType => Answer {
            payload: Payload::Whole(wrong_type(&answer.whole())),
            content_type: Some("application/json".to_owned()),
            ..answer
        },
        Fault::NullBody => Answer {
            payload: Payload::Whole(Bytes::from_static(b"null")),
            content_type: Some("application/json".to_owned()),
            ..answer
        },
        Fault::Truncated => {
            let declared = !matches!(answer.payload, Payload::Pieces { .. });
            Answer { payload: Payload::Cut { whole: answer.whole(), declared }, ..answer }
        }
        Fault::MalformedSse => malformed_sse(),
        Fault::StreamError => stream_error(&answer),
        Fault::Oversized(bytes) => {
            Answer::endless(answer.content_type.as_deref().unwrap_or("application/octet-stream"), bytes)
        }
        Fault::SlowDrip { bytes, every_ms } => {
            let whole = answer.whole();
            let pieces = whole.chunks(bytes.max(1)).map(Bytes::copy_from_slice).collect();
            Answer { payload: Payload::Pieces { pieces, pause: Duration::from_millis(every_ms) }, ..answer }
        }
        Fault::GarbageContentType => {
            Answer { content_type: Some("??; not a media type / at all".to_owned()), ..answer }
        }
        Fault::ModelLoading { retry_after } => model_loading(retry_after),
        Fault::Redirect(to) => Answer::empty(307).with("location", to),
        Fault::Gzip => Answer { payload: Payload::Whole(media::gzip(&answer.whole()).into()), ..answer }
            .with("content-encoding", "gzip"),
    })
}

fn status(code: u16, body: Option<String>, retry_after: Option<u64>) -> Answer {
    let answer = match body {
        Some(text) if serde_json::from_str::<Value>(&text).is_ok() => Answer::bytes(code, "application/json", text),
        Some(text) => Answer::bytes(code, "text/plain; charset=UTF-8", text),
        None => Answer::error(code, "the mock was asked to answer with this status", "mock_fault"),
    };
    match retry_after {
        Some(seconds) => answer.with("retry-after", seconds.to_string()),
        None => answer,
    }
}

fn wrong_type(whole: &[u8]) -> Bytes {
    let wrong = match serde_json::from_slice(whole) {
        Ok(Value::Object(_)) => json!(["unexpected"]),
        Ok(Value::Array(_)) => json!("unexpected"),
        _ => json!({"unexpected": true}),
    };
    Bytes::from(wrong.to_string())
}

fn malformed_sse() -> Answer {
    let pieces: [&'static [u8]; 5] = [
        b"data: {\"choices\": [{\"delta\": {\"content\": \"half",
        b"\n\ndata\n:\nnot a field line\nevent:\n\n",
        b"data: {]\r\rid: \0\n\n",
        b"data: \xff\xfe\n\n",
        b"data: {\"never\": \"ended\"}",
    ];
    Answer::pieces("text/event-stream", pieces.into_iter().map(Bytes::from_static).collect(), Duration::from_millis(1))
}

/// The beginning of a stream, then an error as an event of it, as LocalAI reports what fails after the first token.
fn stream_error(answer: &Answer) -> Answer {
    let mut pieces = match &answer.payload {
        Payload::Pieces { pieces, .. } => pieces.iter().take(4).cloned().collect(),
        _ => Vec::new(),
    };
    let error = json!({"error": {"message": "the backend went away", "code": 500, "type": "server_error"}});
    pieces.push(Bytes::from(format!("data: {error}\n\n")));
    Answer::pieces("text/event-stream", pieces, Duration::from_millis(1))
}

fn model_loading(retry_after: u64) -> Answer {
    let body = json!({
        "error": {"message": "the model is being loaded", "code": "model_loading", "type": "server_error"},
        "loading": {"model": "gemma-3-4b-it", "state": "loading", "progress": 42.0, "bytes_sent": 42, "total_bytes": 100, "eta_seconds": retry_after},
    });
    Answer::json(503, &body).with("retry-after", retry_after.to_string())
}

/// Whether a response to this request carries a body at all (RFC 9110 section 6.4.1).
fn bodiless(method: &str, status: u16) -> bool {
    method == "HEAD" || status < 200 || status == 204 || status == 304
}

/// The response, holding the ticket until its last byte is handed over.
pub(crate) fn response(method: &str, answer: Answer, ticket: Option<Ticket>) -> Response<Body> {
    let mut response = Response::new(Body::default());
    *response.status_mut() = hyper::StatusCode::from_u16(answer.status).unwrap_or(hyper::StatusCode::OK);
    let headers = response.headers_mut();
    for (name, value) in &answer.headers {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(value.as_bytes()))
        {
            headers.append(name, value);
        }
    }
    if let Some(value) = answer.content_type.as_deref().and_then(|text| HeaderValue::from_str(text).ok()) {
        headers.insert(CONTENT_TYPE, value);
    }
    if let Some(length) = declared_length(&answer.payload).filter(|_| !bodiless(method, answer.status)) {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    let payload = if bodiless(method, answer.status) { Payload::Whole(Bytes::new()) } else { answer.payload };
    *response.body_mut() = StreamBody::new(frames(Source::new(payload), ticket)).boxed_unsync();
    response
}

fn declared_length(payload: &Payload) -> Option<u64> {
    match payload {
        Payload::Whole(bytes) => Some(bytes.len() as u64),
        Payload::Cut { whole, declared: true } => Some(whole.len() as u64 + 1_000),
        Payload::Cut { .. } | Payload::Pieces { .. } | Payload::Endless { .. } => None,
    }
}

/// What is still to be sent.
enum Source {
    Pieces { left: std::vec::IntoIter<Bytes>, pause: Duration, started: bool },
    CutAfter(Option<Bytes>),
    Fill { left: u64, quotes: Option<bool> },
}

impl Source {
    fn new(payload: Payload) -> Self {
        match payload {
            Payload::Whole(bytes) => {
                Self::Pieces { left: vec![bytes].into_iter(), pause: Duration::ZERO, started: false }
            }
            Payload::Pieces { pieces, pause } => Self::Pieces { left: pieces.into_iter(), pause, started: false },
            Payload::Cut { whole, .. } => Self::CutAfter(Some(whole.slice(..whole.len() / 2))),
            Payload::Endless { bytes, quoted } => Self::Fill { left: bytes, quotes: quoted.then_some(false) },
        }
    }

    /// The next piece, and whether it is the last.
    async fn next(&mut self) -> Option<Result<(Bytes, bool), Cut>> {
        match self {
            Self::Pieces { left, pause, started } => {
                let piece = left.next()?;
                if *started && !pause.is_zero() {
                    tokio::time::sleep(*pause).await;
                }
                *started = true;
                Some(Ok((piece, left.as_slice().is_empty())))
            }
            Self::CutAfter(half) => match half.take() {
                Some(bytes) => Some(Ok((bytes, false))),
                None => {
                    tokio::time::sleep(BEFORE_CUT).await;
                    Some(Err(Cut))
                }
            },
            Self::Fill { left, quotes } => fill(left, quotes).map(Ok),
        }
    }
}

/// One block of filling, shared by all of them.
static FILLING: [u8; 64 * 1024] = [b'x'; 64 * 1024];

fn fill(left: &mut u64, quotes: &mut Option<bool>) -> Option<(Bytes, bool)> {
    const QUOTE: Bytes = Bytes::from_static(b"\"");
    match quotes {
        Some(open @ false) => {
            *open = true;
            Some((QUOTE, false))
        }
        Some(true) if *left == 0 => {
            *quotes = None;
            Some((QUOTE, true))
        }
        None if *left == 0 => None,
        quotes => {
            let size = usize::try_from(*left).unwrap_or(usize::MAX).min(FILLING.len());
            *left -= size as u64;
            Some((Bytes::from_static(&FILLING).slice(..size), *left == 0 && quotes.is_none()))
        }
    }
}

fn frames(source: Source, ticket: Option<Ticket>) -> impl Stream<Item = Result<Frame<Bytes>, Cut>> + Send {
    stream::unfold((source, ticket), |(mut source, mut ticket)| async move {
        let next = source.next().await?;
        let item = next.map(|(bytes, last)| {
            if last && let Some(ticket) = &mut ticket {
                ticket.complete();
            }
            Frame::data(bytes)
        });
        Some((item, (source, ticket)))
    })
}
