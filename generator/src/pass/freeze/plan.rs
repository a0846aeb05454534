//! Decides which types a schema writes in place and which it keeps under `$defs`.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Model;
use crate::model::schema::Schema;
use crate::pass::reached_from;

/// Written in place, a schema may grow to this multiple of its size with shared `$defs`.
const MAX_GROWTH: usize = 2;

/// Which types stand under `$defs`, and by which key.
#[derive(Debug, Default)]
pub(super) struct Plan {
    keys: BTreeMap<String, String>,
}

impl Plan {
    /// Cycles stay references; the rest is written in place where that does not double the size.
    pub(super) fn new<'m>(model: &'m Model, roots: impl Iterator<Item = &'m Schema> + Clone) -> Self {
        let reached = reached_from(model, roots.clone());
        let mut shared: BTreeSet<&str> =
            reached.keys().copied().filter(|name| model.recursive.contains(*name)).collect();
        let mut sizes = BTreeMap::new();
        let inline: usize = roots.clone().map(|root| weight(model, root, &mut sizes)).fold(0, usize::saturating_add);
        let once: usize = reached.values().map(|schema| own_weight(schema)).sum::<usize>()
            + roots.clone().map(own_weight).sum::<usize>();
        if inline >= MAX_GROWTH * once {
            shared.extend(used_twice(&reached, roots));
        }
        Plan { keys: keys(&shared) }
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

/// Roughly the bytes of a schema without what it refers to.
fn own_weight(schema: &Schema) -> usize {
    let mut total = 0;
    schema.walk(&mut |inner| {
        let names: usize = inner.properties.keys().map(|name| name.len() + 4).sum();
        total +=
            20 + names + inner.description.as_ref().map_or(0, |text| text.len() + 17) + 8 * inner.enumeration.len();
    });
    total
}

/// Roughly the bytes of a schema with everything written in place; cycles count once.
fn weight<'m>(model: &'m Model, schema: &'m Schema, sizes: &mut BTreeMap<&'m str, usize>) -> usize {
    let mut names: Vec<&str> = Vec::new();
    schema.walk(&mut |inner| names.extend(inner.reference.as_deref()));
    names.into_iter().fold(own_weight(schema), |total, name| {
        let size = match (sizes.get(name), model.types.get_key_value(name)) {
            (Some(size), _) => *size,
            (None, Some((name, target))) => {
                sizes.insert(name, 0);
                let size = weight(model, target, sizes);
                sizes.insert(name, size);
                size
            }
            (None, None) => 0,
        };
        total.saturating_add(size)
    })
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
