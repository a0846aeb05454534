//! From the files of `specs/<server>/` to one OpenAPI 3.1 value with its overlays applied.

mod anchors;
mod arazzo;
pub mod config;
pub(crate) mod content;
pub mod document;
pub mod extension;
mod external;
mod facts;
mod files;
pub(crate) mod filter;
pub mod hidden;
pub(crate) mod language;
mod named_file;
mod origin;
mod overlay;
mod prose;
pub mod select;
pub(crate) mod strict;
pub(crate) mod tool_file;
mod upgrade;
mod vendor;
mod walk;

pub(crate) use anchors::anchors;
pub use config::{Prose, ServerConfig};
pub use document::{Dialect, Document, DocumentFacts};
pub(crate) use external::percent_decoded;
pub use external::{is_remote, referenced_files};
pub use files::Files;
pub use language::{prompt_file_schema, resource_file_schema, server_file_schema, tool_file_schema};
pub use prose::drop_prose;
pub use strict::did_you_mean;
pub use vendor::{Vendored, vendor};

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use self::content::Content;
use self::origin::Origins;
use self::tool_file::ToolFile;
use crate::diagnostic::{Diagnostic, Place, Severity, Sink};
use crate::source::{Source, child_pointer, decoded, sha256_hex};

/// Methods of a path item (OpenAPI 3.1 section 4.8.9, and `query` of 3.2).
pub(crate) const METHODS: &[&str] = &["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// Everything that a server's spec folder says.
#[derive(Debug)]
pub struct LoadedServer {
    /// The server's folder, relative to the repository root, such as `specs/localai`.
    pub dir: String,
    /// What `server.yaml` says.
    pub config: ServerConfig,
    /// The document in its 3.1 form, overlays applied.
    pub document: Document,
    /// Whether every overlay was applied whole. Otherwise what the document lacks may be what an overlay says.
    pub is_complete: bool,
    /// The text of `server.yaml`, for places.
    source: Arc<Source>,
    /// The texts of overlays that may hold what the document lacks; `None` where one of them is not there.
    unapplied: Option<Vec<String>>,
    /// What the server offers beside its tools.
    pub(crate) content: Content,
    /// Paths of the files that make something each.
    named_files: Vec<String>,
}

impl LoadedServer {
    /// A document by itself, as if a server had nothing else.
    pub(crate) fn of_document(document: Document, source: Arc<Source>) -> Self {
        Self {
            dir: String::new(),
            config: ServerConfig::default(),
            document,
            is_complete: false,
            source,
            unapplied: None,
            content: Content::default(),
            named_files: Vec::new(),
        }
    }

    /// The same document with the settings of another `server.yaml`.
    pub(crate) fn with_settings(self, text: &str, sink: &mut Sink) -> Option<Self> {
        let source = Arc::new(Source::new(self.source.label(), text));
        let value = source.read(sink)?;
        let config = ServerConfig::read(&value, &|pointer| source.place(pointer), sink)?;
        let config = ServerConfig { settings: self.config.settings, ..config };
        Some(Self { config, source, ..self })
    }

    /// Whether an overlay that was not applied whole has this name in its text.
    #[must_use]
    pub(crate) fn unapplied_mention(&self, name: &str) -> bool {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let has = |text: &String| text.split(|c| !is_name(c)).any(|word| word == name);
        !self.is_complete && self.unapplied.as_ref().is_none_or(|texts| texts.iter().any(has))
    }

    /// Paths of the files that its author wrote: `server.yaml`, overlays, and the files of tools, prompts and resources.
    pub(crate) fn own_files(&self) -> Vec<String> {
        let overlays = self.config.overlays.iter().filter_map(|name| files::join(&self.dir, name));
        let own = std::iter::once(self.source.label().to_owned());
        own.chain(overlays).chain(self.named_files.iter().cloned()).collect()
    }

    /// The place of a JSON pointer of `server.yaml`, such as `/exposed/3`.
    #[must_use]
    pub fn config_place(&self, pointer: &str) -> Place {
        self.source.place(pointer)
    }
}

/// Reads a server's folder: `server.yaml`, the document and its overlays.
///
/// Returns `None` only when there is nothing to go on with; whatever is wrong is in `sink`.
pub fn load_server(files: &Files, dir: &str, sink: &mut Sink) -> Option<LoadedServer> {
    let dir = dir.trim_end_matches('/');
    let path = format!("{dir}/server.yaml");
    let Some(bytes) = files.get(&path) else {
        sink.push(
            Diagnostic::error("missing-file", "the server has no server.yaml")
                .at(Place::of_file(path))
                .help("a server is a folder below specs/ with a server.yaml"),
        );
        return None;
    };
    let source = Arc::new(Source::from_bytes(path, bytes, sink)?);
    let value = source.read(sink)?;
    let places = |pointer: &str| source.place(pointer);
    let mut config = ServerConfig::read(&value, &places, sink)?;
    let mut tools = tool_file::read_all(files, dir, sink);
    for tool in arazzo::read_all(files, dir, sink) {
        match tools.iter().find(|known| known.name == tool.name) {
            Some(known) => {
                let message = format!("two files make the tool `{}`", tool.name);
                let help = format!("the other is {}; rename one of the two", known.source.label());
                let place = Place::of_file(tool.source.label());
                sink.push(Diagnostic::error("name-collision", message).at(place).help(help));
            }
            None => tools.push(tool),
        }
    }
    let mut named_files = tool_file::TOOL_FILES.paths(files, dir);
    named_files.extend(arazzo::paths(files, dir));
    let has_http = tools.iter().any(ToolFile::is_http);
    config::require_sources(&value, (!named_files.is_empty(), has_http), &places, sink);
    collect_settings(&mut config, &tools, sink);
    check_folder(&config, dir, &source, sink);
    let server = Folder { files, dir, config: &config, source: &source };
    let listed = value.get("overlays").map_or(0, |overlays| overlays.as_array().map_or(1, Vec::len));
    server.unlisted_overlays(sink);
    let (document, is_complete) = server.document(&tools, sink)?;
    let is_complete = is_complete && listed == server.config.overlays.len();
    let unapplied = server.overlay_texts();
    let content = Content::read(files, dir, sink);
    named_files.extend(content::paths(files, dir));
    Some(LoadedServer { dir: dir.to_owned(), config, document, is_complete, source, unapplied, content, named_files })
}

/// The settings of all tool files. Tools may share one, and then they must mean the same.
fn collect_settings(config: &mut ServerConfig, tools: &[ToolFile], sink: &mut Sink) {
    for (key, setting) in tools.iter().flat_map(|tool| &tool.settings) {
        let known = config.settings.entry(key.clone()).or_insert_with(|| setting.clone());
        let meaning = |it: &config::ToolSetting| (it.description.clone(), it.default.clone(), it.secret);
        if meaning(known) != meaning(setting) {
            let message = format!("another tool declares the setting `{key}` in other words");
            let help = format!("write it as at {}, or give it another name", known.place);
            sink.push(Diagnostic::error("setting-differs", message).at(setting.place.clone()).help(help));
        }
    }
}

/// Whether a server may be called so: its name becomes part of package names and paths.
#[must_use]
pub fn is_server_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Whether a name can be that of a tool: snake_case, first a letter, at most 48 characters.
#[must_use]
pub fn is_tool_name(name: &str) -> bool {
    extension::is_snake_case(name, extension::MAX_NAME)
}

/// The server is named as its folder is, because generated packages are.
fn check_folder(config: &ServerConfig, dir: &str, source: &Source, sink: &mut Sink) {
    let folder = dir.rsplit('/').next().unwrap_or(dir);
    if !is_server_name(folder) {
        sink.push(
            Diagnostic::error("server-name", format!("the folder `{folder}` cannot name packages"))
                .at(source.place("/server"))
                .help("rename it: small letters, digits and `-`, first a letter"),
        );
        return;
    }
    if !config.server.is_empty() && config.server != folder {
        let message = format!("the server is named `{}`, its folder `{folder}`", config.server);
        sink.push(
            Diagnostic::error("server-name", message)
                .at(source.place("/server"))
                .help(format!("write `server: {folder}`")),
        );
    }
}

/// A server's folder while it is being read.
struct Folder<'a> {
    files: &'a Files,
    dir: &'a str,
    config: &'a ServerConfig,
    source: &'a Arc<Source>,
}

impl Folder<'_> {
    /// The document with the tools of files, and whether every overlay was applied whole.
    fn document(&self, tools: &[ToolFile], sink: &mut Sink) -> Option<(Document, bool)> {
        if self.config.document.is_empty() {
            return (!tools.is_empty()).then(|| (self.tools_alone(tools, sink), true));
        }
        let (source, sha256) = self.open(&self.config.document, "/document", sink)?;
        let mut loaded = Published::read(source, sha256, self.files, self.config.prose, sink)?;
        let before = sink.count(Severity::Error);
        self.overlays(&mut loaded, sink);
        let is_complete = sink.count(Severity::Error) == before;
        loaded.tools(tools);
        Some((loaded.finish(sink), is_complete))
    }

    /// A document without paths around the tools of files.
    fn tools_alone(&self, tools: &[ToolFile], sink: &mut Sink) -> Document {
        if !self.config.overlays.is_empty() {
            let error = Diagnostic::error("no-document", "overlays correct a document, and this server has none");
            sink.push(error.at(self.source.place("/overlays")).help("remove `overlays`, or add `document:`"));
        }
        let mut loaded = Published::empty(self.source);
        loaded.tools(tools);
        loaded.finish(sink)
    }

    fn overlays(&self, loaded: &mut Published, sink: &mut Sink) {
        for (index, name) in self.config.overlays.iter().enumerate() {
            let Some((source, _)) = self.open(name, &format!("/overlays/{index}"), sink) else {
                continue;
            };
            if let Some(overlay) = source.read(sink) {
                loaded.overlay(&overlay, &source, sink);
            }
        }
    }

    /// An overlay that was written and never listed changes nothing, which nobody would see.
    fn unlisted_overlays(&self, sink: &mut Sink) {
        let listed: Vec<String> = self.config.overlays.iter().filter_map(|name| files::join(self.dir, name)).collect();
        let inside = format!("{}/", self.dir);
        for path in self.files.paths().filter(|path| !listed.iter().any(|listed| listed == path)) {
            let Some(name) = path.strip_prefix(&inside).filter(|name| name.starts_with("overlays/")) else { continue };
            let help = match listed.is_empty() {
                true => format!("add the line `overlays: [{name}]`, or remove the file"),
                false => format!("add the line `  - {name}` to `overlays:`, or remove the file"),
            };
            let message = format!("`{name}` is not listed under `overlays`, and nothing in it is used");
            sink.push(Diagnostic::warning("unlisted-overlay", message).at(self.source.place("/overlays")).help(help));
        }
    }

    /// The texts of all overlays; `None` where one is not there or is no text.
    fn overlay_texts(&self) -> Option<Vec<String>> {
        let text = |name: &String| {
            let bytes = self.files.get(&files::join(self.dir, name)?)?;
            decoded(bytes).map(Cow::into_owned)
        };
        self.config.overlays.iter().map(text).collect()
    }

    /// Opens a file that `server.yaml` names at `pointer`.
    fn open(&self, name: &str, pointer: &str, sink: &mut Sink) -> Option<(Arc<Source>, String)> {
        let path = files::join(self.dir, name);
        let found = path.and_then(|path| Some((self.files.get(&path)?, path)));
        let Some((bytes, path)) = found else {
            let near = self.near(name).unwrap_or_else(|| "the path is relative to this folder".into());
            sink.push(
                Diagnostic::error("missing-file", format!("there is no file `{name}`"))
                    .at(self.source.place(pointer))
                    .help(near),
            );
            return None;
        };
        let sha256 = sha256_hex(bytes);
        let source = Source::from_bytes(path, bytes, sink)?;
        Some((Arc::new(source), sha256))
    }

    fn near(&self, name: &str) -> Option<String> {
        let inside = format!("{}/", self.dir);
        did_you_mean(name, self.files.paths().filter_map(|path| path.strip_prefix(&inside)))
    }
}

/// A document in its 3.1 form, before and between overlays.
struct Published {
    value: Value,
    /// The value before the first overlay.
    declared: Option<Value>,
    facts: DocumentFacts,
    origins: Origins,
    /// References to other files that could not be brought in; why was reported.
    unread: BTreeSet<String>,
}

impl Published {
    /// No document at all. What is looked for in it is looked for in `server.yaml`.
    fn empty(server: &Arc<Source>) -> Self {
        let value = serde_json::json!({"openapi": "3.1.0", "paths": {}});
        let facts = facts::gather(&value, Dialect::OpenApi31, "", String::new());
        Self { value, declared: None, facts, origins: Origins::new(Arc::clone(server)), unread: BTreeSet::new() }
    }

    /// Adds the tools of files, beside whatever the document has.
    fn tools(&mut self, tools: &[ToolFile]) {
        let Some(root) = self.value.as_object_mut() else { return };
        // Only files may say what is under this key.
        root.shift_remove(tool_file::TOOLS);
        let mut nodes = serde_json::Map::new();
        for tool in tools {
            let number = self.origins.add(Arc::clone(&tool.source));
            let base = child_pointer(&format!("/{}", tool_file::TOOLS), &tool.name);
            for (inside, from) in &tool.origins {
                self.origins.written(&format!("{base}{inside}"), number, from);
            }
            nodes.insert(tool.name.clone(), tool.node.clone());
        }
        if !nodes.is_empty() {
            root.insert(tool_file::TOOLS.to_owned(), nodes.into());
        }
    }

    fn read(source: Arc<Source>, sha256: String, files: &Files, prose: Prose, sink: &mut Sink) -> Option<Self> {
        let mut origins = Origins::new(Arc::clone(&source));
        let (mut value, dialect, unread) = whole(&source, files, &mut origins, sink)?;
        if prose == Prose::Drop {
            drop_prose(&mut value);
        }
        prose::clear_texts(&mut value);
        let facts = facts::gather(&value, dialect, source.label(), sha256);
        let value = upgrade::upgrade(value, dialect, &mut origins, sink);
        Some(Self { declared: None, value, facts, origins, unread })
    }

    fn overlay(&mut self, overlay: &Value, source: &Arc<Source>, sink: &mut Sink) {
        let number = self.origins.add(Arc::clone(source));
        self.declared.get_or_insert_with(|| self.value.clone());
        let places = |pointer: &str| source.place(pointer);
        overlay::apply(overlay, &mut self.value, &mut self.origins, number, &places, sink);
    }

    fn finish(mut self, sink: &mut Sink) -> Document {
        extension::check_all(&mut self.value, &self.origins, sink);
        if self.declared.is_some() {
            prose::clear_texts(&mut self.value);
        }
        Document::new(self.value, self.declared, self.facts, self.origins, self.unread)
    }
}

/// A document in its own dialect, with what it names in other files; and the references that lead to nothing there.
fn whole(
    source: &Source,
    files: &Files,
    origins: &mut Origins,
    sink: &mut Sink,
) -> Option<(Value, Dialect, BTreeSet<String>)> {
    let mut value = source.read_published(sink)?;
    let dialect = upgrade::detect(&value, origins, sink)?;
    let unread = match external::is_needed(&mut value) {
        true => external::bundle(&mut value, source.label(), files, dialect, origins, sink),
        false => BTreeSet::new(),
    };
    Some((value, dialect, unread))
}

/// Reads the document at `label` as a server that has nothing else.
pub(crate) fn load_alone(label: &str, files: &Files, prose: Prose, sink: &mut Sink) -> Option<LoadedServer> {
    let source = Arc::new(Source::from_bytes(label, files.get(label).unwrap_or_default(), sink)?);
    Some(LoadedServer::of_document(load_document(label, files, prose, sink)?, source))
}

/// Reads the document at `label` by itself, without a server: its 3.1 form and its facts.
pub fn load_document(label: &str, files: &Files, prose: Prose, sink: &mut Sink) -> Option<Document> {
    let bytes = files.get(label).unwrap_or_default();
    let source = Arc::new(Source::from_bytes(label, bytes, sink)?);
    let loaded = Published::read(source, sha256_hex(bytes), files, prose, sink)?;
    Some(loaded.finish(sink))
}

#[cfg(test)]
mod tests;
