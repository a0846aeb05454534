//! Switches of parameters that are no booleans: texts that say one are read as it, and anything else is left out.

use serde_json::Value;

use super::Reader;
use crate::diagnostic::Diagnostic;
use crate::pass::join;

/// Switches that decide what is asked for and how it is written.
const SWITCHES: [&str; 3] = ["required", "explode", "allowReserved"];

impl Reader<'_, '_> {
    /// The parameter with booleans where booleans belong; each that was none costs a warning instead of the parameter.
    pub(super) fn with_switches(&mut self, mut node: Value, origin: &str) -> Value {
        let Value::Object(members) = &mut node else { return node };
        for key in SWITCHES {
            let Some(given) = members.get(key).filter(|given| !given.is_boolean()) else { continue };
            let (meant, outcome) = match meant(given) {
                Some(meant) => (Some(meant), format!("read as {meant}")),
                None => (None, "left out".to_owned()),
            };
            let message = format!("`{key}` must be true or false, not {given}, and was {outcome}");
            let place = self.model.loaded.document.place(&join(origin, key));
            let help = format!("write `{key}: true` or `{key}: false`, without quotes, in an overlay");
            self.sink.push(Diagnostic::warning("no-boolean", message).at(place).help(help));
            match meant {
                Some(meant) => drop(members.insert(key.to_owned(), meant.into())),
                None => drop(members.shift_remove(key)),
            }
        }
        node
    }
}

/// What a text says.
fn meant(given: &Value) -> Option<bool> {
    match given.as_str()?.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" => Some(true),
        "false" | "no" => Some(false),
        _ => None,
    }
}
