//! The programs that a profile grants, with everything that they need to start, and nothing else.

use super::elf::{self, Linkage};
use crate::layout::{Layout, overlap};
use crate::{Profile, ProfileError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file or folder of the machine that is visible in the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Grant {
    /// Where it is, without links.
    pub(crate) source: PathBuf,
    /// Where it is seen. Its folder is named without links.
    pub(crate) target: PathBuf,
    /// Whether programs in it may be run.
    pub(crate) runs: bool,
}

/// Everything that the granted tools need.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Programs {
    pub(crate) files: Vec<Grant>,
    /// Links among folders, such as `/bin` to `/usr/bin`, so that paths mean what they mean outside.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// The search path of the shell.
    pub(crate) path: String,
    /// The names of the tools that were found, sorted.
    pub(crate) names: Vec<String>,
}

/// Files and folders that a tool needs besides its libraries, where they exist.
const EXTRAS: [(&str, &[&str]); 2] = [
    (
        "git",
        &["/usr/lib/git-core", "/usr/libexec/git-core", "/usr/local/libexec/git-core", "/usr/share/git-core/templates"],
    ),
    ("file", &["/usr/share/misc/magic.mgc", "/usr/lib/file/magic.mgc", "/usr/share/file/misc/magic.mgc"]),
];
/// What a command with a network needs to find hosts and trust them.
const NETWORK_FILES: [&str; 9] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/services",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
];
/// The loader's index of libraries.
const LOADER_FILES: [&str; 2] = ["/etc/ld.so.cache", "/etc/ld-musl-x86_64.path"];
/// Loaded by the C library by name when a thread ends.
const LOADED_LATER: &str = "libgcc_s.so.1";
const SHELL: &str = "/bin/sh";
const FOLDERS_OF_LIBRARIES: [&str; 6] =
    ["/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib", "/usr/local/lib64"];

/// Finds the profile's tools and what they need.
pub(crate) fn find(profile: &Profile, layout: &Layout) -> Result<Programs, ProfileError> {
    let tools = tools(profile)?;
    let mut search = Search::new();
    search.add_program(Path::new(SHELL))?;
    for path in tools.values() {
        search.add_program(path)?;
    }
    check_scripts(&tools)?;
    for (tool, paths) in EXTRAS {
        for path in paths.iter().map(Path::new).filter(|path| tools.contains_key(tool) && path.exists()) {
            search.add_extra(path, profile.network)?;
        }
    }
    for path in &profile.libraries {
        search.add_file(path, true)?;
    }
    let data = LOADER_FILES.iter().chain(NETWORK_FILES.iter().filter(|_| profile.network));
    for path in data.map(Path::new).filter(|path| path.exists()) {
        search.add_file(path, false)?;
    }
    let programs = search.finish(tools);
    check_overlap(&programs, layout)?;
    Ok(programs)
}

/// The tools' paths by name.
fn tools(profile: &Profile) -> Result<BTreeMap<String, PathBuf>, ProfileError> {
    let mut found = BTreeMap::new();
    let required = profile.tools.iter().map(|name| (name, true));
    for (name, required) in required.chain(profile.optional_tools.iter().map(|name| (name, false))) {
        if matches!(name.as_str(), "" | "." | "..") || name.contains(['/', '\0']) {
            return Err(ProfileError::ToolName(name.clone()));
        }
        if !required && profile.tools.contains(name) {
            return Err(ProfileError::ToolTwice(name.clone()));
        }
        let path = profile.tool_directories.iter().map(|folder| folder.join(name)).find(|path| is_program(path));
        match path {
            Some(path) => {
                found.insert(name.clone(), path);
            }
            None if required => {
                let directories: Vec<_> =
                    profile.tool_directories.iter().map(|path| path.display().to_string()).collect();
                return Err(ProfileError::ToolMissing { name: name.clone(), directories: directories.join(", ") });
            }
            None => {}
        }
    }
    Ok(found)
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Checks that scripts run by the shell or by a tool that is granted for itself: an interpreter that is there can be run
/// with any script.
fn check_scripts(tools: &BTreeMap<String, PathBuf>) -> Result<(), ProfileError> {
    let real: BTreeSet<PathBuf> = tools
        .values()
        .map(PathBuf::as_path)
        .chain([Path::new(SHELL)])
        .filter_map(|path| fs::canonicalize(path).ok())
        .collect();
    for (name, path) in tools {
        let Some(interpreter) = interpreter(path)? else { continue };
        let is_granted = |path: &Path| fs::canonicalize(path).is_ok_and(|path| real.contains(&path));
        let mut words = interpreter.split_whitespace();
        let program = Path::new(words.next().unwrap_or_default());
        let through_env = program.file_name().is_some_and(|name| name == "env");
        if !is_granted(program) || through_env && words.next().is_none_or(|name| !tools.contains_key(name)) {
            return Err(ProfileError::Interpreter { name: name.clone(), interpreter });
        }
    }
    Ok(())
}

/// The first line of a script after `#!`.
fn interpreter(path: &Path) -> Result<Option<String>, ProfileError> {
    let bytes = read(path)?;
    let line = bytes.strip_prefix(b"#!").map(|rest| rest.split(|byte| *byte == b'\n').next().unwrap_or_default());
    Ok(line.map(|line| String::from_utf8_lossy(line).trim().to_owned()))
}

fn read(path: &Path) -> Result<Vec<u8>, ProfileError> {
    fs::read(path).map_err(|error| ProfileError::Program { path: path.to_owned(), reason: error.to_string() })
}

/// Programs must lie outside the roots: neither changed by a command nor hidden by a root.
fn check_overlap(programs: &Programs, layout: &Layout) -> Result<(), ProfileError> {
    for grant in &programs.files {
        for code in [&grant.source, &grant.target] {
            if let Some((root, _)) = layout.roots().find(|(root, _)| overlap(root, code)) {
                return Err(ProfileError::CodeInRoot { code: code.clone(), root: root.to_owned() });
            }
        }
    }
    Ok(())
}

/// Collects files, and the libraries that they need.
struct Search {
    files: BTreeMap<PathBuf, Grant>,
    links: BTreeMap<PathBuf, PathBuf>,
    folders: Vec<PathBuf>,
    examined: BTreeSet<PathBuf>,
}

impl Search {
    fn new() -> Self {
        let mut folders = configured_folders(Path::new("/etc/ld.so.conf"), 0);
        folders.extend(FOLDERS_OF_LIBRARIES.iter().map(PathBuf::from));
        Self { files: BTreeMap::new(), links: BTreeMap::new(), folders, examined: BTreeSet::new() }
    }

    /// A program by its path, with all that it is linked with. For a script that is its interpreter.
    fn add_program(&mut self, path: &Path) -> Result<(), ProfileError> {
        self.add_file(path, true)?;
        match interpreter(path)? {
            Some(line) => {
                let program = line.split_whitespace().next().unwrap_or_default().to_owned();
                self.add_file(Path::new(&program), true)?;
                self.add_linked(Path::new(&program))
            }
            None => self.add_linked(path),
        }
    }

    /// What a granted tool brings along. Its own libraries are only needed for what runs over a network.
    fn add_extra(&mut self, path: &Path, with_libraries: bool) -> Result<(), ProfileError> {
        self.add_file(path, true)?;
        let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        for entry in entries.filter(|_| with_libraries) {
            if entry.path().is_file() {
                self.add_linked(&entry.path())?;
            }
        }
        Ok(())
    }

    /// One file or folder, and the links on the way to it.
    fn add_file(&mut self, path: &Path, runs: bool) -> Result<PathBuf, ProfileError> {
        let problem = |reason: String| ProfileError::Program { path: path.to_owned(), reason };
        let source = fs::canonicalize(path).map_err(|error| problem(error.to_string()))?;
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(problem("it must be an absolute path of a file or folder".to_owned()));
        };
        let target = self.add_links(folder).map_err(|error| problem(error.to_string()))?.join(name);
        if source.to_str().is_none() || target.to_str().is_none() {
            return Err(problem("its path is not UTF-8".to_owned()));
        }
        let grant = self.files.entry(target.clone()).or_insert_with(|| Grant { source: source.clone(), target, runs });
        grant.runs |= runs;
        Ok(source)
    }

    /// Records the links on the way to a folder; its path without them.
    fn add_links(&mut self, folder: &Path) -> std::io::Result<PathBuf> {
        let mut here = PathBuf::from("/");
        for part in folder.components().skip(1) {
            let next = here.join(part);
            if fs::symlink_metadata(&next)?.is_symlink() {
                here = fs::canonicalize(&next)?;
                self.links.insert(next, here.clone());
            } else {
                here = next;
            }
        }
        Ok(here)
    }

    /// The loader and the libraries of a program, and those that they need.
    fn add_linked(&mut self, program: &Path) -> Result<(), ProfileError> {
        let mut waiting = VecDeque::from([program.to_owned()]);
        while let Some(path) = waiting.pop_front() {
            let Some(linkage) = self.examine(&path)? else { continue };
            if let Some(loader) = &linkage.loader {
                self.add_file(Path::new(loader), true)?;
                waiting.extend(self.library(LOADED_LATER, &linkage, &path));
            }
            for name in &linkage.needed {
                let library = self.library(name, &linkage, &path).ok_or_else(|| ProfileError::Program {
                    path: path.clone(),
                    reason: format!("the library {name}, which it needs, is not found"),
                })?;
                waiting.push_back(library);
            }
            if path != program {
                self.add_file(&path, true)?;
            }
        }
        Ok(())
    }

    /// The linkage of a file that was not examined before.
    fn examine(&mut self, path: &Path) -> Result<Option<Linkage>, ProfileError> {
        if !self.examined.insert(path.to_owned()) {
            return Ok(None);
        }
        let bytes = read(path)?;
        if !elf::is_elf(&bytes) {
            return Ok(None);
        }
        let problem =
            |error: ::elf::ParseError| ProfileError::Program { path: path.to_owned(), reason: error.to_string() };
        elf::linkage(&bytes).map(Some).map_err(problem)
    }

    /// Where a library is that `of` needs, in the order of the dynamic loader.
    fn library(&self, name: &str, linkage: &Linkage, of: &Path) -> Option<PathBuf> {
        if name.contains('/') {
            return Some(PathBuf::from(name));
        }
        let real = fs::canonicalize(of).unwrap_or_else(|_| of.to_owned());
        let origin = real.parent().and_then(Path::to_str).unwrap_or("/");
        let own = linkage
            .search
            .iter()
            .map(|folder| PathBuf::from(folder.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)));
        own.chain(self.folders.iter().cloned())
            .map(|folder| folder.join(name))
            .find(|path| linkage.kind.is_some() && kind_of(path) == linkage.kind)
    }

    fn finish(self, tools: BTreeMap<String, PathBuf>) -> Programs {
        let mut folders: Vec<String> = Vec::new();
        let used = tools.values().filter_map(|path| path.parent()?.to_str());
        for folder in used.chain(["/usr/bin", "/bin", "/usr/sbin", "/sbin"]) {
            if !folders.iter().any(|known| known == folder) {
                folders.push(folder.to_owned());
            }
        }
        let granted: Vec<PathBuf> =
            self.files.values().filter(|grant| grant.source.is_dir()).map(|grant| grant.target.clone()).collect();
        let inside = |path: &Path| path.ancestors().skip(1).any(|outer| granted.iter().any(|folder| folder == outer));
        Programs {
            files: self.files.into_values().filter(|grant| !inside(&grant.target)).collect(),
            links: self.links.into_iter().filter(|(path, _)| !inside(path)).collect(),
            path: folders.join(":"),
            names: tools.into_keys().collect(),
        }
    }
}

fn kind_of(path: &Path) -> Option<elf::Kind> {
    let mut bytes = [0; elf::KIND_BYTES];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut bytes)).ok()?;
    elf::kind(&bytes)
}

/// The folders that the loader's settings name. Files may include others, by patterns for their names.
fn configured_folders(file: &Path, depth: usize) -> Vec<PathBuf> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut folders = Vec::new();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        match line.strip_prefix("include ") {
            Some(pattern) if depth < 4 => {
                let folder = Path::new(pattern.trim()).parent().unwrap_or(Path::new("/"));
                let mut files: Vec<_> =
                    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
                files.sort();
                let included =
                    files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "conf"));
                folders.extend(included.flat_map(|file| configured_folders(file, depth + 1)));
            }
            Some(_) => {}
            None if line.starts_with('/') => folders.push(PathBuf::from(line)),
            None => {}
        }
    }
    folders
}
