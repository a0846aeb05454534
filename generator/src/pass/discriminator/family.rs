//! Which types a type with a discriminator stands for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::join;
use crate::load::{Document, percent_decoded};

const SCHEMAS: &str = "/components/schemas";

/// Values of a tag with the types that they stand for, in the document's order.
pub(super) type Mapping = Vec<(String, String)>;

/// A type with a discriminator and no union, and the types that extend it or that it maps to.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) tag: String,
    members: Mapping,
}

impl Family {
    /// The values of each subtype, in the order of their first.
    pub(super) fn by_subtype(&self) -> Vec<(&str, Vec<String>)> {
        let mut found: Vec<(&str, Vec<String>)> = Vec::new();
        for (value, subtype) in &self.members {
            match found.iter_mut().find(|(known, _)| known == subtype) {
                Some((_, values)) => values.push(value.clone()),
                None => found.push((subtype, vec![value.clone()])),
            }
        }
        found
    }
}

/// All families of a document, by their parent.
#[derive(Debug, Default)]
pub(in super::super) struct Families {
    families: BTreeMap<String, Family>,
}

impl Families {
    pub(in super::super) fn of(document: &Document) -> Self {
        let schemas = document.get(SCHEMAS).and_then(Value::as_object);
        let mut extended: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (name, schema) in schemas.into_iter().flatten() {
            for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
                if let Some(parent) = part.get("$ref").and_then(Value::as_str).and_then(|to| target(document, to)) {
                    extended.entry(parent).or_default().push(name);
                }
            }
        }
        let is_union = |schema: &Value| schema.get("oneOf").or(schema.get("anyOf")).is_some();
        let mut families = BTreeMap::new();
        for (name, _) in schemas.into_iter().flatten().filter(|(_, schema)| !is_union(schema)) {
            let pointer = join(&join(SCHEMAS, name), "discriminator");
            let Some((tag, mut members)) = mapping_at(document, &pointer) else { continue };
            let mapped: BTreeSet<String> = members.iter().map(|(_, subtype)| subtype.clone()).collect();
            let heirs = heirs(&extended, name).into_iter().filter(|heir| !mapped.contains(*heir));
            members.extend(heirs.map(|heir| (heir.to_owned(), heir.to_owned())));
            if members.iter().any(|(_, subtype)| subtype != name) {
                families.insert(name.clone(), Family { tag, members });
            }
        }
        Families { families }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.families.is_empty()
    }

    pub(super) fn get(&self, parent: &str) -> Option<&Family> {
        self.families.get(parent)
    }

    /// The types that this one stands for, itself left out; none where it is an ordinary type.
    pub(in super::super) fn subtypes(&self, parent: &str) -> impl Iterator<Item = &str> {
        let members = self.families.get(parent).into_iter().flat_map(|family| &family.members);
        let own = parent.to_owned();
        members.map(|(_, subtype)| subtype.as_str()).filter(move |subtype| *subtype != own)
    }
}

/// All that extend a type, and those that extend them, by name.
fn heirs<'d>(extended: &BTreeMap<String, Vec<&'d str>>, parent: &str) -> BTreeSet<&'d str> {
    let mut found = BTreeSet::new();
    let mut open = vec![parent];
    while let Some(next) = open.pop() {
        for heir in extended.get(next).into_iter().flatten().filter(|heir| **heir != parent) {
            if found.insert(*heir) {
                open.push(heir);
            }
        }
    }
    found
}

/// The tag of the discriminator at a pointer, and its mapping as far as it leads anywhere.
pub(super) fn mapping_at(document: &Document, pointer: &str) -> Option<(String, Mapping)> {
    let node = document.get(pointer)?;
    let tag = node.get("propertyName")?.as_str()?.to_owned();
    let pairs = node.get("mapping").and_then(Value::as_object).into_iter().flatten();
    let pairs = pairs.filter_map(|(value, to)| Some((value.clone(), target(document, to.as_str()?)?)));
    Some((tag, pairs.collect()))
}

/// The type that a reference or a plain name stands for.
pub(super) fn target(document: &Document, to: &str) -> Option<String> {
    let name = match to.strip_prefix('#').map(percent_decoded) {
        Some(pointer) => {
            let name = pointer.strip_prefix(SCHEMAS)?.strip_prefix('/')?;
            name.replace("~1", "/").replace("~0", "~")
        }
        None => to.to_owned(),
    };
    document.get(&join(SCHEMAS, &name)).is_some().then_some(name)
}
