//! Arazzo 1.0 documents: `specs/<server>/arazzo/*.yaml`. Each workflow is a tool of steps.
//!
//! A workflow lowers to what a tool file with `steps` becomes, so that the same pass reads the steps of both. What a
//! workflow says for all of its steps, and what it names in `components`, is written into the steps first.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::Files;
use super::language::{ARAZZO, WORKFLOW, names};
use super::strict::{Fields, Places, did_you_mean, wrong_kind};
use super::tool_file::{Input, Lowered, ToolFile};
use crate::diagnostic::{Diagnostic, Place, Sink};
use crate::pass::name::snake;
use crate::source::{Source, child_pointer};

/// Paths of the Arazzo documents of a server, sorted.
pub(super) fn paths(files: &Files, dir: &str) -> Vec<String> {
    let inside = format!("{dir}/arazzo/");
    files.paths().filter(|path| path.starts_with(&inside)).map(str::to_owned).collect()
}

/// Reads every workflow. One that is wrong costs only itself.
pub(super) fn read_all(files: &Files, dir: &str, sink: &mut Sink) -> Vec<ToolFile> {
    let mut found = Vec::new();
    for path in paths(files, dir) {
        let Some(source) = Source::from_bytes(&path, files.get(&path).unwrap_or_default(), sink) else { continue };
        let source = Arc::new(source);
        let Some(value) = source.read(sink) else { continue };
        let places = |pointer: &str| source.place(pointer);
        let document = Arazzo { value: &value, source: &source, places: &places };
        found.extend(document.tools(sink));
    }
    found
}

/// One document.
struct Arazzo<'a> {
    value: &'a Value,
    source: &'a Arc<Source>,
    places: Places<'a>,
}

impl Arazzo<'_> {
    fn tools(&self, sink: &mut Sink) -> Vec<ToolFile> {
        let Some(root) = Fields::open(self.value, "", &names(ARAZZO), self.places, sink) else { return Vec::new() };
        root.require("arazzo", "1.0.1", sink);
        root.require("workflows", "[]", sink);
        let version = root.string("arazzo", sink);
        if let Some(other) = version.filter(|version| !version.starts_with("1.0.")) {
            let error = Diagnostic::error("arazzo-version", format!("`{}` is not read", other.escape_debug()));
            sink.push(error.at(root.place("arazzo")).help("write it as Arazzo 1.0: `arazzo: 1.0.1`"));
        }
        let workflows = match root.get("workflows") {
            None => return Vec::new(),
            Some(Value::Array(workflows)) => workflows,
            Some(other) => {
                sink.push(wrong_kind("/workflows", "a list", other, self.places));
                return Vec::new();
            }
        };
        let at = |index: usize| format!("/workflows/{index}");
        workflows.iter().enumerate().filter_map(|(index, workflow)| self.tool(workflow, &at(index), sink)).collect()
    }

    fn tool(&self, workflow: &Value, at: &str, sink: &mut Sink) -> Option<ToolFile> {
        let fields = Fields::open(workflow, at, &names(WORKFLOW), self.places, sink)?;
        fields.require("workflowId", "<a name for the workflow>", sink);
        fields.require("steps", "[]", sink);
        if fields.get("dependsOn").is_some_and(|others| *others != json!([])) {
            let message = "a workflow cannot depend on others: each is a tool of its own";
            let error = Diagnostic::error("other-workflow", message).at(fields.place("dependsOn"));
            sink.push(error.help("write the steps of those workflows into this one"));
        }
        let id = fields.string("workflowId", sink)?;
        let name = snake(&id);
        let mut tool = Lowered::new(&name, at, &fields.pointer_of("workflowId"));
        for key in ["summary", "description"] {
            if let Some(text) = fields.string(key, sink) {
                tool.say(key, text.into(), &fields.pointer_of(key));
            }
        }
        if let Some(Value::Object(own)) = workflow.get("x-toolwright") {
            for (key, value) in own {
                tool.extend(key, value.clone(), &child_pointer(&fields.pointer_of("x-toolwright"), key));
            }
        }
        let inputs = self.inputs(&fields, sink);
        tool.body(inputs, &fields.pointer_of("inputs"));
        self.steps(&fields, &mut tool, sink);
        if let Some(outputs) = fields.get("outputs") {
            tool.hand_over("outputs", outputs.clone(), &fields.pointer_of("outputs"));
        }
        Some(tool.finish(Arc::clone(self.source), IndexMap::new()))
    }

    /// The inputs: a JSON Schema of an object, perhaps one of `components`.
    fn inputs(&self, fields: &Fields<'_>, sink: &mut Sink) -> Vec<(String, Input)> {
        let Some(written) = fields.get("inputs") else { return Vec::new() };
        let (schema, at) = match written.get("$ref").and_then(Value::as_str) {
            Some(reference) => {
                let pointer = reference.strip_prefix('#').unwrap_or_default();
                match self.value.pointer(pointer).filter(|_| pointer.starts_with("/components/inputs/")) {
                    Some(schema) => (schema, pointer.to_owned()),
                    None => {
                        let message = format!("`{}` leads nowhere", reference.escape_debug());
                        let help = "point it at `#/components/inputs/<name>` of this file";
                        let place = fields.place("inputs");
                        sink.push(Diagnostic::error("dangling-reference", message).at(place).help(help));
                        return Vec::new();
                    }
                }
            }
            None => (written, fields.pointer_of("inputs")),
        };
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = schema.get("properties").and_then(Value::as_object);
        let base = child_pointer(&at, "properties");
        let input = |(name, schema): (&String, &Value)| {
            let input = Input {
                name: name.clone(),
                optional: !required.contains(&name.as_str()),
                schema: schema.clone(),
                pointer: child_pointer(&base, name),
            };
            (name.clone(), input)
        };
        properties.into_iter().flatten().map(input).collect()
    }

    /// The steps, with what the workflow says for all of them.
    fn steps(&self, fields: &Fields<'_>, tool: &mut Lowered, sink: &mut Sink) {
        let Some(written) = fields.get("steps") else { return };
        let base = fields.pointer_of("steps");
        let mut steps = written.clone();
        tool.origins.push(("/steps".to_owned(), base.clone()));
        let shared = [
            ("parameters", "parameters", "parameters"),
            ("successActions", "onSuccess", "successActions"),
            ("failureActions", "onFailure", "failureActions"),
        ];
        for (index, step) in steps.as_array_mut().into_iter().flatten().enumerate() {
            let Some(step) = step.as_object_mut() else { continue };
            for (of_workflow, of_step, component) in shared {
                self.own(step, of_step, component, &format!("{base}/{index}/{of_step}"), sink);
                let more = fields.get(of_workflow).and_then(Value::as_array);
                self.add(step, of_step, component, more, (&fields.pointer_of(of_workflow), index), tool, sink);
            }
        }
        tool.node.insert("steps".to_owned(), steps);
    }

    /// Puts components in place of what names them.
    fn own(&self, step: &mut Map<String, Value>, key: &str, component: &str, at: &str, sink: &mut Sink) {
        let Some(Value::Array(items)) = step.get_mut(key) else { return };
        for (index, item) in items.iter_mut().enumerate().filter(|(_, item)| is_reference(item)) {
            *item = self.component(item, component, &format!("{at}/{index}"), sink).unwrap_or_default();
        }
        // What a name leads nowhere to is reported, and nothing more is to be said of it.
        items.retain(|item| !item.is_null());
    }

    /// Adds what a workflow says for all steps, where a step does not say it itself.
    #[allow(clippy::too_many_arguments, reason = "one walk over two lists and their places")]
    fn add(
        &self,
        step: &mut Map<String, Value>,
        key: &str,
        component: &str,
        more: Option<&Vec<Value>>,
        (from, index): (&str, usize),
        tool: &mut Lowered,
        sink: &mut Sink,
    ) {
        // A request of the step's own has no parameters that could be shared.
        let Some(more) = more.filter(|_| key != "parameters" || !step.contains_key("http")) else { return };
        let own = step.entry(key).or_insert_with(|| json!([]));
        let Some(own) = own.as_array_mut() else { return };
        let same = |left: &Value, right: &Value| {
            ["name", "in"].iter().all(|key| left.get(key) == right.get(key)) && left.get("name").is_some()
        };
        for (number, item) in more.iter().enumerate() {
            let at = format!("{from}/{number}");
            let item = match is_reference(item) {
                true => self.component(item, component, &at, sink),
                false => Some(item.clone()),
            };
            let Some(item) = item else { continue };
            if own.iter().any(|own| same(own, &item)) {
                continue;
            }
            tool.origins.push((format!("/steps/{index}/{key}/{}", own.len()), at));
            own.push(item);
        }
    }

    /// What `{reference: $components.<kind>.<name>}` names (Arazzo 1.0 section "Reusable Object").
    fn component(&self, item: &Value, kind: &str, at: &str, sink: &mut Sink) -> Option<Value> {
        let reference = item.get("reference")?.as_str()?;
        let name = reference.strip_prefix("$components.").and_then(|rest| rest.strip_prefix(kind)?.strip_prefix('.'));
        let known = self.value.get("components").and_then(|components| components.get(kind)?.as_object());
        let found = name.and_then(|name| known?.get(name));
        let Some(found) = found else {
            let names = known.into_iter().flat_map(Map::keys).map(String::as_str);
            let help = did_you_mean(name.unwrap_or(reference), names)
                .unwrap_or_else(|| format!("write `$components.{kind}.<name>`, and declare it there"));
            let message = format!("there is no component `{}`", reference.escape_debug());
            let place: Place = (self.places)(&child_pointer(at, "reference"));
            sink.push(Diagnostic::error("unknown-component", message).at(place).help(help));
            return None;
        };
        let mut found = found.clone();
        if let (Some(value), Some(members)) = (item.get("value"), found.as_object_mut()) {
            members.insert("value".to_owned(), value.clone());
        }
        Some(found)
    }
}

fn is_reference(item: &Value) -> bool {
    item.get("reference").is_some()
}
