//! Checks what prompts and resources say of tools, when all tools are known.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Sink};
use crate::load::content::{Answer, Completion, ResourceContent};
use crate::load::did_you_mean;
use crate::load::extension::Risk;
use crate::model::Model;
use crate::model::tool::{Binding, Tool};
use crate::source::child_pointer;

/// How many names a help line lists.
const MOST_NAMED: usize = 20;

pub(super) fn content(model: &mut Model, sink: &mut Sink) {
    let content = &model.loaded.content;
    let sources = content.resources.iter().filter_map(|resource| match &resource.content {
        ResourceContent::Answer(answer) => Some((answer, "a resource")),
        ResourceContent::Fixed(_) => None,
    });
    let of_resources = content.resources.iter().flat_map(|it| it.completions.iter().map(|(_, source)| source));
    let arguments = content.prompts.iter().flat_map(|prompt| &prompt.arguments);
    let of_prompts = arguments.filter_map(|argument| argument.completion.as_ref());
    let completions = of_resources.chain(of_prompts).filter_map(|completion| match completion {
        Completion::Answer(answer) => Some((answer, "a completion")),
        Completion::Listed(_) => None,
    });
    for (answer, what) in sources.chain(completions) {
        check(model, answer, what, sink);
    }
}

fn check(model: &Model, answer: &Answer, what: &str, sink: &mut Sink) {
    let Some(tool) = model.tools.iter().find(|tool| tool.name == answer.tool) else {
        // An overlay that was not applied whole may give a tool this name.
        if !model.loaded.unapplied_mention(&answer.tool) {
            unknown_tool(model, answer, sink);
        }
        return;
    };
    // What is missing may be in an overlay that was not applied whole.
    if !model.loaded.is_complete {
        return;
    }
    let reason = match (&tool.binding, tool.hints.risk) {
        (Binding::NoRoute(_), _) => Some("the real server has no such route".to_owned()),
        // A filter and a handler cost the server's own time; what an API or a model computes may cost more than a glance.
        (_, Risk::ReadOnly) | (Binding::Expression(_) | Binding::Native { .. }, Risk::Compute) => None,
        (_, risk) => Some(format!("its risk is {}", crate::catalog::risk(risk))),
    };
    if let Some(reason) = reason {
        let message = format!("`{}` cannot be {what}: {reason}", tool.name);
        let help = format!("{what} is read without anybody being asked: name a tool whose risk is read-only");
        sink.push(Diagnostic::error("not-read-only", message).at(answer.spot.place("/tool")).help(help));
    }
    arguments(tool, answer, sink);
}

fn unknown_tool(model: &Model, answer: &Answer, sink: &mut Sink) {
    let names = || model.tools.iter().map(|tool| tool.name.as_str());
    let help = did_you_mean(&answer.tool, names()).unwrap_or_else(|| {
        let some: Vec<&str> = names().take(MOST_NAMED).collect();
        format!("there are: {}", some.join(", "))
    });
    let message = format!("no tool is named `{}`", answer.tool.escape_debug());
    sink.push(Diagnostic::error("unknown-tool", message).at(answer.spot.place("/tool")).help(help));
}

fn arguments(tool: &Tool, answer: &Answer, sink: &mut Sink) {
    let mut given = BTreeSet::new();
    for (name, _) in &answer.arguments {
        given.insert(name.as_str());
        if !tool.arguments.iter().any(|argument| argument.name == *name) {
            let known: Vec<&str> = tool.arguments.iter().map(|argument| argument.name.as_str()).collect();
            let help = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| match known.as_slice() {
                [] => "it takes none".to_owned(),
                known => format!("it takes: {}", known.join(", ")),
            });
            let message = format!("{} has no argument `{}`", tool.name, name.escape_debug());
            let place = answer.spot.place(&child_pointer("/arguments", name));
            sink.push(Diagnostic::error("unknown-argument", message).at(place).help(help));
        }
    }
    let is_missing = |name: &str| !given.contains(name);
    let needed = tool.arguments.iter().filter(|argument| argument.required && is_missing(&argument.name));
    let needed: Vec<&str> = needed.map(|argument| argument.name.as_str()).collect();
    if !needed.is_empty() {
        let message = format!("{} needs {}", tool.name, needed.join(", "));
        let place = answer.spot.place("/tool");
        sink.push(Diagnostic::error("missing-argument", message).at(place).help("add it to `arguments`"));
    }
}
