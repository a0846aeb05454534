//! A published document made ready to be kept in a repository.

use serde_json::Value;

use super::{DocumentFacts, Prose, Published, drop_prose};
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

/// Checks a document and sorts its paths and definitions; property order is kept.
pub fn vendor(label: &str, bytes: &[u8], prose: Prose, sink: &mut Sink) -> Option<Vendored> {
    let source = Source::from_bytes(label, bytes, sink)?;
    let mut value = source.read(sink)?;
    let facts = Published::read(source.into(), sha256_hex(bytes), prose, sink)?.facts;
    if prose == Prose::Drop {
        drop_prose(&mut value);
    }
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
        let vendored = vendor("a.yaml", document.as_bytes(), Prose::Keep, &mut sink).unwrap();
        assert!(sink.is_empty(), "{sink}");
        assert_eq!(
            vendored.text,
            "swagger: '2.0'\npaths:\n  /a: {}\n  /b: {}\ndefinitions:\n  A: {}\n  B:\n    properties:\n      z: {}\n      a: {}\n"
        );
        assert_eq!((vendored.facts.paths, vendored.facts.definitions), (2, 2));
    }
}
