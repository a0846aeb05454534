//! Too many tools, and tools that fill a model's context.

use crate::diagnostic::{Diagnostic, Sink};
use crate::model::Model;
use crate::pass::select::MAX_LISTED;

/// Bytes of one entry of `tools/list`; a token has about four.
const MAX_ENTRY: usize = 6000;

pub(super) fn report(model: &Model, sink: &mut Sink) {
    if model.exposed.len() > MAX_LISTED {
        let message = format!(
            "{} tools are listed by default, and models choose badly from more than {MAX_LISTED}",
            model.exposed.len()
        );
        let help = "list fewer under `exposed` or `expose`; the gateway finds the rest";
        let key = if model.loaded.config.expose.is_empty() { "/exposed" } else { "/expose" };
        sink.push(Diagnostic::warning("too-many-tools", message).at(model.loaded.config_place(key)).help(help));
    }
    for tool in &model.tools {
        let bytes = tool.frozen.shown_bytes + tool.description.len();
        if bytes <= MAX_ENTRY {
            continue;
        }
        let listed = model.exposed.contains(&tool.name);
        let message =
            format!("`{}` takes {bytes} bytes of {}", tool.name, if listed { "tools/list" } else { "a search" });
        let help = "show fewer fields: x-toolwright: {advertise: [field, ..]}; the rest is still accepted";
        let found =
            if listed { Diagnostic::warning("heavy-tool", message) } else { Diagnostic::note("heavy-tool", message) };
        sink.push(found.at(model.loaded.document.place(&tool.origin)).help(help));
    }
}
