//! An answer whose body is read step by step.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use reqwest::{
    Response, StatusCode,
    header::{CONTENT_TYPE, HeaderMap},
};

use crate::{media::MediaType, observe::ObservedRequest};

/// An answer: its head, and a body that is still to come.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    length: Option<u64>,
    read: VecDeque<Bytes>,
    response: Response,
    /// Sees the body as it comes, and the end of the request with the end of this.
    observed: Option<Box<dyn ObservedRequest>>,
}

/// The body ended before its end.
#[derive(Debug)]
pub(crate) struct BrokeOff;

impl Reply {
    pub(crate) fn new(response: Response, observed: Option<Box<dyn ObservedRequest>>) -> Self {
        Reply {
            status: response.status(),
            headers: response.headers().clone(),
            length: response.content_length(),
            read: VecDeque::new(),
            response,
            observed,
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
            None => self.receive().await,
        }
    }

    async fn receive(&mut self) -> Result<Option<Bytes>, BrokeOff> {
        let received = self.response.chunk().await.map_err(|_| BrokeOff);
        if let Some(observed) = &mut self.observed {
            match &received {
                Ok(Some(chunk)) => observed.received(chunk.len() as u64),
                Ok(None) => {}
                Err(BrokeOff) => observed.failed("broke_off"),
            }
        }
        received
    }

    /// The beginning of the body, which stays to be read again.
    pub(crate) async fn peek(&mut self, most: usize) -> Bytes {
        let mut head: BytesMut = self.read.iter().flatten().copied().collect();
        while head.len() < most {
            let Ok(Some(chunk)) = self.receive().await else { break };
            head.extend_from_slice(&chunk);
            self.read.push_back(chunk);
        }
        head.freeze()
    }
}
