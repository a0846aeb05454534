//! Finds types that reach themselves (strongly connected components, after Tarjan 1972, without recursion on the stack).

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Model;

pub(super) fn recursion(model: &mut Model) {
    let edges: BTreeMap<&str, BTreeSet<&str>> = model
        .types
        .iter()
        .map(|(name, schema)| {
            let mut targets = BTreeSet::new();
            schema.walk(&mut |inner| targets.extend(inner.reference.as_deref()));
            (name.as_str(), targets)
        })
        .collect();
    model.recursive = cycles(&edges).into_keys().map(str::to_owned).collect();
}

/// Nodes on some cycle, each with the number of its component: two nodes lead to each other where the numbers agree.
pub(crate) fn cycles<'n>(edges: &BTreeMap<&'n str, BTreeSet<&'n str>>) -> BTreeMap<&'n str, usize> {
    let mut search = Search::default();
    for start in edges.keys() {
        search.from(start, edges);
    }
    search.cycles
}

#[derive(Default)]
struct Search<'n> {
    next: usize,
    index: BTreeMap<&'n str, usize>,
    low: BTreeMap<&'n str, usize>,
    open: Vec<&'n str>,
    /// The same nodes, to be asked for.
    is_open: BTreeSet<&'n str>,
    cycles: BTreeMap<&'n str, usize>,
}

impl<'n> Search<'n> {
    fn from(&mut self, start: &'n str, edges: &BTreeMap<&'n str, BTreeSet<&'n str>>) {
        if self.index.contains_key(start) {
            return;
        }
        let none = BTreeSet::new();
        let mut path: Vec<(&'n str, Vec<&'n str>)> = vec![(self.enter(start), targets(edges, start, &none))];
        while let Some((node, rest)) = path.last_mut() {
            let node = *node;
            match rest.pop() {
                Some(target) if !self.index.contains_key(target) => {
                    path.push((self.enter(target), targets(edges, target, &none)));
                }
                Some(target) => {
                    if self.is_open.contains(target) {
                        let reached = self.index.get(target).copied().unwrap_or(usize::MAX);
                        self.lower(node, reached);
                    }
                }
                None => {
                    path.pop();
                    self.leave(node, edges);
                    if let Some((parent, _)) = path.last() {
                        let low = self.low.get(node).copied().unwrap_or(usize::MAX);
                        self.lower(parent, low);
                    }
                }
            }
        }
    }

    fn enter(&mut self, node: &'n str) -> &'n str {
        self.index.insert(node, self.next);
        self.low.insert(node, self.next);
        self.next += 1;
        self.open.push(node);
        self.is_open.insert(node);
        node
    }

    fn lower(&mut self, node: &'n str, to: usize) {
        if let Some(low) = self.low.get_mut(node) {
            *low = (*low).min(to);
        }
    }

    /// Closes a component when its first node is left.
    fn leave(&mut self, node: &'n str, edges: &BTreeMap<&'n str, BTreeSet<&'n str>>) {
        if self.low.get(node) != self.index.get(node) {
            return;
        }
        // From the end, where it is near: a chain of references would be walked once for each of its nodes.
        let Some(start) = self.open.iter().rposition(|open| *open == node) else { return };
        let component = self.open.split_off(start);
        component.iter().for_each(|inner| _ = self.is_open.remove(inner));
        let refers_to_itself = edges.get(node).is_some_and(|targets| targets.contains(node));
        if component.len() > 1 || refers_to_itself {
            // A component is numbered by the node at which the search entered it.
            let number = self.index.get(node).copied().unwrap_or_default();
            self.cycles.extend(component.into_iter().map(|inner| (inner, number)));
        }
    }
}

fn targets<'n>(edges: &BTreeMap<&'n str, BTreeSet<&'n str>>, node: &str, none: &BTreeSet<&'n str>) -> Vec<&'n str> {
    edges.get(node).unwrap_or(none).iter().rev().copied().collect()
}
