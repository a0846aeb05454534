//! Prompts and resources: rows of what a server offers beside its tools.

mod place;

pub use place::{Piece, Values, expand, fill, matches, places, template};

/// Who says a message, or whom something is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A prompt: messages with places for arguments, which a person chooses by name.
#[derive(Debug, Clone, Copy)]
pub struct Prompt {
    /// Name in MCP.
    pub name: &'static str,
    /// Short title for people.
    pub title: Option<&'static str>,
    /// What it is for.
    pub description: &'static str,
    /// Arguments, in the order in which people are asked for them.
    pub arguments: &'static [PromptArgument],
    /// The messages.
    pub messages: &'static [PromptMessage],
}

/// An argument of a prompt. Its value is a text.
#[derive(Debug, Clone, Copy)]
pub struct PromptArgument {
    /// Name in MCP.
    pub name: &'static str,
    /// Short title for people.
    pub title: Option<&'static str>,
    /// What to write.
    pub description: &'static str,
    /// Whether the prompt is nothing without it.
    pub required: bool,
    /// The value where none is given.
    pub default: Option<&'static str>,
    /// Where suggestions come from.
    pub completion: Option<Completion>,
    /// What the person is asked, through the client, where the argument is not given and the client can ask.
    pub ask: Option<&'static str>,
}

/// A message of a prompt.
#[derive(Debug, Clone, Copy)]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: MessageContent,
}

/// What a message holds.
#[derive(Debug, Clone, Copy)]
pub enum MessageContent {
    /// A text.
    Text(&'static [Piece]),
    /// A resource of this server by its URI, read when the prompt is asked for.
    Read(&'static [Piece]),
    /// A resource that stands in the prompt itself.
    Embedded {
        /// Its URI.
        uri: &'static [Piece],
        /// Its media type.
        mime_type: &'static str,
        /// What it holds.
        content: Fixed,
    },
    /// An image or a sound.
    Media {
        /// Its media type, which tells the two apart.
        mime_type: &'static str,
        /// The file.
        bytes: &'static [u8],
    },
}

/// Content that stands in the row.
#[derive(Debug, Clone, Copy)]
pub enum Fixed {
    /// A text.
    Text(&'static [Piece]),
    /// A file that is no text.
    Bytes(&'static [u8]),
}

/// A resource; or a family of them, where its URI has places (RFC 6570, level 1).
#[derive(Debug, Clone, Copy)]
pub struct Resource {
    /// Name in MCP.
    pub name: &'static str,
    /// Short title for people.
    pub title: Option<&'static str>,
    /// What it holds.
    pub description: &'static str,
    /// The URI, or the template of URIs.
    pub uri: &'static [Piece],
    /// Media type, where it is known before the content is read.
    pub mime_type: Option<&'static str>,
    /// Hints for clients.
    pub annotations: Annotations,
    /// What it holds.
    pub content: Content,
    /// Variables of the URI with where suggestions come from.
    pub completions: &'static [(&'static str, Completion)],
}

impl Resource {
    /// Whether this is a family of resources.
    #[must_use]
    pub fn is_template(&self) -> bool {
        self.uri.iter().any(|piece| matches!(piece, Piece::Place(_)))
    }
}

/// Hints for clients about a resource (MCP, Annotations).
#[derive(Debug, Clone, Copy)]
pub struct Annotations {
    /// Whom it is meant for; empty where nothing is said.
    pub audience: &'static [Role],
    /// How much it matters, from 0 to 1.
    pub priority: Option<f32>,
    /// When it last changed (ISO 8601).
    pub last_modified: Option<&'static str>,
}

impl Annotations {
    /// No hints.
    pub const NONE: Annotations = Annotations { audience: &[], priority: None, last_modified: None };
}

/// Where the content of a resource comes from.
#[derive(Debug, Clone, Copy)]
pub enum Content {
    /// From the row.
    Fixed(Fixed),
    /// From a tool.
    Answer(Answer),
}

/// The answer of one of the server's tools, which only reads.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// Name of the tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: &'static [(&'static str, Given)],
    /// jq filter over `data` of the result.
    pub project: Option<&'static str>,
}

/// The value of an argument of a tool.
#[derive(Debug, Clone, Copy)]
pub enum Given {
    /// A text with places.
    Text(&'static [Piece]),
    /// Any value, as JSON.
    Json(&'static str),
}

/// Where suggestions for an argument come from.
#[derive(Debug, Clone, Copy)]
pub enum Completion {
    /// From the row.
    Listed(&'static [&'static str]),
    /// From a tool: texts, or a list of them.
    Answer(Answer),
}
