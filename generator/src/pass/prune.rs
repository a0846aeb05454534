//! Leaves out types that no tool takes or returns, and the fields that are never asked for.

use std::collections::BTreeSet;

use serde_json::Value;

use super::lower::{self, name_of};
use super::{join, reached_from};
use crate::diagnostic::Sink;
use crate::ledger::{Outcome, Part, Rule};
use crate::model::Model;

pub(super) fn prune(model: &mut Model, _sink: &mut Sink) {
    let schemas =
        model.tools.iter().flat_map(|tool| tool.arguments.iter().map(|argument| &argument.schema).chain(&tool.output));
    let found = reached_from(model, schemas);
    // The fields of a type may stand in another that was made of it.
    let definitions = found.values().map(|schema| name_of(&schema.origin));
    let reached: BTreeSet<String> = found.keys().map(|name| (*name).to_owned()).chain(definitions).collect();
    model.types.retain(|name, _| reached.contains(name));
    let flattened = model.tools.iter().flat_map(|tool| &tool.flattened).filter(|name| !reached.contains(*name));
    let flattened: BTreeSet<String> = flattened.cloned().collect();
    never_asked(model, &flattened);
    account(model, &reached, &flattened);
}

/// What the upstream makes itself, in types that exist as arguments alone.
fn never_asked(model: &mut Model, flattened: &BTreeSet<String>) {
    for name in flattened {
        let base = join(&join("/components/schemas", name), "properties");
        let Some(Value::Object(properties)) = model.loaded.document.get(&base) else { continue };
        let is_read_only = |property: &Value| property.get("readOnly") == Some(&Value::Bool(true));
        for (property, _) in properties.iter().filter(|(_, property)| is_read_only(property)) {
            model.ledger.record(Part::Property, join(&base, property), Outcome::Dropped(Rule::ReadOnly));
        }
    }
}

fn account(model: &mut Model, reached: &BTreeSet<String>, flattened: &BTreeSet<String>) {
    let base = "/components/schemas";
    let Some(Value::Object(schemas)) = model.loaded.document.get(base) else { return };
    for (name, schema) in schemas.iter().filter(|(name, _)| !reached.contains(*name) && !flattened.contains(*name)) {
        let pointer = join(base, name);
        lower::properties_of(schema, &pointer, &mut |property| {
            model.ledger.record(Part::Property, property, Outcome::Dropped(Rule::Unreachable));
        });
        model.ledger.record(Part::Definition, pointer, Outcome::Dropped(Rule::Unreachable));
    }
}
