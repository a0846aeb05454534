//! The files of a run, package by package, with the manifest that tells hand edits from stale output.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::invisible::in_file;
use crate::source::sha256_hex;

/// Name of the manifest of each generated package.
pub const MANIFEST: &str = "MANIFEST.sha256";

/// Generated files by path relative to the repository root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSet {
    files: BTreeMap<String, Vec<u8>>,
}

impl FileSet {
    /// Adds a file. Characters that nobody sees are escaped in it, whatever they came from.
    pub(crate) fn insert(&mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) {
        let (path, content): (String, Vec<u8>) = (path.into(), content.into());
        let shown = std::str::from_utf8(&content).ok().and_then(|text| in_file(&path, text));
        self.files.insert(path, shown.map_or(content, String::into_bytes));
    }

    /// All files, by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, content)| (path.as_str(), content.as_slice()))
    }

    /// The content of a file.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Adds a manifest to each package: `generated/<package>/MANIFEST.sha256`, in the format of sha256sum.
    pub(crate) fn seal(&mut self) {
        let mut manifests: BTreeMap<String, String> = BTreeMap::new();
        for (path, content) in &self.files {
            let Some((package, inside)) = split_package(path) else { continue };
            // Writing to a string cannot fail.
            let _ = writeln!(manifests.entry(package.to_owned()).or_default(), "{}  {inside}", sha256_hex(content));
        }
        for (package, manifest) in manifests {
            self.insert(format!("{package}/{MANIFEST}"), manifest);
        }
    }

    /// The packages' folders.
    #[must_use]
    pub fn packages(&self) -> Vec<&str> {
        let mut packages: Vec<&str> = self.files.keys().filter_map(|path| Some(split_package(path)?.0)).collect();
        packages.dedup();
        packages
    }
}

/// `generated/a/src/lib.rs` -> `generated/a`, `src/lib.rs`.
fn split_package(path: &str) -> Option<(&str, &str)> {
    let start = path.find('/')? + 1;
    let end = start + path.get(start..)?.find('/')?;
    Some((path.get(..end)?, path.get(end + 1..)?))
}

/// Reads a manifest: by path inside the package, the hashes that a run gave the file. There are two for a file that
/// an interrupted run was about to replace.
#[must_use]
pub fn read_manifest(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut recorded: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (hash, path) in text.lines().filter_map(|line| line.split_once("  ")) {
        recorded.entry(path.to_owned()).or_default().insert(hash.to_owned());
    }
    recorded
}
