//! The executor `sandbox`: a command within folders, with listed programs, within limits.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::bounds;
use super::said::{Said, check_setting};
use super::shell::{Hazard, hazards};
use super::{Author, Lowered};
use crate::diagnostic::{Diagnostic, Place, Sink};
use crate::load::filter;
use crate::load::language::{ACCESS, Key, LEVELS, LIMITS, ROOT, SANDBOX, names};
use crate::load::strict::{Fields, wrong_kind};

/// Reads `sandbox` into the plan that servers run.
pub(super) fn plan(author: &Author<'_>, tool: &mut Lowered, sink: &mut Sink) -> Option<Value> {
    let fields = author.fields.child("sandbox", &names(SANDBOX), sink)?;
    let command = command(author, &fields, sink);
    let roots = roots(author, &fields, tool, sink);
    let mut plan = Map::new();
    for key in ["tools", "optional_tools"] {
        plan.extend(tools(&fields, key, sink).map(|tools| (key.to_owned(), tools)));
    }
    plan.extend(denied_paths(&fields, sink).map(|paths| ("denied_paths".to_owned(), paths)));
    for key in ["network", "json"] {
        plan.extend(fields.boolean(key, sink).map(|value| (key.to_owned(), value.into())));
    }
    plan.extend(limits(&fields, sink).map(|limits| ("limits".to_owned(), limits)));
    let words: Vec<(&str, &str)> = LEVELS.iter().map(|word| (*word, *word)).collect();
    plan.extend(fields.choice("minimum_level", &words, sink).map(|level| ("minimum_level".to_owned(), level.into())));
    plan.extend(exit_codes(&fields, author, sink).map(|codes| ("exit_codes".to_owned(), codes)));
    plan.extend(fields.positive("shown_bytes", 10_000_000, sink).map(|bytes| ("shown_bytes".to_owned(), bytes.into())));
    let project = fields.string("project", sink);
    if let Some(project) = &project {
        filter::check(project, "project", "the outcome", fields.place("project"), sink);
    }
    if author.fields.get("output").is_none() && project.is_none() && fields.get("json") != Some(&Value::Bool(true)) {
        tool.outcome = Some(outcome());
    }
    plan.insert("roots".to_owned(), roots?);
    let (key, value) = command?;
    plan.insert(key.to_owned(), value);
    // The filter is the server's to run, whatever carries the tool out.
    plan.extend(project.map(|project| ("project".to_owned(), project.into())));
    Some(plan.into())
}

/// `command` or `shell`: one of them.
fn command(author: &Author<'_>, fields: &Fields<'_>, sink: &mut Sink) -> Option<(&'static str, Value)> {
    match (fields.get("command"), fields.get("shell")) {
        (Some(value), None) => arguments(author, fields, value, sink).map(|value| ("command", value)),
        (None, Some(_)) => shell(author, fields, sink).map(|value| ("shell", value)),
        (Some(_), Some(_)) => {
            let error = Diagnostic::error("two-commands", "`command` and `shell` are both there");
            sink.push(error.at(fields.place("shell")).help("remove one of the two; `command` needs no quoting"));
            None
        }
        (None, None) => {
            let error = Diagnostic::error("missing-key", "nothing says what is run").at(fields.place_at("/sandbox"));
            sink.push(error.help("add `command: [<program>, <argument>, ..]`"));
            None
        }
    }
}

/// A program and its arguments. No input decides which program it is.
fn arguments(author: &Author<'_>, fields: &Fields<'_>, value: &Value, sink: &mut Sink) -> Option<Value> {
    let at = fields.pointer_of("command");
    let is_text =
        |item: &Value| item.is_string() || item.as_array().is_some_and(|group| group.iter().all(Value::is_string));
    let Some(items) = value.as_array().filter(|items| !items.is_empty() && items.iter().all(is_text)) else {
        sink.push(wrong_kind(&at, "a list of texts, the program first", value, author.places));
        return None;
    };
    let program = items.first().and_then(Value::as_str).unwrap_or_default();
    if !is_program(program) {
        let message = "the first element is not the name of a program".to_owned();
        let help = "write the name without a folder; no input may choose the program";
        sink.push(Diagnostic::error("not-a-program", message).at(fields.element_place("command", 0)).help(help));
    }
    let mut said = Said::new(author, sink);
    said.read(value, &at);
    said.unused("write `{$inputs.NAME}` in `command`, or remove the input");
    Some(value.clone())
}

/// A text for the shell. What callers give is never a part of it.
fn shell(author: &Author<'_>, fields: &Fields<'_>, sink: &mut Sink) -> Option<Value> {
    let text = fields.string("shell", sink)?;
    let at = fields.place("shell");
    if text.trim().is_empty() {
        let error = Diagnostic::error("wrong-value", "the command is empty").at(at.clone());
        sink.push(error.help("write a command for `sh -c`, with inputs as \"$name\""));
        return None;
    }
    let mut named = BTreeSet::new();
    for name in author.inputs.0.iter().map(|input| input.name.as_str()) {
        if text.contains(&format!("$inputs.{name}"))
            || text.contains(&format!("{{{name}}}")) && !text.contains(&format!("${{{name}}}"))
        {
            let message = format!("the input `{name}` would become a part of the command");
            let help = format!("inputs are variables of the shell: write \"${name}\", with the quotes");
            sink.push(Diagnostic::error("input-in-shell", message).at(at.clone()).help(help));
            named.insert(name.to_owned());
        } else if uses_variable(&text, name) {
            named.insert(name.to_owned());
        }
    }
    for input in author.inputs.0.iter().filter(|input| !named.contains(&input.name)) {
        let error = Diagnostic::error("unused-input", format!("nothing uses the input `{}`", input.name));
        let help = format!("write \"${}\" in `shell`, or remove the input", input.name);
        sink.push(error.at((author.places)(&input.pointer)).help(help));
    }
    uses(author, &text, &at, sink);
    Some(text.into())
}

/// Uses of an input in which its value does more than stand for itself. A number is one word.
fn uses(author: &Author<'_>, text: &str, at: &Place, sink: &mut Sink) {
    let names: Vec<&str> = author.inputs.0.iter().map(|input| input.name.as_str()).collect();
    for (name, hazard) in hazards(text, &names) {
        let kind = author.inputs.find(&name).and_then(|input| input.schema.get("type")).and_then(Value::as_str);
        let is_one_word = matches!(kind, Some("integer" | "number" | "boolean"));
        let (code, message, help) = match hazard {
            Hazard::Unquoted if is_one_word => continue,
            Hazard::Unquoted => (
                "unquoted-input",
                format!("the shell splits the input `{name}` and takes it for a pattern of file names"),
                format!("write \"${name}\", with double quotes"),
            ),
            Hazard::Program => (
                "input-as-program",
                format!("the input `{name}` decides which program runs"),
                format!("name the program; to choose among several, write `case \"${name}\" in`"),
            ),
            Hazard::Evaluated => (
                "input-as-command",
                format!("a shell reads the input `{name}` as a command"),
                format!("hand it over as an argument: sh -c '.. \"$1\"' _ \"${name}\""),
            ),
        };
        sink.push(Diagnostic::warning(code, message).at(at.clone()).help(help));
    }
}

/// Whether a text has `$name` or `${name..`.
fn uses_variable(text: &str, name: &str) -> bool {
    text.split('$').skip(1).any(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let rest = rest.strip_prefix('#').unwrap_or(rest);
        let goes_on = |c: char| c.is_ascii_alphanumeric() || c == '_';
        rest.strip_prefix(name).is_some_and(|after| !after.starts_with(goes_on))
    })
}

fn is_program(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0', '$', '{', ' ']) && !name.starts_with('-')
}

fn tools(fields: &Fields<'_>, key: &str, sink: &mut Sink) -> Option<Value> {
    let listed = fields.strings(key, sink)?;
    for (index, name) in listed.iter().enumerate().filter(|(_, name)| !is_program(name)) {
        let message = format!("`{}` is not the name of a program", name.escape_debug());
        let place = fields.element_place(key, index);
        sink.push(Diagnostic::error("not-a-program", message).at(place).help("write it without a folder: `grep`"));
    }
    Some(json!(listed))
}

fn roots(author: &Author<'_>, fields: &Fields<'_>, tool: &Lowered, sink: &mut Sink) -> Option<Value> {
    let example = "[{ setting: <setting with a folder>, access: read_only }]";
    fields.require("roots", example, sink);
    let listed = fields.get("roots")?;
    let elements = fields.elements("roots", "a list of folders", sink);
    if listed.as_array().is_some_and(Vec::is_empty) {
        let error = Diagnostic::error("wrong-value", "there is no folder").at(fields.place("roots"));
        sink.push(error.help(format!("write `roots: {example}`; the first is the working folder")));
    }
    let found: Vec<Value> = elements.iter().filter_map(|(at, value)| root(author, value, at, sink)).collect();
    let writable = found.iter().position(|root| root.get("access").and_then(Value::as_str) == Some("read_write"));
    let reads = tool.extension.get("risk").and_then(Value::as_str) == Some("read-only");
    if let (Some(index), true) = (writable, reads) {
        let error = Diagnostic::error("contradicting-hints", "a command that can write is declared `read-only`");
        let help = "write `access: read_only`, or another risk: compute, write, destructive";
        sink.push(error.at(fields.element_place("roots", index)).help(help));
    }
    (!found.is_empty() && found.len() == elements.len()).then(|| found.into())
}

fn root(author: &Author<'_>, value: &Value, at: &str, sink: &mut Sink) -> Option<Value> {
    let root = Fields::open(value, at, &names(ROOT), author.places, sink)?;
    let words: Vec<(&str, &str)> = ACCESS.iter().map(|word| (*word, *word)).collect();
    let access = root.choice("access", &words, sink).unwrap_or("read_only");
    match (root.get("path"), root.get("setting")) {
        (Some(_), None) => {
            let path = root.string("path", sink)?;
            if !path.starts_with('/') {
                let error = Diagnostic::error("wrong-value", format!("`{path}` is no absolute path"));
                sink.push(error.at(root.place("path")).help("begin with `/`, or let a setting hold the path"));
            } else if let Some(told) = bounds::of_path(&path) {
                sink.push(told.at(root.place("path")));
            }
            Some(json!({"path": path, "access": access}))
        }
        (None, Some(_)) => {
            let name = root.string("setting", sink)?;
            check_setting(author, &name, &root.pointer_of("setting"), sink);
            Some(json!({"setting": name, "access": access}))
        }
        _ => {
            let error = Diagnostic::error("wrong-value", "a folder has `path` or `setting`, one of the two");
            let help = "write `{ setting: <setting with a folder> }`, or `{ path: /srv/data }`";
            sink.push(error.at((author.places)(at)).help(help));
            None
        }
    }
}

/// What stays hidden inside the folders. Whether it is there is known to the server alone.
fn denied_paths(fields: &Fields<'_>, sink: &mut Sink) -> Option<Value> {
    let listed = fields.strings("denied_paths", sink)?;
    let names_nothing = |path: &str| path.split('/').all(|part| matches!(part, "" | "."));
    for (index, path) in listed.iter().enumerate() {
        if names_nothing(path) || path.split('/').any(|part| part == "..") {
            let message = format!("`{}` is no path inside a root", path.escape_debug());
            let error = Diagnostic::error("wrong-value", message).at(fields.element_place("denied_paths", index));
            sink.push(error.help("write a path below the first root, such as `.git`, or an absolute one; no `..`"));
        }
    }
    Some(json!(listed))
}

fn limits(fields: &Fields<'_>, sink: &mut Sink) -> Option<Value> {
    let limits = fields.child("limits", &names(LIMITS), sink)?;
    let read = |key: &Key, sink: &mut Sink| {
        let value = limits.positive(key.name, key.most(), sink)?;
        if let Some(told) = bounds::of_limit(key.name, value) {
            sink.push(told.at(limits.place(key.name)));
        }
        Some((key.name.to_owned(), Value::from(value)))
    };
    let found: Map<String, Value> = LIMITS.iter().filter_map(|key| read(key, sink)).collect();
    Some(found.into())
}

fn exit_codes(fields: &Fields<'_>, author: &Author<'_>, sink: &mut Sink) -> Option<Value> {
    let value = fields.get("exit_codes")?;
    let is_code = |value: &Value| value.as_u64().is_some_and(|code| code <= 255);
    if !value.as_array().is_some_and(|codes| !codes.is_empty() && codes.iter().all(is_code)) {
        sink.push(wrong_kind(
            &fields.pointer_of("exit_codes"),
            "a list of numbers from 0 to 255",
            value,
            author.places,
        ));
        return None;
    }
    Some(value.clone())
}

/// The shape of `data` where the author says nothing else: it is the executor's.
fn outcome() -> Value {
    json!({
        "type": "object",
        "required": ["exit_code", "stdout", "stderr", "truncated"],
        "properties": {
            "exit_code": {"type": "integer", "description": "Exit code; -1 where the command was stopped from outside."},
            "stdout": {"type": "string", "description": "Head and tail of standard output."},
            "stderr": {"type": "string", "description": "Head and tail of standard error."},
            "truncated": {"type": "boolean", "description": "Whether output is missing."},
        },
    })
}
