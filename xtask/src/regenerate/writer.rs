//! The version of Toolwright that wrote what is in `generated/`.

use std::cmp::Ordering;
use std::path::Path;

use anyhow::{Result, bail};
use toml_edit::DocumentMut;

use crate::{invoked, version, workspace};

/// What to tell people where another version wrote a server's package. That of a newer program is an error unless it is to
/// be overwritten: what this one does not know would be gone.
pub(crate) fn note(root: &Path, folder: &str, force: bool) -> Result<Option<String>> {
    let server = folder.rsplit('/').next().unwrap_or(folder);
    let package = format!("generated/{server}-tools");
    let Some(wrote) = recorded(&root.join(&package).join("Cargo.toml")) else { return Ok(None) };
    let (program, ours) = (invoked::name(), version::OURS);
    match version::compared(&wrote) {
        Some(Ordering::Greater) if !force => bail!(
            "{package} was written by toolwright {wrote}, which is newer than this one ({ours}): install that version \
             (`cargo install --locked toolwright@{wrote}`), or write it back with `{program} regenerate --force`"
        ),
        None | Some(Ordering::Equal) => Ok(None),
        Some(_) => Ok(Some(format!(
            "{package} was written by toolwright {wrote}, this is {ours}; `{program} diff HEAD:{server} {server}` shows \
             what that changes for callers"
        ))),
    }
}

/// `package.metadata.toolwright.generator`. What cannot be read was written by nobody that says so.
fn recorded(manifest: &Path) -> Option<String> {
    let text = String::from_utf8(workspace::read_file(manifest).ok()?).ok()?;
    let manifest: DocumentMut = text.parse().ok()?;
    let package = manifest.get("package")?.get("metadata")?.get("toolwright")?;
    Some(package.get("generator")?.as_str()?.to_owned())
}
