//! Reading a body into memory, up to a limit.

use bytes::BytesMut;
use toolwright_core::{Code, ToolError};

use super::Reply;
use crate::{config::Config, context::CallContext, send};

/// Why a body was not read to its end.
#[derive(Debug)]
pub(crate) struct Unread {
    pub(crate) error: ToolError,
    /// The size, where it is the reason: as announced, or as far as was read.
    pub(crate) size_bytes: Option<u64>,
}

impl From<ToolError> for Unread {
    fn from(error: ToolError) -> Self {
        Unread { error, size_bytes: None }
    }
}

/// The whole body.
pub(crate) async fn whole(
    reply: &mut Reply,
    config: &Config,
    context: &CallContext,
    changes_nothing: bool,
) -> Result<BytesMut, Unread> {
    check_announced(reply, config)?;
    let mut body = BytesMut::new();
    while let Some(chunk) = next(reply, context, changes_nothing, body.len() as u64).await? {
        body.extend_from_slice(&chunk);
        check(config, body.len() as u64)?;
    }
    Ok(body)
}

/// The next piece, within the deadline.
pub(crate) async fn next(
    reply: &mut Reply,
    context: &CallContext,
    changes_nothing: bool,
    received: u64,
) -> Result<Option<bytes::Bytes>, ToolError> {
    let piece = context.bound(reply.next()).await.map_err(|interrupted| interrupted.into_error(changes_nothing))?;
    piece.map_err(|_| send::broke_off(received, changes_nothing))
}

/// Refuses an answer by its announced length, before anything of it is read.
pub(crate) fn check_announced(reply: &Reply, config: &Config) -> Result<(), Unread> {
    reply.announced_length().map_or(Ok(()), |length| check(config, length))
}

/// Refuses an answer as soon as more than the limit has come.
pub(crate) fn check(config: &Config, size: u64) -> Result<(), Unread> {
    let limit = config.max_response_bytes;
    if size <= limit {
        return Ok(());
    }
    let message = format!(
        "the answer is larger than {limit} bytes, the most that is taken (setting MAX_RESPONSE_BYTES); ask for less, or raise the setting"
    );
    Err(Unread { error: ToolError::new(Code::TooLarge, message), size_bytes: Some(size) })
}
