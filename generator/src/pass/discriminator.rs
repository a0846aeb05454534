//! Unions with a discriminator (OpenAPI 3.1 section 4.8.25), so that models fill them right: each alternative has the tag
//! fixed to its own value and requires it, and the union's text names the values.
//!
//! A type that has a discriminator and no union, and that others extend by `allOf`, stands for those others: it becomes
//! the union of them, and what it says itself moves to a type of its own that they extend in its place.

mod family;
mod tag;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use family::Families;
use family::{Family, Mapping, mapping_at, target};
use serde_json::Value;
use tag::{Tag, is_closed, is_object, is_union, text_of};

use super::join;
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::Document;
use crate::model::Model;
use crate::model::schema::{JsonType, Schema};

/// Names of the values that a union's text shows; a schema lists all of them.
const SHOWN_VALUES: usize = 12;

type Types = BTreeMap<String, Schema>;

pub(super) fn discriminate(model: &mut Model, sink: &mut Sink) {
    let document = &model.loaded.document;
    let families = Families::of(document);
    let bases = extend_bases(model, &families);
    let types = model.types.clone();
    let mut pin = |schema: &mut Schema| {
        let pointer = join(&schema.origin, "discriminator");
        report_nowhere(document, &pointer, sink);
        if is_union(schema)
            && let Some((tag, mapping)) = mapping_at(document, &pointer)
            && !pin_union(&types, schema, &tag, &mapping)
        {
            report_untyped(document, &pointer, &tag, sink);
        }
    };
    for operation in &mut model.operations {
        operation.schemas_mut().for_each(|schema| schema.walk_mut(&mut pin));
    }
    model.types.values_mut().for_each(|schema| schema.walk_mut(&mut pin));
    for (parent, base) in &bases {
        let Some(family) = families.get(parent) else { continue };
        let description = model.types.get_mut(base).and_then(|base| base.description.take());
        let (union, is_typed) = union_of_family(&model.types, family, &bases, base);
        if !is_typed {
            report_untyped(document, &join(&union.origin, "discriminator"), &family.tag, sink);
        }
        let union = Schema { description, ..union };
        model.types.insert(parent.clone(), union);
    }
}

/// Moves what the parents of families say themselves to types of their own. Returns those types by parent.
fn extend_bases(model: &mut Model, families: &Families) -> BTreeMap<String, String> {
    let mut bases: BTreeMap<String, String> = BTreeMap::new();
    for parent in used_parents(model, families) {
        let Some(schema) = model.types.get(&parent).cloned() else { continue };
        let mut base = format!("{parent}Base");
        while model.types.contains_key(&base) {
            base.push('_');
        }
        model.types.insert(base.clone(), schema);
        bases.insert(parent, base);
    }
    for (parent, base) in &bases {
        for subtype in families.subtypes(parent) {
            for name in [Some(subtype), bases.get(subtype).map(String::as_str)].into_iter().flatten() {
                let parts = model.types.get_mut(name).into_iter().flat_map(|schema| &mut schema.all_of);
                parts
                    .filter(|part| part.reference.as_ref() == Some(parent))
                    .for_each(|part| part.reference = Some(base.clone()));
            }
        }
    }
    bases
}

/// Parents of families that something refers to, other than the types that extend them.
fn used_parents(model: &Model, families: &Families) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    if families.is_empty() {
        return used;
    }
    let mut note = |schema: &Schema| {
        schema.walk(&mut |inner| {
            used.extend(inner.reference.iter().filter(|name| families.get(name).is_some()).cloned());
        });
    };
    for operation in &model.operations {
        operation.schemas().for_each(&mut note);
    }
    for (name, schema) in &model.types {
        let extends = |part: &Schema| {
            part.reference.as_deref().is_some_and(|parent| families.subtypes(parent).any(|subtype| subtype == name))
        };
        let mut rest = schema.clone();
        rest.all_of.retain(|part| !extends(part));
        note(&rest);
    }
    used
}

/// Names of a mapping that lead to no schema tell nothing.
fn report_nowhere(document: &Document, pointer: &str, sink: &mut Sink) {
    let mapping = document.get(pointer).and_then(|node| node.get("mapping")).and_then(Value::as_object);
    for (value, to) in mapping.into_iter().flatten() {
        let is_known = to.as_str().is_some_and(|to| document.is_reported(to) || target(document, to).is_some());
        if !is_known {
            let message =
                format!("the discriminator maps `{value}` to {to}, which is no schema under components/schemas");
            let help = "map it to the name of a schema under `components/schemas`, or to a reference to one";
            let place = document.place(&join(&join(pointer, "mapping"), value));
            sink.push(Diagnostic::warning("dangling-mapping", message).at(place).help(help));
        }
    }
}

fn report_untyped(document: &Document, pointer: &str, tag: &str, sink: &mut Sink) {
    let message =
        format!("values of the discriminator `{tag}` are not of the type that the property has; it stays open there");
    let help = "map values of the property's type, or give the property a `const` in each alternative";
    sink.push(Diagnostic::warning("discriminator-type", message).at(document.place(pointer)).help(help));
}

/// The union that a family's parent stands for, and whether every tag could be fixed.
fn union_of_family(types: &Types, family: &Family, bases: &BTreeMap<String, String>, base: &str) -> (Schema, bool) {
    let Some(told) = types.get(base) else { return (Schema::default(), true) };
    let tag = Tag { types, name: &family.tag };
    let mut alternatives: Vec<Schema> = Vec::new();
    let mut values: Vec<Value> = Vec::new();
    let mut is_typed = true;
    let mut add = |alternative: Schema, schema: &Schema, own: Option<Vec<Value>>| {
        let mut alternative = alternative;
        match own {
            Some(own) => {
                tag.pin(&mut alternative, schema, &own);
                values.extend(own);
            }
            None => is_typed = false,
        }
        alternatives.push(alternative);
    };
    for (subtype, own) in family.by_subtype() {
        // A subtype that stands for others itself is meant as what it says itself: the others are of this family, too.
        let name = bases.get(subtype).map_or(subtype, String::as_str);
        let Some(schema) = types.get(name) else { continue };
        let is_whole = name == base || tag::extends(types, schema, base) || is_closed(told) || is_closed(schema);
        let alternative = match is_whole {
            true => referring(name),
            false => Schema { all_of: vec![referring(base), referring(name)], ..Schema::default() },
        };
        let own = tag.values_of(schema, &own);
        add(alternative, schema, own);
    }
    // Values that the parent lists and no subtype has are objects of the parent alone.
    let known: BTreeSet<String> = family.by_subtype().into_iter().flat_map(|(_, own)| own).collect();
    let mut rest = tag.fixed(told).unwrap_or_default();
    rest.retain(|value| !known.contains(&text_of(value)));
    if !rest.is_empty() {
        add(referring(base), told, Some(rest));
    }
    if told.types.contains(&JsonType::Null) {
        alternatives.push(Schema::of(JsonType::Null));
    }
    let choice = sentence(&family.tag, &values);
    (Schema { choice, any_of: alternatives, origin: told.origin.clone(), ..Schema::default() }, is_typed)
}

fn referring(name: &str) -> Schema {
    Schema { reference: Some(name.to_owned()), ..Schema::default() }
}

/// Fixes the tag of each alternative, where the document says what it is. False where one has a tag of another type.
fn pin_union(types: &Types, union: &mut Schema, tag_name: &str, mapping: &Mapping) -> bool {
    let tag = Tag { types, name: tag_name };
    let mut values: Vec<Value> = Vec::new();
    let mut is_typed = true;
    for alternative in union.any_of.iter_mut().chain(&mut union.one_of) {
        let target = alternative.reference.clone();
        let schema = target.as_deref().and_then(|name| types.get(name)).cloned().unwrap_or_else(|| alternative.clone());
        if is_union(&schema) || !is_object(&schema) {
            continue;
        }
        let mapped = mapping.iter().filter(|(_, name)| target.as_ref() == Some(name)).map(|(value, _)| value.clone());
        let mut own: Vec<String> = mapped.collect();
        // Without a mapping the value is the name of the schema.
        if own.is_empty() {
            own.extend(target.iter().filter(|name| !name.starts_with('/')).cloned());
        }
        let Some(own) = tag.values_of(&schema, &own) else {
            is_typed = false;
            continue;
        };
        tag.pin(alternative, &schema, &own);
        values.extend(own);
    }
    union.choice = sentence(tag_name, &values);
    is_typed
}

/// Which values there are, for the union's text.
fn sentence(tag: &str, values: &[Value]) -> Option<String> {
    let mut seen = BTreeSet::new();
    let distinct: Vec<String> = values.iter().map(text_of).filter(|value| seen.insert(value.clone())).collect();
    if distinct.len() < 2 {
        return None;
    }
    let shown: Vec<String> = distinct.iter().take(SHOWN_VALUES).map(|value| format!("`{value}`")).collect();
    let more = if distinct.len() > SHOWN_VALUES { " and more" } else { "" };
    Some(format!("`{tag}` says which form it has: {}{more}.", shown.join(", ")))
}
