//! From bytes to values, and from JSON pointers back to lines and columns.
//!
//! The only place that names a YAML crate. YAML is read from parser events rather than through serde:
//! one walk then gives digit-exact numbers, merged `<<` keys, duplicate keys and places.

mod json;
mod offsets;
mod positions;
mod write;
mod yaml;

use std::sync::OnceLock;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::diagnostic::{Diagnostic, Place, Sink};

use offsets::Offsets;
use positions::{At, Positions};

pub use write::to_yaml;

/// Containers may be nested this deep. The limit is that of `serde_json`, so both formats agree.
const MAX_DEPTH: usize = 127;

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

    /// A file from its bytes, which must be UTF-8 (RFC 8259 section 8.1); a byte order mark is taken off.
    pub fn from_bytes(label: impl Into<String>, bytes: &[u8], sink: &mut Sink) -> Option<Self> {
        let label = label.into();
        match std::str::from_utf8(bytes) {
            Ok(text) => Some(Self::new(label, text.strip_prefix('\u{feff}').unwrap_or(text))),
            Err(error) => {
                let before = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
                let Position { line, column } = Offsets::of(&before).position(&before, before.len());
                let place = Place { line, column, ..Place::of_file(label) };
                sink.push(
                    Diagnostic::error("not-utf8", "this byte is not UTF-8").at(place).help("save the file as UTF-8"),
                );
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

    /// Reads the value, as JSON or YAML. Duplicate keys are reported and the first one is kept.
    ///
    /// Returns `None` when the text cannot be read at all; the reason is in `sink`.
    pub fn read(&self, sink: &mut Sink) -> Option<Value> {
        let Parsed { value, faults, positions } = self.parse();
        for fault in faults {
            sink.push(self.diagnose(fault));
        }
        // A second reading finds the same places.
        let _ = self.positions.set(positions);
        value
    }

    fn parse(&self) -> Parsed {
        if !self.may_be_json() {
            return yaml::read(&self.text);
        }
        match json::read(&self.text) {
            Ok(parsed) => parsed,
            // A flow mapping at the top of a YAML file looks like JSON at first.
            Err(_) if !self.is_named_json() => yaml::read(&self.text),
            Err(fault) => Parsed { value: None, faults: vec![fault], positions: Positions::default() },
        }
    }

    fn is_named_json(&self) -> bool {
        self.label.ends_with(".json")
    }

    fn may_be_json(&self) -> bool {
        self.is_named_json() || self.text.trim_start().starts_with(['{', '['])
    }

    fn diagnose(&self, fault: Fault) -> Diagnostic {
        Diagnostic::error(fault.code, fault.message)
            .at(Place {
                file: self.label.clone(),
                line: fault.position.line,
                column: fault.position.column,
                pointer: fault.pointer,
                via: Vec::new(),
            })
            .help(fault.help)
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
