//! Says the same with less: unwraps compositions of one, merges plain `allOf`, and writes each enum value once.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::diagnostic::Sink;
use crate::model::Model;
use crate::model::operation::Operation;
use crate::model::schema::{Additional, JsonType, Schema};

pub(super) fn simplify(model: &mut Model, _sink: &mut Sink) {
    let operations = model.operations.iter_mut().flat_map(Operation::schemas_mut);
    for schema in operations.chain(model.types.values_mut()) {
        schema.walk_mut(&mut simplified);
    }
}

fn simplified(schema: &mut Schema) {
    unwrap_single(schema);
    merge_objects(schema);
    dedupe(&mut schema.enumeration);
    nullable_enum(schema);
    let mut seen = BTreeSet::new();
    schema.required.retain(|name| seen.insert(name.clone()));
}

/// `allOf`, `anyOf` or `oneOf` of one schema is that schema; what stands beside it adds to it.
fn unwrap_single(schema: &mut Schema) {
    for composition in [Composition::All, Composition::Any, Composition::One] {
        let members = composition.of(schema);
        if members.len() != 1 {
            continue;
        }
        let Some(only) = members.pop() else { continue };
        let mut outer = schema.clone();
        outer.description = None;
        outer.default = None;
        outer.read_only = false;
        outer.write_only = false;
        if outer.is_any() {
            let kept = std::mem::take(schema);
            *schema = only;
            schema.description = kept.description.or(schema.description.take());
            schema.default = kept.default.or(schema.default.take());
            schema.read_only |= kept.read_only;
            schema.write_only |= kept.write_only;
            schema.says_open |= kept.says_open;
        } else {
            composition.of(schema).push(only);
        }
    }
}

#[derive(Clone, Copy)]
enum Composition {
    All,
    Any,
    One,
}

impl Composition {
    fn of(self, schema: &mut Schema) -> &mut Vec<Schema> {
        match self {
            Self::All => &mut schema.all_of,
            Self::Any => &mut schema.any_of,
            Self::One => &mut schema.one_of,
        }
    }
}

/// `allOf` of inline objects with different properties is one object.
fn merge_objects(schema: &mut Schema) {
    let plain = |member: &Schema| {
        member.reference.is_none()
            && member.is(JsonType::Object)
            && member.additional == Additional::Open
            && member.all_of.is_empty()
            && member.any_of.is_empty()
            && member.one_of.is_empty()
            && member.applied.is_empty()
            && member.patterns.is_empty()
            && member.bounds.is_empty()
    };
    if schema.all_of.is_empty() || schema.reference.is_some() || !schema.all_of.iter().all(plain) {
        return;
    }
    let mut merged = schema.properties.clone();
    let mut required = schema.required.clone();
    for member in &schema.all_of {
        for (name, property) in &member.properties {
            if merged.insert(name.clone(), property.clone()).is_some() {
                return;
            }
        }
        required.extend(member.required.iter().cloned());
    }
    schema.properties = merged;
    schema.required = required;
    schema.types = vec![JsonType::Object];
    schema.says_open |= schema.all_of.iter().any(|member| member.says_open);
    schema.all_of.clear();
}

/// By their text, since some publishers list tens of thousands.
fn dedupe(values: &mut Vec<Value>) {
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(value.to_string()));
}

/// An enum that may be null lists null once.
fn nullable_enum(schema: &mut Schema) {
    let nullable = schema.types.contains(&JsonType::Null);
    if nullable && !schema.enumeration.is_empty() && !schema.enumeration.contains(&Value::Null) {
        schema.enumeration.push(Value::Null);
    }
}
