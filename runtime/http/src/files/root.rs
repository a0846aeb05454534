//! Paths below the file root, opened without following any link.
//!
//! Each part of the path is opened relative to the folder opened before it, and none of them may be a link. So no check
//! is separate from its use, and swapping a folder for a link meanwhile gains nothing.

use std::fs::File;

use toolwright_core::ToolError;

use super::{refused, too_large};
use crate::config::Config;

/// Opens a regular file below the file root. Messages never name the root, and tell no more than that the file cannot be
/// opened: what exists elsewhere is not the caller's business.
pub(crate) async fn open(config: &Config, argument: &str, path: String) -> Result<(File, u64), ToolError> {
    let root = config.file_root.clone();
    let opened = tokio::task::spawn_blocking(move || platform::open_beneath(&root, &path)).await;
    let file = match opened {
        Ok(Ok(file)) => file,
        Ok(Err(why)) => return Err(refused(argument, why)),
        Err(_) => return Err(refused(argument, "the file cannot be opened")),
    };
    let metadata = file.metadata().map_err(|_| refused(argument, "the file cannot be read"))?;
    if !metadata.is_file() {
        return Err(refused(argument, "the path does not name a regular file"));
    }
    if metadata.len() > config.max_upload_bytes {
        return Err(too_large(argument, config.max_upload_bytes));
    }
    Ok((file, metadata.len()))
}

#[cfg(unix)]
mod platform {
    use std::{fs::File, os::fd::OwnedFd, path::Path};

    use rustix::{
        fs::{Mode, OFlags, open, openat},
        io::Errno,
    };

    pub(super) fn open_beneath(root: &Path, path: &str) -> Result<File, &'static str> {
        let folder_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut folder: OwnedFd = open(root, folder_flags, Mode::empty())
            .map_err(|_| "the server's file root does not exist or cannot be read")?;
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            folder = openat(&folder, part, folder_flags | OFlags::NOFOLLOW, Mode::empty()).map_err(why)?;
        }
        // Without NONBLOCK, opening a pipe would wait for its other end.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        openat(&folder, name, flags, Mode::empty()).map(File::from).map_err(why)
    }

    fn why(error: Errno) -> &'static str {
        match error {
            Errno::LOOP => "the path leads through a link, which is not followed",
            Errno::NOENT => "no such file below the file root",
            // A link where a folder is wanted gives NOTDIR on Linux.
            Errno::NOTDIR => "part of the path is not a folder, or is a link, which is not followed",
            _ => "the file cannot be opened",
        }
    }
}

#[cfg(not(unix))]
mod platform {
    use std::{fs::File, path::Path};

    pub(super) fn open_beneath(_: &Path, _: &str) -> Result<File, &'static str> {
        Err("paths are read on Unix systems only; send the content as a data: URI")
    }
}
