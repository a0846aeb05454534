//! From bytes to values, and from JSON pointers back to lines and columns.
//!
//! The only place that names a YAML crate.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::diagnostic::Place;

/// One input file, kept as text so that a finding can be given its line and column later.
#[derive(Debug)]
pub struct Source {
    label: String,
    text: String,
    /// Made by the first call of [`Source::place`].
    positions: OnceLock<HashMap<String, Position>>,
}

/// Line and column (in characters), both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
}

impl Source {
    /// A file by its path relative to the repository root, and its text.
    #[must_use]
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: text.into(),
            positions: OnceLock::new(),
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

    /// The place of a JSON pointer; of its nearest existing ancestor when nothing stands there.
    #[must_use]
    pub fn place(&self, pointer: &str) -> Place {
        let positions = self.positions.get_or_init(HashMap::new);
        let position = positions.get(pointer);
        Place {
            file: self.label.clone(),
            line: position.map_or(0, |p| p.line),
            column: position.map_or(0, |p| p.column),
            pointer: pointer.to_owned(),
            via: Vec::new(),
        }
    }
}
