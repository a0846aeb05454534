//! Tools that make several calls: reads their steps in the words of OpenAPI Arazzo 1.0, and makes the plan that servers run.
//!
//! Steps name other tools, so this runs when those are known. Everything that a run would stumble over is an error here:
//! unknown tools, arguments, inputs, steps and outputs, and texts that are no expression, condition or filter.

mod action;
mod call;
mod values;

use serde_json::{Map, Value};
use toolwright_steps::{Plan, Step};

use super::join;
use crate::diagnostic::{Diagnostic, Place, Sink};
use crate::load::extension::Risk;
use crate::load::filter;
use crate::load::language::{STEP, names};
use crate::load::strict::{Fields, Places, wrong_kind};
use crate::model::Model;
use crate::model::tool::{Binding, Hints, Steps, Tool};

pub(super) fn steps(model: &mut Model, sink: &mut Sink) {
    let mut made = Vec::new();
    for (index, tool) in model.tools.iter().enumerate() {
        if matches!(tool.binding, Binding::Steps(_)) {
            let places = |pointer: &str| model.loaded.document.place(pointer);
            let item = tool.origin.trim_end_matches("/operation").to_owned();
            made.push((
                index,
                Reader { model, tool, item, places: &places, known: Vec::new(), goes_back: false, sink }.read(),
            ));
        }
    }
    for (index, (steps, hints)) in made {
        let Some(tool) = model.tools.get_mut(index) else { continue };
        let operation = model.operations.iter().find(|operation| operation.origin == tool.origin);
        let Some(said) = operation.map(|operation| &operation.extension) else { continue };
        // What the author says of the whole goes before what follows from its parts.
        if said.risk.is_none() {
            if hints.risk == Risk::Destructive && said.caution.is_none() {
                let message = "one of the steps is destructive, and the tool does not say what is lost";
                let place = model.loaded.document.place(&join(tool.origin.trim_end_matches("/operation"), "steps"));
                sink.push(
                    Diagnostic::error("contradicting-hints", message).at(place).help("add `caution: <what is lost>`"),
                );
            }
            tool.hints = Hints { idempotent: said.idempotent.unwrap_or(hints.idempotent), ..hints };
        }
        tool.hints.open_world |= hints.open_world || said.open_world;
        tool.binding = Binding::Steps(steps);
    }
}

/// A step that others can speak of.
struct Known {
    id: String,
    outputs: Vec<String>,
}

/// Where a value stands: what it can speak of.
#[derive(Clone, Copy)]
struct Stage {
    /// How many steps come before it.
    before: usize,
    /// Whether there is an answer.
    has_answer: bool,
}

struct Reader<'r, 'm> {
    model: &'r Model<'m>,
    tool: &'r Tool,
    /// Pointer of the tool's node.
    item: String,
    places: Places<'r>,
    known: Vec<Known>,
    /// Whether some action goes back, so that a step may follow a later one.
    goes_back: bool,
    sink: &'r mut Sink,
}

impl Reader<'_, '_> {
    fn read(mut self) -> (Steps, Hints) {
        let document = &self.model.loaded.document;
        let base = join(&self.item, "steps");
        let nothing = Vec::new();
        let listed = match document.get(&base) {
            Some(Value::Array(steps)) => steps,
            other => {
                let value = other.unwrap_or(&Value::Null);
                self.sink.push(wrong_kind(&base, "a list of steps", value, self.places));
                &nothing
            }
        };
        if listed.is_empty() {
            let help = "write `- { stepId: first, tool: <name of a tool> }` below it";
            self.report("no-steps", "there are no steps".to_owned(), &base, help);
        }
        self.known = listed.iter().map(known).collect();
        self.goes_back = listed.iter().any(goes_to);
        let (mut steps, mut calls, mut hints) = (Vec::new(), Vec::new(), Vec::new());
        for (index, value) in listed.iter().enumerate() {
            let Some((step, label, hint)) = self.step(value, &format!("{base}/{index}"), index) else { continue };
            steps.push(step);
            calls.push(label);
            hints.push(hint);
        }
        let plan = Plan { inputs: self.inputs(), steps, outputs: self.outputs(), project: self.project() };
        let plan = crate::catalog::pretty(&serde_json::to_value(plan).unwrap_or_default());
        (Steps { plan, calls }, worst(&hints))
    }

    fn step(&mut self, value: &Value, at: &str, index: usize) -> Option<(Step, String, Hints)> {
        let fields = Fields::open(value, at, &names(STEP), self.places, self.sink)?;
        fields.require("stepId", "<a name for the step>", self.sink);
        let id = fields.string("stepId", self.sink)?;
        self.check_id(&id, &fields, index);
        let call = self.call(&fields, index);
        let stage = Stage { before: index, has_answer: true };
        let success = self.criteria(&fields, "successCriteria", stage);
        let outputs = self.map(&fields, "outputs", stage);
        let on_success = self.actions(&fields, "onSuccess", stage);
        let on_failure = self.actions(&fields, "onFailure", stage);
        let (call, label, hints) = call?;
        Some((Step { id, call, success, outputs, on_success, on_failure }, label, hints))
    }

    fn check_id(&mut self, id: &str, fields: &Fields<'_>, index: usize) {
        let at = fields.pointer_of("stepId");
        if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) {
            let help = "letters, digits, `_` and `-`";
            self.report("step-name", format!("`{}` is no name of a step", id.escape_debug()), &at, help);
        }
        if self.known.iter().take(index).any(|earlier| earlier.id == id) {
            self.report("listed-twice", format!("two steps are named `{id}`"), &at, "rename one of the two");
        }
    }

    /// Inputs whose argument has another name.
    fn inputs(&self) -> std::collections::BTreeMap<String, String> {
        let arguments = self.tool.arguments.iter().filter(|argument| argument.name != argument.wire_name);
        arguments.map(|argument| (argument.wire_name.clone(), argument.name.clone())).collect()
    }

    fn outputs(&mut self) -> Map<String, Value> {
        let at = join(&self.item, "outputs");
        let Some(value) = self.model.loaded.document.get(&at) else { return Map::new() };
        let Value::Object(outputs) = value else {
            self.sink.push(wrong_kind(&at, "a mapping of names to values", value, self.places));
            return Map::new();
        };
        let stage = Stage { before: self.known.len(), has_answer: false };
        self.value(value, &at, stage);
        outputs.clone()
    }

    fn project(&mut self) -> Option<String> {
        let at = join(&self.item, "project");
        let value = self.model.loaded.document.get(&at)?;
        let Some(text) = value.as_str() else {
            self.sink.push(wrong_kind(&at, "a text", value, self.places));
            return None;
        };
        filter::check(text, "project", "the outputs", self.place(&at), self.sink);
        Some(text.to_owned())
    }

    fn place(&self, pointer: &str) -> Place {
        (self.places)(pointer)
    }

    fn report(&mut self, code: &'static str, message: String, at: &str, help: impl Into<String>) {
        let place = self.place(at);
        self.sink.push(Diagnostic::error(code, message).at(place).help(help));
    }
}

fn known(step: &Value) -> Known {
    let id = step.get("stepId").and_then(Value::as_str).unwrap_or_default().to_owned();
    let outputs = step.get("outputs").and_then(Value::as_object);
    Known { id, outputs: outputs.into_iter().flat_map(Map::keys).cloned().collect() }
}

/// Whether an action of the step goes to another.
fn goes_to(step: &Value) -> bool {
    let actions = ["onSuccess", "onFailure"].into_iter().filter_map(|key| step.get(key)?.as_array()).flatten();
    actions.into_iter().any(|action| action.get("type").and_then(Value::as_str) == Some("goto"))
}

/// The hints of the whole: as bad as the worst call.
fn worst(calls: &[Hints]) -> Hints {
    let rank = |risk: Risk| match risk {
        Risk::ReadOnly => 0,
        Risk::Compute => 1,
        Risk::Write => 2,
        Risk::Destructive => 3,
    };
    let worst = calls.iter().map(|hints| hints.risk).max_by_key(|risk| rank(*risk));
    Hints {
        risk: worst.unwrap_or(Risk::ReadOnly),
        idempotent: calls.iter().all(|hints| hints.idempotent),
        open_world: calls.iter().any(|hints| hints.open_world),
    }
}
