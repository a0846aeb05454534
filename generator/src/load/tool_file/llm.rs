//! The executor `llm`: a question to a model, with inputs in it.

use serde_json::{Map, Value};

use super::Author;
use super::said::{Said, check_setting};
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::language::{EFFORTS, LLM, MODEL, names};
use crate::load::strict::{Fields, wrong_kind};

/// Reads `llm` into the plan that servers run.
pub(super) fn plan(author: &Author<'_>, sink: &mut Sink) -> Option<Value> {
    let fields = author.fields.child("llm", &names(LLM), sink)?;
    fields.require("model", "<id of a model>", sink);
    fields.require("prompt", "<what the model is asked>", sink);
    let model = model(author, &fields, sink);
    let system = fields.string("system", sink);
    if let Some(system) = &system {
        without_inputs(author, &fields, system, sink);
    }
    let prompt = prompt(author, &fields, sink);
    let tokens = fields.positive("max_output_tokens", 10_000_000, sink);
    let words: Vec<(&str, &str)> = EFFORTS.iter().map(|word| (*word, *word)).collect();
    let effort = fields.choice("effort", &words, sink);
    let mut plan = Map::new();
    plan.insert("model".to_owned(), model?);
    plan.extend(system.map(|system| ("system".to_owned(), system.into())));
    plan.insert("prompt".to_owned(), prompt?.into());
    plan.insert("plain".to_owned(), listed(author).into());
    plan.extend(tokens.map(|tokens| ("max_output_tokens".to_owned(), tokens.into())));
    plan.extend(effort.map(|effort| ("effort".to_owned(), effort.into())));
    Some(plan.into())
}

fn model(author: &Author<'_>, fields: &Fields<'_>, sink: &mut Sink) -> Option<Value> {
    let at = fields.pointer_of("model");
    match fields.get("model")? {
        Value::String(id) if !id.trim().is_empty() => Some(id.as_str().into()),
        value @ Value::Object(_) => {
            let setting = Fields::open(value, &at, &names(MODEL), author.places, sink)?;
            setting.require("setting", "<name of a setting>", sink);
            let name = setting.string("setting", sink)?;
            check_setting(author, &name, &setting.pointer_of("setting"), sink);
            Some(value.clone())
        }
        other => {
            sink.push(wrong_kind(&at, "the id of a model, or `{setting: name}`", other, author.places));
            None
        }
    }
}

/// What callers say is data. In the system prompt it would be an instruction.
fn without_inputs(author: &Author<'_>, fields: &Fields<'_>, system: &str, sink: &mut Sink) {
    let mentions = |name: &str| system.contains(&format!("{{{name}}}"));
    if system.contains("$inputs.") || author.inputs.0.iter().any(|input| mentions(&input.name)) {
        let error = Diagnostic::error("input-in-system", "the system prompt holds an input").at(fields.place("system"));
        sink.push(error.help("write it in `prompt`: what a caller says must not pass for an instruction"));
    }
}

fn prompt(author: &Author<'_>, fields: &Fields<'_>, sink: &mut Sink) -> Option<String> {
    let text = fields.string("prompt", sink)?;
    if text.trim().is_empty() {
        let error = Diagnostic::error("wrong-value", "the prompt is empty").at(fields.place("prompt"));
        sink.push(error.help("write what the model is asked, with inputs as `{$inputs.name}`"));
        return None;
    }
    let mut said = Said::new(author, sink);
    said.read(&text.as_str().into(), &fields.pointer_of("prompt"));
    said.unused("write `{$inputs.NAME}` in `prompt`, or remove the input");
    Some(text)
}

/// Inputs whose values the author lists: these texts are the author's, not the caller's.
fn listed(author: &Author<'_>) -> Vec<Value> {
    let is_listed = |schema: &Value| schema.get("enum").is_some() || schema.get("const").is_some();
    author.inputs.0.iter().filter(|input| is_listed(&input.schema)).map(|input| input.name.as_str().into()).collect()
}
