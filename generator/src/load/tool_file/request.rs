//! The executor `http`: where each input goes in the one request.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::input::{Input, Inputs};
use super::{Lowered, OPERATION};
use crate::diagnostic::{Diagnostic, Place, Severity, Sink};
use crate::load::config::ToolSetting;
use crate::load::language::{HTTP, METHODS, SENT, names};
use crate::load::strict::{Fields, Places, did_you_mean, kind};
use crate::pass::{bind, is_reserved_header};
use crate::source::child_pointer;

/// The settings that a tool file declares.
type Settings = IndexMap<String, ToolSetting>;

/// Lowers the request, and returns the media type of its answer.
pub(super) fn lower(
    fields: &Fields<'_>,
    inputs: &Inputs,
    settings: &Settings,
    (tool, places): (&mut Lowered, Places<'_>),
    sink: &mut Sink,
) -> Option<String> {
    let http = fields.child("http", &names(HTTP), sink)?;
    let (method, path) = (method(&http, sink), path(&http, sink));
    let (method, path) = (method?, path?);
    if let Some(message) = no_body(method).filter(|_| http.get("body").is_some()) {
        let error = Diagnostic::error("no-body", message).at(http.place("body"));
        sink.push(error.help("write the inputs under `query`, or use POST"));
    }
    tool.node.insert("method".to_owned(), method.into());
    tool.hand_over("path", path.as_str().into(), &http.pointer_of("path"));
    for key in ["project", "paginate"] {
        if let Some(value) = http.get(key) {
            tool.extend(key, value.clone(), &http.pointer_of(key));
        }
    }
    let errors = sink.count(Severity::Error);
    let (placed, wires) = (BTreeSet::new(), BTreeSet::new());
    let mut request = Request { http: &http, inputs, settings, places, tool, sink, errors, placed, wires };
    request.path(&path);
    request.parameters("query", "query");
    request.parameters("headers", "header");
    request.body();
    request.unplaced();
    Some(http.string("accept", sink).unwrap_or_else(|| "application/json".to_owned()))
}

/// The method of a request.
pub(super) fn method(http: &Fields<'_>, sink: &mut Sink) -> Option<&'static str> {
    http.require("method", "GET", sink);
    let words: Vec<(&str, &'static str)> = METHODS.iter().map(|method| (*method, *method)).collect();
    http.choice("method", &words, sink)
}

/// The path of a request.
pub(super) fn path(http: &Fields<'_>, sink: &mut Sink) -> Option<String> {
    http.require("path", "/<path below the base URL>", sink);
    let path = http.string("path", sink);
    if let Some(wrong) = path.as_deref().filter(|path| !path.starts_with('/')) {
        let error = Diagnostic::error("wrong-value", format!("`{wrong}` is no path")).at(http.place("path"));
        sink.push(error.help("a path starts with `/`; the address before it is the server's base URL"));
    }
    path
}

/// What has no body (RFC 9110 section 9.3.1).
pub(super) fn no_body(method: &str) -> Option<String> {
    matches!(method, "GET" | "HEAD").then(|| format!("a {method} has no body"))
}

struct Request<'r, 'v> {
    http: &'r Fields<'v>,
    inputs: &'r Inputs,
    settings: &'r Settings,
    places: Places<'r>,
    tool: &'r mut Lowered,
    sink: &'r mut Sink,
    /// Errors before the first place.
    errors: usize,
    /// Inputs that have a place.
    placed: BTreeSet<String>,
    /// Names on the wire that are taken: what an overlay says is keyed by them.
    wires: BTreeSet<String>,
}

/// One place in the request.
struct Placing {
    /// Its name on the wire; empty for a whole body.
    wire: String,
    filling: Filling,
    /// Where the file says so.
    at: String,
}

/// What is sent there.
enum Filling {
    /// The input of that name.
    Input(String),
    /// What callers never see: the words of our own key, and the schema of the value.
    Hidden(Value, Value),
}

impl Request<'_, '_> {
    fn path(&mut self, path: &str) {
        let at = self.http.pointer_of("path");
        let query = path.split_once('?').map_or("", |(_, query)| query);
        if query.contains('{') {
            let message = format!("`?{query}` is sent as it stands: braces mean an input in the path alone");
            self.report("query-in-path", message, &at, "put it under `query`: `query: { name_on_the_wire: input }`");
            return;
        }
        let parts = path.split('{').skip(1).filter_map(|part| part.split_once('}'));
        let mut parameters = Vec::new();
        for (name, _) in parts {
            let setting = self.settings.get(name).filter(|_| self.inputs.find(name).is_none());
            let filling = match setting {
                Some(setting) => hidden_setting(name, setting, &json!({"type": "string"})),
                None => Filling::Input(name.to_owned()),
            };
            let placing = Placing { wire: name.to_owned(), filling, at: at.clone() };
            let Some(input) = self.place(&placing) else { continue };
            if input.optional {
                let message = format!("`{name}` stands in the path, so it cannot be optional");
                let place = self.http.place("path");
                self.sink.push(Diagnostic::error("optional-segment", message).at(place).help("take the `?` off"));
            }
            parameters.push(parameter(name, "path", true, &input));
            self.named(&placing);
        }
        self.add(parameters);
    }

    fn parameters(&mut self, key: &str, location: &str) {
        let mut parameters = Vec::new();
        for placing in self.placings(key) {
            let wire = &placing.wire;
            if location == "header" && is_reserved_header(wire) {
                let message = format!("the server sets the header `{wire}` itself");
                self.report("reserved-header", message, &placing.at, "remove it here");
                continue;
            }
            if let Some(input) = self.place(&placing) {
                parameters.push(parameter(wire, location, !input.optional, &input));
                self.named(&placing);
            }
        }
        self.add(parameters);
    }

    /// The whole body is one input, or its members are.
    fn body(&mut self) {
        if let Some(name) = self.http.get("body").and_then(Value::as_str) {
            let at = self.http.pointer_of("body");
            let placing = Placing { wire: String::new(), filling: Filling::Input(name.to_owned()), at: at.clone() };
            let Some(input) = self.place(&placing) else { return };
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
                self.named(&placing);
                members.push((placing.wire, input));
            }
        }
        self.tool.body(members, &self.http.pointer_of("body"));
    }

    /// `name on the wire: what is sent`, or a list of inputs that have the same name there.
    fn placings(&mut self, key: &str) -> Vec<Placing> {
        let at = self.http.pointer_of(key);
        let named: Vec<(Option<String>, &Value, String)> = match self.http.get(key) {
            None => Vec::new(),
            Some(Value::Object(members)) => {
                members.iter().map(|(wire, value)| (Some(wire.clone()), value, child_pointer(&at, wire))).collect()
            }
            Some(Value::Array(items)) => {
                items.iter().enumerate().map(|(index, value)| (None, value, format!("{at}/{index}"))).collect()
            }
            Some(other) => {
                let message = format!("`{key}` is a mapping or a list of inputs, not {}", kind(other));
                let help = format!("write `{key}: {{ name_on_the_wire: input }}` or `{key}: [input]`");
                self.sink.push(Diagnostic::error("wrong-value", message).at(self.http.place(key)).help(help));
                Vec::new()
            }
        };
        let placing = |(wire, value, at): (Option<String>, &Value, String)| match value {
            Value::String(name) => {
                Some(Placing { wire: wire.unwrap_or_else(|| name.clone()), filling: Filling::Input(name.clone()), at })
            }
            Value::Object(_) if wire.is_some() => Some(Placing { wire: wire?, filling: self.hidden(value, &at)?, at }),
            other => {
                let message = format!("this must be the name of an input, not {}", kind(other));
                let help = "declare the input under `input`; what callers never see is `{ constant: .. }` or `{ setting: .. }`";
                self.report("wrong-value", message, &at, help);
                None
            }
        };
        named.into_iter().filter_map(placing).collect()
    }

    /// `{constant: ..}` or `{setting: ..}`.
    fn hidden(&mut self, value: &Value, at: &str) -> Option<Filling> {
        let fields = Fields::open(value, at, &names(SENT), self.places, self.sink)?;
        let any = json!({});
        match (fields.get("constant"), fields.get("setting")) {
            (Some(constant), None) => {
                if fields.get("schema").is_some() {
                    let help = "remove it; a constant is sent as it is";
                    self.report("wrong-value", "`schema` speaks of a setting".to_owned(), at, help);
                }
                Some(Filling::Hidden(json!({"constant": constant}), any))
            }
            (None, Some(_)) => {
                let key = fields.string("setting", self.sink)?;
                let text = json!({"type": "string"});
                match self.settings.get(&key) {
                    Some(setting) => Some(hidden_setting(&key, setting, fields.get("schema").unwrap_or(&text))),
                    None => {
                        let known = self.settings.keys().map(String::as_str);
                        let help = did_you_mean(&key, known)
                            .unwrap_or_else(|| format!("declare it: `settings: {{ {key}: {{ description: .. }} }}`"));
                        let at = child_pointer(at, "setting");
                        self.report("unknown-setting", format!("the tool has no setting `{key}`"), &at, &help);
                        None
                    }
                }
            }
            _ => {
                let help = "write one of `{ constant: value }` and `{ setting: name }`";
                self.report("wrong-value", "this does not say what is sent".to_owned(), at, help);
                None
            }
        }
    }

    /// Gives an input its place. Each has one, and no two have the same name on the wire.
    fn place(&mut self, placing: &Placing) -> Option<Input> {
        let Placing { wire, filling, at } = placing;
        let input = match filling {
            Filling::Input(name) => self.input(name, at)?,
            Filling::Hidden(_, schema) => {
                Input { name: wire.clone(), optional: false, schema: schema.clone(), pointer: at.clone() }
            }
        };
        if !wire.is_empty() && !self.wires.insert(wire.clone()) {
            self.report("wire-name-twice", format!("two inputs are sent as `{wire}`"), at, "rename one of the two");
            return None;
        }
        Some(input)
    }

    fn input(&mut self, name: &str, at: &str) -> Option<Input> {
        let Some(input) = self.inputs.find(name) else {
            let known: Vec<&str> = self.inputs.0.iter().map(|input| input.name.as_str()).collect();
            let near = did_you_mean(name, known.iter().copied());
            let help = near.unwrap_or_else(|| match known.is_empty() {
                true => format!("declare it: `input: {{ {name}: {{ type: string }} }}`"),
                false => format!("the inputs are: {}", known.join(", ")),
            });
            self.report("unknown-input", format!("there is no input `{name}`"), at, &help);
            return None;
        };
        if !self.placed.insert(name.to_owned()) {
            self.report("input-twice", format!("the input `{name}` goes to two places"), at, "leave one of them out");
            return None;
        }
        Some(input.clone())
    }

    /// The argument keeps the input's name where the name on the wire would give it another; what is hidden has none.
    fn named(&mut self, Placing { wire, filling, at }: &Placing) {
        let words = match filling {
            Filling::Input(name) if bind::spelt_out(wire, "input") == *name => return,
            Filling::Input(name) => json!({"name": name}),
            Filling::Hidden(words, _) => words.clone(),
        };
        let said = self.tool.extension.entry("arguments").or_insert_with(|| json!({}));
        if let Some(said) = said.as_object_mut() {
            said.insert(wire.clone(), words);
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

/// A setting of the tool as a hidden argument. What the setting is stands where it is declared.
fn hidden_setting(key: &str, setting: &ToolSetting, schema: &Value) -> Filling {
    let words = match setting.default.as_str() {
        "" => json!({"setting": key}),
        default => json!({"setting": key, "default": default}),
    };
    Filling::Hidden(words, schema.clone())
}
