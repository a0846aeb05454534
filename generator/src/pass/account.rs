//! Closes the ledger: everything that the document declares is mapped, left out by a rule, or refused.

use std::collections::BTreeSet;

use serde_json::Value;

use super::join;
use super::lower::properties_of;
use crate::diagnostic::{Diagnostic, Sink};
use crate::ledger::{Outcome, Part, Rule};
use crate::load::{METHODS, percent_decoded};
use crate::model::Model;

pub(super) fn account(model: &mut Model, sink: &mut Sink) {
    let document = &model.loaded.document;
    let mut inventory = Inventory { declared: document.declared(), parts: BTreeSet::new() };
    inventory.paths();
    inventory.components();
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

/// What a document declares, by its own walk: the passes may not be asked what they saw.
struct Inventory<'d> {
    declared: &'d Value,
    parts: BTreeSet<(Part, String)>,
}

impl Inventory<'_> {
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
            if !operations.is_empty() {
                self.parameters(&item);
            }
            for operation in operations {
                self.operation(operation);
            }
        }
    }

    fn operation(&mut self, operation: String) {
        self.parameters(&operation);
        self.body(&operation);
        let responses = join(&operation, "responses");
        for status in self.keys(&responses).into_iter().filter(|status| !status.starts_with("x-")) {
            self.add(Part::Response, join(&responses, &status));
        }
        self.add(Part::Operation, operation);
    }

    fn parameters(&mut self, owner: &str) {
        let base = join(owner, "parameters");
        let count = self.declared.pointer(&base).and_then(Value::as_array).map_or(0, Vec::len);
        for index in 0..count {
            self.add(Part::Parameter, format!("{base}/{index}"));
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
