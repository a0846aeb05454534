//! What a model is asked.

use std::{fmt, num::NonZeroU32, str::FromStr};

use serde_json::{Map, Value};

/// One question to a model, with everything that was said before.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The system prompt; none where it is empty.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Tools that the model may call. None is ever forced on it: some models and gateways refuse that.
    pub tools: Vec<ToolDefinition>,
    /// A JSON schema that the text of the answer is held to while it is written, where the deployment can.
    pub output_schema: Option<Value>,
    /// The most tokens of the answer; used as given.
    pub max_output_tokens: Option<NonZeroU32>,
    /// How long the model thinks first.
    pub reasoning_effort: Option<Effort>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// From the person or the program that asks.
    User(String),
    /// From the model.
    Assistant(Turn),
    /// What became of a call.
    ToolResult {
        /// The id of the call.
        call_id: String,
        /// The tool.
        tool_name: String,
        /// What the model reads.
        content: String,
        /// Whether the call failed.
        is_error: bool,
    },
}

impl Message {
    /// A message to the model.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Message::User(text.into())
    }
}

/// What a model said in one turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// The text.
    pub text: String,
    /// The calls, in order, each with an id of its own.
    pub calls: Vec<ToolCall>,
    /// Signed reasoning that the model wants back as it was: content blocks of Anthropic.
    pub reasoning_blocks: Vec<Value>,
}

/// A call that a model makes.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Tells the call apart from the others; made by us where the model gave none, or gave it twice.
    pub id: String,
    /// The name of the tool, as the model wrote it.
    pub name: String,
    /// The arguments.
    pub arguments: Arguments,
    /// Members that a gateway wants back as they were, such as signatures.
    pub extra: Map<String, Value>,
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// A JSON object, every digit kept.
    Object(Map<String, Value>),
    /// No JSON object. The text is not kept, and never sent back: models repeat what they see.
    Unreadable {
        /// What is wrong with it, and where.
        reason: String,
    },
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// How long a model thinks before it answers. Not every model knows every one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Not at all.
    None,
    /// Hardly.
    Minimal,
    /// Little.
    Low,
    /// As usual.
    Medium,
    /// Long.
    High,
    /// Very long.
    Xhigh,
    /// As long as it can.
    Max,
}

impl Effort {
    /// Every effort.
    pub const ALL: [Effort; 7] =
        [Effort::None, Effort::Minimal, Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh, Effort::Max];

    /// Its name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Effort::None => "none",
            Effort::Minimal => "minimal",
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::Xhigh => "xhigh",
            Effort::Max => "max",
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Effort {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Effort::ALL.into_iter().find(|effort| effort.name() == text).ok_or(())
    }
}
