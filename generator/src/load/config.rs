//! `server.yaml`: what a server is, where its document is, and what it shows.

use indexmap::IndexMap;
use serde_json::Value;

use super::hidden::{self, ArgumentRule};
use super::language::{MOST_TOKENS, SERVER, UPSTREAM, names};
use super::select::{self, HintRule, Selector};
use super::strict::{Fields, Places};
use crate::diagnostic::{Diagnostic, Place, Sink};

/// Tools that the runtime implements, with their arguments: five that are always listed, then two that are hidden.
pub const FIXED_TOOLS: &[(&str, &[&str])] = &[
    ("list_additional_tools", &[]),
    ("search_additional_tools", &["query", "limit", "detail"]),
    ("execute_additional_tool", &["tool_name", "arguments"]),
    ("server_health", &[]),
    ("schema_audit", &["live"]),
    ("raw_request", &["method", "path", "query", "body", "extra_headers", "timeout_seconds"]),
    ("probe_safe_endpoints", &["concurrency"]),
];

/// Whether every server has a tool of this name.
pub(crate) fn is_fixed_tool(name: &str) -> bool {
    FIXED_TOOLS.iter().any(|(fixed, _)| *fixed == name)
}

/// What `specs/<server>/server.yaml` says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ServerConfig {
    /// Identifier, kebab-case; names the generated crates (`<server>-tools`, `<server>-server`).
    pub server: String,
    /// Name for people.
    pub title: String,
    /// One sentence about the server.
    pub description: String,
    /// Version of the generated server.
    pub version: String,
    /// File name of the document, relative to the server's folder; empty for a server of tool files alone.
    pub document: String,
    /// What to do with the words of the document.
    pub prose: Prose,
    /// How JSON bodies are asked for.
    pub body: BodyMode,
    /// Overlay files in the order they apply, relative to the server's folder.
    pub overlays: Vec<String>,
    /// MCP `instructions` of the server.
    pub instructions: String,
    /// The API behind the server.
    pub upstream: Upstream,
    /// Tools listed by default, in this order.
    pub exposed: Vec<String>,
    /// Rules that list further tools by default.
    pub expose: Vec<Selector>,
    /// Rules that hide tools which `expose` would list.
    pub hide: Vec<Selector>,
    /// True where neither `exposed` nor `expose` is given, so that the default is chosen by rule.
    pub exposes_by_default: bool,
    /// Rules about what calls may do, for operations whose overlays say nothing.
    pub hints: Vec<HintRule>,
    /// Rules that hide arguments.
    pub arguments: Vec<ArgumentRule>,
    /// Most tokens that the list of tools may take.
    pub budget: Option<u64>,
    /// Whether the server has only tools that leave the upstream's state as it is.
    pub read_only: bool,
    /// Tags whose tools get a struct each in a server of rows; `None` leaves it to the size of the document.
    pub structs: Option<Vec<String>>,
    /// Tools that `server_health` calls, in this order.
    pub health: Vec<String>,
    /// Whether a tool, argument or request field without a description is an error.
    pub require_descriptions: bool,
    /// Texts of the fixed and extra tools by name.
    pub fixed_tools: IndexMap<String, FixedTool>,
    /// Settings that tool files declare.
    pub settings: IndexMap<String, ToolSetting>,
}

/// A setting that a tool file declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSetting {
    /// What it is for.
    pub description: String,
    /// Its value where none is set; empty for none.
    pub default: String,
    /// Whether its value is never shown.
    pub secret: bool,
    /// Where it is declared.
    pub place: Place,
}

/// What to do with the words of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prose {
    /// Descriptions, summaries, titles and examples of the document are used.
    #[default]
    Keep,
    /// They are dropped when the document is read; every word comes from overlays.
    Drop,
}

/// How a JSON body is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BodyMode {
    /// Each member of a plain object is an argument.
    #[default]
    Flattened,
    /// The body is one argument.
    Wrapped,
}

/// The words for it.
pub(crate) const BODY_MODES: &[(&str, BodyMode)] =
    &[("flattened", BodyMode::Flattened), ("wrapped", BodyMode::Wrapped)];

/// The API that a server calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Upstream {
    /// Where the API is when no setting says otherwise.
    pub base_url: Option<String>,
    /// Prefix of the environment variables, such as `LOCALAI`.
    pub env_prefix: String,
    /// How the server proves who it is to the API.
    pub auth: Option<UpstreamAuth>,
}

/// How the server proves who it is to the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpstreamAuth {
    /// `Authorization: Bearer`, with the value of this setting (`api_key` -> `<PREFIX>_API_KEY`).
    Bearer {
        /// Name of the setting. `api_key` is the one that every server has.
        setting: &'static str,
    },
}

/// Texts of a tool that the runtime implements.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FixedTool {
    /// Title for people.
    pub title: String,
    /// What it does.
    pub description: String,
    /// Description of each argument.
    pub arguments: IndexMap<String, String>,
}

impl ServerConfig {
    /// Reads the value of a `server.yaml`; whatever is wrong with it goes to `sink`. Whether it needs a document and an
    /// upstream depends on its tool files: see [`require_sources`].
    pub(crate) fn read(value: &Value, places: Places<'_>, sink: &mut Sink) -> Option<Self> {
        let fields = Fields::open(value, "", &names(SERVER), places, sink)?;
        fields.require("server", "<the name of this folder>", sink);
        fields.require("title", "<the name for people>", sink);
        let words = [("keep", Prose::Keep), ("drop", Prose::Drop)];
        Some(Self {
            server: fields.string("server", sink).unwrap_or_default(),
            title: filled(&fields, "title", sink),
            description: fields.string("description", sink).unwrap_or_default(),
            version: version(&fields, sink),
            document: filled(&fields, "document", sink),
            prose: fields.choice("prose", &words, sink).unwrap_or_default(),
            body: fields.choice("body", BODY_MODES, sink).unwrap_or_default(),
            overlays: unique(&fields, "overlays", sink),
            instructions: fields.string("instructions", sink).unwrap_or_default().trim_end().to_owned(),
            upstream: upstream(&fields, sink),
            exposed: unique(&fields, "exposed", sink),
            expose: select::selectors(&fields, "expose", places, sink),
            hide: select::selectors(&fields, "hide", places, sink),
            exposes_by_default: fields.get("exposed").is_none() && fields.get("expose").is_none(),
            hints: select::hint_rules(&fields, places, sink),
            arguments: hidden::rules(&fields, places, sink),
            budget: fields.positive("budget", MOST_TOKENS, sink),
            read_only: fields.boolean("read_only", sink).unwrap_or(false),
            structs: fields.strings("structs", sink),
            health: unique(&fields, "health", sink),
            require_descriptions: fields.boolean("require_descriptions", sink).unwrap_or(false),
            fixed_tools: fixed_tools(&fields, sink),
            settings: IndexMap::new(),
        })
    }
}

/// Reports what `server.yaml` lacks: a document where there is no tool file, and an upstream where something is called.
pub(crate) fn require_sources(value: &Value, (has_files, has_http): (bool, bool), places: Places<'_>, sink: &mut Sink) {
    let is_missing = |key: &str| value.as_object().is_some_and(|members| !members.contains_key(key));
    let mut missing = |key: &str, help: &str| {
        let error = Diagnostic::error("missing-key", format!("the key `{key}` is missing"));
        sink.push(error.at(places("")).help(help));
    };
    let stands_alone = is_missing("document") && has_files;
    if is_missing("document") && !has_files {
        missing("document", "add `document: <the document's file name>`, or a tool file below `tools/`");
    }
    if is_missing("upstream") && (has_http || !stands_alone) {
        let address = if stands_alone { "base_url: <URL of the API>, " } else { "" };
        let help = format!("add `upstream: {{ {address}env_prefix: <PREFIX of the environment variables> }}`");
        missing("upstream", &help);
    }
}

/// The prefix that a server's name gives: `my-api` -> `MY_API`.
pub(crate) fn derived_prefix(server: &str) -> String {
    server.to_uppercase().replace('-', "_").trim_end_matches('_').to_owned()
}

/// A text that says something.
fn filled(fields: &Fields<'_>, key: &str, sink: &mut Sink) -> String {
    let text = fields.string(key, sink);
    if text.as_deref().is_some_and(|text| text.trim().is_empty()) {
        let error = Diagnostic::error("wrong-value", format!("`{key}` is empty"));
        sink.push(error.at(fields.place(key)).help(format!("write a text after `{key}:`")));
    }
    text.unwrap_or_default()
}

/// The version of the generated packages (Semantic Versioning 2.0.0 section 2).
fn version(fields: &Fields<'_>, sink: &mut Sink) -> String {
    let Some(version) = fields.string("version", sink) else { return "0.1.0".into() };
    let (core, suffix) = version.split_at(version.find(['-', '+']).unwrap_or(version.len()));
    let numbers: Vec<&str> = core.split('.').collect();
    let is_number = |text: &&str| text.parse::<u64>().is_ok_and(|number| number.to_string() == **text);
    let suffix_fits = suffix.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+'));
    let ends_well = !version.ends_with(['-', '+', '.']);
    if numbers.len() != 3 || !numbers.iter().all(is_number) || !suffix_fits || !ends_well {
        let error = Diagnostic::error("wrong-value", format!("`{}` is no version", version.escape_debug()));
        sink.push(error.at(fields.place("version")).help("three numbers, such as `version: 1.0.0`"));
    }
    version
}

/// A list of names in which each may stand once.
fn unique(fields: &Fields<'_>, key: &str, sink: &mut Sink) -> Vec<String> {
    let names = fields.strings(key, sink).unwrap_or_default();
    for (index, name) in names.iter().enumerate() {
        if names.iter().take(index).any(|earlier| earlier == name) {
            sink.push(
                Diagnostic::error("listed-twice", format!("`{name}` is listed twice"))
                    .at(fields.element_place(key, index))
                    .help("remove one of the two lines"),
            );
        }
    }
    names
}

fn upstream(fields: &Fields<'_>, sink: &mut Sink) -> Upstream {
    let Some(upstream) = fields.child("upstream", &names(UPSTREAM), sink) else {
        let server = fields.get("server").and_then(Value::as_str).unwrap_or_default();
        return Upstream { env_prefix: derived_prefix(server), ..Upstream::default() };
    };
    upstream.require("env_prefix", "<PREFIX of the environment variables>", sink);
    let auth = upstream.child("auth", &["bearer"], sink).and_then(|auth| {
        auth.require("bearer", "api_key", sink);
        let setting = auth.choice("bearer", &[("api_key", "api_key")], sink)?;
        Some(UpstreamAuth::Bearer { setting })
    });
    Upstream { base_url: base_url(&upstream, sink), env_prefix: env_prefix(&upstream, sink), auth }
}

/// An address that calls can be appended to.
fn base_url(upstream: &Fields<'_>, sink: &mut Sink) -> Option<String> {
    let url = upstream.string("base_url", sink)?;
    let rest = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    let has_host = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', ':']));
    let is_bare = !url.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '?' | '#' | '@'));
    if !has_host || !is_bare {
        let error = Diagnostic::error("wrong-value", format!("`{}` is no base URL", url.escape_debug()));
        let help = "an absolute http:// or https:// URL without credentials, query or fragment";
        sink.push(error.at(upstream.place("base_url")).help(help));
    }
    Some(url)
}

/// Capital letters, digits and `_`: what every shell takes for a variable's name (POSIX.1 section 8.1).
fn env_prefix(upstream: &Fields<'_>, sink: &mut Sink) -> String {
    let Some(prefix) = upstream.string("env_prefix", sink) else { return String::new() };
    let fits = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_uppercase())
            && !text.ends_with('_')
            && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    };
    if !fits(&prefix) {
        let capital: String =
            prefix.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
        let capital = capital.trim_matches('_');
        let help =
            if fits(capital) { format!("write `{capital}`") } else { "write capital letters, such as `MY_API`".into() };
        let error =
            Diagnostic::error("wrong-value", format!("`{}` cannot begin a variable's name", prefix.escape_debug()));
        sink.push(error.at(upstream.place("env_prefix")).help(help));
    }
    prefix
}

fn fixed_tools(fields: &Fields<'_>, sink: &mut Sink) -> IndexMap<String, FixedTool> {
    let known: Vec<&str> = FIXED_TOOLS.iter().map(|(name, _)| *name).collect();
    let Some(tools) = fields.child("fixed_tools", &known, sink) else {
        return IndexMap::new();
    };
    FIXED_TOOLS
        .iter()
        .filter_map(|(name, arguments)| {
            let tool = tools.child(name, &["title", "description", "arguments"], sink)?;
            tool.require("title", "<one to four words>", sink);
            tool.require("description", "<what it does>", sink);
            tool.child("arguments", arguments, sink);
            let texts = FixedTool {
                title: tool.string("title", sink).unwrap_or_default(),
                description: tool.string("description", sink).unwrap_or_default().trim_end().to_owned(),
                arguments: tool.string_map("arguments", sink),
            };
            Some(((*name).to_owned(), texts))
        })
        .collect()
}
