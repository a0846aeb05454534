//! Which types a schema may bring in. In documents whose types all refer to each other, each would bring in all of them.

use std::collections::{BTreeMap, VecDeque};

use super::plan::own_weight;
use crate::model::Model;
use crate::model::schema::Schema;

/// The types behind some schemas, nearest first, as far as their bytes fit.
#[derive(Debug, Default)]
pub(super) struct Reach<'m> {
    pub(super) types: BTreeMap<&'m str, &'m Schema>,
    /// Roughly the bytes of the schemas and of these types, each written once.
    pub(super) bytes: usize,
    /// False where types are left out: together with them it would be more than was allowed.
    pub(super) is_whole: bool,
}

impl<'m> Reach<'m> {
    /// What these schemas reach within so many bytes. Looks at little more than it keeps.
    pub(super) fn within(model: &'m Model, roots: impl Iterator<Item = &'m Schema>, most: usize) -> Self {
        let mut reach = Reach { is_whole: true, ..Reach::default() };
        let mut open: VecDeque<&Schema> = roots.inspect(|root| reach.bytes += own_weight(root)).collect();
        while let Some(schema) = open.pop_front() {
            let mut names: Vec<&str> = Vec::new();
            schema.walk(&mut |inner| names.extend(inner.reference.as_deref()));
            for name in names {
                let Some((name, target)) = model.types.get_key_value(name) else { continue };
                if reach.types.contains_key(name.as_str()) {
                    continue;
                }
                let bytes = reach.bytes + own_weight(target);
                if bytes > most {
                    reach.is_whole = false;
                    return reach;
                }
                reach.bytes = bytes;
                reach.types.insert(name, target);
                open.push_back(target);
            }
        }
        reach
    }
}
