//! Binary answers: inside the result up to the inline limit, in a file beyond it, never in memory as a whole.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::{Bytes, BytesMut};
use reqwest::header::CONTENT_DISPOSITION;
use toolwright_core::{Binary, Block, BlockKind, Code, Envelope, Payload, ToolError};

use super::{
    Reader, Reply,
    collect::{self, Unread},
    reading, scrub_note,
};
use crate::{
    media::MediaType,
    saved::{SavedError, SavedFile, hint_from_disposition},
};

/// Reads content that is neither JSON nor declared as text.
pub(crate) async fn read(
    reader: Reader<'_>,
    reply: &mut Reply,
    media_type: Option<&MediaType>,
    envelope: &mut Envelope,
) -> Result<(), Unread> {
    collect::check_announced(reply, reader.config)?;
    let essence = media_type.map_or("application/octet-stream", MediaType::essence);
    let disposition = reply.headers.get(CONTENT_DISPOSITION);
    let mut hint = disposition.and_then(|value| hint_from_disposition(&String::from_utf8_lossy(value.as_bytes())));
    if let Some(name) = &mut hint {
        scrub_note(name, &reader.context.credentials(reader.config, reader.tokens).await);
    }
    let keeping = Keeping::new(reader, essence, hint);
    let (head, ended) = head(reader, reply).await?;
    match ended {
        true if head.is_empty() => Ok(()),
        true if keeping.is_text(media_type, &head) => {
            read_unlabelled(media_type, &head, envelope);
            Ok(())
        }
        true => keeping.small(head.freeze(), envelope).await,
        false => keeping.large(head.freeze(), reply, envelope).await,
    }
}

/// The body up to just over the inline limit, and whether that was all of it.
async fn head(reader: Reader<'_>, reply: &mut Reply) -> Result<(BytesMut, bool), Unread> {
    let mut head = BytesMut::new();
    while head.len() as u64 <= reader.config.inline_binary_limit {
        let Some(chunk) = collect::next(reply, reader.context, reader.changes_nothing, head.len() as u64).await? else {
            return Ok((head, true));
        };
        head.extend_from_slice(&chunk);
        collect::check(reader.config, head.len() as u64)?;
    }
    Ok((head, false))
}

/// Content without a media type, or with one that says nothing: JSON if it parses, else text.
fn read_unlabelled(media_type: Option<&MediaType>, body: &[u8], envelope: &mut Envelope) {
    let named = media_type.map_or("no media type", MediaType::essence);
    if let Some(data) = (media_type.is_none()).then(|| serde_json::from_slice(body).ok()).flatten() {
        envelope.warnings.push(format!("the answer has {named}; it was read as JSON"));
        envelope.payload = Payload::Data(data);
        return;
    }
    envelope.warnings.push(format!("the answer has {named}; it was read as text"));
    reading::read_text(body, &MediaType::of("text/plain"), envelope);
}

/// How binary content of one answer is kept.
#[derive(Debug)]
pub(crate) struct Keeping<'a> {
    reader: Reader<'a>,
    media_type: String,
    hint: Option<String>,
    /// Whether it goes to a file: secret content never does.
    saves: bool,
}

impl<'a> Keeping<'a> {
    pub(crate) fn new(reader: Reader<'a>, media_type: &str, hint: Option<String>) -> Self {
        let saves = reader.config.save_binary && !reader.secret;
        Keeping { reader, media_type: media_type.to_owned(), hint, saves }
    }

    fn is_text(&self, media_type: Option<&MediaType>, body: &[u8]) -> bool {
        let may_be = media_type.is_none_or(|kind| !kind.is_surely_binary());
        let is_plain = |text: &str| !text.chars().any(|c| c.is_control() && !c.is_whitespace());
        may_be && std::str::from_utf8(body).is_ok_and(is_plain)
    }

    /// Content up to the inline limit: inside the result, and saved where that is switched on. What comes with an error
    /// status is only described.
    pub(crate) async fn small(&self, content: Bytes, envelope: &mut Envelope) -> Result<(), Unread> {
        if !envelope.ok {
            envelope.payload = Payload::Binary(self.describe(content.len() as u64, None));
            return Ok(());
        }
        let inlined = !self.reader.secret && content.len() as u64 <= self.reader.config.inline_binary_limit;
        let saved = match self.saves {
            true => match self.save(&content).await {
                // The result itself holds the content.
                Err(error) if inlined => unsaved(&error, &mut envelope.warnings),
                outcome => tolerate(outcome, &mut envelope.warnings)?,
            },
            false => None,
        };
        let mut binary = self.describe(content.len() as u64, saved.as_ref());
        let mut attachments: Vec<Block> = saved.as_ref().map(link).into_iter().collect();
        if self.reader.secret {
            envelope.warnings.extend(self.why_not_kept());
        } else if inlined {
            let base64 = STANDARD.encode(&content);
            binary.base64 = self.reader.config.inline_base64.then(|| base64.clone());
            attachments.insert(0, self.block(base64, saved.as_ref()));
        }
        envelope.payload = Payload::Binary(binary);
        envelope.attachments.extend(attachments);
        Ok(())
    }

    async fn save(&self, content: &Bytes) -> Result<SavedFile, SavedError> {
        let mut file = self.reader.saved.begin(self.hint.as_deref(), &self.media_type).await?;
        file.write(content).await?;
        file.commit().await
    }

    /// Content over the inline limit: streamed to a file, or counted where nothing is saved.
    async fn large(&self, head: Bytes, reply: &mut Reply, envelope: &mut Envelope) -> Result<(), Unread> {
        let saved = match self.saves && envelope.ok {
            true => self.stream_to_file(head, reply, &mut envelope.warnings).await?,
            false => None,
        };
        let size = match &saved {
            Some(saved) => saved.size_bytes,
            None => {
                envelope.warnings.extend(self.why_not_kept());
                reply.announced_length().unwrap_or_default()
            }
        };
        envelope.attachments.extend(saved.as_ref().map(link));
        envelope.payload = Payload::Binary(self.describe(size, saved.as_ref()));
        Ok(())
    }

    /// A word on content that is nowhere; `None` where saving it was tried, which has a warning of its own.
    fn why_not_kept(&self) -> Option<String> {
        match (self.reader.secret, self.saves) {
            (true, _) => Some("the content is secret and was not kept (setting REVEAL_SECRETS)".to_owned()),
            (false, false) => {
                Some("the content was not kept: raise INLINE_BINARY_LIMIT or switch SAVE_BINARY on".to_owned())
            }
            (false, true) => None,
        }
    }

    async fn stream_to_file(
        &self,
        head: Bytes,
        reply: &mut Reply,
        warnings: &mut Vec<String>,
    ) -> Result<Option<SavedFile>, Unread> {
        let begun = self.reader.saved.begin(self.hint.as_deref(), &self.media_type).await;
        let Some(mut file) = tolerate(begun, warnings)? else { return Ok(None) };
        let mut piece = Some(head);
        while let Some(bytes) = piece {
            if tolerate(file.write(&bytes).await, warnings)?.is_none() {
                return Ok(None);
            }
            collect::check(self.reader.config, file.written())?;
            piece = collect::next(reply, self.reader.context, self.reader.changes_nothing, file.written()).await?;
        }
        tolerate(file.commit().await, warnings)
    }

    fn describe(&self, size_bytes: u64, saved: Option<&SavedFile>) -> Binary {
        Binary {
            size_bytes,
            mime_type: self.media_type.clone(),
            saved_path: saved.map(|saved| saved.path.to_string_lossy().into_owned()),
            resource_uri: saved.map(|saved| saved.uri.clone()),
            base64: None,
        }
    }

    fn block(&self, base64: String, saved: Option<&SavedFile>) -> Block {
        let kind = match self.media_type.split_once('/') {
            Some(("image", _)) => BlockKind::Image(base64),
            Some(("audio", _)) => BlockKind::Audio(base64),
            _ => BlockKind::Blob { uri: self.blob_uri(saved), base64 },
        };
        Block { kind, mime_type: self.media_type.clone() }
    }

    /// An embedded resource needs a URI even where nothing was saved.
    fn blob_uri(&self, saved: Option<&SavedFile>) -> String {
        match saved {
            Some(saved) => saved.uri.clone(),
            None => format!("toolwright://{}/unsaved/{:08x}", self.reader.config.server_name, fastrand::u32(..)),
        }
    }
}

/// An embedded resource.
pub(crate) fn blob(uri: String, content: &[u8], mime_type: &str) -> Block {
    let base64 = STANDARD.encode(content);
    Block { kind: BlockKind::Blob { uri, base64 }, mime_type: mime_type.to_owned() }
}

/// A link to a saved file.
pub(crate) fn link(saved: &SavedFile) -> Block {
    Block {
        kind: BlockKind::Link { uri: saved.uri.clone(), name: saved.name.clone(), size_bytes: saved.size_bytes },
        mime_type: saved.mime_type.clone(),
    }
}

/// The upstream has done its work: a folder that cannot be written is worth a warning. Content over the quota is a
/// failure, since no other setting of the call could keep it.
pub(crate) fn tolerate<T>(outcome: Result<T, SavedError>, warnings: &mut Vec<String>) -> Result<Option<T>, Unread> {
    match outcome {
        Ok(done) => Ok(Some(done)),
        Err(error @ SavedError::Quota(_)) => Err(ToolError::new(Code::TooLarge, error.to_string()).into()),
        Err(error) => Ok(unsaved(&error, warnings)),
    }
}

fn unsaved<T>(error: &SavedError, warnings: &mut Vec<String>) -> Option<T> {
    warnings.push(format!("the content could not be saved: {error}"));
    None
}
