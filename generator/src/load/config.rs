//! `server.yaml`: what a server is, where its document is, and what it shows.

use indexmap::IndexMap;

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
