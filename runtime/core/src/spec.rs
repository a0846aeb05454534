//! Rows: what a server knows about each of its tools, and about itself.

use serde::{Serialize, de::DeserializeOwned};

use crate::content::{Prompt, Resource};
use crate::{Access, Binding, ToolError};

/// What a call may do to the upstream. All MCP hints follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// Reads state and changes nothing.
    ReadOnly,
    /// Uses computing time, and changes no state.
    Compute,
    /// Adds state.
    Write,
    /// Changes, stops or removes what is there.
    Destructive,
}

impl Risk {
    /// True where a call leaves the upstream's state as it was: the calls that a read-only server admits.
    #[must_use]
    pub const fn leaves_state(self) -> bool {
        matches!(self, Risk::ReadOnly | Risk::Compute)
    }
}

/// Phrases by which the search finds a tool, beyond its own texts.
#[derive(Debug, Clone, Copy, Default)]
pub struct SearchTerms {
    /// English.
    pub en: &'static [&'static str],
    /// Korean.
    pub ko: &'static [&'static str],
    /// Japanese.
    pub ja: &'static [&'static str],
}

/// The operation as the document or the tool's own file declares it; the real route may differ (see [`Binding`]).
/// Both texts are empty where a tool is no operation of an API.
#[derive(Debug, Clone, Copy)]
pub struct Declared {
    /// HTTP method in upper case, such as `GET`.
    pub method: &'static str,
    /// Path template, such as `/v1/models/{id}`.
    pub path: &'static str,
}

/// One tool: the row that listing, searching, checking and calling all read.
#[derive(Debug, Clone, Copy)]
pub struct ToolSpec {
    /// Name in MCP: snake_case, a letter first, at most 48 characters.
    pub name: &'static str,
    /// Short title for people.
    pub title: &'static str,
    /// Full description for models: purpose, inputs, returns, caution.
    pub description: &'static str,
    /// The purpose alone: the first sentence or two of the description.
    pub summary: &'static str,
    /// Tags of the operation, in lower case.
    pub tags: &'static [&'static str],
    /// What a call may do.
    pub risk: Risk,
    /// True where repeating a call has no further effect.
    pub idempotent: bool,
    /// True where a call reaches beyond the upstream itself.
    pub open_world: bool,
    /// JSON Schema 2020-12 of the arguments, as text: the one that calls are checked against.
    pub input_schema: &'static str,
    /// What lists show, where that is narrower than `input_schema`.
    pub advertised_schema: Option<&'static str>,
    /// JSON Schema of the envelope's `data`, where the document declares one.
    pub result_schema: Option<&'static str>,
    /// Extra phrases for the search.
    pub search: SearchTerms,
    /// The operation as declared.
    pub declared: Declared,
    /// How a call is carried out.
    pub binding: Binding,
    /// Deadline of one call in seconds, where it differs from the server's.
    pub deadline_seconds: Option<u32>,
    /// True where a call may take so long that a client which knows MCP tasks gets one instead of waiting.
    pub long: bool,
    /// JSON pointers into `data` whose values are masked; `*` stands for any element, and an empty pointer masks the
    /// whole of `data` or `text`.
    pub secrets: &'static [&'static str],
}

impl ToolSpec {
    /// The schema that lists show.
    #[must_use]
    pub const fn listed_schema(&self) -> &'static str {
        match self.advertised_schema {
            Some(schema) => schema,
            None => self.input_schema,
        }
    }
}

/// A typed tool: the Rust caller's view of a row. It turns into the same arguments and takes the same path as a call
/// from a model.
pub trait Tool: Serialize {
    /// The row.
    const SPEC: ToolSpec;
    /// The shape of the envelope's `data`.
    type Output: DeserializeOwned;

    /// The argument object of this call.
    ///
    /// # Errors
    /// When a value cannot be written as JSON.
    fn arguments(&self) -> Result<serde_json::Map<String, serde_json::Value>, ToolError> {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(arguments)) => Ok(arguments),
            Ok(_) => Err(ToolError::invalid("a tool's arguments must form a JSON object")),
            Err(error) => Err(ToolError::invalid(format!("the arguments cannot be written as JSON: {error}"))),
        }
    }
}

/// Facts of the document that a server was made from, for its audit.
#[derive(Debug, Clone, Copy)]
pub struct DocumentFacts {
    /// Dialect as published, such as `Swagger 2.0`. Empty for a server that was made without a document.
    pub dialect: &'static str,
    /// Title of the API.
    pub title: &'static str,
    /// Version of the API.
    pub version: &'static str,
    /// SHA-256 of the document's bytes, in hexadecimal.
    pub sha256: &'static str,
    /// Number of paths.
    pub paths: u32,
    /// Number of operations.
    pub operations: u32,
    /// Number of named schemas.
    pub definitions: u32,
    /// Names of tools that call the API and are described in files of their own: the document does not have them.
    pub tools_of_files: &'static [&'static str],
}

/// The texts of a tool that every server has: the gateway's and the diagnostic ones.
#[derive(Debug, Clone, Copy)]
pub struct FixedTool {
    /// Name in MCP.
    pub name: &'static str,
    /// Short title for people.
    pub title: &'static str,
    /// Description for models.
    pub description: &'static str,
    /// Description of each argument: name and text.
    pub arguments: &'static [(&'static str, &'static str)],
}

/// A server: its identity, its upstream, and what it lists by default.
#[derive(Debug, Clone, Copy)]
pub struct ServerSpec {
    /// Identifier, such as `localai`: the name of the binary's family, TOML table and state folder.
    pub name: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// One sentence about the server.
    pub description: &'static str,
    /// Version of the generated server.
    pub version: &'static str,
    /// Instructions for models.
    pub instructions: &'static str,
    /// Prefix of this server's environment variables, such as `LOCALAI`.
    pub env_prefix: &'static str,
    /// Base URL of the upstream where none is set. Empty for a server without an upstream.
    pub default_base_url: &'static str,
    /// Credentials and the variables of `default_base_url`, whose names stand there in braces.
    pub access: Access,
    /// Names of the tools listed by default, in the order of the spec.
    pub preset: &'static [&'static str],
    /// Names of the tools whose calls make up the health check.
    pub health: &'static [&'static str],
    /// Texts of the fixed tools and of the hidden extra tools.
    pub fixed_tools: &'static [FixedTool],
    /// Prompts, sorted by name.
    pub prompts: &'static [Prompt],
    /// Resources and templates of resources, sorted by name.
    pub resources: &'static [Resource],
    /// The document.
    pub document: DocumentFacts,
    /// SHA-256 over the catalog, in hexadecimal: changes whenever any row does.
    pub catalog_sha256: &'static str,
}
