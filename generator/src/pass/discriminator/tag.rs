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
    pub(super) fn fixed(self, schema: &Schema) -> Option<Vec<Value>> {
        let mut found: Option<Vec<Value>> = None;
        for property in self.declared(schema, MAX_DEPTH) {
            let values = self.listed(property, MAX_DEPTH);
            found = match (found, values) {
                (Some(known), Some(values)) if values.len() < known.len() => Some(values),
                (known, values) => known.or(values),
            };
        }
        found
    }

    /// What the tag of an alternative may be: what the document maps to it, within what its own schema allows. Names of
    /// a mapping are texts, whatever type the tag has; `None` where they are no values of that type.
    pub(super) fn values_of(self, schema: &Schema, mapped: &[String]) -> Option<Vec<Value>> {
        let Some(fixed) = self.fixed(schema) else {
            let types = self.types_of(schema);
            return mapped.iter().map(|text| value_of(text, &types)).collect();
        };
        let both: Vec<Value> =
            mapped.iter().filter_map(|text| fixed.iter().find(|value| text_of(value) == *text)).cloned().collect();
        Some(if both.is_empty() { fixed } else { both })
    }

    /// Fixes the tag of an alternative whose schema this is, and requires it; as far as the schema does not say so.
    pub(super) fn pin(self, alternative: &mut Schema, schema: &Schema, values: &[Value]) {
        let declared = self.declared(schema, MAX_DEPTH);
        if declared.is_empty() && is_closed(schema) {
            return;
        }
        let is_fixed = self.fixed(schema).is_some_and(|fixed| fixed.iter().all(|value| values.contains(value)));
        let types = types_among(values, &self.types_of(schema));
        let fixed = match values {
            [] => None,
            _ if is_fixed => None,
            [one] => Some(Schema { types, constant: Some(one.clone()), ..Schema::default() }),
            _ => Some(Schema { types, enumeration: values.to_vec(), ..Schema::default() }),
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

    /// The values that a property is limited to; `null` tells no alternatives apart.
    fn listed(self, property: &Schema, depth: usize) -> Option<Vec<Value>> {
        let deeper = depth.checked_sub(1)?;
        match &property.constant {
            Some(constant) => Some(vec![constant.clone()]),
            None if !property.enumeration.is_empty() => {
                Some(property.enumeration.iter().filter(|value| !value.is_null()).cloned().collect())
            }
            None => {
                let parts = self.behind(property).into_iter().chain(&property.all_of);
                parts.filter_map(|part| self.listed(part, deeper)).next()
            }
        }
    }

    /// The types that a schema declares for the tag; none where it declares no type.
    fn types_of(self, schema: &Schema) -> Vec<JsonType> {
        let declared = self.declared(schema, MAX_DEPTH);
        declared
            .into_iter()
            .map(|property| self.types_within(property, MAX_DEPTH))
            .find(|types| !types.is_empty())
            .unwrap_or_default()
    }

    fn types_within(self, property: &Schema, depth: usize) -> Vec<JsonType> {
        let Some(deeper) = depth.checked_sub(1) else { return Vec::new() };
        if !property.types.is_empty() {
            return property.types.clone();
        }
        let parts = self.behind(property).into_iter().chain(&property.all_of);
        parts.map(|part| self.types_within(part, deeper)).find(|types| !types.is_empty()).unwrap_or_default()
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

/// The value that a name of a mapping stands for, where the tag has these types.
fn value_of(text: &str, types: &[JsonType]) -> Option<Value> {
    if types.is_empty() || types.contains(&JsonType::String) {
        return Some(text.into());
    }
    let value = serde_json::from_str::<Value>(text).ok()?;
    types.iter().any(|kind| is_of(&value, *kind)).then_some(value)
}

/// Whether a scalar is of a type: a tag is nothing else.
fn is_of(value: &Value, kind: JsonType) -> bool {
    match kind {
        JsonType::Boolean => value.is_boolean(),
        JsonType::Integer => value.is_i64() || value.is_u64(),
        JsonType::Number => value.is_number(),
        JsonType::String => value.is_string(),
        JsonType::Null | JsonType::Array | JsonType::Object => false,
    }
}

/// The types that these values have, in the words of the declared types.
fn types_among(values: &[Value], declared: &[JsonType]) -> Vec<JsonType> {
    let scalars = [JsonType::String, JsonType::Boolean, JsonType::Integer, JsonType::Number];
    let mut found: Vec<JsonType> = Vec::new();
    for value in values {
        if let Some(kind) = declared.iter().chain(&scalars).find(|kind| is_of(value, **kind))
            && !found.contains(kind)
        {
            found.push(*kind);
        }
    }
    found
}

/// A value as a name of a mapping has it.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
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
