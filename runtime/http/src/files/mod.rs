//! File inputs: `data:` URIs, `base64:` text, URLs, saved answers, and paths below the file root.

mod data_uri;
mod guard;
mod input;
mod root;
#[cfg(test)]
mod tests;
mod url_input;

pub(crate) use guard::Guard;
pub(crate) use input::{FileInput, Source};
pub(crate) use url_input::Fetcher;

use std::fs::File;

use bytes::Bytes;
use toolwright_core::{Code, ToolError};

use crate::{config::Config, context::CallContext, media, saved};

/// A file input that is open and within the limit.
#[derive(Debug)]
pub(crate) struct OpenFile {
    /// File name to send.
    pub(crate) name: String,
    /// Media type to send; a valid header value.
    pub(crate) media_type: String,
    /// The bytes.
    pub(crate) content: Content,
}

/// Where the bytes of an open file are.
#[derive(Debug)]
pub(crate) enum Content {
    /// In memory.
    Bytes(Bytes),
    /// In a file.
    File {
        /// The open file.
        file: File,
        /// Its length when it was opened.
        length: u64,
    },
}

impl FileInput {
    /// The media type to send, of those that the document declares: a list of types and ranges, as `contentType` of an
    /// encoding has it. Only a `data:` URI says what it is; of anything else `guessed` is a guess, which may be wrong.
    ///
    /// # Errors
    /// `file_refused` where a `data:` URI says another type.
    pub(crate) fn agree(&self, declared: &str, guessed: &str) -> Result<String, ToolError> {
        let is_typed = matches!(self.source, Source::Inline { is_typed: true, .. });
        match media::agreed(declared, guessed) {
            Some(agreed) => Ok(agreed),
            None if is_typed => Err(refused(
                &self.argument,
                &format!("the data: URI says {guessed}, and the API takes {declared}; give content of that type"),
            )),
            None => Ok(media::first(declared).unwrap_or(guessed).to_owned()),
        }
    }

    /// Opens the input: reads nothing of a path, decodes nothing again, and fetches a URL to the end.
    pub(crate) async fn open(
        self,
        config: &Config,
        fetcher: &Fetcher,
        context: &CallContext,
    ) -> Result<OpenFile, ToolError> {
        let FileInput { argument, source } = self;
        match source {
            Source::Inline { bytes, media_type, name, .. } => {
                Ok(OpenFile { name, media_type, content: Content::Bytes(bytes) })
            }
            Source::Path(path) => {
                let (file, length) = root::open(config, &argument, path.clone()).await?;
                let name = path.rsplit('/').next().unwrap_or("upload.bin").to_owned();
                Ok(OpenFile { media_type: media::by_name(&name), name, content: Content::File { file, length } })
            }
            Source::Saved { name, path } => {
                let (file, length) = root::open_saved(config, &argument, path).await?;
                let name = saved::given_name(&name).to_owned();
                Ok(OpenFile { media_type: media::by_name(&name), name, content: Content::File { file, length } })
            }
            Source::Url(url) => fetcher.fetch(config, &argument, url, context).await,
        }
    }
}

pub(crate) fn refused(argument: &str, why: &str) -> ToolError {
    ToolError::new(Code::FileRefused, format!("`{argument}`: {why}"))
}

pub(crate) fn too_large(argument: &str, limit: u64) -> ToolError {
    ToolError::new(
        Code::TooLarge,
        format!("`{argument}` is larger than the {limit} bytes that a file input may have (setting MAX_UPLOAD_BYTES)"),
    )
}
