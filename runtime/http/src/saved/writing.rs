//! A file while it is written: invisible under its final name until it is complete, gone if it never is.

use std::{
    fs, io,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use tokio::io::AsyncWriteExt;

use super::{SavedError, SavedFile, SavedFiles, blocking, name, quota};

/// In front of the name of an unfinished file.
pub(crate) const PARTIAL: &str = ".partial-";

/// One file at a time: two that found room side by side would together be over the quota.
static MAKING_ROOM: Mutex<()> = Mutex::new(());

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct PartialFile {
    files: SavedFiles,
    name: String,
    partial: Unfinished,
    file: tokio::fs::File,
    written: u64,
}

/// Removes the unfinished file when the writing is given up.
#[derive(Debug)]
struct Unfinished(Option<PathBuf>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            // An abandoned file is removed later by its age.
            drop(fs::remove_file(path));
        }
    }
}

impl SavedFiles {
    /// Begins a file. The hint may shape its name, never its place.
    pub(crate) async fn begin(&self, hint: Option<&str>, media_type: &str) -> Result<PartialFile, SavedError> {
        let name = name::fresh(hint, media_type);
        let path = self.folder.join(format!("{PARTIAL}{name}"));
        let (folder, at) = (self.folder.clone(), path.clone());
        let file = blocking(move || create(&folder, &at)).await?;
        Ok(PartialFile {
            files: self.clone(),
            name,
            partial: Unfinished(Some(path)),
            file: tokio::fs::File::from_std(file),
            written: 0,
        })
    }
}

/// `create_new` fails on anything that is already there, a link included.
fn create(folder: &std::path::Path, path: &std::path::Path) -> io::Result<fs::File> {
    fs::create_dir_all(folder)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

impl PartialFile {
    /// Appends bytes.
    pub(crate) async fn write(&mut self, bytes: &Bytes) -> Result<(), SavedError> {
        self.written += bytes.len() as u64;
        if self.written > self.files.quota_bytes {
            return Err(SavedError::Quota(self.files.quota_bytes));
        }
        Ok(self.file.write_all(bytes).await?)
    }

    /// Bytes written so far.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Makes room, and gives the file its final name.
    pub(crate) async fn commit(mut self) -> Result<SavedFile, SavedError> {
        self.file.flush().await?;
        let (folder, quota, size) = (self.files.folder.clone(), self.files.quota_bytes, self.written);
        let saved = self.files.describe(self.name.clone(), size);
        let target = saved.path.clone();
        let Some(partial) = self.partial.0.clone() else { return Ok(saved) };
        blocking(move || {
            let _alone = MAKING_ROOM.lock().unwrap_or_else(PoisonError::into_inner);
            quota::make_room(&folder, quota, size)?;
            fs::rename(partial, target).map_err(SavedError::from)
        })
        .await?;
        self.partial.0 = None;
        Ok(saved)
    }
}
