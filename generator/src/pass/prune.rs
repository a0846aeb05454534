//! Leaves out types that no tool takes or returns, and the fields that are never asked for.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{join, lower, reached_from};
use crate::diagnostic::Sink;
use crate::ledger::{Outcome, Part, Rule};
use crate::model::Model;

pub(super) fn prune(model: &mut Model, _sink: &mut Sink) {
    let schemas =
        model.tools.iter().flat_map(|tool| tool.arguments.iter().map(|argument| &argument.schema).chain(&tool.output));
    let reached: BTreeSet<String> = reached_from(model, schemas).into_keys().map(str::to_owned).collect();
    model.types.retain(|name, _| reached.contains(name));
    account(model, &reached);
}

fn account(model: &mut Model, reached: &BTreeSet<String>) {
    let base = "/components/schemas";
    let Some(Value::Object(schemas)) = model.loaded.document.get(base) else { return };
    for (name, schema) in schemas.iter().filter(|(name, _)| !reached.contains(*name)) {
        let pointer = join(base, name);
        lower::properties_of(schema, &pointer, &mut |property| {
            model.ledger.record(Part::Property, property, Outcome::Dropped(Rule::Unreachable));
        });
        model.ledger.record(Part::Definition, pointer, Outcome::Dropped(Rule::Unreachable));
    }
}
