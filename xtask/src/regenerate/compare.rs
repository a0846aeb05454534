//! What should be in generated/ against what is, and how the one becomes the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use toolwright_generator::source::sha256_hex;
use toolwright_generator::{FileSet, Generated, MANIFEST, read_manifest};

use crate::workspace::{self, is_temporary};

/// One way in which a path is not as it should be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// It should be there.
    Missing(String),
    /// It is as an earlier run wrote it, and this run makes something else.
    Stale(String),
    /// An earlier run wrote it, and this run makes no such file.
    Leftover(String),
    /// Somebody changed it after a run wrote it.
    Edited(String),
    /// No run wrote it.
    Orphan(String),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(path) => write!(f, "missing: {path}"),
            Self::Stale(path) => write!(f, "stale: {path}"),
            Self::Leftover(path) => write!(f, "stale: {path} (no longer generated)"),
            Self::Edited(path) => write!(f, "edited by hand: {path}"),
            Self::Orphan(path) => write!(f, "orphan: {path} (not written by a run)"),
        }
    }
}

/// What settling does, by files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) written: usize,
    pub(crate) removed: usize,
}

impl Settled {
    /// What settling these differences does. Orphans stay.
    pub(crate) fn of(generated: &[Generated], differences: &[Difference]) -> Self {
        let ours = differences.iter().filter(|difference| !matches!(difference, Difference::Orphan(_)));
        let (written, removed): (Vec<_>, Vec<_>) =
            ours.partition(|difference| content_of(generated, difference.path()).is_some());
        Self { written: written.len(), removed: removed.len() }
    }
}

impl Difference {
    /// What a run would do about it.
    pub(crate) fn plan(&self) -> String {
        match self {
            Self::Missing(path) | Self::Stale(path) => format!("to be written: {path}"),
            Self::Leftover(path) => format!("to be removed: {path}"),
            Self::Edited(_) => format!("{self}; to be overwritten with --force"),
            Self::Orphan(_) => format!("{self}; it stays"),
        }
    }

    /// Makes it right. Orphans belong to somebody else and are only named.
    fn settle(&self, root: &Path, generated: &[Generated]) -> Result<()> {
        match self {
            Self::Missing(path) | Self::Stale(path) | Self::Edited(path) => match content_of(generated, path) {
                Some(content) => workspace::write_generated(&root.join(path), content),
                None => remove(&root.join(path)),
            },
            Self::Leftover(path) => remove(&root.join(path)),
            Self::Orphan(_) => {
                eprintln!("warning: {self}");
                Ok(())
            }
        }
    }

    fn path(&self) -> &str {
        match self {
            Self::Missing(path)
            | Self::Stale(path)
            | Self::Leftover(path)
            | Self::Edited(path)
            | Self::Orphan(path) => path,
        }
    }

    fn is_of_manifest(&self) -> bool {
        self.path().ends_with(MANIFEST)
    }
}

fn content_of<'g>(generated: &'g [Generated], path: &str) -> Option<&'g [u8]> {
    generated.iter().find_map(|server| server.files.get(path))
}

/// Makes everything right.
///
/// A run may be interrupted between two files, and then neither the old files nor the new ones may pass for edited by
/// hand. So a package's manifest first gets the new hashes beside the old ones, and stands alone only at the end.
pub(crate) fn settle(root: &Path, generated: &[Generated], differences: &[Difference]) -> Result<Settled> {
    let (manifests, files): (Vec<_>, Vec<_>) = differences.iter().partition(|difference| difference.is_of_manifest());
    for manifest in &manifests {
        if let Difference::Stale(path) = manifest {
            let mut both = fs::read(root.join(path)).with_context(|| format!("{path} cannot be read"))?;
            both.extend_from_slice(content_of(generated, path).unwrap_or_default());
            workspace::write_file(&root.join(path), &both)?;
        }
    }
    files.into_iter().chain(manifests).try_for_each(|difference| difference.settle(root, generated))?;
    Ok(Settled::of(generated, differences))
}

fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).with_context(|| format!("{} cannot be removed", path.display()))
}

/// Compares the packages of one server with the disk.
pub(crate) fn compare(root: &Path, files: &FileSet) -> Result<Vec<Difference>> {
    let mut found = Vec::new();
    for package in files.packages() {
        let present = present(root, package)?;
        let manifest =
            present.get(MANIFEST).map(|text| read_manifest(&String::from_utf8_lossy(text))).unwrap_or_default();
        let prefix = format!("{package}/");
        let wanted: BTreeMap<&str, &[u8]> =
            files.iter().filter_map(|(path, content)| Some((path.strip_prefix(&prefix)?, content))).collect();
        let paths: BTreeSet<&str> = wanted.keys().copied().chain(present.keys().map(String::as_str)).collect();
        for path in paths {
            let recorded = manifest.get(path);
            let is = present.get(path).map(Vec::as_slice);
            found.extend(difference(&format!("{prefix}{path}"), wanted.get(path).copied(), is, recorded));
        }
    }
    Ok(found)
}

/// A file edited by hand differs from the manifest of the run that wrote it.
fn difference(
    path: &str,
    wanted: Option<&[u8]>,
    is: Option<&[u8]>,
    recorded: Option<&BTreeSet<String>>,
) -> Option<Difference> {
    let path_text = path.to_owned();
    let Some(is) = is else { return wanted.map(|_| Difference::Missing(path_text)) };
    if wanted == Some(is) {
        return None;
    }
    let as_written = recorded.is_some_and(|hashes| hashes.contains(&sha256_hex(is)));
    let untouched = as_written || path.ends_with(MANIFEST) || is_temporary(path);
    Some(match (wanted.is_some(), recorded.is_some(), untouched) {
        (true, _, true) => Difference::Stale(path_text),
        (true, _, false) => Difference::Edited(path_text),
        (false, _, true) => Difference::Leftover(path_text),
        (false, true, false) => Difference::Edited(path_text),
        (false, false, false) => Difference::Orphan(path_text),
    })
}

/// Files below a package's folder, by path inside it.
fn present(root: &Path, package: &str) -> Result<BTreeMap<String, Vec<u8>>> {
    let base = root.join(package);
    let mut found = BTreeMap::new();
    let mut open = vec![base.clone()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let entry = entry?;
            let (path, kind): (PathBuf, _) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                open.push(path);
            } else if let Ok(inside) = path.strip_prefix(&base) {
                let parts: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
                // A run writes no links, and a link's content belongs to somebody else.
                let content = if kind.is_file() { workspace::read_file(&path)? } else { Vec::new() };
                found.insert(parts.join("/"), content);
            }
        }
    }
    Ok(found)
}

/// Packages in generated/ that no server makes.
pub(crate) fn orphan_packages(root: &Path, generated: &[Generated]) -> Result<Vec<Difference>> {
    let known: BTreeSet<&str> = generated.iter().flat_map(|server| server.files.packages()).collect();
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(root.join("generated")) else { return Ok(found) };
    for entry in entries {
        let path = format!("generated/{}", entry?.file_name().to_string_lossy());
        if !known.contains(path.as_str()) {
            found.push(Difference::Orphan(path));
        }
    }
    found.sort_by_key(ToString::to_string);
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::{Difference, compare, difference, settle};
    use toolwright_generator::diagnostic::Sink;
    use toolwright_generator::load::Files;
    use toolwright_generator::source::sha256_hex;
    use toolwright_generator::{Generated, generate};

    const DOCUMENT: &str = "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths: {/t: {get: {operationId: t}}}\n";

    fn server() -> Generated {
        server_called("T")
    }

    fn server_called(title: &str) -> Generated {
        let mut files = Files::new();
        let settings = format!("server: t\ntitle: {title}\ndocument: o.yaml\nupstream: {{env_prefix: T}}\n");
        files.insert("specs/t/server.yaml", settings);
        files.insert("specs/t/o.yaml", DOCUMENT);
        generate(&files, "specs/t", &mut Sink::new()).unwrap()
    }

    /// A folder as a run leaves it.
    fn written(server: &Generated) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in server.files.iter() {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        root
    }

    fn found(root: &Path, server: &Generated) -> Vec<String> {
        compare(root, &server.files).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_run_wrote_is_up_to_date() {
        let server = server();
        assert_eq!(found(written(&server).path(), &server), [""; 0]);
    }

    #[test]
    fn each_difference_is_named() {
        let server = server();
        let root = written(&server);
        let tools = root.path().join("generated/t-tools");
        fs::remove_file(tools.join("catalog.json")).unwrap();
        fs::write(tools.join("src/mine.rs"), "").unwrap();
        fs::write(tools.join("src/lib.rs"), "// mine").unwrap();
        let expected = [
            "missing: generated/t-tools/catalog.json",
            "edited by hand: generated/t-tools/src/lib.rs",
            "orphan: generated/t-tools/src/mine.rs (not written by a run)",
        ];
        assert_eq!(found(root.path(), &server), expected);
    }

    #[test]
    fn settling_makes_it_right_and_leaves_orphans_alone() {
        let server = server();
        let root = written(&server);
        let tools = root.path().join("generated/t-tools");
        fs::remove_file(tools.join("catalog.json")).unwrap();
        fs::write(tools.join("src/mine.rs"), "mine").unwrap();
        let generated = [server];
        settle(root.path(), &generated, &compare(root.path(), &generated[0].files).unwrap()).unwrap();
        let left = ["orphan: generated/t-tools/src/mine.rs (not written by a run)"];
        assert_eq!(found(root.path(), &generated[0]), left);
        assert_eq!(fs::read_to_string(tools.join("src/mine.rs")).unwrap(), "mine");
    }

    #[test]
    fn an_interrupted_run_leaves_nothing_that_passes_for_a_hand_edit() {
        let (first, second, third) = (server(), server_called("Second"), server_called("Third"));
        let root = written(&first);
        // A folder in the way of a file ends the run there: what sorts before it is new, the rest is old.
        let blocked = root.path().join("generated/t-tools/catalog.json");
        fs::remove_file(&blocked).unwrap();
        fs::create_dir(&blocked).unwrap();
        let generated = [second];
        let ended = settle(root.path(), &generated, &compare(root.path(), &generated[0].files).unwrap());
        assert!(ended.is_err());
        fs::remove_dir(&blocked).unwrap();
        let left = compare(root.path(), &third.files).unwrap();
        assert!(!left.iter().any(|difference| matches!(difference, Difference::Edited(_))), "{left:?}");
    }

    #[test]
    fn temporary_files_of_an_interrupted_run_are_removed() {
        let server = server();
        let root = written(&server);
        let temporary = root.path().join("generated/t-tools/src/.lib.rs.123.tmp");
        fs::write(&temporary, "half").unwrap();
        let generated = [server];
        settle(root.path(), &generated, &compare(root.path(), &generated[0].files).unwrap()).unwrap();
        assert!(!temporary.exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let server = server();
        let root = written(&server);
        std::os::unix::fs::symlink(".", root.path().join("generated/t-tools/loop")).unwrap();
        let expected = ["orphan: generated/t-tools/loop (not written by a run)"];
        assert_eq!(found(root.path(), &server), expected);
    }

    fn of(wanted: Option<&str>, is: Option<&str>, recorded: Option<&str>) -> Option<Difference> {
        let hashes = recorded.map(|text| BTreeSet::from([sha256_hex(text.as_bytes())]));
        difference("g/a", wanted.map(str::as_bytes), is.map(str::as_bytes), hashes.as_ref())
    }

    #[test]
    fn a_file_as_it_should_be_is_no_difference() {
        assert_eq!(of(Some("new"), Some("new"), Some("old")), None);
    }

    #[test]
    fn a_file_that_is_not_there_is_missing() {
        assert_eq!(of(Some("new"), None, None), Some(Difference::Missing("g/a".into())));
    }

    #[test]
    fn a_file_that_an_earlier_run_wrote_is_stale() {
        assert_eq!(of(Some("new"), Some("old"), Some("old")), Some(Difference::Stale("g/a".into())));
    }

    #[test]
    fn a_file_that_differs_from_its_manifest_was_edited() {
        assert_eq!(of(Some("new"), Some("mine"), Some("old")), Some(Difference::Edited("g/a".into())));
    }

    #[test]
    fn a_file_of_an_earlier_run_that_is_no_longer_made_is_left_over() {
        assert_eq!(of(None, Some("old"), Some("old")), Some(Difference::Leftover("g/a".into())));
    }

    #[test]
    fn a_file_that_no_run_wrote_is_an_orphan() {
        assert_eq!(of(None, Some("mine"), None), Some(Difference::Orphan("g/a".into())));
    }
}
