//! What our own key says of arguments, and what of it cannot hold.

use serde_json::Value;

use super::super::join;
use super::super::name::{MAX_ARGUMENT, cut};
use super::{body, members, spelt_out, tell_apart};
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::config::BodyMode;
use crate::load::extension::EXTENSION;
use crate::model::Model;
use crate::model::operation::Operation;
use crate::model::tool::{Argument, Role};

/// Applies it, and gives each argument its name. A parameter goes before a member of the body that has its wire name.
pub(super) fn apply(operation: &Operation, arguments: &mut [Argument]) {
    let is_parameter = |name: &str| operation.parameters.iter().any(|parameter| parameter.wire_name == name);
    for argument in arguments.iter_mut() {
        let is_meant = argument.role != Role::Member || !is_parameter(&argument.wire_name);
        let said = operation.extension.arguments.get(&argument.wire_name).filter(|_| is_meant);
        if argument.name.is_empty() {
            let derived = || cut(&spelt_out(&argument.wire_name, tell_apart::place(&argument.role)), MAX_ARGUMENT);
            argument.name = said.and_then(|said| said.name.clone()).unwrap_or_else(derived);
        }
        if let Some(said) = said {
            argument.description = said.description.clone().or(argument.description.take());
            argument.send_as = said.send_as.iter().map(|(accepted, sent)| (accepted.clone(), text_of(sent))).collect();
        }
    }
}

/// A name that an author chose is kept or refused, never changed.
fn clashing_by_hand(model: &Model, operation: &Operation, arguments: &[Argument], sink: &mut Sink) {
    let own = join(&operation.origin, "x-toolwright");
    let by_hand = operation.extension.arguments.iter().filter_map(|(wire_name, said)| {
        let place = join(&join(&join(&own, "arguments"), wire_name), "name");
        Some((said.name.as_deref()?, place))
    });
    let body = operation.extension.argument.as_deref().map(|name| (name, join(&own, "argument")));
    for (name, pointer) in by_hand.chain(body) {
        let holders: Vec<&Argument> = arguments.iter().filter(|argument| argument.name == name).collect();
        if holders.len() > 1 {
            let message = format!("{} arguments of {} are named `{name}`", holders.len(), operation.route());
            let error = Diagnostic::error("argument-name", message).at(model.loaded.document.place(&pointer));
            sink.push(error.help("choose a name that no other argument has"));
        }
    }
}

/// What `send_as` maps must be accepted in the first place.
fn unknown_send_as(model: &Model, operation: &Operation, arguments: &[Argument], sink: &mut Sink) {
    for argument in arguments {
        let accepted: Vec<String> = model.resolve(&argument.schema).enumeration.iter().map(text_of).collect();
        for (value, _) in argument.send_as.iter().filter(|(value, _)| !accepted.is_empty() && !accepted.contains(value))
        {
            let base = format!("{}/x-toolwright/arguments", operation.origin);
            let pointer = join(&join(&join(&base, &argument.wire_name), "send_as"), value);
            let message = format!("`{value}` is no value that `{}` accepts", argument.name);
            let help = format!("there are: {}", accepted.join(", "));
            let error = Diagnostic::error("unknown-name", message).at(model.loaded.document.place(&pointer));
            sink.push(error.help(help));
        }
    }
}

/// What cannot hold.
pub(super) fn check(model: &Model, operation: &Operation, arguments: &[Argument], sink: &mut Sink) {
    clashing_by_hand(model, operation, arguments, sink);
    unknown_send_as(model, operation, arguments, sink);
    for error in wrapped_or_not(model, operation, arguments) {
        sink.push(error);
    }
}

/// Keys that speak of one argument where there are several, or of several where there is one.
fn wrapped_or_not(model: &Model, operation: &Operation, arguments: &[Argument]) -> Vec<Diagnostic> {
    let own = join(&operation.origin, EXTENSION);
    let error = |code: &'static str, pointer: &str, message: String, help: &str| {
        Diagnostic::error(code, message).at(model.loaded.document.place(pointer)).help(help)
    };
    let extension = &operation.extension;
    let mut found = Vec::new();
    let members = members::of(model, operation);
    if let Ok(members) = &members {
        let whole =
            [("argument", extension.argument.is_some()), ("body_description", extension.body_description.is_some())];
        for (key, _) in whole.into_iter().filter(|(_, said)| *said) {
            let message = format!("`{key}` speaks of a body that is one argument, and here each member is one");
            let help = format!("remove `{key}` and describe the members under `fields`, or add `body: wrapped`");
            found.push(error("no-body", &join(&own, key), message, &help));
        }
        for argument in arguments.iter().filter(|it| it.role == Role::Member && !it.send_as.is_empty()) {
            let pointer = join(&join(&join(&own, "arguments"), &argument.wire_name), "send_as");
            let message = format!("`{}` is a member of a JSON body, which is sent as it is given", argument.wire_name);
            found.push(error("no-send-as", &pointer, message, "remove `send_as`"));
        }
        for name in extension.arguments.keys().filter(|name| members.is_read_only(name)) {
            if arguments.iter().all(|argument| argument.wire_name != *name) {
                let pointer = join(&join(&own, "arguments"), name);
                let message = format!("`{name}` is read-only and never asked for");
                found.push(error("unknown-name", &pointer, message, "remove it here, or `readOnly` from the schema"));
            }
        }
    }
    if let (Err(reason), Some(BodyMode::Flattened)) = (&members, extension.body) {
        let message = format!("the body of {} stays one argument: {reason}", operation.route());
        found.push(error("not-plain", &join(&own, "body"), message, "remove `body: flattened`"));
    }
    if members.is_err() {
        let known = |name: &&String| arguments.iter().any(|argument| argument.wire_name == **name);
        for name in extension.arguments.keys().filter(|name| !known(name)) {
            if body::has_field(model, operation, name) {
                let pointer = join(&join(&own, "arguments"), name);
                let message = format!("`{name}` is a field of the body, which is one argument");
                found.push(error("unknown-name", &pointer, message, "describe it under `fields`"));
            }
        }
    }
    found
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
