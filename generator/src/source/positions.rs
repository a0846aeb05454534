//! Where the nodes of a file stand, recorded while it is read.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::{Position, pointer_tokens, push_token};

/// The nodes of a file in the order of its text, parents before children. No pointer is written out: they would weigh
/// more than the file, and few are ever asked for.
#[derive(Debug, Default)]
pub(super) struct Positions {
    nodes: Vec<Node>,
    /// Nodes that are being read, outermost first.
    open: Vec<usize>,
    /// The children of wide nodes, members sorted by key. Made when the first place is asked for.
    wide: OnceLock<HashMap<usize, Vec<usize>>>,
}

/// Of nodes with more children than this, one is looked up instead of searched for.
const WIDE: usize = 64;

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
        if let Some(children) = self.wide().get(&parent) {
            let first = children.first().and_then(|at| self.key(*at));
            return match first {
                Some(_) => {
                    let found = children.binary_search_by(|at| self.key(*at).cmp(&Some(token))).ok()?;
                    children.get(found).copied()
                }
                None => children.get(token.parse::<usize>().ok()?).copied(),
            };
        }
        let is_child = |(ordinal, at): &(usize, usize)| match self.key(*at) {
            Some(key) => key == token,
            None => token.parse() == Ok(*ordinal),
        };
        self.children(parent).enumerate().find(is_child).map(|(_, at)| at)
    }

    fn key(&self, at: usize) -> Option<&str> {
        self.nodes.get(at)?.key.as_deref()
    }

    fn wide(&self) -> &HashMap<usize, Vec<usize>> {
        self.wide.get_or_init(|| {
            let wide = |parent: usize| self.children(parent).nth(WIDE).is_some();
            let sorted = |parent: usize| {
                let mut children: Vec<usize> = self.children(parent).collect();
                // Elements have no keys, and stay as they are.
                children.sort_by_key(|at| self.key(*at));
                (parent, children)
            };
            (0..self.nodes.len()).filter(|parent| wide(*parent)).map(sorted).collect()
        })
    }

    fn children(&self, parent: usize) -> impl Iterator<Item = usize> {
        let end_of = |at: usize| self.nodes.get(at).map_or(0, |node| node.end.min(self.nodes.len()));
        let end = end_of(parent);
        let first = Some(parent + 1).filter(|first| *first < end);
        std::iter::successors(first, move |at| Some(end_of(*at)).filter(|next| *next < end && next > at))
    }
}
