//! What references mean: pointers, anchors, and words of older dialects for them.

use serde_json::Value;

use super::{DEFINITIONS, Lowering};
use crate::load::{anchors, percent_decoded};
use crate::model::schema::Schema;
use crate::pass::join;

/// Of a long chain of references this many are told; all of them would be more than the document.
const MAX_HOPS_TOLD: usize = 16;

/// A type's name: that of a definition, or the pointer of any other node.
pub(in crate::pass) fn name_of(pointer: &str) -> String {
    match pointer.strip_prefix(DEFINITIONS) {
        Some(name) if !name.contains('/') => name.replace("~1", "/").replace("~0", "~"),
        _ => pointer.to_owned(),
    }
}

pub(super) fn pointer_of(name: &str) -> String {
    if name.starts_with('/') { name.to_owned() } else { join(DEFINITIONS.trim_end_matches('/'), name) }
}

/// The outermost schema around a node: a definition, or the value of the first `schema` on the way to the node.
fn schema_root(pointer: &str) -> &str {
    let ends: Vec<usize> = pointer.match_indices('/').map(|(at, _)| at).skip(1).chain([pointer.len()]).collect();
    let upto = |end: &usize| pointer.get(..*end).unwrap_or(pointer);
    if pointer.starts_with(DEFINITIONS) {
        return ends.get(2).map_or(pointer, upto);
    }
    let is_schema = |end: &&usize| upto(end).ends_with("/schema") || upto(end).ends_with("/itemSchema");
    ends.iter().find(is_schema).map_or(pointer, upto)
}

/// A JSON pointer as a URI fragment, as far as reading it back needs (RFC 6901 section 6).
pub(super) fn uri_fragment(pointer: &str) -> String {
    pointer.replace('%', "%25")
}

impl Lowering<'_> {
    pub(super) fn reference(&mut self, schema: &mut Schema, reference: &str, pointer: &str) {
        let fragment = reference.strip_prefix('#').map(percent_decoded);
        match fragment.map(|fragment| self.target(fragment, pointer)) {
            Some(target) if self.document.get(&target).is_some() => {
                let name = name_of(&target);
                if !self.done.contains(&name) {
                    let told = self.via.iter().take(MAX_HOPS_TOLD - 1).cloned();
                    let via = told.chain([reference.to_owned()]);
                    self.wanted.entry(name.clone()).or_insert_with(|| via.collect());
                }
                schema.reference = Some(name);
            }
            _ if self.document.is_reported(reference) => {}
            _ => {
                let message = format!("`{reference}` leads nowhere and was read as any value");
                let help = "point it at a schema of this document, such as `#/components/schemas/Name`";
                self.warn("dangling-reference", pointer, message, help.to_owned());
            }
        }
    }

    /// The pointer that a fragment means: itself, that of an anchor of the same schema, or that of any other. `#` alone is
    /// the document, which is no schema: who writes it means the schema around.
    fn target(&mut self, fragment: String, pointer: &str) -> String {
        let root = schema_root(pointer);
        if fragment.is_empty() {
            let message = "`#` is the whole document; it was read as the schema that it stands in";
            let help = format!("write `#{root}`");
            self.warn("reference-to-document", pointer, message.to_owned(), help);
            return root.to_owned();
        }
        if let Some(target) = self.renamed(&fragment) {
            if !std::mem::replace(&mut self.told_definitions, true) {
                let message =
                    format!("`#{fragment}` has the form of Swagger 2.0; it was read as `#{target}`, and so are others");
                self.warn("old-word", pointer, message, format!("write `#{target}`, or leave it as it is"));
            }
            return target;
        }
        if fragment.starts_with('/') {
            return fragment;
        }
        let document = self.document;
        let named = self.anchors.get_or_init(|| anchors(&document.value)).get(fragment.as_str());
        let is_inside =
            |at: &&String| at.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let nearest = named.and_then(|found| found.iter().find(is_inside).or(found.first()));
        nearest.cloned().unwrap_or(fragment)
    }

    /// Where a definition stands in OpenAPI 3 that a reference names as in Swagger 2.0.
    fn renamed(&self, fragment: &str) -> Option<String> {
        let target = format!("{DEFINITIONS}{}", fragment.strip_prefix("/definitions/")?);
        let is_there = self.document.get(fragment).is_none() && self.document.get(&target).is_some();
        is_there.then_some(target)
    }

    /// What `$recursiveRef: "#"` means (JSON Schema 2019-09 section 8.2.4.2): the nearest schema around it that has
    /// `$recursiveAnchor: true`, else the whole schema that it stands in.
    pub(super) fn recursive_anchor(&self, pointer: &str) -> String {
        let root = schema_root(pointer);
        let mut at = pointer;
        while at.len() > root.len() {
            let node = self.document.get(at);
            if node.and_then(|node| node.get("$recursiveAnchor")) == Some(&Value::Bool(true)) {
                return at.to_owned();
            }
            at = at.rsplit_once('/').map_or(root, |(parent, _)| parent);
        }
        root.to_owned()
    }
}
