//! Event streams.

use toolwright_core::Envelope;

use crate::{
    answer::{Reader, Reply, Unread, read_text, whole},
    media::MediaType,
};

pub(crate) async fn read(reader: Reader<'_>, reply: &mut Reply, envelope: &mut Envelope) -> Result<(), Unread> {
    let body = whole(reply, reader.config, reader.context, reader.changes_nothing).await?;
    read_text(&body, &MediaType::of("text/plain"), envelope);
    Ok(())
}
