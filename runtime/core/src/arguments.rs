//! Checks a call's arguments before any I/O.
//!
//! [`Checker`] holds one tool's compiled schema; it is made once per tool, on first use, and shared by all calls.

use serde_json::{Map, Value};

/// One violation of the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// The JSON Schema keyword that was violated, such as `required`.
    pub keyword: String,
    /// JSON pointer of the value at fault, within the arguments.
    pub pointer: String,
    /// One sentence: what is wrong and what is allowed.
    pub message: String,
    /// What was given, cut short.
    pub input: Value,
}

/// Why arguments were refused: every violation at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The violations, in the order of the schema.
    pub violations: Vec<Violation>,
}

/// Arguments that may be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// The arguments, coerced where the schema left no doubt.
    pub arguments: Map<String, Value>,
    /// What was coerced or is unknown to the document.
    pub warnings: Vec<String>,
}
