//! Closes the ledger: everything that the document declares is mapped, left out by a rule, or refused.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::join;
use super::lower::properties_of;
use crate::diagnostic::{Diagnostic, Sink};
use crate::ledger::{Ledger, Outcome, Part, Rule};
use crate::load::{METHODS, percent_decoded};
use crate::model::Model;

pub(super) fn account(model: &mut Model, sink: &mut Sink) {
    let mut inventory = Inventory::of(model.loaded.document.declared());
    inventory.paths();
    inventory.components();
    let inline = std::mem::take(&mut inventory.inline);
    written_in_place(model, inline);
    let document = &model.loaded.document;
    let still_there = |pointer: &str| document.is_as_declared(pointer);
    let mut gaps = BTreeSet::new();
    for (part, pointer) in &inventory.parts {
        let is_known = model.ledger.outcome(*part, pointer).is_some();
        if !is_known && still_there(pointer) && *part != Part::FormField {
            gaps.insert(pointer.clone());
        }
    }
    model.ledger.close(inventory.parts, |part, pointer| match (part, still_there(pointer)) {
        (Part::FormField, true) => Outcome::Dropped(Rule::OneBodyMediaType),
        (_, true) => Outcome::Refused,
        (_, false) => Outcome::Dropped(Rule::ReplacedByOverlay),
    });
    for pointer in gaps {
        let message = "this part of the document was neither used nor left out by a rule";
        let help = "this is a fault of the generator, not of the document; please report it";
        sink.push(Diagnostic::warning("unaccounted", message).at(document.place(&pointer)).help(help));
    }
}

/// Properties of schemas that stand in a parameter, body or answer: a tool has them, or what they stand in is left out.
fn written_in_place(model: &mut Model, inline: BTreeMap<String, Vec<Owners>>) {
    let mut used: BTreeSet<&str> = BTreeSet::new();
    let schemas =
        model.tools.iter().flat_map(|tool| tool.arguments.iter().map(|argument| &argument.schema).chain(&tool.output));
    let types = model.types.values();
    schemas.chain(types).for_each(|schema| {
        schema.walk(&mut |inner| {
            used.insert(&inner.origin);
        })
    });
    let is_read_only = |pointer: &str| {
        model.loaded.document.get(pointer).and_then(|node| node.get("readOnly")) == Some(&Value::Bool(true))
    };
    let mut outcomes = Vec::new();
    for (pointer, owners) in inline {
        let outcome = match used.contains(pointer.as_str()) {
            true => Some(Outcome::Mapped),
            false if is_read_only(&pointer) => Some(Outcome::Dropped(Rule::ReadOnly)),
            false => owners.iter().find_map(|owners| owners.loss(&model.ledger)),
        };
        outcomes.extend(outcome.map(|outcome| (pointer, outcome)));
    }
    for (pointer, outcome) in outcomes {
        model.ledger.record(Part::Property, pointer, outcome);
    }
}

/// What a schema stands in.
#[derive(Debug, Clone)]
struct Owners {
    operation: String,
    part: (Part, String),
}

impl Owners {
    /// Why a property in there is in no tool.
    fn loss(&self, ledger: &Ledger) -> Option<Outcome> {
        let (part, pointer) = &self.part;
        let known = [ledger.outcome(Part::Operation, &self.operation), ledger.outcome(*part, pointer)];
        let lost = known.into_iter().flatten().find(|outcome| **outcome != Outcome::Mapped).cloned();
        let by_rule = match part {
            Part::Response => Some(Outcome::Dropped(Rule::FurtherSuccess)),
            Part::Body => Some(Outcome::Dropped(Rule::SentAsItIs)),
            _ => None,
        };
        lost.or(by_rule)
    }
}

/// What a document declares, by its own walk: the passes may not be asked what they saw.
struct Inventory<'d> {
    declared: &'d Value,
    parts: BTreeSet<(Part, String)>,
    /// Properties of schemas outside of `components/schemas`, with what they stand in.
    inline: BTreeMap<String, Vec<Owners>>,
}

impl<'d> Inventory<'d> {
    fn of(declared: &'d Value) -> Self {
        Inventory { declared, parts: BTreeSet::new(), inline: BTreeMap::new() }
    }

    /// The properties of a schema that is written in place.
    fn in_place(&mut self, schema: &str, owners: &Owners) {
        let mut found = Vec::new();
        if let Some(node) = self.declared.pointer(schema) {
            properties_of(node, schema, &mut |property| found.push(property));
        }
        found.retain(|property| !self.parts.contains(&(Part::FormField, property.clone())));
        for property in found {
            self.parts.insert((Part::Property, property.clone()));
            self.inline.entry(property).or_default().push(owners.clone());
        }
    }

    /// The schemas of all media types at `content`.
    fn contents(&mut self, content: &str, owners: &Owners) {
        for media_type in self.keys(content) {
            for key in ["schema", "itemSchema"] {
                self.in_place(&join(&join(content, &media_type), key), owners);
            }
        }
    }

    fn add(&mut self, part: Part, pointer: String) {
        self.parts.insert((part, pointer));
    }

    fn keys(&self, pointer: &str) -> Vec<String> {
        let members = self.declared.pointer(pointer).and_then(Value::as_object);
        members.into_iter().flat_map(|members| members.keys().cloned()).collect()
    }

    fn paths(&mut self) {
        for path in self.keys("/paths").into_iter().filter(|path| path.starts_with('/')) {
            let item = join("/paths", &path);
            self.add(Part::Path, item.clone());
            let fixed = self.keys(&item).into_iter().filter(|key| METHODS.contains(&key.as_str()));
            let mut operations: Vec<String> = fixed.map(|method| join(&item, &method)).collect();
            let more = join(&item, "additionalOperations");
            operations.extend(self.keys(&more).iter().map(|method| join(&more, method)));
            for operation in operations {
                self.parameters(&item, &operation);
                self.operation(operation);
            }
        }
    }

    fn operation(&mut self, operation: String) {
        self.parameters(&operation, &operation);
        self.body(&operation);
        let responses = join(&operation, "responses");
        for status in self.keys(&responses).into_iter().filter(|status| !status.starts_with("x-")) {
            let part = (Part::Response, join(&responses, &status));
            let content = join(&self.followed(part.1.clone()), "content");
            self.contents(&content, &Owners { operation: operation.clone(), part: part.clone() });
            self.parts.insert(part);
        }
        self.add(Part::Operation, operation);
    }

    fn parameters(&mut self, owner: &str, operation: &str) {
        let base = join(owner, "parameters");
        let count = self.declared.pointer(&base).and_then(Value::as_array).map_or(0, Vec::len);
        for index in 0..count {
            let part = (Part::Parameter, format!("{base}/{index}"));
            let parameter = self.followed(part.1.clone());
            let owners = Owners { operation: operation.to_owned(), part: part.clone() };
            self.in_place(&join(&parameter, "schema"), &owners);
            self.contents(&join(&parameter, "content"), &owners);
            self.parts.insert(part);
        }
    }

    fn body(&mut self, operation: &str) {
        let content = join(&self.followed(join(operation, "requestBody")), "content");
        for media_type in self.keys(&content) {
            let at = join(&content, &media_type);
            let is_form = media_type.starts_with("multipart/") || media_type.contains("form-urlencoded");
            if is_form {
                let properties = join(&self.followed(join(&at, "schema")), "properties");
                for field in self.keys(&properties) {
                    self.add(Part::FormField, join(&properties, &field));
                }
            }
            let owners = Owners { operation: operation.to_owned(), part: (Part::Body, at.clone()) };
            for key in ["schema", "itemSchema"] {
                self.in_place(&join(&at, key), &owners);
            }
            self.add(Part::Body, at);
        }
    }

    fn components(&mut self) {
        for name in self.keys("/components/securitySchemes") {
            self.add(Part::SecurityScheme, join("/components/securitySchemes", &name));
        }
        for name in self.keys("/components/schemas") {
            let pointer = join("/components/schemas", &name);
            if let Some(schema) = self.declared.pointer(&pointer) {
                let mut found = Vec::new();
                properties_of(schema, &pointer, &mut |property| found.push(property));
                found.into_iter().for_each(|property| self.add(Part::Property, property));
            }
            self.add(Part::Definition, pointer);
        }
    }

    /// The pointer behind references.
    fn followed(&self, mut pointer: String) -> String {
        for _ in 0..16 {
            let reference = self.declared.pointer(&pointer).and_then(|node| node.get("$ref")).and_then(Value::as_str);
            match reference.and_then(|reference| reference.strip_prefix('#')) {
                Some(target) => pointer = percent_decoded(target),
                None => break,
            }
        }
        pointer
    }
}
