//! `toolwright import`: copies an API document into a server's folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde::Serialize;
use toolwright_generator::diagnostic::Sink;
use toolwright_generator::load::{Dialect, Files, Prose, is_remote, is_server_name, referenced_files, vendor};
use toolwright_generator::look_over;
use toolwright_generator::source::sha256_hex;

use crate::workspace::{self, counted};

/// The whole download may take this long.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(60);

/// A document may be spread over this many files.
const MAX_FILES: usize = 1000;

/// Copy an API document into specs/NAME: checked, with its paths and definitions sorted.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The server: the name of a folder below specs/.
    name: String,
    /// The document: a file or an http(s) URL.
    document: String,
    /// Leave out descriptions, summaries, titles, examples, links to documentation and contacts.
    #[arg(long)]
    no_prose: bool,
    /// Also fetch what the document names at other http(s) addresses. It is brought into the copy, and pinned by its hash.
    #[arg(long)]
    remote_references: bool,
}

/// What `import` and `new` do with a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wishes {
    /// Without descriptions and examples.
    pub(crate) no_prose: bool,
    /// With what the document names at other addresses.
    pub(crate) remote_references: bool,
    /// Reports what generation would find, where none follows.
    pub(crate) looks_over: bool,
}

/// Where a vendored document came from.
#[derive(Debug, Serialize)]
struct Provenance<'a> {
    /// The file name or the URL.
    source: &'a str,
    /// SHA-256 of the bytes as they were published.
    sha256: &'a str,
    dialect: &'a str,
    /// `dropped` or `kept`.
    prose: &'a str,
    paths: usize,
    operations: usize,
    definitions: usize,
    /// SHA-256 of what was fetched from other addresses.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    remote: BTreeMap<&'a str, String>,
}

impl Import {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let root = workspace::root()?;
        let (no_prose, remote_references) = (self.no_prose, self.remote_references);
        let wishes = Wishes { no_prose, remote_references, looks_over: true };
        let (code, imported) = import(&root, &self.name, &self.document, wishes)?;
        if imported.is_some() && !root.join("specs").join(&self.name).join("server.yaml").is_file() {
            eprintln!("next, write specs/{}/server.yaml; docs/spec-format.md says what it holds", self.name);
        }
        Ok(code)
    }
}

/// What was vendored.
pub(crate) struct Imported {
    /// File name of the document in the server's folder.
    pub(crate) file: &'static str,
}

/// Vendors a document, and says with which code to exit. Nothing is written where the document has errors.
pub(crate) fn import(root: &Path, name: &str, document: &str, wishes: Wishes) -> Result<(ExitCode, Option<Imported>)> {
    check_name(name)?;
    let Wishes { no_prose, remote_references, looks_over } = wishes;
    let fetched = Fetched::all(document, remote_references)?;
    let prose = if no_prose { Prose::Drop } else { Prose::Keep };
    let mut sink = Sink::new();
    let vendored = vendor(&fetched.label, &fetched.files, prose, &mut sink);
    if looks_over {
        look_over(&fetched.label, &fetched.files, prose, &mut sink);
    }
    let lost = vendored.as_ref().filter(|_| !looks_over && !sink.has_errors());
    let lost = lost.map(|vendored| lost_in_copy(&sink, &vendored.text, prose));
    let code = workspace::report(lost.as_ref().unwrap_or(&sink));
    let Some(vendored) = vendored.filter(|_| !sink.has_errors()) else {
        return Ok((code, None));
    };
    let facts = &vendored.facts;
    let provenance = Provenance {
        source: &fetched.origin,
        sha256: &facts.sha256,
        dialect: facts.dialect.name(),
        prose: if no_prose { "dropped" } else { "kept" },
        paths: facts.paths,
        operations: facts.operations,
        definitions: facts.definitions,
        remote: fetched.remote_hashes(),
    };
    let header = "# Where the document in this folder came from. Written by `toolwright import`.\n";
    let record = format!("{header}{}", toml::to_string(&provenance)?);
    let folder = root.join("specs").join(name);
    let file = match facts.dialect {
        Dialect::Swagger2 => "swagger.yaml",
        _ => "openapi.yaml",
    };
    workspace::write_file(&folder.join(file), vendored.text.as_bytes())?;
    workspace::write_file(&folder.join("source.toml"), record.as_bytes())?;
    eprintln!(
        "specs/{name}/{file}: {}, {}, {} ({})",
        counted(facts.paths, "path"),
        counted(facts.operations, "operation"),
        counted(facts.definitions, "definition"),
        provenance.dialect
    );
    Ok((code, Some(Imported { file })))
}

/// Where generation follows, it reports what the copy still shows, with places in the file that stays. The rest is told
/// only by the document as it was published, such as keys that are there twice.
fn lost_in_copy(published: &Sink, copy: &str, prose: Prose) -> Sink {
    let mut files = Files::new();
    files.insert("copy.yaml", copy);
    let mut kept = Sink::new();
    let _ = vendor("copy.yaml", &files, prose, &mut kept);
    let mut lost = Sink::new();
    for finding in published.iter() {
        if !kept.iter().any(|kept| (kept.code, &kept.message) == (finding.code, &finding.message)) {
            lost.push(finding.clone());
        }
    }
    lost
}

/// The name becomes part of package names and paths.
fn check_name(name: &str) -> Result<()> {
    if !is_server_name(name) {
        bail!("`{name}` is no server name: small letters, digits and `-`, first a letter");
    }
    Ok(())
}

/// A document with the files that it refers to.
pub(crate) struct Fetched {
    /// What to record as the source: a file's name, never its folder, or a URL.
    pub(crate) origin: String,
    /// The document's name among the files.
    pub(crate) label: String,
    pub(crate) files: Files,
}

impl Fetched {
    /// Fetches a document, then what it refers to, and so on. Of other addresses than the document's folder nothing is
    /// fetched unless `remote` says so: references there are reported when the document is read.
    pub(crate) fn all(document: &str, remote: bool) -> Result<Self> {
        let place = Source::of(document)?;
        let (origin, label) = place.names()?;
        let mut files = Files::new();
        let bytes = place.fetch(&label)?;
        let mut wanted = referenced_files(&label, &bytes);
        files.insert(label.clone(), bytes);
        while let Some(name) = wanted.pop() {
            let is_known = files.get(&name).is_some() || files.why_missing(&name).is_some();
            if is_known || (is_remote(&name) && !remote) {
                continue;
            }
            if files.paths().count() >= MAX_FILES {
                bail!("the document refers to more than {MAX_FILES} files");
            }
            // A file that is not there is reported with the place of the reference.
            match place.fetch(&name) {
                Ok(bytes) => {
                    wanted.extend(referenced_files(&name, &bytes));
                    files.insert(name, bytes);
                }
                Err(error) => files.note_missing(name, format!("{error:#}")),
            }
        }
        Ok(Self { origin, label, files })
    }

    /// The hashes of what came from other addresses, by address.
    fn remote_hashes(&self) -> BTreeMap<&str, String> {
        let remote = self.files.paths().filter(|name| is_remote(name));
        remote.filter_map(|name| Some((name, sha256_hex(self.files.get(name)?)))).collect()
    }
}

/// Where a document is.
enum Source {
    File(PathBuf),
    Url(reqwest::Url),
}

impl Source {
    fn of(document: &str) -> Result<Self> {
        if is_remote(document) {
            return Ok(Self::Url(reqwest::Url::parse(document)?));
        }
        Ok(Self::File(PathBuf::from(document)))
    }

    /// What to record as the source, and the document's own name.
    fn names(&self) -> Result<(String, String)> {
        match self {
            Self::File(path) => {
                let name = path.file_name().context("the document is not a file")?;
                let name = name.to_string_lossy().into_owned();
                Ok((name.clone(), name))
            }
            Self::Url(url) => {
                let last = url.path_segments().and_then(|mut segments| segments.next_back());
                let name = last.filter(|name| !name.is_empty()).unwrap_or("document");
                Ok((without_credentials(url.clone()), name.to_owned()))
            }
        }
    }

    /// The bytes of the document, or of a file whose name is relative to the document's folder.
    fn fetch(&self, name: &str) -> Result<Vec<u8>> {
        match self {
            _ if is_remote(name) => fetch_url(reqwest::Url::parse(name)?),
            Self::File(path) if self.is_document(name) => workspace::read_named(path),
            Self::File(path) => workspace::read_file(&inside(&path.with_file_name(""), name)?),
            Self::Url(url) => fetch_url(if self.is_document(name) { url.clone() } else { url.join(name)? }),
        }
    }

    fn is_document(&self, name: &str) -> bool {
        self.names().is_ok_and(|(_, label)| label == name)
    }
}

/// The file that a name in the document's folder leads to. A link may lead anywhere: what it leads to has to be in the
/// folder as well.
fn inside(folder: &Path, name: &str) -> Result<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folder = folder.canonicalize().context("the document's folder cannot be read")?;
    let file = folder.join(name).canonicalize().with_context(|| format!("{name} cannot be read"))?;
    if !file.starts_with(&folder) {
        bail!("{name} leads outside of the document's folder");
    }
    Ok(file)
}

fn fetch_url(url: reqwest::Url) -> Result<Vec<u8>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(download(url))
}

async fn download(url: reqwest::Url) -> Result<Vec<u8>> {
    // A second call finds the provider installed, which is what is wanted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().timeout(DOWNLOAD_TIMEOUT).build()?;
    // Errors of reqwest name the whole URL; a query may hold a token.
    let asked = without_credentials(url.clone());
    let answer = client.get(url).send().await.and_then(reqwest::Response::error_for_status);
    let mut response =
        answer.map_err(reqwest::Error::without_url).with_context(|| format!("{asked} cannot be fetched"))?;
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() as u64 > workspace::MAX_FILE_BYTES {
            bail!("the document has more than {} bytes", workspace::MAX_FILE_BYTES);
        }
    }
    Ok(bytes)
}

/// The URL as it may be committed.
fn without_credentials(mut url: reqwest::Url) -> String {
    // These fail only for URLs without a host, which cannot have been downloaded.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.into()
}
