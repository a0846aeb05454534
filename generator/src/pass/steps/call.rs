//! What a step calls: a tool by one of its names, or a request of its own.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use toolwright_steps::{Call, Spread};

use super::values::suggestion;
use super::{Reader, Stage};
use crate::diagnostic::Severity;
use crate::load::extension::Risk;
use crate::load::language::{METHODS, STEP_BODY, STEP_HTTP, STEP_PARAMETER, names};
use crate::load::strict::{Fields, wrong_kind};
use crate::model::operation::Location;
use crate::model::tool::{Argument, Binding, Hints, Role, Tool};
use crate::pass::hints::by_method;
use crate::pass::is_reserved_header;
use crate::source::child_pointer;

/// The keys that say what is called.
const CALLS: [&str; 5] = ["tool", "operationId", "operationPath", "workflowId", "http"];

/// The call, its name for people, and what it may do.
type Made = (Call, String, Hints);

impl<'r> Reader<'r, '_> {
    pub(super) fn call(&mut self, fields: &Fields<'_>, index: usize) -> Option<Made> {
        let mut given = CALLS.into_iter().filter(|key| fields.get(key).is_some());
        let stage = Stage { before: index, has_answer: false };
        match (given.next(), given.next()) {
            (None, _) => {
                let at = fields.pointer_of("stepId");
                let help = "add `tool: <name>`, `operationId: <id>` or `http: { method: GET, path: /.. }`";
                self.report("no-call", "this step calls nothing".to_owned(), &at, help);
                None
            }
            (Some(_), Some(second)) => {
                let help = format!("remove `{second}`, or make a second step of it");
                self.report("two-calls", "a step makes one call".to_owned(), &fields.pointer_of(second), help);
                None
            }
            (Some("http"), None) => self.request(fields, stage),
            (Some("workflowId"), None) => {
                let help = "write the steps of that workflow here";
                let message = "a step cannot be another workflow".to_owned();
                self.report("other-workflow", message, &fields.pointer_of("workflowId"), help);
                None
            }
            (Some(key), None) => {
                let Some(tool) = self.named(fields, key) else {
                    // What its values speak of can be told all the same.
                    for key in ["parameters", "requestBody"] {
                        fields.get(key).into_iter().for_each(|value| self.value(value, &fields.pointer_of(key), stage));
                    }
                    return None;
                };
                self.tool_call(tool, fields, stage)
            }
        }
    }

    /// The tool that a step names.
    fn named(&mut self, fields: &Fields<'_>, key: &str) -> Option<&'r Tool> {
        let text = fields.string(key, self.sink)?;
        let model = self.model;
        let at = fields.pointer_of(key);
        // Arazzo 1.0 section "Step Object": the name of the source may stand before the operation.
        let name = text.strip_prefix("$sourceDescriptions.").and_then(|rest| rest.split_once('.'));
        let name = name.map_or(text.as_str(), |(_, name)| name);
        let operations = || model.operations.iter().filter(|operation| operation.operation_id.is_some());
        let (found, known): (Option<&Tool>, Vec<&str>) = match key {
            "tool" => (
                model.tools.iter().find(|tool| tool.name == text),
                model.tools.iter().map(|tool| tool.name.as_str()).collect(),
            ),
            "operationId" => {
                let operation = operations().find(|operation| operation.operation_id.as_deref() == Some(name));
                let tool = operation.and_then(|it| model.tools.iter().find(|tool| tool.origin == it.origin));
                (tool, operations().filter_map(|operation| operation.operation_id.as_deref()).collect())
            }
            _ => {
                let pointer = text.split_once('#').map_or(text.as_str(), |(_, pointer)| pointer);
                (model.tools.iter().find(|tool| tool.origin == pointer), Vec::new())
            }
        };
        let Some(tool) = found else {
            let help = match key {
                "operationPath" => "write the pointer of an operation, such as `#/paths/~1users~1{id}/get`".to_owned(),
                _ => suggestion(name, known.get(..20).unwrap_or(&known), "there are", "there are none"),
            };
            self.report("unknown-tool", format!("`{key}` names no operation: `{}`", text.escape_debug()), &at, help);
            return None;
        };
        let refused = match tool.binding {
            Binding::Steps(_) => "it makes several calls itself",
            Binding::NoRoute(_) => "the real server has no such route",
            _ => return Some(tool),
        };
        self.report("no-step", format!("{} cannot be a step: {refused}", tool.name), &at, "call what it stands for");
        None
    }

    fn tool_call(&mut self, tool: &Tool, fields: &Fields<'_>, stage: Stage) -> Option<Made> {
        let mut arguments = Map::new();
        let errors = self.sink.count(Severity::Error);
        self.parameters(tool, fields, &mut arguments, stage);
        let spread = self.body(tool, fields, &mut arguments, stage);
        let given: BTreeSet<&str> = arguments.keys().map(String::as_str).collect();
        let missing: Vec<&str> = tool
            .arguments
            .iter()
            .filter(|argument| argument.required && !given.contains(argument.name.as_str()))
            .filter(|argument| spread.is_none() || !argument.role.is_of_body())
            .map(|argument| argument.name.as_str())
            .collect();
        // A name that is wrong may have been meant for one of them.
        if !missing.is_empty() && self.sink.count(Severity::Error) == errors {
            let message = format!("{} needs {}, and this step does not give it", tool.name, missing.join(", "));
            let help = "add it to `parameters`, or to `requestBody.payload`";
            self.report("missing-argument", message, &fields.pointer_of("stepId"), help);
        }
        let call = Call::Tool { name: tool.name.clone(), arguments, spread };
        Some((call, tool.name.clone(), tool.hints))
    }

    /// `parameters`: a mapping, or Arazzo's list of `{name, in, value}`.
    fn parameters(&mut self, tool: &Tool, fields: &Fields<'_>, arguments: &mut Map<String, Value>, stage: Stage) {
        let base = fields.pointer_of("parameters");
        let mut given: Vec<(String, Option<Location>, Value, String, String)> = Vec::new();
        match fields.get("parameters") {
            None => {}
            Some(Value::Object(members)) => given.extend(members.iter().map(|(name, value)| {
                let at = child_pointer(&base, name);
                (name.clone(), None, value.clone(), at.clone(), at)
            })),
            Some(Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    let at = format!("{base}/{index}");
                    let Some(item) = Fields::open(item, &at, &names(STEP_PARAMETER), self.places, self.sink) else {
                        continue;
                    };
                    item.require("name", "<the parameter's name>", self.sink);
                    item.require("value", "<a value, such as $inputs.id>", self.sink);
                    let words = [
                        ("path", Location::Path),
                        ("query", Location::Query),
                        ("header", Location::Header),
                        ("cookie", Location::Cookie),
                    ];
                    let place = item.choice("in", &words, self.sink);
                    let (Some(name), Some(value)) = (item.string("name", self.sink), item.get("value")) else {
                        continue;
                    };
                    given.push((name, place, value.clone(), item.pointer_of("name"), item.pointer_of("value")));
                }
            }
            Some(other) => {
                self.sink.push(wrong_kind(&base, "a mapping of names to values", other, self.places));
            }
        }
        for (name, place, value, at, value_at) in given {
            self.value(&value, &value_at, stage);
            let Some(argument) = self.argument(tool, &name, place, &at) else { continue };
            if arguments.insert(argument.name.clone(), value).is_some() {
                self.report("listed-twice", format!("`{name}` is given twice"), &at, "remove one of the two");
            }
        }
    }

    /// The argument of a name: that of a parameter on the wire, else its own.
    fn argument<'t>(&mut self, tool: &'t Tool, name: &str, place: Option<Location>, at: &str) -> Option<&'t Argument> {
        let is_placed = |argument: &&Argument| match (&argument.role, place) {
            (Role::Parameter { location, .. }, Some(place)) => *location == place,
            (_, Some(_)) => false,
            (_, None) => true,
        };
        let is_parameter = |argument: &&Argument| matches!(argument.role, Role::Parameter { .. });
        let placed = || tool.arguments.iter().filter(is_placed);
        let found = placed().filter(is_parameter).find(|argument| argument.wire_name == name);
        let found = found.or_else(|| placed().find(|argument| argument.name == name));
        if found.is_none() {
            let known: Vec<&str> = placed().map(|argument| argument.name.as_str()).collect();
            let help = suggestion(name, &known, "it takes", "it takes none");
            self.report("unknown-argument", format!("{} has no argument `{name}`", tool.name), at, help);
        }
        found
    }

    /// `requestBody`: the one argument that is the body, or the members that are arguments.
    fn body(
        &mut self,
        tool: &Tool,
        fields: &Fields<'_>,
        arguments: &mut Map<String, Value>,
        stage: Stage,
    ) -> Option<Spread> {
        let body = fields.child("requestBody", &names(STEP_BODY), self.sink)?;
        if body.get("replacements").is_some() {
            let help = "write the values into `payload`";
            let at = body.pointer_of("replacements");
            self.report("no-replacements", "`replacements` are not made".to_owned(), &at, help);
        }
        body.require("payload", "<the body>", self.sink);
        let payload = body.get("payload")?;
        let at = body.pointer_of("payload");
        self.value(payload, &at, stage);
        if let Some(whole) = tool.arguments.iter().find(|argument| matches!(argument.role, Role::Body { .. })) {
            arguments.insert(whole.name.clone(), payload.clone());
            return None;
        }
        let members: BTreeMap<String, String> = tool
            .arguments
            .iter()
            .filter(|argument| matches!(argument.role, Role::Member | Role::Field { .. } | Role::Input))
            .map(|argument| (argument.wire_name.clone(), argument.name.clone()))
            .collect();
        if members.is_empty() {
            let message = format!("{} takes no body", tool.name);
            self.report("no-body", message, &fields.pointer_of("requestBody"), "remove `requestBody`");
            return None;
        }
        let Value::Object(given) = payload else {
            return Some(Spread { value: payload.clone(), members });
        };
        for (name, value) in given {
            match members.get(name) {
                Some(argument) => drop(arguments.insert(argument.clone(), value.clone())),
                None => {
                    let known: Vec<&str> = members.keys().map(String::as_str).collect();
                    let help = suggestion(name, &known, "it has", "it has none");
                    let message = format!("the body of {} has no member `{name}`", tool.name);
                    self.report("unknown-argument", message, &child_pointer(&at, name), help);
                }
            }
        }
        None
    }

    /// A request that no tool describes.
    fn request(&mut self, fields: &Fields<'_>, stage: Stage) -> Option<Made> {
        for key in ["parameters", "requestBody"].into_iter().filter(|key| fields.get(key).is_some()) {
            let message = format!("`{key}` belongs to a step that names an operation");
            let help =
                "write `query`, `headers` and `body` under `http`, and values into its path: `/users/{$inputs.id}`";
            self.report("misplaced-key", message, &fields.pointer_of(key), help);
        }
        let http = fields.child("http", &names(STEP_HTTP), self.sink)?;
        http.require("method", "GET", self.sink);
        http.require("path", "/<path below the base URL>", self.sink);
        let words: Vec<(&str, &str)> = METHODS.iter().map(|method| (*method, *method)).collect();
        let method = http.choice("method", &words, self.sink);
        let path = http.string("path", self.sink);
        let (method, path) = (method?, path?);
        self.path(&path, &http, stage);
        let (query, headers) = (self.map(&http, "query", stage), self.map(&http, "headers", stage));
        for name in headers.keys().filter(|name| is_reserved_header(name)) {
            let at = child_pointer(&http.pointer_of("headers"), name);
            let message = format!("the server sets the header `{name}` itself");
            self.report("reserved-header", message, &at, "remove it here");
        }
        let body = http.get("body").cloned();
        if let Some(body) = &body {
            self.value(body, &http.pointer_of("body"), stage);
            if matches!(method, "GET" | "HEAD") {
                let message = format!("a {method} has no body");
                self.report(
                    "no-body",
                    message,
                    &http.pointer_of("body"),
                    "write the values under `query`, or use POST",
                );
            }
        }
        let (risk, idempotent) = by_method(method);
        let label = format!("{method} {path}");
        let reads = risk == Risk::ReadOnly;
        let call = Call::Request { method: method.to_owned(), path, query, headers, body, reads };
        Some((call, label, Hints { risk, idempotent, open_world: false }))
    }

    fn path(&mut self, path: &str, http: &Fields<'_>, stage: Stage) {
        let at = http.pointer_of("path");
        if !path.starts_with('/') {
            let help = "a path starts with `/`; the address before it is the server's base URL";
            self.report("wrong-value", format!("`{path}` is no path"), &at, help);
        }
        let plain = path.split('{').skip(1).find(|part| !part.starts_with('$'));
        if let Some(name) = plain.and_then(|part| part.split_once('}')).map(|(name, _)| name) {
            let message = format!("`{{{name}}}` is no runtime expression");
            self.report("bad-expression", message, &at, format!("write `{{$inputs.{name}}}`"));
        }
        self.value(&path.into(), &at, stage);
    }
}
