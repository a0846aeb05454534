//! Saved files: binary answers under names of our own, within a quota, readable as MCP resources.

mod name;
mod quota;
#[cfg(test)]
mod tests;
mod writing;

pub(crate) use name::{given_name, hint_from_disposition};
pub(crate) use writing::PartialFile;

use std::{io, path::PathBuf};

use crate::{config::Config, encode::percent_value, media};

/// The folder of saved files of one server.
#[derive(Debug, Clone)]
pub struct SavedFiles {
    server_name: String,
    folder: PathBuf,
    quota_bytes: u64,
}

/// One saved file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedFile {
    /// File name within the folder.
    pub name: String,
    /// Path of the file.
    pub path: PathBuf,
    /// URI of the resource: `toolwright://<server>/files/<name>`.
    pub uri: String,
    /// Media type that the name stands for.
    pub mime_type: String,
    /// Size in bytes.
    pub size_bytes: u64,
}

/// Why a file was not saved or read.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    /// The content alone is over the quota.
    #[error(
        "the content is larger than the {0} bytes that all saved files may have together (setting OUTPUT_QUOTA_BYTES)"
    )]
    Quota(u64),
    /// The folder cannot be written or read.
    #[error("the output folder cannot be used: {0}")]
    Io(#[from] io::Error),
    /// No saved file has that URI.
    #[error("no saved file has this URI; the oldest ones are removed when the quota is reached")]
    Unknown,
    /// The file is larger than the reader takes.
    #[error("the saved file has {0} bytes, more than can be read at once; open it at its saved_path")]
    TooLarge(u64),
}

impl SavedFiles {
    /// The saved files of a configuration. Nothing is created or read.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        SavedFiles {
            server_name: config.server_name.clone(),
            folder: config.output_dir.clone(),
            quota_bytes: config.output_quota_bytes,
        }
    }

    /// All saved files, the oldest first. A folder that does not exist yet holds none.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub async fn list(&self) -> Result<Vec<SavedFile>, SavedError> {
        let folder = self.folder.clone();
        let found = blocking(move || quota::scan(&folder)).await?;
        Ok(found.into_iter().map(|(name, size)| self.describe(name, size)).collect())
    }

    /// The content of the saved file with that URI.
    ///
    /// # Errors
    /// When no saved file has the URI, or it has more bytes than `most`.
    pub async fn read(&self, uri: &str, most: u64) -> Result<(SavedFile, Vec<u8>), SavedError> {
        let name = self.name_of(uri).ok_or(SavedError::Unknown)?;
        let path = self.folder.join(&name);
        let content = blocking(move || {
            let metadata = std::fs::symlink_metadata(&path).map_err(|_| SavedError::Unknown)?;
            match metadata.len() {
                _ if !metadata.is_file() => Err(SavedError::Unknown),
                size if size > most => Err(SavedError::TooLarge(size)),
                _ => Ok(std::fs::read(&path)?),
            }
        });
        let content = content.await?;
        Ok((self.describe(name, content.len() as u64), content))
    }

    /// Name and path of the saved file with that URI, whether it is still there or not.
    pub(crate) fn located(&self, uri: &str) -> Option<(String, PathBuf)> {
        let name = self.name_of(uri)?;
        let path = self.folder.join(&name);
        Some((name, path))
    }

    fn describe(&self, name: String, size_bytes: u64) -> SavedFile {
        SavedFile {
            path: self.folder.join(&name),
            uri: format!("toolwright://{}/files/{}", self.server_name, percent_value(&name)),
            mime_type: media::by_name(&name),
            size_bytes,
            name,
        }
    }

    /// The file name in a URI; only names that we gave, so that a URI cannot reach any other file.
    fn name_of(&self, uri: &str) -> Option<String> {
        let encoded = uri.strip_prefix(&format!("toolwright://{}/files/", self.server_name))?;
        let name = percent_encoding::percent_decode_str(encoded).decode_utf8().ok()?.into_owned();
        name::is_ours(&name).then_some(name)
    }
}

/// Runs file work off the event loop.
async fn blocking<T: Send + 'static, E: Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, SavedError>
where
    SavedError: From<E>,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(SavedError::Io(io::Error::other("the file work was stopped"))),
    }
}
