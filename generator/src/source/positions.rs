//! Where the nodes of a file stand, recorded while it is read.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use super::{Position, pointer_tokens, push_token};

/// A container with more children than this is looked through once, and then remembered.
const WIDE: usize = 32;

/// The nodes of a file in the order of its text, parents before children. No pointer is written out: they would weigh
/// more than the file, and few are ever asked for.
#[derive(Debug, Default)]
pub(super) struct Positions {
    nodes: Vec<Node>,
    /// Nodes that are being read, outermost first.
    open: Vec<usize>,
    /// The children of wide containers that were asked for, by container and token: a thousand findings below `paths`
    /// must not walk over all paths a thousand times.
    wide: Mutex<BTreeMap<usize, HashMap<String, usize>>>,
}

#[derive(Debug)]
struct Node {
    /// The key of a member; elements have none.
    key: Option<Box<str>>,
    /// The first node behind this one and all below it.
    end: usize,
    at: At,
}

/// A place in a text: a member's is that of its key.
#[derive(Debug, Clone, Copy)]
pub(super) enum At {
    Position(Position),
    /// Bytes from the start of the text.
    Offset(usize),
}

impl Positions {
    /// A node begins inside the one that is open.
    pub(super) fn enter(&mut self, key: Option<&str>, at: At) {
        self.open.push(self.nodes.len());
        self.nodes.push(Node { key: key.map(Into::into), end: usize::MAX, at });
    }

    /// The node that is open ends.
    pub(super) fn leave(&mut self) {
        let end = self.nodes.len();
        if let Some(node) = self.open.pop().and_then(|at| self.nodes.get_mut(at)) {
            node.end = end;
        }
    }

    /// The node that is open ends, and counts for nothing: another one has its pointer.
    pub(super) fn forget(&mut self) {
        if let Some(at) = self.open.pop() {
            self.nodes.truncate(at);
        }
    }

    /// The JSON pointer of the node that is open.
    pub(super) fn pointer(&self) -> String {
        let mut pointer = String::new();
        for pair in self.open.windows(2) {
            let [parent, child] = pair else { continue };
            match self.nodes.get(*child).and_then(|node| node.key.as_deref()) {
                Some(key) => push_token(&mut pointer, key),
                None => {
                    let before = self.children(*parent).take_while(|at| at < child).count();
                    push_token(&mut pointer, &before.to_string());
                }
            }
        }
        pointer
    }

    /// The place of a pointer's node, or of its nearest ancestor.
    pub(super) fn nearest(&self, pointer: &str) -> Option<At> {
        let mut at = 0;
        for token in pointer_tokens(pointer) {
            match self.child(at, &token) {
                Some(child) => at = child,
                None => break,
            }
        }
        self.nodes.get(at).map(|node| node.at)
    }

    fn child(&self, parent: usize, token: &str) -> Option<usize> {
        let is_child = |(ordinal, at): &(usize, usize)| match self.nodes.get(*at).and_then(|node| node.key.as_deref()) {
            Some(key) => key == token,
            None => token.parse() == Ok(*ordinal),
        };
        let mut near = self.children(parent).enumerate().take(WIDE + 1);
        let mut seen = 0;
        let found = near.by_ref().inspect(|_| seen += 1).find(is_child).map(|(_, at)| at);
        if found.is_some() || seen <= WIDE { found } else { self.child_of_wide(parent, token) }
    }

    fn child_of_wide(&self, parent: usize, token: &str) -> Option<usize> {
        let mut wide = self.wide.lock().unwrap_or_else(PoisonError::into_inner);
        let by_token = wide.entry(parent).or_insert_with(|| {
            let name = |ordinal: usize, at: usize| match self.nodes.get(at).and_then(|node| node.key.as_deref()) {
                Some(key) => key.to_owned(),
                None => ordinal.to_string(),
            };
            self.children(parent).enumerate().map(|(ordinal, at)| (name(ordinal, at), at)).collect()
        });
        by_token.get(token).copied()
    }

    fn children(&self, parent: usize) -> impl Iterator<Item = usize> {
        let end_of = |at: usize| self.nodes.get(at).map_or(0, |node| node.end.min(self.nodes.len()));
        let end = end_of(parent);
        let first = Some(parent + 1).filter(|first| *first < end);
        std::iter::successors(first, move |at| Some(end_of(*at)).filter(|next| *next < end && next > at))
    }
}
