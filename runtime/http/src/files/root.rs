//! Paths below the file root. Links are followed where they lead to a place below the root.
//!
//! A path is resolved first, and checked. What is then opened is the resolved path, part by part, each relative to the
//! folder opened before it, and none of them may be a link. So the check holds for what is opened: swapping a part for a
//! link meanwhile gains nothing.

use std::{fs::File, path::PathBuf};

use toolwright_core::ToolError;

use super::{refused, too_large};
use crate::config::Config;

/// Opens a regular file below the file root. Messages never name the root, and tell no more than that the file cannot be
/// opened: what exists elsewhere is not the caller's business.
pub(crate) async fn open(config: &Config, argument: &str, path: String) -> Result<(File, u64), ToolError> {
    let (root, output) = (config.file_root.clone(), config.output_dir.clone());
    let opened = move || platform::open_beneath(&root, &output, &path);
    regular(config, argument, opened).await
}

/// Opens a saved answer: a regular file of the output folder itself, never what a link there leads to.
pub(crate) async fn open_saved(config: &Config, argument: &str, path: PathBuf) -> Result<(File, u64), ToolError> {
    let folder = config.output_dir.clone();
    let opened = move || platform::open_saved(&folder, &path);
    regular(config, argument, opened).await
}

/// What was opened, where it is a regular file within the limit.
async fn regular(
    config: &Config,
    argument: &str,
    open: impl FnOnce() -> Result<File, &'static str> + Send + 'static,
) -> Result<(File, u64), ToolError> {
    let file = match tokio::task::spawn_blocking(open).await {
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
    use std::{
        fs::File,
        io,
        os::fd::OwnedFd,
        path::{Path, PathBuf},
    };

    use rustix::{
        fs::{Mode, OFlags, open, openat},
        io::Errno,
    };

    const NO_FILE: &str = "the path does not name a regular file";

    pub(super) fn open_beneath(root: &Path, output: &Path, path: &str) -> Result<File, &'static str> {
        let no_root = |_| "the server's file root does not exist or cannot be read";
        let root = root.canonicalize().map_err(no_root)?;
        // An output folder that does not exist holds nothing.
        let output = output.canonicalize().ok();
        let path = root.join(path);
        // By name first: what others received is not told from what never was.
        refuse_output(&path, output.as_ref())?;
        let real = path.canonicalize().map_err(|error| why_unresolved(&error))?;
        refuse_output(&real, output.as_ref())?;
        let below = real.strip_prefix(&root).map_err(|_| "the path leads through a link out of the file root")?;
        open_without_links(&root, below)
    }

    pub(super) fn open_saved(folder: &Path, path: &Path) -> Result<File, &'static str> {
        let name = path.file_name().ok_or(NO_FILE)?;
        let gone = "no saved answer has this URI any more; the oldest ones are removed when the quota is reached";
        let folder = folder.canonicalize().map_err(|_| gone)?;
        open_without_links(&folder, Path::new(name)).map_err(|_| gone)
    }

    fn refuse_output(path: &Path, output: Option<&PathBuf>) -> Result<(), &'static str> {
        match output.is_some_and(|output| path.starts_with(output)) {
            true => Err("the path lies in the output folder, which holds what other calls received; it is never sent"),
            false => Ok(()),
        }
    }

    /// Opens what a path without links leads to. A link that has taken the place of a part meanwhile is not followed.
    fn open_without_links(root: &Path, below: &Path) -> Result<File, &'static str> {
        let folder_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut folder: OwnedFd = open(root, folder_flags, Mode::empty()).map_err(why)?;
        let (Some(folders), Some(name)) = (below.parent(), below.file_name()) else { return Err(NO_FILE) };
        for part in folders {
            folder = openat(&folder, part, folder_flags | OFlags::NOFOLLOW, Mode::empty()).map_err(why)?;
        }
        // Without NONBLOCK, opening a pipe would wait for its other end.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        openat(&folder, name, flags, Mode::empty()).map(File::from).map_err(why)
    }

    fn why_unresolved(error: &io::Error) -> &'static str {
        match Errno::from_io_error(error) {
            Some(Errno::LOOP) => "the links in the path lead in a circle",
            Some(error) => why(error),
            None => "the file cannot be opened",
        }
    }

    fn why(error: Errno) -> &'static str {
        match error {
            Errno::LOOP => "a link has taken the place of a part of the path",
            Errno::NOENT => "no such file below the file root",
            Errno::NOTDIR => "part of the path is not a folder",
            _ => "the file cannot be opened",
        }
    }
}

#[cfg(not(unix))]
mod platform {
    use std::{fs::File, path::Path};

    const UNIX_ONLY: &str = "files are read on Unix systems only; send the content as a data: URI";

    pub(super) fn open_beneath(_: &Path, _: &Path, _: &str) -> Result<File, &'static str> {
        Err(UNIX_ONLY)
    }

    pub(super) fn open_saved(_: &Path, _: &Path) -> Result<File, &'static str> {
        Err(UNIX_ONLY)
    }
}
