//! Room within the quota: the oldest files go first.

use std::{fs, io, path::Path, time::Duration};

use super::{SavedError, name};

/// A file that nobody finished for this long belongs to a process that is gone.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// The saved files of a folder with their sizes, the oldest first: their names begin with the time.
pub(crate) fn scan(folder: &Path) -> io::Result<Vec<(String, u64)>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found: Vec<(String, u64)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry)))
        .filter(|(name, _)| name::is_ours(name))
        .filter_map(|(name, entry)| Some((name, entry.metadata().ok().filter(fs::Metadata::is_file)?.len())))
        .collect();
    found.sort();
    Ok(found)
}

/// Removes the oldest files until `size` more bytes fit.
pub(crate) fn make_room(folder: &Path, quota: u64, size: u64) -> Result<(), SavedError> {
    if size > quota {
        return Err(SavedError::Quota(quota));
    }
    remove_abandoned(folder);
    let files = scan(folder)?;
    let mut total: u64 = files.iter().map(|(_, size)| size).sum();
    for (name, freed) in files {
        if total + size <= quota {
            break;
        }
        // Another process may have removed it first.
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => total -= freed,
        }
    }
    Ok(())
}

fn remove_abandoned(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(super::writing::PARTIAL)) {
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > ABANDONED) {
            // Left for the next time where it cannot be removed.
            drop(fs::remove_file(entry.path()));
        }
    }
}
