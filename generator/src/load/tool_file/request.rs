//! The executor `http`: where each input goes in the one request.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::input::{Input, Inputs};
use super::{Lowered, OPERATION};
use crate::diagnostic::{Diagnostic, Place, Severity, Sink};
use crate::load::language::{HTTP, METHODS, names};
use crate::load::strict::{Fields, did_you_mean, kind};
use crate::pass::{bind, is_reserved_header};
use crate::source::child_pointer;

/// Lowers the request, and returns the media type of its answer.
pub(super) fn lower(fields: &Fields<'_>, inputs: &Inputs, tool: &mut Lowered, sink: &mut Sink) -> Option<String> {
    let http = fields.child("http", &names(HTTP), sink)?;
    http.require("method", "GET", sink);
    http.require("path", "/<path below the base URL>", sink);
    let words: Vec<(&str, &str)> = METHODS.iter().map(|method| (*method, *method)).collect();
    let method = http.choice("method", &words, sink);
    let path = http.string("path", sink);
    if let Some(wrong) = path.as_deref().filter(|path| !path.starts_with('/')) {
        let error = Diagnostic::error("wrong-value", format!("`{wrong}` is no path")).at(http.place("path"));
        sink.push(error.help("a path starts with `/`; the address before it is the server's base URL"));
    }
    let (method, path) = (method?, path?);
    if let Some(message) = no_body(method).filter(|_| http.get("body").is_some()) {
        let error = Diagnostic::error("no-body", message).at(http.place("body"));
        sink.push(error.help("write the inputs under `query`, or use POST"));
    }
    tool.node.insert("method".to_owned(), method.into());
    tool.node.insert("path".to_owned(), path.as_str().into());
    let errors = sink.count(Severity::Error);
    let (placed, wires) = (BTreeSet::new(), BTreeSet::new());
    let mut request = Request { http: &http, inputs, tool, sink, errors, placed, wires };
    request.path(&path);
    request.parameters("query", "query");
    request.parameters("headers", "header");
    request.body();
    request.unplaced();
    Some(http.string("accept", sink).unwrap_or_else(|| "application/json".to_owned()))
}

/// What has no body (RFC 9110 section 9.3.1).
fn no_body(method: &str) -> Option<String> {
    matches!(method, "GET" | "HEAD").then(|| format!("a {method} has no body"))
}

struct Request<'r, 'v> {
    http: &'r Fields<'v>,
    inputs: &'r Inputs,
    tool: &'r mut Lowered,
    sink: &'r mut Sink,
    /// Errors before the first place.
    errors: usize,
    /// Inputs that have a place.
    placed: BTreeSet<String>,
    /// Names on the wire that are taken: what an overlay says is keyed by them.
    wires: BTreeSet<String>,
}

/// One place in the request: its name on the wire, the input's name, and where the file says so.
type Placing = (String, String, String);

impl<'r> Request<'r, '_> {
    fn path(&mut self, path: &str) {
        let at = self.http.pointer_of("path");
        let parts = path.split('{').skip(1).filter_map(|part| part.split_once('}'));
        let mut parameters = Vec::new();
        for (name, _) in parts {
            let Some(input) = self.place(&(name.to_owned(), name.to_owned(), at.clone())) else { continue };
            if input.optional {
                let message = format!("`{name}` stands in the path, so it cannot be optional");
                let place = self.http.place("path");
                self.sink.push(Diagnostic::error("optional-segment", message).at(place).help("take the `?` off"));
            }
            parameters.push(parameter(name, "path", true, input));
        }
        self.add(parameters);
    }

    fn parameters(&mut self, key: &str, location: &str) {
        let mut parameters = Vec::new();
        for placing in self.placings(key) {
            let wire = &placing.0;
            if location == "header" && is_reserved_header(wire) {
                let message = format!("the server sets the header `{wire}` itself");
                self.report("reserved-header", message, &placing.2, "remove it here");
                continue;
            }
            if let Some(input) = self.place(&placing) {
                parameters.push(parameter(wire, location, !input.optional, input));
                self.renamed(&placing);
            }
        }
        self.add(parameters);
    }

    /// The whole body is one input, or its members are.
    fn body(&mut self) {
        if let Some(name) = self.http.get("body").and_then(Value::as_str) {
            let at = self.http.pointer_of("body");
            let Some(input) = self.place(&(String::new(), name.to_owned(), at.clone())) else { return };
            let content = json!({"application/json": {"schema": input.schema}});
            let body = json!({"required": !input.optional, "content": content});
            self.tool.say("requestBody", body, &input.pointer);
            let schema = format!("{OPERATION}/requestBody/content/application~1json/schema");
            self.tool.origins.push((schema, input.pointer.clone()));
            self.tool.extend("body", "wrapped".into(), &at);
            self.tool.extend("argument", name.into(), &at);
            if let Some(text) = input.schema.get("description").filter(|text| text.is_string()) {
                self.tool.extend("body_description", text.clone(), &child_pointer(&input.pointer, "description"));
            }
            return;
        }
        let mut members = Vec::new();
        for placing in self.placings("body") {
            if let Some(input) = self.place(&placing) {
                self.renamed(&placing);
                members.push((placing.0, input));
            }
        }
        self.tool.body(members, &self.http.pointer_of("body"));
    }

    /// `name on the wire: input`, or a list of inputs that have the same name there.
    fn placings(&mut self, key: &str) -> Vec<Placing> {
        let at = self.http.pointer_of(key);
        match self.http.get(key) {
            None => Vec::new(),
            Some(Value::Object(members)) => {
                let placings = members.iter().map(|(wire, input)| (wire.clone(), input, child_pointer(&at, wire)));
                placings.filter_map(|(wire, input, at)| Some((wire, self.input_name(input, &at)?, at))).collect()
            }
            Some(Value::Array(items)) => {
                let placings = items.iter().enumerate().map(|(index, input)| (input, format!("{at}/{index}")));
                placings
                    .filter_map(|(input, at)| {
                        let name = self.input_name(input, &at)?;
                        Some((name.clone(), name, at))
                    })
                    .collect()
            }
            Some(other) => {
                let message = format!("`{key}` is a mapping or a list of inputs, not {}", kind(other));
                let help = format!("write `{key}: {{ name_on_the_wire: input }}` or `{key}: [input]`");
                self.sink.push(Diagnostic::error("wrong-value", message).at(self.http.place(key)).help(help));
                Vec::new()
            }
        }
    }

    fn input_name(&mut self, value: &Value, at: &str) -> Option<String> {
        if let Some(name) = value.as_str() {
            return Some(name.to_owned());
        }
        let message = format!("this must be the name of an input, not {}", kind(value));
        let place = self.place_of(at);
        self.sink.push(Diagnostic::error("wrong-value", message).at(place).help("declare the input under `input`"));
        None
    }

    /// Gives an input its place. Each has one, and no two have the same name on the wire.
    fn place(&mut self, (wire, name, at): &Placing) -> Option<&'r Input> {
        let inputs: &'r Inputs = self.inputs;
        let Some(input) = inputs.find(name) else {
            let known: Vec<&str> = inputs.0.iter().map(|input| input.name.as_str()).collect();
            let near = did_you_mean(name, known.iter().copied());
            let help = near.unwrap_or_else(|| match known.is_empty() {
                true => format!("declare it: `input: {{ {name}: {{ type: string }} }}`"),
                false => format!("the inputs are: {}", known.join(", ")),
            });
            self.report("unknown-input", format!("there is no input `{name}`"), at, &help);
            return None;
        };
        if !self.placed.insert(name.clone()) {
            self.report("input-twice", format!("the input `{name}` goes to two places"), at, "leave one of them out");
            return None;
        }
        if !wire.is_empty() && !self.wires.insert(wire.clone()) {
            self.report("wire-name-twice", format!("two inputs are sent as `{wire}`"), at, "rename one of the two");
            return None;
        }
        Some(input)
    }

    /// The argument keeps the input's name where the name on the wire would give it another.
    fn renamed(&mut self, (wire, name, at): &Placing) {
        if bind::spelt_out(wire, "input") == *name {
            return;
        }
        let said = self.tool.extension.entry("arguments").or_insert_with(|| json!({}));
        if let Some(said) = said.as_object_mut() {
            said.insert(wire.clone(), json!({"name": name}));
        }
        let pointer = child_pointer(&format!("{OPERATION}/x-toolwright/arguments"), wire);
        self.tool.origins.push((pointer, at.clone()));
    }

    fn add(&mut self, parameters: Vec<(Value, String)>) {
        for (parameter, from) in parameters {
            let list = self.tool.operation.entry("parameters").or_insert_with(|| json!([]));
            let Some(list) = list.as_array_mut() else { continue };
            let pointer = format!("{OPERATION}/parameters/{}", list.len());
            list.push(parameter);
            self.tool.origins.push((pointer.clone(), from.clone()));
            self.tool.origins.push((format!("{pointer}/schema"), from));
        }
    }

    /// An input that goes nowhere would be asked for in vain.
    fn unplaced(&mut self) {
        // A place that is wrong may have been meant for one of them.
        if self.sink.count(Severity::Error) > self.errors {
            return;
        }
        let inputs = self.inputs;
        let placed = std::mem::take(&mut self.placed);
        for input in inputs.0.iter().filter(|input| !placed.contains(&input.name)) {
            let help = "write it under `query`, `headers` or `body` of `http`, or in braces into the path";
            self.report("unused-input", format!("the input `{}` goes nowhere", input.name), &input.pointer, help);
        }
    }

    fn report(&mut self, code: &'static str, message: String, at: &str, help: &str) {
        let place = self.place_of(at);
        self.sink.push(Diagnostic::error(code, message).at(place).help(help));
    }

    fn place_of(&self, pointer: &str) -> Place {
        self.http.place_at(pointer)
    }
}

fn parameter(wire: &str, location: &str, required: bool, input: &Input) -> (Value, String) {
    let node = json!({"name": wire, "in": location, "required": required, "schema": input.schema});
    (node, input.pointer.clone())
}
