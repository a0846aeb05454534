//! `server.yaml`: what a server is, where its document is, and what it shows.

use indexmap::IndexMap;
use serde_json::Value;

use super::select::{self, HintRule, Selector};
use super::strict::{Fields, Places};
use crate::diagnostic::{Diagnostic, Sink};

/// Tools that the runtime implements: five that are always listed, then two that are hidden.
pub const FIXED_TOOLS: &[&str] = &[
    "list_additional_tools",
    "search_additional_tools",
    "execute_additional_tool",
    "server_health",
    "schema_audit",
    "raw_request",
    "probe_safe_endpoints",
];

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
    /// File name of the document, relative to the server's folder.
    pub document: String,
    /// What to do with the words of the document.
    pub prose: Prose,
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
        /// Name of the setting, snake_case.
        setting: String,
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

const SERVER_KEYS: &[&str] = &[
    "server",
    "title",
    "description",
    "version",
    "document",
    "prose",
    "overlays",
    "instructions",
    "upstream",
    "exposed",
    "expose",
    "hide",
    "hints",
    "read_only",
    "structs",
    "health",
    "require_descriptions",
    "fixed_tools",
];

impl ServerConfig {
    /// Reads the value of a `server.yaml`; whatever is wrong with it goes to `sink`.
    pub(crate) fn read(value: &Value, places: Places<'_>, sink: &mut Sink) -> Option<Self> {
        let fields = Fields::open(value, "", SERVER_KEYS, places, sink)?;
        fields.require("server", "<the name of this folder>", sink);
        fields.require("title", "<the name for people>", sink);
        fields.require("document", "<the document's file name>", sink);
        let words = [("keep", Prose::Keep), ("drop", Prose::Drop)];
        Some(Self {
            server: fields.string("server", sink).unwrap_or_default(),
            title: fields.string("title", sink).unwrap_or_default(),
            description: fields.string("description", sink).unwrap_or_default(),
            version: fields.string("version", sink).unwrap_or_else(|| "0.1.0".into()),
            document: fields.string("document", sink).unwrap_or_default(),
            prose: fields.choice("prose", &words, sink).unwrap_or_default(),
            overlays: unique(&fields, "overlays", sink),
            instructions: fields.string("instructions", sink).unwrap_or_default().trim_end().to_owned(),
            upstream: upstream(&fields, sink),
            exposed: unique(&fields, "exposed", sink),
            expose: select::selectors(&fields, "expose", places, sink),
            hide: select::selectors(&fields, "hide", places, sink),
            exposes_by_default: fields.get("exposed").is_none() && fields.get("expose").is_none(),
            hints: select::hint_rules(&fields, places, sink),
            read_only: fields.boolean("read_only", sink).unwrap_or(false),
            structs: fields.strings("structs", sink),
            health: unique(&fields, "health", sink),
            require_descriptions: fields.boolean("require_descriptions", sink).unwrap_or(false),
            fixed_tools: fixed_tools(&fields, sink),
        })
    }
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
    let Some(upstream) = fields.child("upstream", &["base_url", "env_prefix", "auth"], sink) else {
        return Upstream::default();
    };
    upstream.require("env_prefix", "<PREFIX of the environment variables>", sink);
    let auth = upstream.child("auth", &["bearer"], sink).and_then(|auth| {
        auth.require("bearer", "api_key", sink);
        let setting = auth.string("bearer", sink)?;
        Some(UpstreamAuth::Bearer { setting })
    });
    Upstream {
        base_url: upstream.string("base_url", sink),
        env_prefix: upstream.string("env_prefix", sink).unwrap_or_default(),
        auth,
    }
}

fn fixed_tools(fields: &Fields<'_>, sink: &mut Sink) -> IndexMap<String, FixedTool> {
    let known = FIXED_TOOLS;
    let Some(tools) = fields.child("fixed_tools", known, sink) else {
        return IndexMap::new();
    };
    known
        .iter()
        .filter_map(|name| {
            let tool = tools.child(name, &["title", "description", "arguments"], sink)?;
            tool.require("title", "<one to four words>", sink);
            tool.require("description", "<what it does>", sink);
            let texts = FixedTool {
                title: tool.string("title", sink).unwrap_or_default(),
                description: tool.string("description", sink).unwrap_or_default().trim_end().to_owned(),
                arguments: tool.string_map("arguments", sink),
            };
            Some(((*name).to_owned(), texts))
        })
        .collect()
}
