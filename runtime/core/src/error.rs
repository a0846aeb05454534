//! What can go wrong with a call, by a stable code.

use serde::Serialize;

/// The stable code of a failure, part of the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The arguments do not match the tool's schema.
    InvalidArguments,
    /// No tool has that name.
    UnknownTool,
    /// The tool is listed and must be called by its own name.
    CallDirectly,
    /// A setting forbids the call.
    NotAllowed,
    /// A file input was refused.
    FileRefused,
    /// A limit on size was exceeded.
    TooLarge,
    /// The real server has no such route.
    NoRoute,
    /// The upstream answered with an error.
    UpstreamError,
    /// The upstream could not be reached, or broke off.
    UpstreamUnreachable,
    /// The deadline passed.
    Deadline,
    /// The caller cancelled.
    Cancelled,
    /// Code of the server's own failed: a native tool's handler.
    HandlerFailed,
    /// The client cannot do what the call needs of it, such as ask a person.
    MissingCapability,
    /// The call waits for answers of its client, which makes it again with them. No result has this code.
    InputRequired,
}

impl Code {
    /// Its name, as in the envelope, in counts and in traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Code::InvalidArguments => "invalid_arguments",
            Code::UnknownTool => "unknown_tool",
            Code::CallDirectly => "call_directly",
            Code::NotAllowed => "not_allowed",
            Code::FileRefused => "file_refused",
            Code::TooLarge => "too_large",
            Code::NoRoute => "no_route",
            Code::UpstreamError => "upstream_error",
            Code::UpstreamUnreachable => "upstream_unreachable",
            Code::Deadline => "deadline",
            Code::Cancelled => "cancelled",
            Code::HandlerFailed => "handler_failed",
            Code::MissingCapability => "missing_capability",
            Code::InputRequired => "input_required",
        }
    }
}

/// A failed call: one sentence and a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// The stable code.
    pub code: Code,
    /// One sentence: what happened and what to do.
    pub message: String,
}

impl ToolError {
    /// An error of that code.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        ToolError { code, message: message.into() }
    }

    /// A `handler_failed` error: what a handler answers where none of the other codes fits.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        ToolError::new(Code::HandlerFailed, message)
    }

    /// An `invalid_arguments` error.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        ToolError::new(Code::InvalidArguments, message)
    }
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ToolError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_the_same_name_everywhere() {
        for code in [Code::InvalidArguments, Code::CallDirectly, Code::UpstreamUnreachable, Code::InputRequired] {
            assert_eq!(serde_json::json!(code), code.name());
        }
    }
}
