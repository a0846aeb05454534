//! The way back from the 3.1 form to the files that its nodes were written in.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::Place;
use crate::source::{Source, child_pointer};

/// Maps pointers of the 3.1 form to pointers of the files. A node without an entry stands where its
/// parent's origin says, so only nodes that moved have one.
#[derive(Debug)]
pub(super) struct Origins {
    sources: Vec<Arc<Source>>,
    entries: BTreeMap<String, Origin>,
    /// The entries when the document was complete, before its upgrade.
    published: BTreeMap<String, Origin>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    source: usize,
    pointer: String,
}

impl Origins {
    /// Every node stands at its own pointer of the document.
    pub(super) fn new(document: Arc<Source>) -> Self {
        let root = Origin { source: 0, pointer: String::new() };
        let entries = BTreeMap::from([(String::new(), root)]);
        Self { sources: vec![document], published: entries.clone(), entries }
    }

    /// From here on, [`Self::moved`] speaks of the document as it is now.
    pub(super) fn publish(&mut self) {
        self.published = self.entries.clone();
    }

    /// Adds a file, and returns its number for [`Self::written`].
    pub(super) fn add(&mut self, source: Arc<Source>) -> usize {
        self.sources.push(source);
        self.sources.len() - 1
    }

    /// Says that the node at `to`, with all below it, stood at `from` before the upgrade.
    pub(super) fn moved(&mut self, to: impl Into<String>, from: impl AsRef<str>) {
        let (to, from) = (to.into(), from.as_ref());
        let Some(origin) = origin_in(&self.published, from) else {
            return;
        };
        let below = format!("{from}/");
        for (pointer, origin) in self.published.range(below.clone()..) {
            let Some(rest) = pointer.strip_prefix(&below) else {
                break;
            };
            self.entries.insert(format!("{to}/{rest}"), origin.clone());
        }
        self.entries.insert(to, origin);
    }

    /// Says that the node at `to`, with all below it, was written by `from` in a file.
    pub(super) fn written(&mut self, to: &str, source: usize, from: &str) {
        self.forget(to);
        let origin = Origin { source, pointer: from.to_owned() };
        self.entries.insert(to.to_owned(), origin);
    }

    /// Forgets a node and all below it.
    pub(super) fn forget(&mut self, pointer: &str) {
        self.take_subtree(pointer);
    }

    /// Says that element `removed` of an array is gone, which had `length` elements.
    pub(super) fn element_removed(&mut self, array: &str, removed: usize, length: usize) {
        self.forget(&child_pointer(array, &removed.to_string()));
        for index in removed + 1..length {
            let old = child_pointer(array, &index.to_string());
            let new = child_pointer(array, &(index - 1).to_string());
            let own = self.origin(&old);
            for (pointer, origin) in self.take_subtree(&old) {
                let rest = pointer.get(old.len()..).unwrap_or_default();
                self.entries.insert(format!("{new}{rest}"), origin);
            }
            if let Some(own) = own {
                self.entries.insert(new, own);
            }
        }
    }

    fn take_subtree(&mut self, pointer: &str) -> Vec<(String, Origin)> {
        let below = format!("{pointer}/");
        let mut keys: Vec<String> = self
            .entries
            .range(below.clone()..)
            .take_while(|(key, _)| key.starts_with(&below))
            .map(|(key, _)| key.clone())
            .collect();
        keys.push(pointer.to_owned());
        keys.into_iter().filter_map(|key| self.entries.remove_entry(&key)).collect()
    }

    fn origin(&self, pointer: &str) -> Option<Origin> {
        origin_in(&self.entries, pointer)
    }

    /// The place where the node at a pointer of the 3.1 form is written.
    pub(super) fn place(&self, pointer: &str) -> Place {
        self.origin(pointer)
            .and_then(|origin| Some(self.sources.get(origin.source)?.place(&origin.pointer)))
            .unwrap_or_default()
    }
}

fn origin_in(entries: &BTreeMap<String, Origin>, pointer: &str) -> Option<Origin> {
    let mut prefix = pointer;
    loop {
        if let Some(origin) = entries.get(prefix) {
            let rest = pointer.get(prefix.len()..).unwrap_or_default();
            return Some(Origin { source: origin.source, pointer: format!("{}{rest}", origin.pointer) });
        }
        prefix = prefix.rsplit_once('/')?.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(origins: &Origins, of: &str) -> String {
        origins.place(of).pointer
    }

    #[test]
    fn children_follow_their_parents() {
        let mut origins = Origins::new(Arc::new(Source::new("a.yaml", "")));
        origins.moved("/components/schemas", "/definitions");
        assert_eq!(pointer(&origins, "/components/schemas/A/type"), "/definitions/A/type");
        assert_eq!(pointer(&origins, "/info"), "/info");
    }

    #[test]
    fn elements_behind_a_removed_one_keep_their_places() {
        let mut origins = Origins::new(Arc::new(Source::new("a.yaml", "")));
        origins.moved("/list/2/x", "/elsewhere");
        origins.element_removed("/list", 0, 3);
        assert_eq!(pointer(&origins, "/list/0"), "/list/1");
        assert_eq!(pointer(&origins, "/list/1/y"), "/list/2/y");
        assert_eq!(pointer(&origins, "/list/1/x"), "/elsewhere");
    }
}
