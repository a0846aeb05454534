//! The profile's paths on this machine: what is mounted where, what is masked, and what must not be renamed.

use crate::{Access, Profile, ProfileError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that the sandbox makes itself, so that no root may contain them or lie below them.
const RESERVED: [&str; 6] = ["/proc", "/sys", "/dev", "/scratch", "/.denied", "/var/empty"];

/// What happens at a path of the private root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Place {
    /// The folder itself is put there.
    Root(Access),
    /// The folder stays what it is, but becomes a mount point, which nobody can rename: it leads to something guarded.
    Pin,
    /// An unreadable folder takes its place.
    DeniedFolder,
    /// An unreadable file takes its place.
    DeniedFile,
}

/// Places by path: what contains comes before what is contained.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) places: BTreeMap<PathBuf, Place>,
    /// The first root: the working folder.
    pub(crate) working_folder: PathBuf,
}

impl Layout {
    /// Reads the profile's paths and checks them against each other and against the file system.
    pub(crate) fn read(profile: &Profile) -> Result<Self, ProfileError> {
        let (roots, working_folder) = roots(profile)?;
        let mut places: BTreeMap<PathBuf, Place> =
            roots.iter().map(|(path, access)| (path.clone(), Place::Root(*access))).collect();
        for path in denied(profile, &roots)? {
            let place = if path.is_dir() { Place::DeniedFolder } else { Place::DeniedFile };
            places.insert(path, place);
        }
        let layout = Self { places: with_pins(places), working_folder };
        layout.check()?;
        Ok(layout)
    }

    /// The roots, outer ones before those inside them.
    pub(crate) fn roots(&self) -> impl Iterator<Item = (&Path, Access)> {
        self.places.iter().filter_map(|(path, place)| match place {
            Place::Root(access) => Some((path.as_path(), *access)),
            _ => None,
        })
    }

    /// Whether a path is masked, or a read-only root lies inside a read-write one.
    #[cfg(target_os = "linux")]
    pub(crate) fn guards_something(&self) -> bool {
        self.guarded().next().is_some()
    }

    /// Checks that nothing guarded can be reached by another hard link.
    pub(crate) fn check(&self) -> Result<(), ProfileError> {
        self.guarded().try_for_each(single_links)
    }

    fn guarded(&self) -> impl Iterator<Item = &Path> {
        self.places.iter().filter_map(|(path, place)| {
            let guarded = match place {
                Place::DeniedFolder | Place::DeniedFile => true,
                Place::Root(Access::ReadOnly) => path.ancestors().skip(1).any(|outer| self.is_writable_root(outer)),
                Place::Root(Access::ReadWrite) | Place::Pin => false,
            };
            guarded.then_some(path.as_path())
        })
    }

    fn is_writable_root(&self, path: &Path) -> bool {
        self.places.get(path) == Some(&Place::Root(Access::ReadWrite))
    }
}

/// The roots by their real paths, without those that an outer root of the same access contains; and the first one.
fn roots(profile: &Profile) -> Result<(BTreeMap<PathBuf, Access>, PathBuf), ProfileError> {
    let mut all = BTreeMap::new();
    let mut first = None;
    for root in &profile.roots {
        let path = real_path("roots", &root.path)?;
        if !path.is_dir() {
            return Err(ProfileError::NotAFolder(path));
        }
        if let Some(reserved) = RESERVED.iter().map(Path::new).find(|reserved| overlap(&path, reserved)) {
            return Err(ProfileError::Reserved { root: path, reserved: reserved.to_owned() });
        }
        first.get_or_insert_with(|| path.clone());
        if all.insert(path.clone(), root.access).is_some_and(|before| before != root.access) {
            return Err(ProfileError::Conflict(path));
        }
    }
    let first = first.ok_or(ProfileError::NoRoot)?;
    let mut kept: BTreeMap<PathBuf, Access> = BTreeMap::new();
    for (path, access) in all {
        let outer = path.ancestors().skip(1).find_map(|outer| kept.get(outer).map(|access| (outer, *access)));
        match outer {
            Some((_, outer)) if outer == access => {}
            Some((outer, Access::ReadOnly)) => {
                return Err(ProfileError::WritableInside { outer: outer.to_owned(), inner: path.clone() });
            }
            _ => {
                kept.insert(path, access);
            }
        }
    }
    Ok((kept, first))
}

/// The denied paths: inside a root, without links, and around no root. What lies inside another denied path is dropped.
fn denied(profile: &Profile, roots: &BTreeMap<PathBuf, Access>) -> Result<BTreeSet<PathBuf>, ProfileError> {
    let mut all = BTreeSet::new();
    for given in &profile.denied_paths {
        let real = real_path("denied_paths", given)?;
        // The parent may be named through links outside the root; from the root on there must be none.
        let Some(root) = given
            .ancestors()
            .skip(1)
            .find(|outer| fs::canonicalize(outer).is_ok_and(|outer| roots.keys().any(|root| *root == outer)))
        else {
            return Err(if real.ancestors().skip(1).any(|outer| roots.contains_key(outer)) {
                ProfileError::DeniedLink(given.clone())
            } else {
                ProfileError::DeniedOutside(given.clone())
            });
        };
        let below = given.strip_prefix(root).unwrap_or(given);
        let expected = fs::canonicalize(root).map(|root| root.join(below));
        if expected.ok().as_ref() != Some(&real) {
            return Err(ProfileError::DeniedLink(given.clone()));
        }
        if let Some(root) = roots.keys().find(|root| root.starts_with(&real)) {
            return Err(ProfileError::RootDenied { root: root.clone(), denied: real });
        }
        if !real.ancestors().skip(1).any(|outer| all.contains(outer)) {
            all.retain(|inner: &PathBuf| !inner.starts_with(&real));
            all.insert(real);
        }
    }
    Ok(all)
}

/// Adds a pin for every folder between a read-write root and what lies guarded inside it.
fn with_pins(mut places: BTreeMap<PathBuf, Place>) -> BTreeMap<PathBuf, Place> {
    let paths: Vec<PathBuf> = places.keys().cloned().collect();
    for path in paths {
        let outer = |folder: &Path| matches!(places.get(folder), Some(Place::Root(_)));
        let Some(root) = path.ancestors().skip(1).find(|folder| outer(folder)).map(Path::to_owned) else { continue };
        for folder in path.ancestors().skip(1).take_while(|folder| **folder != root) {
            places.entry(folder.to_owned()).or_insert(Place::Pin);
        }
    }
    places
}

fn real_path(field: &'static str, path: &Path) -> Result<PathBuf, ProfileError> {
    if !path.is_absolute() || path.to_str().is_none() {
        return Err(ProfileError::Path { field, path: path.to_owned() });
    }
    let real =
        fs::canonicalize(path).map_err(|source| ProfileError::Unusable { field, path: path.to_owned(), source })?;
    if real.to_str().is_none() {
        return Err(ProfileError::Path { field, path: real });
    }
    Ok(real)
}

/// Whether one of the two contains the other.
pub(crate) fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Checks that no file at or below `path` has a second hard link: masks and mounts guard paths, not files.
fn single_links(path: &Path) -> Result<(), ProfileError> {
    let unlistable = |path: &Path| {
        let path = path.to_owned();
        move |source| ProfileError::Unlistable { path, source }
    };
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = fs::symlink_metadata(&path).map_err(unlistable(&path))?;
        if metadata.is_dir() {
            for entry in fs::read_dir(&path).map_err(unlistable(&path))? {
                waiting.push(entry.map_err(unlistable(&path))?.path());
            }
        } else if has_other_links(&metadata) {
            return Err(ProfileError::HardLink(path));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn has_other_links(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink() > 1
}

#[cfg(not(unix))]
fn has_other_links(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::{Layout, Place};
    use crate::{Access, Profile, ProfileError, Root};
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};
    use tempfile::TempDir;

    /// A folder `a/b/c` with a file `a/file`.
    fn folder() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("a/b/c")).unwrap();
        fs::write(path.join("a/file"), "text").unwrap();
        (folder, path)
    }

    fn denying(root: Root, denied: impl AsRef<Path>) -> Profile {
        Profile { denied_paths: vec![denied.as_ref().to_owned()], ..Profile::new([root]) }
    }

    #[test]
    fn a_profile_needs_a_root() {
        assert!(matches!(Layout::read(&Profile::new([])), Err(ProfileError::NoRoot)));
    }

    #[test]
    fn a_root_must_be_an_existing_folder() {
        let (_keep, path) = folder();
        let missing = Layout::read(&Profile::new([Root::read_only(path.join("missing"))]));
        assert!(matches!(missing, Err(ProfileError::Unusable { field: "roots", .. })));
        let file = Layout::read(&Profile::new([Root::read_only(path.join("a/file"))]));
        assert!(matches!(file, Err(ProfileError::NotAFolder(_))));
        let relative = Layout::read(&Profile::new([Root::read_only("a")]));
        assert!(matches!(relative, Err(ProfileError::Path { .. })));
    }

    #[test]
    fn a_root_may_not_contain_what_the_sandbox_makes_itself() {
        let everything = Layout::read(&Profile::new([Root::read_only("/")]));
        assert!(matches!(everything, Err(ProfileError::Reserved { .. })));
        let processes = Layout::read(&Profile::new([Root::read_only("/proc/self")]));
        assert!(matches!(processes, Err(ProfileError::Reserved { .. })));
    }

    #[test]
    fn one_path_with_two_accesses_is_a_conflict() {
        let (_keep, path) = folder();
        let layout = Layout::read(&Profile::new([Root::read_only(&path), Root::read_write(&path)]));
        assert!(matches!(layout, Err(ProfileError::Conflict(_))));
    }

    #[test]
    fn a_root_inside_one_of_the_same_access_is_folded_and_the_first_stays_the_working_folder() {
        let (_keep, path) = folder();
        let layout = Layout::read(&Profile::new([Root::read_only(path.join("a")), Root::read_only(&path)])).unwrap();
        assert_eq!(layout.roots().collect::<Vec<_>>(), [(path.as_path(), Access::ReadOnly)]);
        assert_eq!(layout.working_folder, path.join("a"));
    }

    #[test]
    fn a_read_write_root_inside_a_read_only_one_is_an_error() {
        let (_keep, path) = folder();
        let layout = Layout::read(&Profile::new([Root::read_only(&path), Root::read_write(path.join("a"))]));
        assert!(matches!(layout, Err(ProfileError::WritableInside { .. })));
    }

    #[test]
    fn folders_on_the_way_to_something_guarded_are_pinned() {
        let (_keep, path) = folder();
        let layout = Layout::read(&denying(Root::read_write(&path), path.join("a/b/c"))).unwrap();
        let places: Vec<_> = layout.places.into_iter().collect();
        assert_eq!(
            places,
            [
                (path.clone(), Place::Root(Access::ReadWrite)),
                (path.join("a"), Place::Pin),
                (path.join("a/b"), Place::Pin),
                (path.join("a/b/c"), Place::DeniedFolder),
            ]
        );
    }

    #[test]
    fn a_denied_path_lies_inside_a_root() {
        let (_keep, path) = folder();
        for denied in [path.join("a/file"), path.join("a/b")] {
            let layout = Layout::read(&denying(Root::read_only(path.join("a/b")), &denied));
            assert!(matches!(layout, Err(ProfileError::DeniedOutside(_))), "{denied:?}: {layout:?}");
        }
    }

    #[test]
    fn a_denied_path_passes_through_no_link() {
        let (_keep, path) = folder();
        symlink(path.join("a"), path.join("link")).unwrap();
        for denied in ["link", "link/file"] {
            let layout = Layout::read(&denying(Root::read_only(&path), path.join(denied)));
            assert!(matches!(layout, Err(ProfileError::DeniedLink(_))), "{denied}: {layout:?}");
        }
    }

    #[test]
    fn a_denied_path_exists() {
        let (_keep, path) = folder();
        let layout = Layout::read(&denying(Root::read_only(&path), path.join("missing")));
        assert!(matches!(layout, Err(ProfileError::Unusable { field: "denied_paths", .. })));
    }

    #[test]
    fn no_root_lies_inside_a_denied_path() {
        let (_keep, path) = folder();
        let profile = Profile {
            denied_paths: vec![path.join("a")],
            ..Profile::new([Root::read_write(&path), Root::read_only(path.join("a/b"))])
        };
        assert!(matches!(Layout::read(&profile), Err(ProfileError::RootDenied { .. })));
    }

    #[test]
    fn a_guarded_file_has_no_other_hard_link() {
        let (_keep, path) = folder();
        fs::hard_link(path.join("a/file"), path.join("other")).unwrap();
        let denied = Layout::read(&denying(Root::read_only(&path), path.join("a")));
        assert!(matches!(denied, Err(ProfileError::HardLink(_))));
        let protected = Layout::read(&Profile::new([Root::read_write(&path), Root::read_only(path.join("a"))]));
        assert!(matches!(protected, Err(ProfileError::HardLink(_))));
    }
}
