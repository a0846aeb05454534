//! The property by which alternatives are told apart.

use serde_json::Value;

use super::Types;
use crate::model::schema::{Additional, JsonType, Schema};

/// References and parts nest no deeper than this in types that people write.
const MAX_DEPTH: usize = 16;

/// The tag of one union.
#[derive(Clone, Copy)]
pub(super) struct Tag<'t> {
    pub(super) types: &'t Types,
    pub(super) name: &'t str,
}

impl<'t> Tag<'t> {
    /// The values that a schema has, where it lists them itself.
    pub(super) fn fixed(self, schema: &Schema) -> Option<Vec<String>> {
        let mut found = None;
        for property in self.declared(schema, MAX_DEPTH) {
            let values = self.texts(property, MAX_DEPTH);
            found = match (found, values) {
                (Some(known), Some(values)) if values.len() < Vec::len(&known) => Some(values),
                (known, values) => known.or(values),
            };
        }
        found
    }

    /// What the tag of an alternative may be: what the document maps to it, within what its own schema allows.
    pub(super) fn values_of(self, schema: &Schema, mapped: &[String]) -> Vec<String> {
        let Some(fixed) = self.fixed(schema) else { return mapped.to_vec() };
        let both: Vec<String> = mapped.iter().filter(|value| fixed.contains(value)).cloned().collect();
        if both.is_empty() { fixed } else { both }
    }

    /// Fixes the tag of an alternative whose schema this is, and requires it; as far as the schema does not say so.
    pub(super) fn pin(self, alternative: &mut Schema, schema: &Schema, values: &[String]) {
        let declared = self.declared(schema, MAX_DEPTH);
        if declared.is_empty() && is_closed(schema) {
            return;
        }
        let is_fixed = self.fixed(schema).is_some_and(|fixed| fixed.iter().all(|value| values.contains(value)));
        let texts: Vec<Value> = values.iter().map(|value| value.as_str().into()).collect();
        let fixed = match texts.as_slice() {
            [] => None,
            _ if is_fixed => None,
            [one] => Some(Schema { constant: Some(one.clone()), ..Schema::of(JsonType::String) }),
            _ => Some(Schema { enumeration: texts, ..Schema::of(JsonType::String) }),
        };
        if let Some(fixed) = fixed {
            match alternative.properties.get_mut(self.name) {
                Some(own) => (own.constant, own.enumeration) = (fixed.constant, fixed.enumeration),
                None => drop(alternative.properties.insert(self.name.to_owned(), fixed)),
            }
        }
        if !self.is_required(schema, MAX_DEPTH) && !alternative.required.iter().any(|name| name == self.name) {
            alternative.required.push(self.name.to_owned());
        }
    }

    /// What a schema says of the tag, through references and parts.
    fn declared<'s>(self, schema: &'s Schema, depth: usize) -> Vec<&'s Schema>
    where
        't: 's,
    {
        let Some(deeper) = depth.checked_sub(1) else { return Vec::new() };
        let mut found: Vec<&'s Schema> = schema.properties.get(self.name).into_iter().collect();
        found.extend(self.behind(schema).into_iter().flat_map(|target| self.declared(target, deeper)));
        found.extend(schema.all_of.iter().flat_map(|part| self.declared(part, deeper)));
        found
    }

    /// The texts that a property is limited to.
    fn texts(self, property: &Schema, depth: usize) -> Option<Vec<String>> {
        let deeper = depth.checked_sub(1)?;
        let listed = || property.enumeration.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
        match &property.constant {
            Some(constant) => constant.as_str().map(|text| vec![text.to_owned()]),
            None if !property.enumeration.is_empty() => Some(listed()),
            None => {
                let parts = self.behind(property).into_iter().chain(&property.all_of);
                parts.filter_map(|part| self.texts(part, deeper)).next()
            }
        }
    }

    fn is_required(self, schema: &Schema, depth: usize) -> bool {
        let Some(deeper) = depth.checked_sub(1) else { return false };
        schema.required.iter().any(|name| name == self.name)
            || self.behind(schema).is_some_and(|target| self.is_required(target, deeper))
            || schema.all_of.iter().any(|part| self.is_required(part, deeper))
    }

    fn behind(self, schema: &Schema) -> Option<&'t Schema> {
        schema.reference.as_deref().and_then(|name| self.types.get(name))
    }
}

/// Whether a schema has another type among its parts.
pub(super) fn extends(types: &Types, schema: &Schema, parent: &str) -> bool {
    fn within(types: &Types, schema: &Schema, parent: &str, depth: usize) -> bool {
        depth > 0
            && schema.all_of.iter().filter_map(|part| part.reference.as_deref()).any(|name| {
                name == parent || types.get(name).is_some_and(|part| within(types, part, parent, depth - 1))
            })
    }
    within(types, schema, parent, MAX_DEPTH)
}

pub(super) fn is_union(schema: &Schema) -> bool {
    !schema.any_of.is_empty() || !schema.one_of.is_empty()
}

pub(super) fn is_object(schema: &Schema) -> bool {
    schema.types.is_empty() || schema.types.contains(&JsonType::Object)
}

pub(super) fn is_closed(schema: &Schema) -> bool {
    schema.additional == Additional::Closed || schema.applied.contains_key("unevaluatedProperties")
}
