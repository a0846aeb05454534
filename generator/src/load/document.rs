//! A document in its 3.1 form, with the way back to the files it came from.

use std::collections::BTreeSet;

use serde_json::Value;

use super::origin::Origins;
use crate::diagnostic::Place;

/// Which language a published document is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Swagger 2.0.
    Swagger2,
    /// OpenAPI 3.0.x.
    OpenApi30,
    /// OpenAPI 3.1.x.
    OpenApi31,
    /// OpenAPI 3.2.x.
    OpenApi32,
}

impl Dialect {
    /// The name for people, such as `OpenAPI 3.0`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Swagger2 => "Swagger 2.0",
            Self::OpenApi30 => "OpenAPI 3.0",
            Self::OpenApi31 => "OpenAPI 3.1",
            Self::OpenApi32 => "OpenAPI 3.2",
        }
    }
}

/// Facts of the document as published, before upgrade and overlays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentFacts {
    /// Path of the file, relative to the repository root.
    pub file: String,
    /// SHA-256 of the file's bytes, lower-case hex.
    pub sha256: String,
    /// The language it is written in.
    pub dialect: Dialect,
    /// `info.title`, empty when absent or dropped.
    pub title: String,
    /// `info.version`, empty when absent.
    pub version: String,
    /// Number of path items.
    pub paths: usize,
    /// Number of operations in these path items.
    pub operations: usize,
    /// Number of `definitions` or `components.schemas`.
    pub definitions: usize,
}

/// A document in its OpenAPI 3.1 form, overlays applied.
#[derive(Debug)]
pub struct Document {
    /// The 3.1 form. Key order is the document's.
    pub value: Value,
    /// Facts of the published form.
    pub facts: DocumentFacts,
    /// The 3.1 form before overlays, where there are any.
    declared: Option<Value>,
    /// Where nodes came from that do not stand at the same pointer in the published document.
    origins: Origins,
    /// References to other files that lead to nothing, which was reported.
    unread: BTreeSet<String>,
}

impl Document {
    pub(super) fn new(
        value: Value,
        declared: Option<Value>,
        facts: DocumentFacts,
        origins: Origins,
        unread: BTreeSet<String>,
    ) -> Self {
        Self { value, facts, declared, origins, unread }
    }

    /// Whether a reference leads to nothing in another file, which was reported when the files were read.
    #[must_use]
    pub(crate) fn is_reported(&self, reference: &str) -> bool {
        self.unread.contains(reference)
    }

    /// The node at a JSON pointer of the 3.1 form.
    #[must_use]
    pub fn get(&self, pointer: &str) -> Option<&Value> {
        self.value.pointer(pointer)
    }

    /// The 3.1 form before overlays: what the document itself declares.
    #[must_use]
    pub fn declared(&self) -> &Value {
        self.declared.as_ref().unwrap_or(&self.value)
    }

    /// Whether the node at a JSON pointer is as the document declares it: overlays left it alone.
    #[must_use]
    pub fn is_as_declared(&self, pointer: &str) -> bool {
        self.declared.as_ref().is_none_or(|declared| declared.pointer(pointer) == self.get(pointer))
    }

    /// Where the node at a JSON pointer of the 3.1 form is written: in the published document, or in
    /// the overlay that wrote it.
    #[must_use]
    pub fn place(&self, pointer: &str) -> Place {
        self.origins.place(pointer)
    }
}
