//! OpenAPI Overlay 1.0 and 1.1: ordered actions that change a document. An action must bite.

use serde_json::{Map, Value};
use serde_json_path::JsonPath;

use super::origin::Origins;
use super::strict::{Fields, Places, did_you_mean, kind};
use crate::diagnostic::{Diagnostic, Sink};
use crate::source::{child_pointer, pointer_tokens};

/// An overlay file and the document that it is applied to.
struct Target<'a> {
    document: &'a mut Value,
    origins: &'a mut Origins,
    /// The overlay's number among the sources.
    source: usize,
}

/// Applies every action of an overlay. Actions that are wrong are reported and skipped.
pub(super) fn apply(
    overlay: &Value,
    document: &mut Value,
    origins: &mut Origins,
    source: usize,
    places: Places<'_>,
    sink: &mut Sink,
) {
    let known = ["overlay", "info", "extends", "actions"];
    let Some(fields) = Fields::open(overlay, "", &known, places, sink) else {
        return;
    };
    check_head(&fields, sink);
    let actions = fields.get("actions").and_then(Value::as_array).filter(|actions| !actions.is_empty());
    let Some(actions) = actions else {
        let error = Diagnostic::error("missing-key", "an overlay has a list of `actions`");
        sink.push(error.at(places("")).help("add `actions:` with at least one `- target:` below it"));
        return;
    };
    let mut target = Target { document, origins, source };
    for (index, action) in actions.iter().enumerate() {
        let pointer = child_pointer("/actions", &index.to_string());
        apply_action(action, &pointer, &mut target, places, sink);
    }
}

fn check_head(fields: &Fields<'_>, sink: &mut Sink) {
    fields.require("overlay", "1.0.0", sink);
    fields.require("info", "{ title: <what it does>, version: 1.0.0 }", sink);
    if let Some(info) = fields.child("info", &["title", "version", "description"], sink) {
        info.require("title", "<what it does>", sink);
        info.require("version", "1.0.0", sink);
    }
    let version = fields.string("overlay", sink);
    if let Some(version) = version.filter(|v| !v.starts_with("1.0.") && !v.starts_with("1.1.")) {
        sink.push(
            Diagnostic::error("unknown-overlay", format!("overlay version {version} is not supported"))
                .at(fields.place("overlay"))
                .help("write `overlay: 1.0.0` or `overlay: 1.1.0`"),
        );
    }
}

fn apply_action(action: &Value, pointer: &str, target: &mut Target<'_>, places: Places<'_>, sink: &mut Sink) {
    let known = ["target", "description", "update", "remove", "copy"];
    let Some(fields) = Fields::open(action, pointer, &known, places, sink) else {
        return;
    };
    fields.require("target", "$.paths['/x'].get", sink);
    let Some(expression) = fields.string("target", sink) else {
        return;
    };
    let Some(found) = locate(&expression, &fields, "target", target.document, sink) else {
        return;
    };
    let remove = fields.boolean("remove", sink).unwrap_or(false);
    if contradicts(&fields, &found, remove, target.document, sink) {
        return;
    }
    let changed = if remove {
        remove_all(found, target)
    } else if let Some(update) = fields.get("update") {
        merge_all(&found, update, &fields.pointer_of("update"), target)
    } else if let Some(from) = fields.string("copy", sink) {
        let Some(sources) = locate(&from, &fields, "copy", target.document, sink) else {
            return;
        };
        let copied = sources.first().and_then(|from| target.document.pointer(from)).cloned();
        let copied = copied.unwrap_or_default();
        merge_all(&found, &copied, &fields.pointer_of("copy"), target)
    } else {
        let error = Diagnostic::error("empty-action", "the action changes nothing");
        sink.push(error.at(places(pointer)).help("add `update:`, `remove: true` or `copy:`"));
        return;
    };
    if !changed {
        sink.push(
            Diagnostic::warning("no-effect", "the document already says what this action writes")
                .at(places(pointer))
                .help("remove the action"),
        );
    }
}

/// Reports an action that asks for two things at once, or for what would lose the document or a whole node of it.
fn contradicts(fields: &Fields<'_>, found: &[String], remove: bool, document: &Value, sink: &mut Sink) -> bool {
    let mut refuse = |key: &str, message: String, help: &str| {
        sink.push(Diagnostic::error("contradicting-action", message).at(fields.place(key)).help(help));
        true
    };
    let both = ["update", "copy"].into_iter().find(|key| remove && fields.get(key).is_some());
    if let Some(key) = both {
        return refuse(
            key,
            format!("the action removes its target, so `{key}` does nothing"),
            "split it into two actions",
        );
    }
    if remove && found.iter().any(String::is_empty) {
        return refuse("target", "an action cannot remove the whole document".to_owned(), "name the node to remove");
    }
    let Some(update) = fields.get("update").filter(|update| !update.is_object()) else { return false };
    let Some(target) = found.iter().find(|pointer| document.pointer(pointer).is_some_and(Value::is_object)) else {
        return false;
    };
    let message = format!("the target is a mapping, and the update is {}", kind(update));
    let name = pointer_tokens(target).last().unwrap_or_default();
    let help = match target.rsplit_once('/') {
        Some(_) => format!("write a mapping; to replace `{name}` whole, remove it in an action before this one"),
        None => "write a mapping".to_owned(),
    };
    refuse("update", message, &help)
}

/// The pointers of all nodes that a JSONPath selects; `None` when it is wrong or selects nothing.
fn locate(expression: &str, fields: &Fields<'_>, key: &str, document: &Value, sink: &mut Sink) -> Option<Vec<String>> {
    let path = match JsonPath::parse(expression) {
        Ok(path) => path,
        Err(error) => {
            sink.push(
                Diagnostic::error("invalid-path", format!("`{expression}` is not a JSONPath: {error}"))
                    .at(fields.place(key))
                    .help("write keys with special characters as in $.paths['/a/b'].get"),
            );
            return None;
        }
    };
    let located = path.query_located(document);
    let mut found: Vec<String> = located.locations().map(|l| l.to_json_pointer()).collect();
    found.dedup();
    if found.is_empty() {
        sink.push(Diagnostic::error("no-match", format!("`{expression}` matches nothing")).at(fields.place(key)).help(
            why_no_match(expression, document).unwrap_or_else(|| {
                "`toolwright show SERVER` prints the document in the form that overlays target".to_owned()
            }),
        ));
        return None;
    }
    Some(found)
}

/// For a path of plain names: the first one that is not there, and what is.
fn why_no_match(expression: &str, document: &Value) -> Option<String> {
    let mut node = document;
    let mut walked = String::from("$");
    for name in plain_names(expression)? {
        let next = match node {
            Value::Array(items) => items.get(name.parse::<usize>().ok()?),
            other => other.get(&name),
        };
        if let Some(next) = next {
            node = next;
            walked = format!("{walked}['{name}']");
            continue;
        }
        let Some(members) = node.as_object() else {
            return Some(format!("{walked} is not a mapping"));
        };
        let near = did_you_mean(&name, members.keys().map(String::as_str)).unwrap_or_else(|| some_of(members));
        return Some(format!("{walked} has no `{name}`; {near}"));
    }
    None
}

/// The first keys of a mapping, as many as one reads.
fn some_of(members: &Map<String, Value>) -> String {
    const SHOWN: usize = 8;
    let keys: Vec<&str> = members.keys().take(SHOWN).map(String::as_str).collect();
    let more = if members.len() > SHOWN { ", .." } else { "" };
    format!("there are: {}{more}", keys.join(", "))
}

/// The names of a JSONPath that has nothing but names (RFC 9535 sections 2.3.1 and 2.5.1).
fn plain_names(expression: &str) -> Option<Vec<String>> {
    let mut rest = expression.strip_prefix('$')?;
    let mut names = Vec::new();
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix('[') {
            let quote = tail.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let (name, after) = match quote {
                Some(quote) => tail.get(1..)?.split_once(&format!("{quote}]"))?,
                None => tail.split_once(']')?,
            };
            if quote.is_none() && !name.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            names.push(name.to_owned());
            rest = after;
        } else {
            let tail = rest.strip_prefix('.')?;
            let end = tail.find(['.', '[']).unwrap_or(tail.len());
            let (name, after) = tail.split_at(end);
            if name.is_empty() || name == "*" {
                return None;
            }
            names.push(name.to_owned());
            rest = after;
        }
    }
    Some(names)
}

/// Removes nodes, the last ones first so that array indexes stay right.
fn remove_all(found: Vec<String>, target: &mut Target<'_>) -> bool {
    let mut found: Vec<(Vec<Step>, String)> = found.into_iter().map(|p| (steps(&p), p)).collect();
    found.sort();
    let mut changed = false;
    for (_, pointer) in found.into_iter().rev() {
        changed |= remove(&pointer, target);
    }
    changed
}

/// A reference token that sorts as a number when it is one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Index(usize),
    Name(String),
}

fn steps(pointer: &str) -> Vec<Step> {
    pointer_tokens(pointer).map(|token| token.parse().map_or_else(|_| Step::Name(token), Step::Index)).collect()
}

fn remove(pointer: &str, target: &mut Target<'_>) -> bool {
    let Some((parent_pointer, _)) = pointer.rsplit_once('/') else {
        return false;
    };
    let token = pointer_tokens(pointer).last().unwrap_or_default();
    match target.document.pointer_mut(parent_pointer) {
        Some(Value::Object(members)) => {
            target.origins.forget(pointer);
            members.shift_remove(&token).is_some()
        }
        Some(Value::Array(items)) => {
            let Some(index) = token.parse().ok().filter(|index| *index < items.len()) else {
                return false;
            };
            target.origins.element_removed(parent_pointer, index, items.len());
            items.remove(index);
            true
        }
        _ => false,
    }
}

/// Merges a value into every node found. A list takes an element, or the elements of a list.
fn merge_all(found: &[String], update: &Value, from: &str, target: &mut Target<'_>) -> bool {
    let mut changed = false;
    for pointer in found {
        let Some(node) = target.document.pointer_mut(pointer) else {
            continue;
        };
        let mut merge = Merge { origins: target.origins, source: target.source, changed: false };
        match (&mut *node, update) {
            (Value::Array(items), update) if !update.is_array() => {
                let end = child_pointer(pointer, &items.len().to_string());
                merge.origins.written(&end, merge.source, from);
                items.push(update.clone());
                merge.changed = true;
            }
            _ => merge.node(node, update, pointer, from),
        }
        changed |= merge.changed;
    }
    changed
}

/// Recursive merge that remembers who wrote what.
struct Merge<'a> {
    origins: &'a mut Origins,
    source: usize,
    changed: bool,
}

impl Merge<'_> {
    /// Objects merge member by member, arrays are concatenated, everything else is replaced.
    fn node(&mut self, node: &mut Value, update: &Value, pointer: &str, from: &str) {
        match (node, update) {
            (Value::Object(members), Value::Object(updates)) => {
                for (key, update) in updates {
                    let pointer = child_pointer(pointer, key);
                    let from = child_pointer(from, key);
                    match members.get_mut(key) {
                        Some(member) => self.node(member, update, &pointer, &from),
                        None => {
                            self.written(&pointer, &from);
                            members.insert(key.clone(), update.clone());
                        }
                    }
                }
            }
            (Value::Array(items), Value::Array(updates)) => {
                for (index, update) in updates.iter().enumerate() {
                    let pointer = child_pointer(pointer, &items.len().to_string());
                    self.written(&pointer, &child_pointer(from, &index.to_string()));
                    items.push(update.clone());
                }
            }
            (node, update) => {
                if node != update {
                    self.written(pointer, from);
                    *node = update.clone();
                }
            }
        }
    }

    fn written(&mut self, pointer: &str, from: &str) {
        self.changed = true;
        self.origins.written(pointer, self.source, from);
    }
}

#[cfg(test)]
mod tests;
