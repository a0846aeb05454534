//! From bytes to values, and from JSON pointers back to lines and columns.
//!
//! The only place that names a YAML crate. YAML is read from parser events rather than through serde:
//! one walk then gives digit-exact numbers, merged `<<` keys, duplicate keys and places.

mod encoding;
mod json;
mod offsets;
mod positions;
mod repair;
mod write;
mod yaml;

use std::sync::OnceLock;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::diagnostic::{Diagnostic, Place, Severity, Sink};

use offsets::Offsets;
use positions::{At, Positions};

pub use write::to_yaml;

/// Containers may be nested this deep. The limit is that of `serde_json`, so both formats agree.
const MAX_DEPTH: usize = 127;

/// Faults of one kind or file are listed one by one up to this number; the others are counted.
const MAX_FAULTS: usize = 100;

const DEEP_HELP: &str = "flatten it, or refer to inner parts with `$ref`";

fn too_deep() -> String {
    format!("this is nested deeper than {MAX_DEPTH} levels, and was read as empty")
}

/// One input file, kept as text so that a finding can be given its line and column later.
#[derive(Debug)]
pub struct Source {
    label: String,
    text: String,
    /// Made by the first reading.
    positions: OnceLock<Positions>,
    /// Made when the first offset becomes a line and a column.
    offsets: OnceLock<Offsets>,
}

/// What a text says.
struct Parsed {
    /// `None` where it cannot be read.
    value: Option<Value>,
    faults: Vec<Fault>,
    positions: Positions,
}

/// Line and column (in characters), both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
}

/// Something wrong inside a file, before it has a [`Place`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    code: &'static str,
    message: String,
    position: Position,
    pointer: String,
    help: &'static str,
}

impl Source {
    /// A file by its path relative to the repository root, and its text.
    #[must_use]
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: label.into(), text: text.into(), positions: OnceLock::new(), offsets: OnceLock::new() }
    }

    /// A file from its bytes: UTF-8 (RFC 8259 section 8.1), or UTF-16. What is no text of a document is an error that says
    /// what it is instead.
    pub fn from_bytes(label: impl Into<String>, bytes: &[u8], sink: &mut Sink) -> Option<Self> {
        let label = label.into();
        match encoding::decode(bytes) {
            Ok(text) => Some(Self::new(label, text)),
            Err(fault) => {
                sink.push(fault.told(&label, Severity::Error));
                None
            }
        }
    }

    /// Path relative to the repository root.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads the value of a file that an author here wrote, as JSON or YAML. Every fault is an error.
    ///
    /// Returns `None` when the text cannot be read at all; the reason is in `sink`.
    pub fn read(&self, sink: &mut Sink) -> Option<Value> {
        self.read_telling(Severity::Error, sink)
    }

    /// As [`Self::read`], for a published document: a fault that costs only its own part is a warning. Of keys that are
    /// there twice the first one counts; a number that is not finite and a `<<` that merges no mapping are left out; half a
    /// surrogate pair becomes U+FFFD; and what is nested too deeply is empty.
    pub fn read_published(&self, sink: &mut Sink) -> Option<Value> {
        self.read_telling(Severity::Warning, sink)
    }

    fn read_telling(&self, severity: Severity, sink: &mut Sink) -> Option<Value> {
        let Parsed { value, faults, positions } = self.parse();
        let severity = if value.is_none() { Severity::Error } else { severity };
        for fault in faults {
            sink.push(fault.told(&self.label, severity));
        }
        // A second reading finds the same places.
        let _ = self.positions.set(positions);
        value
    }

    fn parse(&self) -> Parsed {
        if !self.may_be_json() {
            return yaml::read(&self.text);
        }
        let fault = match json::read(&self.text) {
            Ok(parsed) => return parsed,
            Err(fault) => fault,
        };
        // A flow mapping at the top of a YAML file looks like JSON at first.
        if !self.is_named_json() && fault.code == "invalid-json" {
            return yaml::read(&self.text);
        }
        Parsed { value: None, faults: vec![fault], positions: Positions::default() }
    }

    fn is_named_json(&self) -> bool {
        self.label.ends_with(".json")
    }

    fn may_be_json(&self) -> bool {
        self.is_named_json() || self.text.trim_start().starts_with(['{', '['])
    }

    /// The place of a JSON pointer: line and column of its nearest existing ancestor when nothing
    /// stands there. A member is placed at its key.
    #[must_use]
    pub fn place(&self, pointer: &str) -> Place {
        let position = self.positions.get_or_init(|| self.parse().positions).nearest(pointer).map(|at| match at {
            At::Position(position) => position,
            At::Offset(offset) => self.offsets.get_or_init(|| Offsets::of(&self.text)).position(&self.text, offset),
        });
        Place {
            file: self.label.clone(),
            line: position.map_or(0, |p| p.line),
            column: position.map_or(0, |p| p.column),
            pointer: pointer.to_owned(),
            via: Vec::new(),
        }
    }
}

impl Fault {
    /// The finding for people.
    fn told(self, label: &str, severity: Severity) -> Diagnostic {
        let Position { line, column } = self.position;
        let place = Place { file: label.to_owned(), line, column, pointer: self.pointer, via: Vec::new() };
        Diagnostic { severity, ..Diagnostic::error(self.code, self.message) }.at(place).help(self.help)
    }

    fn lone_surrogate(position: Position) -> Self {
        Fault {
            code: "lone-surrogate",
            message: "this escape is half of a surrogate pair, and was read as U+FFFD".to_owned(),
            position,
            pointer: String::new(),
            help: "write both halves, or the character itself",
        }
    }

    /// For the faults beyond [`MAX_FAULTS`], where there are any.
    fn unlisted(count: usize) -> Option<Self> {
        (count > 0).then(|| Fault {
            code: "more-faults",
            message: format!("{count} more faults like these are not listed"),
            position: Position { line: 1, column: 1 },
            pointer: String::new(),
            help: "correct those that are, then look again",
        })
    }
}

/// The text of a file, where it is one.
pub(crate) fn decoded(bytes: &[u8]) -> Option<std::borrow::Cow<'_, str>> {
    encoding::decode(bytes).ok()
}

/// SHA-256 of some bytes as lower-case hex.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Appends one reference token to a JSON pointer (RFC 6901 section 3).
pub(crate) fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    for c in token.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// A JSON pointer with one more reference token.
#[must_use]
pub fn child_pointer(pointer: &str, token: &str) -> String {
    let mut child = String::with_capacity(pointer.len() + token.len() + 1);
    child.push_str(pointer);
    push_token(&mut child, token);
    child
}

/// The reference tokens of a JSON pointer, unescaped.
pub fn pointer_tokens(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
mod tests;
