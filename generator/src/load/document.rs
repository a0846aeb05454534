//! A document in its 3.1 form, with the way back to the files it came from.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::diagnostic::Place;
use crate::source::Source;

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
    /// Where nodes came from that do not stand at the same pointer in the published document.
    origins: Origins,
}

impl Document {
    /// The node at a JSON pointer of the 3.1 form.
    #[must_use]
    pub fn get(&self, pointer: &str) -> Option<&Value> {
        self.value.pointer(pointer)
    }

    /// Where the node at a JSON pointer of the 3.1 form is written: in the published document, or in
    /// the overlay that wrote it.
    #[must_use]
    pub fn place(&self, pointer: &str) -> Place {
        self.origins.place(pointer)
    }
}

/// Maps pointers of the 3.1 form to pointers of the files. A node without an entry stands where its
/// parent's origin says.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    sources: Vec<Arc<Source>>,
    entries: BTreeMap<String, Origin>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    source: usize,
    pointer: String,
}

impl Origins {
    fn place(&self, pointer: &str) -> Place {
        let mut prefix = pointer;
        loop {
            if let Some(origin) = self.entries.get(prefix)
                && let Some(source) = self.sources.get(origin.source)
            {
                let rest = pointer.get(prefix.len()..).unwrap_or_default();
                return source.place(&format!("{}{rest}", origin.pointer));
            }
            match prefix.rfind('/') {
                Some(cut) => prefix = prefix.get(..cut).unwrap_or_default(),
                None => return Place::default(),
            }
        }
    }
}
