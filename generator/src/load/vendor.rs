//! A published document made ready to be kept in a repository.

use std::sync::Arc;

use serde_json::Value;

use super::origin::Origins;
use super::{DocumentFacts, Files, Prose, drop_prose, facts, upgrade, whole};
use crate::diagnostic::Sink;
use crate::source::{Source, sha256_hex, to_yaml};

/// Maps of a document whose order means nothing. Properties keep theirs.
const SORTED: &[&str] = &["/paths", "/definitions", "/components/schemas"];

/// A document as it is vendored.
#[derive(Debug)]
pub struct Vendored {
    /// The YAML text: the same bytes for the same document.
    pub text: String,
    /// Facts of the document as published.
    pub facts: DocumentFacts,
}

/// Checks the document at `label`, brings in what it names in other files, and sorts its paths and
/// definitions; property order is kept.
pub fn vendor(label: &str, files: &Files, prose: Prose, sink: &mut Sink) -> Option<Vendored> {
    let bytes = files.get(label).unwrap_or_default();
    let source = Arc::new(Source::from_bytes(label, bytes, sink)?);
    let mut origins = Origins::new(Arc::clone(&source));
    let (mut value, dialect, _) = whole(&source, files, &mut origins, sink)?;
    if prose == Prose::Drop {
        drop_prose(&mut value);
    }
    let facts = facts::gather(&value, dialect, source.label(), sha256_hex(bytes));
    // For what it finds: the published form is what is kept.
    upgrade::upgrade(value.clone(), dialect, &mut origins, sink);
    for pointer in SORTED {
        if let Some(Value::Object(members)) = value.pointer_mut(pointer) {
            members.sort_keys();
        }
    }
    let text = to_yaml(&value);
    Some(Vendored { text, facts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_definitions_are_sorted_and_properties_are_not() {
        let document =
            "swagger: '2.0'\npaths: {/b: {}, /a: {}}\ndefinitions: {B: {properties: {z: {}, a: {}}}, A: {}}\n";
        let mut sink = Sink::new();
        let mut files = Files::new();
        files.insert("a.yaml", document);
        let vendored = vendor("a.yaml", &files, Prose::Keep, &mut sink).unwrap();
        assert!(sink.is_empty(), "{sink}");
        assert_eq!(
            vendored.text,
            "swagger: '2.0'\npaths:\n  /a: {}\n  /b: {}\ndefinitions:\n  A: {}\n  B:\n    properties:\n      z: {}\n      a: {}\n"
        );
        assert_eq!((vendored.facts.paths, vendored.facts.definitions), (2, 2));
    }
}
