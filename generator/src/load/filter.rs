//! jq filters in files of ours: each must compile, with the crate that runs it.

use crate::diagnostic::{Diagnostic, Place, Sink};

/// Reports a text that is no filter. `named` is the key that holds it, `sees` what the filter is applied to.
pub(crate) fn check(text: &str, named: &str, sees: &str, place: Place, sink: &mut Sink) {
    let Err(error) = toolwright_jq::Filter::compile(text) else { return };
    let before = text.get(..error.offset).unwrap_or(text);
    let (line, column) =
        (before.matches('\n').count() + 1, before.chars().rev().take_while(|c| *c != '\n').count() + 1);
    let inside = match text.trim_end().contains('\n') {
        true => format!("line {line}, character {column}"),
        false => format!("character {column}"),
    };
    let message = format!("`{named}` is no jq filter: {} ({inside} of it)", error.message);
    let help = format!("correct the filter; it sees {sees} alone: no modules, environment, clock or input");
    sink.push(Diagnostic::error("bad-filter", message).at(place).help(help));
}
