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
    watched(reply, config, context, changes_nothing, |_| {}).await
}

/// After so many more, people who watch hear how many values of a sequence have come.
const VALUES_TOLD: usize = 100;

/// The whole body of a sequence of values, whose ends are told by this byte. They are counted for people who watch.
pub(crate) async fn counted(
    reply: &mut Reply,
    config: &Config,
    context: &CallContext,
    changes_nothing: bool,
    separator: u8,
) -> Result<BytesMut, Unread> {
    let (mut count, mut told) = (0, 0);
    let count_in = |piece: &[u8]| {
        count += piece.iter().filter(|byte| **byte == separator).count();
        if count >= told + VALUES_TOLD {
            told = count;
            context.progress.say(&format!("{count} values"));
        }
    };
    watched(reply, config, context, changes_nothing, count_in).await
}

async fn watched(
    reply: &mut Reply,
    config: &Config,
    context: &CallContext,
    changes_nothing: bool,
    mut see: impl FnMut(&[u8]),
) -> Result<BytesMut, Unread> {
    check_announced(reply, config)?;
    let mut body = BytesMut::new();
    while let Some(chunk) = next(reply, context, changes_nothing, body.len() as u64).await? {
        see(&chunk);
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
