//! Names that tools no longer have, in the texts that authors wrote: a model that follows one finds nothing.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Sink};
use crate::load::Files;
use crate::model::Model;
use crate::source::{Source, child_pointer};

/// Reports each text of `server.yaml` and the overlays in which a word is the name of an `earlier` tool, if no tool has
/// it now. `earlier` maps names to what they called, such as `GET /things`.
pub(crate) fn check(files: &Files, model: &Model, earlier: &BTreeMap<String, String>, sink: &mut Sink) {
    let is_there = |name: &str| model.tools.iter().any(|tool| tool.name == name);
    let gone: BTreeMap<&str, String> = earlier
        .iter()
        .filter(|(name, _)| !is_there(name))
        .map(|(name, declared)| (name.as_str(), remedy(model, declared)))
        .collect();
    if gone.is_empty() {
        return;
    }
    for path in model.loaded.own_files() {
        let source = files.get(&path).and_then(|bytes| Source::from_bytes(path, bytes, &mut Sink::new()));
        let Some(source) = source else { continue };
        // What is wrong with the file was reported when it was loaded.
        if let Some(value) = source.read(&mut Sink::new()) {
            Texts { source: &source, gone: &gone, sink }.walk(&value, String::new());
        }
    }
}

fn remedy(model: &Model, declared: &str) -> String {
    let same = |(method, path): &(String, String)| declared.split_once(' ') == Some((method.as_str(), path.as_str()));
    match model.tools.iter().find(|tool| same(&tool.declared)) {
        Some(tool) => format!("its name is `{}` now", tool.name),
        None => "name another tool, or leave it out".to_owned(),
    }
}

/// Whether the pointer leads to an action of an overlay.
fn is_action(pointer: &str) -> bool {
    pointer.strip_prefix("/actions/").is_some_and(|index| !index.contains('/'))
}

struct Texts<'t> {
    source: &'t Source,
    gone: &'t BTreeMap<&'t str, String>,
    sink: &'t mut Sink,
}

impl Texts<'_> {
    fn walk(&mut self, value: &Value, pointer: String) {
        match value {
            Value::String(text) => self.text(text, &pointer),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk(item, child_pointer(&pointer, &index.to_string()));
                }
            }
            Value::Object(members) => {
                // A target is a path into the document, whose own words are no names of tools.
                let texts = members.iter().filter(|(key, _)| *key != "target" || !is_action(&pointer));
                for (key, member) in texts {
                    self.walk(member, child_pointer(&pointer, key));
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, pointer: &str) {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        for (name, remedy) in words.filter_map(|word| self.gone.get_key_value(word)) {
            let message = format!("this text names `{name}`, and no tool is called so any more");
            let warning = Diagnostic::warning("stale-name", message).at(self.source.place(pointer));
            self.sink.push(warning.help(remedy.as_str()));
        }
    }
}
