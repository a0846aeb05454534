//! Values that hold runtime expressions, and criteria: what they speak of must be there.

use serde_json::{Map, Value};
use toolwright_steps::{Condition, Criterion, CriterionKind, Expression, SyntaxError, expressions};

use super::{Reader, Stage};
use crate::load::filter;
use crate::load::language::{CRITERION, names};
use crate::load::strict::{Fields, did_you_mean};
use crate::source::child_pointer;

impl Reader<'_, '_> {
    /// A mapping of names to values.
    pub(super) fn map(&mut self, fields: &Fields<'_>, key: &str, stage: Stage) -> Map<String, Value> {
        let members: Map<String, Value> =
            fields.named(key, self.sink).map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, value) in &members {
            self.value(value, &child_pointer(&fields.pointer_of(key), name), stage);
        }
        members
    }

    /// Checks every expression in a value.
    pub(super) fn value(&mut self, value: &Value, at: &str, stage: Stage) {
        let mut found: Vec<(String, Result<Expression, SyntaxError>)> = Vec::new();
        expressions(value, at, &mut |pointer, expression| found.push((pointer.to_owned(), expression)));
        for (pointer, expression) in found {
            match expression {
                Ok(expression) => self.expression(&expression, &pointer, stage),
                Err(error) => self.report("bad-expression", error.message, &pointer, error.help),
            }
        }
    }

    fn expression(&mut self, expression: &Expression, at: &str, stage: Stage) {
        match expression {
            Expression::Input { name, .. } => self.input(name, at),
            Expression::Output { step, name, .. } => self.output(step, name, at, stage),
            of_answer if of_answer.is_of_answer() && !stage.has_answer => {
                let message = "this speaks of an answer, and here is none".to_owned();
                let help = "make it an output of the step whose answer it is, and write `$steps.<id>.outputs.<name>`";
                self.report("no-answer", message, at, help);
            }
            _ => {}
        }
    }

    fn input(&mut self, name: &str, at: &str) {
        let known: Vec<&str> = self.tool.arguments.iter().map(|argument| argument.wire_name.as_str()).collect();
        if !known.contains(&name) {
            let help = suggestion(name, &known, "the inputs are", "declare it under `input`");
            self.report("unknown-input", format!("there is no input `{name}`"), at, help);
        }
    }

    fn output(&mut self, step: &str, name: &str, at: &str, stage: Stage) {
        let Some(index) = self.known.iter().position(|known| known.id == step) else {
            let known: Vec<&str> = self.known.iter().map(|known| known.id.as_str()).collect();
            let help = suggestion(step, &known, "the steps are", "there are none");
            return self.report("unknown-step", format!("there is no step `{step}`"), at, help);
        };
        if index >= stage.before && !self.goes_back {
            let message = format!("the step `{step}` has no outputs yet");
            return self.report("later-step", message, at, "use outputs of the steps before this one");
        }
        let outputs = self.known.get(index).map(|known| known.outputs.clone()).unwrap_or_default();
        if !outputs.iter().any(|output| output == name) {
            let known: Vec<&str> = outputs.iter().map(String::as_str).collect();
            let declare = format!("declare it: `outputs: {{ {name}: $response.body#/.. }}`");
            let help = suggestion(name, &known, "its outputs are", &declare);
            self.report("unknown-output", format!("the step `{step}` has no output `{name}`"), at, help);
        }
    }

    /// A list of criteria; a text is a simple condition.
    pub(super) fn criteria(&mut self, fields: &Fields<'_>, key: &str, stage: Stage) -> Vec<Criterion> {
        let found = fields.elements(key, "a list", self.sink);
        found.into_iter().filter_map(|(at, item)| self.criterion(item, &at, stage)).collect()
    }

    fn criterion(&mut self, value: &Value, at: &str, stage: Stage) -> Option<Criterion> {
        if let Value::String(text) = value {
            return Some(self.simple(text, at, stage));
        }
        let fields = Fields::open(value, at, &names(CRITERION), self.places, self.sink)?;
        fields.require("condition", "$statusCode == 200", self.sink);
        let condition = fields.string("condition", self.sink)?;
        let place = fields.pointer_of("condition");
        // Arazzo 1.0 section "Criterion Expression Type Object": the type may be an object with a version.
        let kind = fields.get("type").map(|kind| kind.get("type").unwrap_or(kind).as_str().unwrap_or_default());
        let filter = match kind {
            None | Some("simple") => return Some(self.simple(&condition, &place, stage)),
            Some("jq") => condition,
            Some("regex") => format!("tostring | test({})", Value::from(condition)),
            Some(other) => {
                let message = format!("a criterion of the type `{}` cannot be checked", other.escape_debug());
                let help = "write it as a simple condition, or with `type: jq` or `type: regex` and a `context`";
                self.report("unknown-criterion", message, &fields.pointer_of("type"), help);
                return None;
            }
        };
        filter::check(&filter, "condition", "its context", self.place(&place), self.sink);
        let context = fields.string("context", self.sink).unwrap_or_else(|| "$response.body".to_owned());
        self.value(&context.as_str().into(), &fields.pointer_of("context"), stage);
        if let Err(error) = Expression::parse(&context) {
            self.report("bad-expression", error.message, &fields.pointer_of("context"), error.help);
            return None;
        }
        Some(Criterion { condition: filter, kind: CriterionKind::Jq, context: Some(context) })
    }

    fn simple(&mut self, text: &str, at: &str, stage: Stage) -> Criterion {
        match Condition::parse(text) {
            Ok(condition) => {
                let mut found = Vec::new();
                condition.expressions(&mut |expression| found.push(expression.clone()));
                found.iter().for_each(|expression| self.expression(expression, at, stage));
            }
            Err(error) => self.report("bad-condition", error.message, at, error.help),
        }
        Criterion { condition: text.to_owned(), kind: CriterionKind::Simple, context: None }
    }
}

/// The nearest name, else all of them, else what to do where there is none.
pub(super) fn suggestion(name: &str, known: &[&str], all: &str, none: &str) -> String {
    did_you_mean(name, known.iter().copied()).unwrap_or_else(|| match known.is_empty() {
        true => none.to_owned(),
        false => format!("{all}: {}", known.join(", ")),
    })
}
