//! Cuts references that lead back to where they stand without a step into a value: a validator would follow them for ever
//! (JSON Schema 2020-12 section 9.4.1 forbids them).
//!
//! The usual case is a base type that lists its variants, each of which contains the base. A variant means the base's own
//! members, so these are written into it; where there is nothing to write, the reference means any value.

use std::collections::{BTreeMap, BTreeSet};

use super::cycles;
use crate::diagnostic::{Diagnostic, Sink};
use crate::model::Model;
use crate::model::schema::Schema;

/// Properties that are written into variants, in all. Beyond it a reference means any value.
const MAX_WRITTEN: usize = 50_000;

/// Keywords whose schema applies to the value itself.
const IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];

pub(super) fn progress(model: &mut Model, sink: &mut Sink) {
    let components = components(&model.types);
    if components.is_empty() {
        return;
    }
    let own: BTreeMap<String, Schema> = components
        .keys()
        .filter_map(|name| Some((name.clone(), own_part(model.types.get(name)?, name, &components))))
        .collect();
    let mut cutting = Cutting { components: &components, own: &own, written: 0, cut: Vec::new() };
    // Types with variants go first, and so keep them.
    let has_variants = |name: &String| {
        let schema = model.types.get(name);
        schema.is_some_and(|schema| !schema.any_of.is_empty() || !schema.one_of.is_empty())
    };
    let mut order: Vec<String> = components.keys().cloned().collect();
    order.sort_by_key(|name| (!has_variants(name), name.clone()));
    let mut seen = BTreeSet::new();
    for name in &order {
        seen.insert(name.clone());
        if let Some(schema) = model.types.get_mut(name) {
            cutting.cut(schema, name, &seen);
        }
    }
    for (origin, name, is_written) in cutting.cut {
        let became = if is_written { "its own members were written in its place" } else { "it was read as any value" };
        let message = format!("the reference to `{name}` leads back here without a step into the value; {became}");
        let help = "refer to it from a property or an item, or leave the reference out";
        let place = model.loaded.document.place(&origin);
        sink.push(Diagnostic::warning("endless-reference", message).at(place).help(help));
    }
}

/// Types that reach themselves in place, each with the number of its circle.
fn components(types: &BTreeMap<String, Schema>) -> BTreeMap<String, usize> {
    let edges: BTreeMap<&str, BTreeSet<&str>> = types
        .iter()
        .map(|(name, schema)| {
            let mut targets = BTreeSet::new();
            walk_in_place(schema, &mut |inner| targets.extend(inner.reference.as_deref()));
            (name.as_str(), targets)
        })
        .filter(|(_, targets)| !targets.is_empty())
        .collect();
    cycles(&edges).into_iter().map(|(name, number)| (name.to_owned(), number)).collect()
}

fn walk_in_place<'s>(schema: &'s Schema, visit: &mut dyn FnMut(&'s Schema)) {
    visit(schema);
    let lists = [&schema.all_of, &schema.any_of, &schema.one_of];
    let applied = IN_PLACE.iter().filter_map(|keyword| schema.applied.get(*keyword));
    lists.into_iter().flatten().chain(applied).for_each(|inner| walk_in_place(inner, visit));
}

/// A type without what leads back into its circle.
fn own_part(schema: &Schema, name: &str, components: &BTreeMap<String, usize>) -> Schema {
    let number = components.get(name);
    let leads_back = |member: &Schema| {
        let mut found = false;
        walk_in_place(member, &mut |inner| {
            found |= inner.reference.as_ref().is_some_and(|target| components.get(target) == number);
        });
        found
    };
    let mut own = schema.clone();
    if own.reference.as_ref().is_some_and(|target| components.get(target) == number) {
        own.reference = None;
    }
    own.all_of.retain(|member| !leads_back(member));
    // Without one of its variants a union would refuse what it is there for.
    for union in [&mut own.any_of, &mut own.one_of] {
        if union.iter().any(leads_back) {
            union.clear();
        }
    }
    own.applied.retain(|keyword, inner| !IN_PLACE.contains(&keyword.as_str()) || !leads_back(inner));
    own
}

struct Cutting<'c> {
    components: &'c BTreeMap<String, usize>,
    /// What each type of a circle says of itself.
    own: &'c BTreeMap<String, Schema>,
    /// Properties that were written so far.
    written: usize,
    /// Origins and targets of references that are gone, and whether something stands in their place.
    cut: Vec<(String, String, bool)>,
}

impl Cutting<'_> {
    /// Cuts the references of a type to itself and to the types of its circle that were `seen` before it. So each circle
    /// is open somewhere, and what is seen first keeps its variants.
    fn cut(&mut self, schema: &mut Schema, name: &str, seen: &BTreeSet<String>) {
        let number = self.components.get(name);
        let back = |target: &String| seen.contains(target) && self.components.get(target) == number;
        if let Some(target) = schema.reference.take_if(|target| back(target)) {
            let is_written = target != name && self.write(schema, &target);
            self.cut.push((format!("{}/$ref", schema.origin), target, is_written));
        }
        let Schema { all_of, any_of, one_of, applied, .. } = schema;
        let applied = applied.iter_mut().filter(|(keyword, _)| IN_PLACE.contains(&keyword.as_str()));
        let lists = all_of.iter_mut().chain(any_of).chain(one_of);
        for inner in lists.chain(applied.map(|(_, inner)| inner)) {
            self.cut(inner, name, seen);
        }
    }

    /// Writes the own members of a type in the place of a reference to it, where nothing stands beside the reference.
    fn write(&mut self, schema: &mut Schema, target: &str) -> bool {
        let Some(own) = self.own.get(target).filter(|_| schema.is_any()) else { return false };
        let mut size = 0;
        own.walk(&mut |_| size += 1);
        if self.written + size > MAX_WRITTEN || own.is_any() {
            return false;
        }
        self.written += size;
        let description = schema.description.take();
        *schema = Schema { origin: std::mem::take(&mut schema.origin), ..own.clone() };
        schema.description = description.or(schema.description.take());
        true
    }
}
