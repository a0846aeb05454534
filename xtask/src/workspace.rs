//! Where the specs are, and how files come in and go out.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use toolwright_generator::diagnostic::{Severity, Sink};
use toolwright_generator::load::{Files, did_you_mean};

use crate::invoked;

/// Files above this size are not read: no API document comes near it.
pub(crate) const MAX_FILE_BYTES: u64 = 64 << 20;

/// The folder that holds `specs/`: the nearest one from the current folder upwards.
pub(crate) fn root() -> Result<PathBuf> {
    let start = std::env::current_dir().context("the current folder cannot be read")?;
    let found = start.ancestors().find(|folder| folder.join("specs").is_dir());
    match found {
        Some(folder) => Ok(folder.to_owned()),
        None => bail!(
            "there is no folder `specs` here or above; run this inside a Toolwright project, or make one with `{} init`",
            invoked::name()
        ),
    }
}

/// The folder of a server, such as `specs/localai`.
pub(crate) fn server_folder(root: &Path, server: &str) -> Result<String> {
    let known = server_folders(root)?;
    if known.iter().any(|name| name == server) {
        return Ok(format!("specs/{server}"));
    }
    let hint = did_you_mean(server, known.iter().map(String::as_str))
        .unwrap_or_else(|| format!("there are: {}", known.join(", ")));
    bail!("there is no server `{server}` below specs/; {hint}")
}

/// Names of the folders below specs/, sorted.
pub(crate) fn server_folders(root: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join("specs")).context("specs/ cannot be read")? {
        let entry = entry?;
        if entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Reads a server's folder (`specs/localai`) into memory, by paths from the root: every file in YAML or JSON, and whatever
/// stands beside prompts and resources, which may be of any kind.
pub(crate) fn read_folder(root: &Path, folder: &str) -> Result<Files> {
    let mut files = Files::new();
    let server = root.join(folder);
    let with_others = ["prompts", "resources"].map(|name| server.join(name));
    collect(root, &server, &with_others, &mut files)?;
    Ok(files)
}

fn collect(root: &Path, folder: &Path, with_others: &[PathBuf], files: &mut Files) -> Result<()> {
    let takes_all = with_others.iter().any(|other| folder.starts_with(other));
    let entries = fs::read_dir(folder).with_context(|| format!("{} cannot be read", shown(root, folder)))?;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        // Links to folders are not followed: they may lead in circles.
        if entry.file_type()?.is_dir() {
            collect(root, &path, with_others, files)?;
        } else if takes_all || matches!(path.extension().and_then(|e| e.to_str()), Some("yaml" | "yml" | "json")) {
            files.insert(shown(root, &path), read_file(&path)?);
        }
    }
    Ok(())
}

/// Reads one regular file of bounded size: a pipe may never end, and a device has no end at all.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>> {
    // Opening a pipe waits for its other end, so that this is looked at first.
    let found = fs::metadata(path).with_context(|| format!("{} cannot be read", path.display()))?;
    check_regular(path, &found)?;
    let file = fs::File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    // What was opened may be another file by now.
    let opened = file.metadata().with_context(|| format!("{} cannot be read", path.display()))?;
    check_regular(path, &opened)?;
    read_bounded(path, file)
}

/// Reads what a person named on the command line, which may be a pipe; of bounded size all the same.
pub(crate) fn read_named(path: &Path) -> Result<Vec<u8>> {
    let file = fs::File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let found = file.metadata().with_context(|| format!("{} cannot be read", path.display()))?;
    check_no_folder(path, &found)?;
    read_bounded(path, file)
}

fn check_no_folder(path: &Path, found: &fs::Metadata) -> Result<()> {
    if found.is_dir() {
        bail!("{} is a folder; name the document in it", path.display());
    }
    Ok(())
}

fn check_regular(path: &Path, found: &fs::Metadata) -> Result<()> {
    check_no_folder(path, found)?;
    if !found.is_file() {
        bail!("{} is no regular file", path.display());
    }
    if found.len() > MAX_FILE_BYTES {
        bail!("{} has {} bytes, more than {MAX_FILE_BYTES}", path.display(), found.len());
    }
    Ok(())
}

/// A file may grow while it is read, so that its size does not decide alone.
fn read_bounded(path: &Path, file: fs::File) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("{} cannot be read", path.display()))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        bail!("{} has more than {MAX_FILE_BYTES} bytes", path.display());
    }
    Ok(bytes)
}

/// A path relative to the root, with `/` between its parts.
fn shown(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// What the names of half-written files end with.
const TEMPORARY: &str = ".tmp";

/// True for the name that [`write_file`] gives a file until it is whole. One that is still there was left by a run that
/// was interrupted.
pub(crate) fn is_temporary(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with('.') && name.ends_with(TEMPORARY)
}

/// Writes a file so that readers see the old or the new content, never a part: a temporary file beside
/// it is renamed over it.
pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    replace(path, content, true)
}

/// The same for files that a run makes again at any time: hundreds of them, and not worth waiting for the disk.
pub(crate) fn write_generated(path: &Path, content: &[u8]) -> Result<()> {
    replace(path, content, false)
}

fn replace(path: &Path, content: &[u8], is_precious: bool) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}{TEMPORARY}", std::process::id()));
    let written = write_new(&temporary, content, is_precious).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The temporary file is of no use any more; the error that matters is the first one.
        let _ = fs::remove_file(&temporary);
    }
    written.with_context(|| format!("{} cannot be written", path.display()))
}

fn write_new(path: &Path, content: &[u8], is_precious: bool) -> std::io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(content)?;
    if is_precious { file.sync_all() } else { Ok(()) }
}

/// A number with its noun, such as `1 error` or `2 errors`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Prints findings to stderr, and says with which code to exit.
pub(crate) fn report(sink: &Sink) -> ExitCode {
    eprint!("{sink}");
    let (errors, warnings) = (sink.count(Severity::Error), sink.count(Severity::Warning));
    if errors + warnings > 0 {
        eprintln!("{}, {}", counted(errors, "error"), counted(warnings, "warning"));
    }
    if sink.has_errors() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}
