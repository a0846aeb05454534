//! The input files of a run, held in memory.

use std::collections::BTreeMap;

/// Input files by path relative to the repository root, with `/` between the parts.
#[derive(Debug, Clone, Default)]
pub struct Files {
    contents: BTreeMap<String, Vec<u8>>,
    /// Why files that were looked for are not there.
    missing: BTreeMap<String, String>,
}

impl Files {
    /// No files yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.contents.insert(path.into(), bytes.into());
    }

    /// Records why a file that was looked for is not there, for whoever refers to it.
    pub fn note_missing(&mut self, path: impl Into<String>, why: impl Into<String>) {
        self.missing.insert(path.into(), why.into());
    }

    /// Why a file is not there, where that was recorded.
    #[must_use]
    pub fn why_missing(&self, path: &str) -> Option<&str> {
        self.missing.get(path).map(String::as_str)
    }

    /// The bytes of a file.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.contents.get(path).map(Vec::as_slice)
    }

    /// All paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.contents.keys().map(String::as_str)
    }
}

/// Joins a file name to a folder, resolving `.` and `..` parts; `None` when it climbs out of the root.
pub(crate) fn join(dir: &str, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in dir.split('/').chain(name.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}
