//! A body whose inputs are open: it can be sent, and sent again.

use std::{fs::File, io, sync::Arc};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use reqwest::Body;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio_util::io::ReaderStream;

use crate::{
    files::{Content, OpenFile},
    plan::{Part, PartContent},
};

/// How much of a file is in memory at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// An open body.
#[derive(Debug, Default)]
pub(crate) struct Payload {
    content_type: Option<String>,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
enum Piece {
    Bytes(Bytes),
    File { file: Arc<File>, length: u64 },
}

impl Payload {
    /// Bytes of a media type.
    pub(crate) fn bytes(content_type: String, bytes: Bytes) -> Self {
        Payload { content_type: Some(content_type), pieces: vec![Piece::Bytes(bytes)] }
    }

    /// A file as the whole body.
    pub(crate) fn file(content_type: String, file: OpenFile) -> Self {
        Payload { content_type: Some(content_type), pieces: vec![Piece::from(file.content)] }
    }

    /// The parts of a multipart body, each with its open file where it holds one.
    pub(crate) fn multipart(media_type: &str, parts: Vec<(Part, Option<OpenFile>)>) -> Self {
        let boundary = format!("toolwright-{:032x}", fastrand::u128(..));
        let mut pieces = Vec::new();
        for (part, file) in parts {
            pieces.push(Piece::Bytes(Bytes::from(part_head(&boundary, &part, file.as_ref()))));
            match (part.content, file) {
                (_, Some(file)) => pieces.push(Piece::from(file.content)),
                (PartContent::Text(text) | PartContent::Typed { text, .. }, None) => {
                    pieces.push(Piece::Bytes(text.into()))
                }
                (PartContent::File { .. }, None) => {}
            }
            pieces.push(Piece::Bytes(Bytes::from_static(b"\r\n")));
        }
        pieces.push(Piece::Bytes(Bytes::from(format!("--{boundary}--\r\n"))));
        Payload { content_type: Some(format!("{media_type}; boundary={boundary}")), pieces }
    }

    /// The `Content-Type` of the body.
    pub(crate) fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// Its length, known before it is sent: servers enforce their limits by it.
    pub(crate) fn length(&self) -> u64 {
        self.pieces.iter().map(Piece::length).sum()
    }

    /// The body for one attempt, from its beginning; `None` where there is none.
    pub(crate) fn body(&self) -> Option<Body> {
        match self.pieces.as_slice() {
            [] => None,
            [Piece::Bytes(bytes)] => Some(Body::from(bytes.clone())),
            pieces => {
                let pieces = pieces.to_vec();
                Some(Body::wrap_stream(stream::iter(pieces).flat_map(Piece::into_stream)))
            }
        }
    }
}

impl From<Content> for Piece {
    fn from(content: Content) -> Self {
        match content {
            Content::Bytes(bytes) => Piece::Bytes(bytes),
            Content::File { file, length } => Piece::File { file: Arc::new(file), length },
        }
    }
}

impl Piece {
    fn length(&self) -> u64 {
        match self {
            Piece::Bytes(bytes) => bytes.len() as u64,
            Piece::File { length, .. } => *length,
        }
    }

    fn into_stream(self) -> impl Stream<Item = io::Result<Bytes>> + Send {
        match self {
            Piece::Bytes(bytes) => stream::once(async move { Ok(bytes) }).left_stream(),
            Piece::File { file, length } => stream::once(from_start(file, length)).try_flatten().right_stream(),
        }
    }
}

/// The first `length` bytes of a file: exactly what was promised, even where it has grown since.
async fn from_start(file: Arc<File>, length: u64) -> io::Result<impl Stream<Item = io::Result<Bytes>>> {
    let mut file = tokio::fs::File::from_std(file.try_clone()?);
    file.rewind().await?;
    Ok(ReaderStream::with_capacity(file.take(length), CHUNK_BYTES))
}

/// The lines in front of a part. Names are raw UTF-8 with quotes and line breaks escaped as browsers do (RFC 7578
/// section 5.1, WHATWG multipart encoding); `filename*` is forbidden there (section 4.2).
fn part_head(boundary: &str, part: &Part, file: Option<&OpenFile>) -> String {
    let mut head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(&part.name));
    match (&part.content, file) {
        (_, Some(file)) => {
            head.push_str(&format!("; filename=\"{}\"\r\n", quoted(&file.name)));
            head.push_str(&format!("Content-Type: {}\r\n", file.media_type));
        }
        (PartContent::Typed { media_type, .. }, None) => {
            head.push_str(&format!("\r\nContent-Type: {media_type}\r\n"));
        }
        _ => head.push_str("\r\n"),
    }
    for (name, value) in &part.headers {
        head.push_str(&format!("{name}: {}\r\n", String::from_utf8_lossy(value.as_bytes())));
    }
    head.push_str("\r\n");
    head
}

fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
