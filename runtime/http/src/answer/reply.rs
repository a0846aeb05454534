//! An answer whose body is read step by step.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use reqwest::{
    Response, StatusCode,
    header::{CONTENT_TYPE, HeaderMap},
};

use crate::media::MediaType;

/// An answer: its head, and a body that is still to come.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    length: Option<u64>,
    read: VecDeque<Bytes>,
    response: Response,
}

/// The body ended before its end.
#[derive(Debug)]
pub(crate) struct BrokeOff;

impl Reply {
    pub(crate) fn new(response: Response) -> Self {
        Reply {
            status: response.status(),
            headers: response.headers().clone(),
            length: response.content_length(),
            read: VecDeque::new(),
            response,
        }
    }

    /// The declared media type.
    pub(crate) fn media_type(&self) -> Option<MediaType> {
        let value = self.headers.get(CONTENT_TYPE)?;
        let media_type = MediaType::of(&String::from_utf8_lossy(value.as_bytes()));
        (!media_type.essence().is_empty()).then_some(media_type)
    }

    /// The length that the upstream announced, where it is that of the content itself.
    pub(crate) fn announced_length(&self) -> Option<u64> {
        self.length
    }

    /// The next piece of the body.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, BrokeOff> {
        match self.read.pop_front() {
            Some(chunk) => Ok(Some(chunk)),
            None => self.response.chunk().await.map_err(|_| BrokeOff),
        }
    }

    /// The beginning of the body, which stays to be read again.
    pub(crate) async fn peek(&mut self, most: usize) -> Bytes {
        let mut head: BytesMut = self.read.iter().flatten().copied().collect();
        while head.len() < most {
            let Ok(Some(chunk)) = self.response.chunk().await else { break };
            head.extend_from_slice(&chunk);
            self.read.push_back(chunk);
        }
        head.freeze()
    }
}
