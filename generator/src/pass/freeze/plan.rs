//! Decides which types a schema writes in place and which it keeps under `$defs`.

use std::collections::{BTreeMap, BTreeSet};

use super::reach::Reach;
use crate::model::schema::Schema;

/// Written in place, a schema may grow to this multiple of its size with shared `$defs`.
const MAX_GROWTH: usize = 2;

/// A type that nests this many schemas, with everything written in place, stands under `$defs` itself.
const MAX_NESTING: usize = 24;

/// Which types stand under `$defs`, and by which key.
#[derive(Debug, Default)]
pub(super) struct Plan<'m> {
    keys: BTreeMap<String, String>,
    types: BTreeMap<&'m str, &'m Schema>,
}

impl<'m> Plan<'m> {
    /// Cycles stay references; the rest is written in place where that does not double the size.
    pub(super) fn new(
        recursive: &BTreeSet<String>,
        reach: Reach<'m>,
        roots: impl Iterator<Item = &'m Schema> + Clone,
    ) -> Self {
        let reached = reach.types;
        let mut shared: BTreeSet<&str> = reached.keys().copied().filter(|name| recursive.contains(*name)).collect();
        let mut sizes = BTreeMap::new();
        for name in inner_first(&reached) {
            let size = reached.get(name).map_or(0, |schema| weight(schema, &sizes));
            sizes.insert(name, size);
        }
        let inline: usize = roots.clone().map(|root| weight(root, &sizes)).fold(0, usize::saturating_add);
        let once: usize = reached.values().map(|schema| own_weight(schema)).sum::<usize>()
            + roots.clone().map(own_weight).sum::<usize>();
        if inline >= MAX_GROWTH * once {
            shared.extend(used_twice(&reached, roots));
        }
        shared.extend(too_deep(&reached, &shared));
        shared.retain(|name| reached.contains_key(name));
        Plan { keys: keys(&shared), types: reached }
    }

    /// The type of that name; `None` where it is left out, or where there is none.
    pub(super) fn target(&self, name: &str) -> Option<&'m Schema> {
        self.types.get(name).copied()
    }

    /// The key under `$defs`, where the type stands there.
    pub(super) fn key(&self, name: &str) -> Option<&str> {
        self.keys.get(name).map(String::as_str)
    }
}

fn used_twice<'m>(reached: &BTreeMap<&'m str, &'m Schema>, roots: impl Iterator<Item = &'m Schema>) -> Vec<&'m str> {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for schema in reached.values().copied().chain(roots) {
        schema.walk(&mut |inner| {
            if let Some(name) = inner.reference.as_deref() {
                *uses.entry(name).or_default() += 1;
            }
        });
    }
    uses.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect()
}

/// Types under which too many others would be written in place: parsers refuse what nests deeper than 128 levels.
fn too_deep<'m>(reached: &BTreeMap<&'m str, &'m Schema>, shared: &BTreeSet<&'m str>) -> Vec<&'m str> {
    let mut depths: BTreeMap<&str, usize> = shared.iter().map(|name| (*name, 0)).collect();
    let mut found = Vec::new();
    for name in inner_first(reached) {
        if shared.contains(name) {
            continue;
        }
        let depth = reached.get(name).map_or(0, |schema| nesting(schema, &depths));
        let is_deep = depth >= MAX_NESTING;
        if is_deep {
            found.push(name);
        }
        depths.insert(name, if is_deep { 0 } else { depth });
    }
    found
}

/// How many schemas stand inside one another, given the depths of what is referred to.
fn nesting(schema: &Schema, depths: &BTreeMap<&str, usize>) -> usize {
    let behind = schema.reference.as_deref().and_then(|name| depths.get(name)).copied().unwrap_or_default();
    let inside = schema.children().map(|child| nesting(child, depths) + 1).max().unwrap_or_default();
    behind.max(inside)
}

/// Types in an order in which each comes after those that it refers to, cycles aside.
fn inner_first<'m>(types: &BTreeMap<&'m str, &'m Schema>) -> Vec<&'m str> {
    let mut sorted = Vec::with_capacity(types.len());
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for start in types.keys() {
        let mut open = vec![(*start, false)];
        while let Some((name, left)) = open.pop() {
            if left {
                sorted.push(name);
            } else if seen.insert(name) {
                open.push((name, true));
                let inner = types.get(name).into_iter().flat_map(|schema| references(schema));
                open.extend(inner.map(|name| (name, false)));
            }
        }
    }
    sorted
}

/// The names of the types that a schema refers to.
fn references(schema: &Schema) -> Vec<&str> {
    let mut names = Vec::new();
    schema.walk(&mut |inner| names.extend(inner.reference.as_deref()));
    names
}

/// Roughly the bytes of a schema without what it refers to.
pub(super) fn own_weight(schema: &Schema) -> usize {
    let mut total = 0;
    schema.walk(&mut |inner| {
        let names: usize = inner.properties.keys().map(|name| name.len() + 4).sum();
        total +=
            20 + names + inner.description.as_ref().map_or(0, |text| text.len() + 17) + 8 * inner.enumeration.len();
    });
    total
}

/// Roughly the bytes of a schema with everything written in place, given the sizes of what it refers to. A type inside
/// its own cycle counts as nothing.
fn weight(schema: &Schema, sizes: &BTreeMap<&str, usize>) -> usize {
    let inner = references(schema).into_iter().filter_map(|name| sizes.get(name));
    inner.fold(own_weight(schema), |total, size| total.saturating_add(*size))
}

/// Keys are the last part of the name, where that is unique, and hold no character that a URI would need to encode.
fn keys(names: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut keys = BTreeMap::new();
    for name in names {
        let last = name.rsplit(['.', '/']).next().unwrap_or(name);
        let candidates = [plain(last), plain(name)];
        let mut key = candidates.iter().find(|key| !key.is_empty() && !taken.contains(*key)).cloned();
        let mut number = 2;
        while key.is_none() {
            let numbered = format!("Schema{number}");
            key = (!taken.contains(&numbered)).then_some(numbered);
            number += 1;
        }
        let key = key.unwrap_or_default();
        taken.insert(key.clone());
        keys.insert((*name).to_owned(), key);
    }
    keys
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')).collect()
}
