//! JSON bodies that are plain objects: each member is an argument.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::Value;

use crate::load::config::BodyMode;
use crate::model::Model;
use crate::model::operation::{BodyKind, Operation, RequestBody};
use crate::model::schema::{Additional, JsonType, Schema};
use crate::model::tool::{Argument, Role};

/// References and parts nest no deeper than this in bodies that people write.
const MAX_DEPTH: usize = 16;

/// What a plain object says of its members.
#[derive(Debug, Default)]
pub(super) struct Members {
    properties: IndexMap<String, Schema>,
    required: Vec<String>,
    /// Names of the types that say it.
    pub(super) types: BTreeSet<String>,
    /// How many schemas say it together.
    parts: usize,
    is_closed: bool,
}

/// The members of the operation's body, where each is to be an argument.
///
/// # Errors
/// Why the body stays one argument.
pub(super) fn of(model: &Model, operation: &Operation) -> Result<Members, &'static str> {
    let mode = operation.extension.body.unwrap_or(model.loaded.config.body);
    match &operation.body {
        _ if mode == BodyMode::Wrapped => Err("`body: wrapped` says so"),
        Some(_) if !operation.other_bodies.is_empty() => Err("there are several bodies to choose from"),
        Some(body) if body.kind == BodyKind::Json => members(model, body),
        _ => Err("it is not JSON"),
    }
}

fn members(model: &Model, body: &RequestBody) -> Result<Members, &'static str> {
    let mut members = Members::default();
    members.collect(model, &body.schema, MAX_DEPTH)?;
    let is_known = |name: &String| members.properties.contains_key(name);
    if members.is_closed && members.parts > 1 {
        return Err("one of its parts refuses what the others say");
    }
    if !members.required.iter().all(is_known) {
        return Err("it requires a property that it does not declare");
    }
    if members.properties.values().all(|property| property.read_only) {
        return Err("it declares no property that can be sent");
    }
    Ok(members)
}

impl Members {
    /// Adds what a schema says, where that is nothing but which members there are.
    fn collect(&mut self, model: &Model, schema: &Schema, depth: usize) -> Result<(), &'static str> {
        let deeper = depth.checked_sub(1).ok_or("its references nest too deep")?;
        let own = Schema { reference: None, ..schema.clone() };
        if let Some(name) = &schema.reference {
            if model.recursive.contains(name) {
                return Err("it holds itself");
            }
            self.types.insert(name.clone());
            self.collect(model, model.types.get(name).ok_or("its type is unknown")?, deeper)?;
            if own.is_any() && own.default.is_none() && !own.says_open {
                return Ok(());
            }
        }
        plain(&own)?;
        self.is_closed |= own.additional == Additional::Closed;
        if !own.properties.is_empty() || !own.required.is_empty() {
            self.parts += 1;
        }
        for (name, property) in own.properties {
            if property.never {
                return Err("one of its properties must not be there");
            }
            if self.properties.insert(name, property).is_some() {
                return Err("two of its parts declare the same property");
            }
        }
        self.required.extend(own.required);
        schema.all_of.iter().try_for_each(|part| self.collect(model, part, deeper))
    }

    /// An argument for each member that can be sent.
    pub(super) fn arguments(&self, model: &Model, operation: &Operation, body: &RequestBody) -> Vec<Argument> {
        let extension = &operation.extension;
        let sent = self.properties.iter().filter(|(_, property)| !property.read_only);
        sent.map(|(wire_name, property)| {
            let is_needed = self.required.contains(wire_name);
            let advertised = extension.advertise.as_ref();
            Argument {
                origin: property.origin.clone(),
                name: String::new(),
                wire_name: wire_name.clone(),
                role: Role::Member,
                required: body.required && is_needed,
                needed_by_body: is_needed,
                shown: advertised.is_none_or(|advertised| advertised.contains(wire_name)),
                description: extension.fields.get(wire_name).or(property.description.as_ref()).cloned(),
                schema: Schema { default: default(model, property), ..property.clone() },
                send_as: Vec::new(),
            }
        })
        .collect()
    }

    /// Whether a property is declared, and never asked for.
    pub(super) fn is_read_only(&self, name: &str) -> bool {
        self.properties.get(name).is_some_and(|property| property.read_only)
    }
}

/// Whether a schema says nothing but which members an object has.
fn plain(schema: &Schema) -> Result<(), &'static str> {
    let is_object = schema.types.is_empty() || schema.types == [JsonType::Object];
    let is_union = !schema.any_of.is_empty() || !schema.one_of.is_empty();
    let is_map = schema.says_open || matches!(schema.additional, Additional::Of(_)) || !schema.patterns.is_empty();
    let is_fixed = schema.constant.is_some() || !schema.enumeration.is_empty() || schema.default.is_some();
    let is_bound = !schema.bounds.is_empty() || !schema.applied.is_empty() || schema.never;
    let is_array = schema.items.is_some() || !schema.prefix_items.is_empty();
    let checks = [
        (!is_object || is_array, "it is not always an object"),
        (is_union, "it is one of several shapes"),
        (is_map, "it takes further properties by declaration"),
        (is_fixed, "it has a value of its own"),
        (is_bound, "it has rules for the object as a whole"),
    ];
    checks.into_iter().find(|(is_so, _)| *is_so).map_or(Ok(()), |(_, reason)| Err(reason))
}

/// The default, where the property accepts it: it is sent in place of what is not given.
fn default(model: &Model, property: &Schema) -> Option<Value> {
    property.default.clone().filter(|default| accepts(model, property, default, MAX_DEPTH))
}

/// Whether a value is of the types and among the values that a schema lists, through references and compositions.
fn accepts(model: &Model, schema: &Schema, value: &Value, depth: usize) -> bool {
    let Some(deeper) = depth.checked_sub(1) else { return true };
    let inner = |part: &Schema| accepts(model, part, value, deeper);
    let target = schema.reference.as_deref().and_then(|name| model.types.get(name));
    let union = |members: &[Schema]| members.is_empty() || members.iter().any(inner);
    (schema.types.is_empty() || schema.types.iter().any(|kind| is_of(value, *kind)))
        && (schema.enumeration.is_empty() || schema.enumeration.contains(value))
        && schema.constant.as_ref().is_none_or(|constant| constant == value)
        && target.is_none_or(inner)
        && schema.all_of.iter().all(inner)
        && union(&schema.any_of)
        && union(&schema.one_of)
}

fn is_of(value: &Value, kind: JsonType) -> bool {
    match kind {
        JsonType::Null => value.is_null(),
        JsonType::Boolean => value.is_boolean(),
        JsonType::Integer => value.as_number().is_some_and(|number| !number.to_string().contains(['.', 'e', 'E'])),
        JsonType::Number => value.is_number(),
        JsonType::String => value.is_string(),
        JsonType::Array => value.is_array(),
        JsonType::Object => value.is_object(),
    }
}
