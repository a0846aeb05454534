//! Checks what people and models will read, and every name that our own files mention.

use std::collections::BTreeMap;

use serde_json::Value;

use super::join;
use crate::diagnostic::{Diagnostic, Place, Sink};
use crate::load::config::is_fixed_tool;
use crate::load::did_you_mean;
use crate::load::extension::{self, EXTENSION, Media, Risk};
use crate::load::tool_file::is_of_file;
use crate::model::Model;
use crate::model::operation::{Executor, Operation};
use crate::model::tool::{Argument, Binding, FormKind, Role, Tool};

/// Clients cut longer titles.
const MAX_TITLE: usize = 40;
/// A purpose is one or two short sentences.
const MAX_PURPOSE: usize = 200;
/// A description that says less tells a model too little.
const MIN_DESCRIPTION: usize = 80;

pub(super) fn lint(model: &mut Model, sink: &mut Sink) {
    listed_names(model, sink);
    if !model.loaded.is_complete {
        return;
    }
    let tools = model.tools_by_operation();
    for operation in &model.operations {
        let Some(tool) = tools.get(operation.origin.as_str()).copied() else { continue };
        routes(model, operation, sink);
        hidden_names(model, operation, tool, sink);
        media(model, operation, tool, sink);
        if model.loaded.config.require_descriptions {
            curation(model, operation, tool, sink);
            descriptions(model, tool, sink);
        }
    }
    if model.loaded.config.require_descriptions {
        fields(model, sink);
    }
}

/// `exposed` and `health` name tools; a health check calls without arguments.
fn listed_names(model: &Model, sink: &mut Sink) {
    let config = &model.loaded.config;
    for (key, names) in [("exposed", &config.exposed), ("health", &config.health)] {
        for (index, name) in names.iter().enumerate() {
            let place = model.loaded.config_place(&format!("/{key}/{index}"));
            match model.tools.iter().find(|tool| tool.name == *name) {
                // An overlay that was not applied whole may give a tool this name.
                None if model.loaded.unapplied_mention(name) => {}
                None => sink.push(unknown_tool(model, key, name, place)),
                Some(_) if !model.loaded.is_complete => {}
                Some(tool) if key == "health" && tool.arguments.iter().any(|argument| argument.required) => {
                    let message = format!("`health` calls `{name}` without arguments, and it requires some");
                    let help = "name a reading tool that needs no arguments";
                    sink.push(Diagnostic::error("health-needs-arguments", message).at(place).help(help));
                }
                Some(tool) if key == "health" && tool.hints.risk != Risk::ReadOnly => {
                    let message = format!("`health` calls `{name}`, which does more than read");
                    let help = "name a tool whose risk is read-only";
                    sink.push(Diagnostic::error("health-changes-state", message).at(place).help(help));
                }
                Some(_) => {}
            }
        }
    }
}

fn unknown_tool(model: &Model, key: &str, name: &str, place: Place) -> Diagnostic {
    let names = model.tools.iter().map(|tool| tool.name.as_str());
    let help = match is_fixed_tool(name) {
        true => "remove it: every server has this tool, and lists or hides it by itself".to_owned(),
        false => {
            did_you_mean(name, names).unwrap_or_else(|| "write the `name` that an overlay gives a tool".to_owned())
        }
    };
    Diagnostic::error("unknown-tool", format!("`{key}` names `{name}`, and no tool has that name")).at(place).help(help)
}

/// `route.instead` names a tool.
fn routes(model: &Model, operation: &Operation, sink: &mut Sink) {
    let Some(instead) = operation.extension.route.as_ref().and_then(|route| route.instead.as_deref()) else { return };
    if !model.tools.iter().any(|tool| tool.name == instead) {
        let place = model.loaded.document.place(&format!("{}/x-toolwright/route/instead", operation.origin));
        sink.push(unknown_tool(model, "route.instead", instead, place));
    }
}

/// A text that names what callers cannot give misleads them. Plain words may mean something else, so that only names in
/// backticks count, and those that no word looks like.
fn hidden_names(model: &Model, operation: &Operation, tool: &Tool, sink: &mut Sink) {
    let texts = tool.arguments.iter().filter_map(|argument| argument.description.as_deref());
    // What people wrote: a description that is made up names the path, placeholders and all.
    let own = [&operation.summary, &operation.description, &tool.returns, &tool.caution];
    let texts: Vec<&str> = own.into_iter().filter_map(|text| text.as_deref()).chain(texts).collect();
    for hidden in &tool.hidden {
        let names = [&hidden.argument.name, &hidden.argument.wire_name];
        let is_shown = |name: &&&String| tool.arguments.iter().any(|argument| argument.name == ***name);
        let Some(name) =
            names.iter().filter(|name| !is_shown(name)).find(|name| texts.iter().any(|text| names_it(text, name)))
        else {
            continue;
        };
        let message = format!("a text of `{}` names `{name}`, which is hidden from callers", tool.name);
        let place = model.loaded.document.place(&tool.origin);
        let help = match is_of_file(&tool.origin) {
            true => "take it out of the description",
            false => "take it out of the description in an overlay",
        };
        sink.push(Diagnostic::warning("hidden-name", message).at(place).help(help));
    }
}

fn names_it(text: &str, name: &str) -> bool {
    let is_telling = name.contains(['_', '-']) || name.chars().skip(1).any(char::is_uppercase);
    let mut words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-'));
    text.contains(&format!("`{name}`")) || (is_telling && words.any(|word| word == name))
}

/// What `media` says must be what a call does. Nothing said is nothing to check.
fn media(model: &Model, operation: &Operation, tool: &Tool, sink: &mut Sink) {
    let said = &operation.extension.media;
    let (is_websocket, http) = match &tool.binding {
        Binding::WebSocket { .. } => (true, None),
        Binding::Http(http) => (false, Some(http)),
        _ => return,
    };
    let is_multipart = http.is_some_and(|http| http.form == Some(FormKind::Multipart));
    let streams = http.is_some_and(|http| {
        http.stream.is_some() || http.produces.iter().any(|media_type| media_type.starts_with("text/event-stream"))
    });
    let facts = [
        (Media::Websocket, "websocket", is_websocket, "add `websocket: {exchange: ..}`"),
        (
            Media::Multipart,
            "multipart",
            is_multipart,
            "the request body must be multipart/form-data; add it in an overlay",
        ),
        (Media::Sse, "sse", streams, "add `stream:` with the event dialect"),
    ];
    for (kind, word, is_so, remedy) in facts {
        if said.is_empty() || said.contains(&kind) == is_so {
            continue;
        }
        let (message, help) = match is_so {
            true => {
                (format!("`media` of {} leaves out `{word}`", operation.route()), format!("add `{word}` to `media`"))
            }
            false => {
                let message = format!("`media` of {} says `{word}`, and nothing makes it so", operation.route());
                (message, format!("{remedy}, or remove `{word}`"))
            }
        };
        let place = model.loaded.document.place(&format!("{}/x-toolwright/media", operation.origin));
        sink.push(Diagnostic::error("contradicting-media", message).at(place).help(help));
    }
}

/// Whether an author wrote something there, right or wrong: what is wrong was reported when it was read.
fn is_written(model: &Model, operation: &str, key: &str) -> bool {
    let own = join(operation, EXTENSION);
    match model.loaded.document.get(&own) {
        Some(Value::Object(members)) => extension::is_written(members, key),
        Some(_) => true,
        None => false,
    }
}

/// What an author must say about each operation.
fn curation(model: &Model, operation: &Operation, tool: &Tool, sink: &mut Sink) {
    let extension = &operation.extension;
    let is_unsaid = |key: &str| !is_written(model, &operation.origin, key);
    // The risk of several calls follows from theirs.
    let follows = operation.executor == Executor::Steps;
    let changes = matches!(extension.risk, Some(Risk::Write)) || (follows && tool.hints.risk == Risk::Write);
    let missing = [
        (is_unsaid("name"), "name", "x-toolwright: {name: snake_case_verb_first}"),
        (is_unsaid("risk") && !follows, "risk", "x-toolwright: {risk: read-only | compute | write | destructive}"),
        (is_unsaid("returns"), "returns", "x-toolwright: {returns: \"`field`, what it is.\"}"),
        (changes && is_unsaid("caution"), "caution", "x-toolwright: {caution: \"What changes, in one sentence.\"}"),
        (operation.summary.is_none(), "summary", "summary: Short title"),
        (operation.description.is_none(), "description", "description: One or two sentences, first word a verb."),
    ];
    for (_, key, example) in missing.into_iter().filter(|(missing, ..)| *missing) {
        let word = word(operation, key);
        let message = format!("{} has no {word}", operation.route());
        let place = model.loaded.document.place(&operation.origin);
        let help = match is_of_file(&operation.origin) {
            true if key == "risk" => "add `hints: {risk: ..}` to the tool's file".to_owned(),
            true => format!("add `{word}` to the tool's file"),
            false => format!("add to an overlay for this operation: {example}"),
        };
        sink.push(Diagnostic::error("missing-curation", message).at(place).help(help));
    }
    too_long(model, operation, "summary", &tool.title, MAX_TITLE, sink);
    too_long(model, operation, "description", &tool.purpose, MAX_PURPOSE, sink);
    let too_short = tool.description.len() < MIN_DESCRIPTION && matches!(tool.binding, Binding::Http(_));
    if too_short {
        let message = format!("`{}` is described in fewer than {MIN_DESCRIPTION} characters", tool.name);
        let place = model.loaded.document.place(&operation.origin);
        sink.push(
            Diagnostic::error("thin-description", message).at(place).help("say more in `description` or `returns`"),
        );
    }
}

/// What the author of an operation calls it: tool files have a title where documents have a summary.
fn word<'k>(operation: &Operation, key: &'k str) -> &'k str {
    if key == "summary" && is_of_file(&operation.origin) { "title" } else { key }
}

fn too_long(model: &Model, operation: &Operation, key: &str, text: &str, most: usize, sink: &mut Sink) {
    let length = text.chars().count();
    if length > most {
        let key_word = word(operation, key);
        let message =
            format!("the {key_word} of {} has {length} characters, and {most} are allowed", operation.route());
        let place = model.loaded.document.place(&join(&operation.origin, key));
        sink.push(Diagnostic::error("too-long", message).at(place).help(format!("shorten it to {most} characters")));
    }
}

/// Every argument has a description; a body argument describes itself by its fields.
fn descriptions(model: &Model, tool: &Tool, sink: &mut Sink) {
    let described = |argument: &Argument| {
        let told = argument.description.as_deref().is_some_and(|text| !text.trim().is_empty());
        let by_fields =
            matches!(argument.role, Role::Body { .. }) && !model.resolve(&argument.schema).properties.is_empty();
        told || by_fields || is_misread(model, &tool.origin, argument)
    };
    for argument in tool.arguments.iter().filter(|argument| !described(argument)) {
        let message = format!("the argument `{}` of `{}` has no description", argument.name, tool.name);
        let place =
            model.loaded.document.place(if argument.origin.is_empty() { &tool.origin } else { &argument.origin });
        let help = match argument.role {
            _ if is_of_file(&tool.origin) => "add `description` to its schema".to_owned(),
            Role::Body { .. } => "add to the operation: x-toolwright: {body_description: Text.}".to_owned(),
            Role::Member => {
                format!("add to the operation: x-toolwright: {{fields: {{{}: Text.}}}}", argument.wire_name)
            }
            _ => format!("add to the operation: x-toolwright: {{arguments: {{{}: Text.}}}}", argument.wire_name),
        };
        sink.push(Diagnostic::error("missing-description", message).at(place).help(help));
    }
}

/// Whether a text was given that could not be read: that was reported already.
fn is_misread(model: &Model, operation: &str, argument: &Argument) -> bool {
    let own = join(operation, EXTENSION);
    if matches!(argument.role, Role::Body { .. }) {
        return is_written(model, operation, "body_description");
    }
    if argument.role == Role::Member {
        let fields = join(&own, "fields");
        let owner = argument.origin.rsplit_once("/properties/").map_or("", |(owner, _)| owner);
        if is_written(model, owner, "fields") && has_wrong_fields(model, owner) {
            return true;
        }
        return match model.loaded.document.get(&fields) {
            Some(Value::Object(said)) => said.contains_key(&argument.wire_name),
            said => said.is_some(),
        };
    }
    let arguments = join(&own, "arguments");
    match (model.loaded.document.get(&arguments), model.loaded.document.get(&join(&arguments, &argument.wire_name))) {
        (_, Some(Value::Object(said))) => said.contains_key("description"),
        (_, Some(_)) => true,
        (Some(Value::Object(_)) | None, None) => false,
        (Some(_), None) => true,
    }
}

/// Every field that may be sent has a description: of its type, or of each operation whose body the type is.
fn fields(model: &Model, sink: &mut Sink) {
    let mut takers_by_type: BTreeMap<&str, Vec<&Tool>> = BTreeMap::new();
    for tool in &model.tools {
        let taken = tool.arguments.iter().filter_map(|argument| argument.schema.reference.as_deref());
        taken.for_each(|name| takers_by_type.entry(name).or_default().push(tool));
    }
    for (name, schema) in crate::pass::sent_types(model) {
        let takers = takers_by_type.get(name).map_or(&[] as &[&Tool], Vec::as_slice);
        for (field, property) in schema.properties.iter().filter(|(_, property)| !property.read_only) {
            let told = property.description.as_deref().is_some_and(|text| !text.trim().is_empty());
            let told_by_takers = !takers.is_empty() && takers.iter().all(|tool| tool.field_texts.contains_key(field));
            let owner = property.origin.rsplit_once("/properties/").map_or("", |(owner, _)| owner);
            if told || told_by_takers || (is_written(model, owner, "fields") && has_wrong_fields(model, owner)) {
                continue;
            }
            let message = format!("the field `{field}` of `{name}` may be sent and has no description");
            let place = model.loaded.document.place(&property.origin);
            let help = match is_of_file(&property.origin) {
                true => "add `description` to its schema".to_owned(),
                false => format!("add to an overlay for this schema: x-toolwright: {{fields: {{{field}: Text.}}}}"),
            };
            sink.push(Diagnostic::error("missing-description", message).at(place).help(help));
        }
    }
}

/// Whether one of the texts under `fields` cannot be read, which costs them all and was reported once.
fn has_wrong_fields(model: &Model, schema: &str) -> bool {
    let fields = model.loaded.document.get(&join(&join(schema, EXTENSION), "fields"));
    match fields {
        Some(Value::Object(fields)) => fields.values().any(|text| !text.is_string()),
        _ => true,
    }
}
