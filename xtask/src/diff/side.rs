//! One of the two versions that are compared.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use toolwright_generator::diagnostic::Sink;
use toolwright_generator::load::{Files, Prose, vendor};
use toolwright_generator::surface::Surface;
use toolwright_generator::{draft, generate};

use super::git;
use crate::import::Fetched;
use crate::workspace;

/// Where a version comes from.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// A server below specs/, generated in memory.
    Server(String),
    /// A folder with a catalog.
    Package(PathBuf),
    /// A folder with a catalog, at a git revision.
    Revision { revision: String, folder: String },
    /// An API document.
    Document(String),
}

impl Side {
    pub(super) fn parse(root: &Path, text: &str) -> Result<Self> {
        if text.starts_with("http://") || text.starts_with("https://") {
            return Ok(Self::Document(text.to_owned()));
        }
        if is_server(root, text) {
            return Ok(Self::Server(text.to_owned()));
        }
        let path = Path::new(text);
        if path.join("catalog.json").is_file() {
            return Ok(Self::Package(path.to_owned()));
        }
        if path.is_file() {
            let is_catalog = path.file_name().is_some_and(|name| name == "catalog.json");
            return Ok(match is_catalog {
                true => Self::Package(path.parent().unwrap_or(Path::new(".")).to_owned()),
                false => Self::Document(text.to_owned()),
            });
        }
        match text.split_once(':') {
            Some((revision, folder)) if !revision.is_empty() && !folder.is_empty() => {
                let (revision, folder) = (revision.to_owned(), package_folder(folder));
                Ok(Self::Revision { revision, folder })
            }
            _ => bail!("`{text}` is no server below specs/, no catalog, no document and no REVISION:SERVER"),
        }
    }

    /// The server whose settings a document on the other side is read with.
    pub(super) fn server(&self) -> Option<String> {
        match self {
            Self::Server(name) => Some(name.clone()),
            Self::Revision { folder, .. } => {
                let name = folder.rsplit('/').next().unwrap_or(folder);
                name.strip_suffix("-tools").map(str::to_owned)
            }
            Self::Package(_) | Self::Document(_) => None,
        }
    }

    /// The tools as callers see them; `None` where the sink says why not.
    pub(super) fn surface(&self, root: &Path, beside: Option<String>, sink: &mut Sink) -> Result<Option<Surface>> {
        match self {
            Self::Server(name) => {
                let folder = format!("specs/{name}");
                Ok(of_spec(&workspace::read_folder(root, &folder)?, &folder, sink))
            }
            Self::Package(folder) => {
                let folder = folder.canonicalize()?;
                let name = folder.file_name().context("the catalog is in no folder")?.to_string_lossy().into_owned();
                let parent = folder.parent().unwrap_or(&folder);
                Ok(Surface::read(&workspace::read_folder(parent, &name)?, &name, sink))
            }
            Self::Revision { revision, folder } => {
                Ok(Surface::read(&git::package(root, revision, folder)?, folder, sink))
            }
            Self::Document(document) => of_document(root, document, beside, sink),
        }
    }
}

fn is_server(root: &Path, name: &str) -> bool {
    !name.contains(['/', '\\', ':']) && root.join("specs").join(name).join("server.yaml").is_file()
}

/// `localai`, `generated/localai-tools` and `generated/localai-tools/catalog.json` name the same package.
fn package_folder(text: &str) -> String {
    let folder = text.strip_suffix("catalog.json").unwrap_or(text).trim_end_matches('/');
    if folder.contains('/') { folder.to_owned() } else { format!("generated/{folder}-tools") }
}

fn of_spec(files: &Files, folder: &str, sink: &mut Sink) -> Option<Surface> {
    let generated = generate(files, folder, sink)?;
    Surface::of_generated(&generated.files, sink)
}

/// A document in place of the server's own, or by itself with settings chosen by rule.
fn of_document(root: &Path, document: &str, beside: Option<String>, sink: &mut Sink) -> Result<Option<Surface>> {
    let fetched = Fetched::all(document, false)?;
    let Some(vendored) = vendor(&fetched.label, &fetched.files, Prose::Keep, sink) else { return Ok(None) };
    if let Some(server) = beside.filter(|name| is_server(root, name)) {
        let folder = format!("specs/{server}");
        let mut files = workspace::read_folder(root, &folder)?;
        let own = toolwright_generator::load::load_server(&files, &folder, &mut Sink::new());
        let own = own.with_context(|| format!("{folder} cannot be read"))?.config.document;
        files.insert(format!("{folder}/{own}"), vendored.text);
        return Ok(of_spec(&files, &folder, sink));
    }
    let (folder, file) = ("specs/document", "openapi.yaml");
    let mut files = Files::new();
    files.insert(format!("{folder}/{file}"), vendored.text);
    let Some(draft) = draft(&files, folder, file, Prose::Keep, sink) else { return Ok(None) };
    files.insert(format!("{folder}/server.yaml"), draft.text);
    Ok(of_spec(&files, folder, sink))
}

#[cfg(test)]
mod tests {
    use super::package_folder;

    #[test]
    fn a_package_has_three_names() {
        for text in ["t", "generated/t-tools", "generated/t-tools/catalog.json"] {
            assert_eq!(package_folder(text), "generated/t-tools");
        }
    }
}
