//! `list_additional_tools`: the names of everything that is not listed.

use serde_json::{Map, Value};
use toolwright_core::{Envelope, Risk};

use super::{FIXED, LISTED, answer, fixed::Fixed};
use crate::App;

pub(super) const TOOL: Fixed = Fixed {
    name: "list_additional_tools",
    title: "List additional tools",
    description: "List the names of all tools that are not listed here. To find one by what it does use search_additional_tools.",
    tags: &["help", "discovery"],
    risk: Risk::ReadOnly,
    idempotent: true,
    open_world: false,
    arguments: &[],
};

/// `count` and `tools`: sorted names of the hidden operations and extra tools that may be called.
pub(super) fn call(app: &App, arguments: Map<String, Value>) -> Envelope {
    if let Err(refused) = TOOL.check(app, arguments) {
        return *refused;
    }
    let names = names(app);
    answer([("count", names.len().into()), ("tools", names.into())])
}

fn names(app: &App) -> Vec<&'static str> {
    let extra = FIXED.iter().skip(LISTED).map(|fixed| fixed.name);
    let extra = extra.filter(|name| app.exposure.admit_extra(name, true).is_ok());
    let mut names: Vec<&'static str> = app.exposure.hidden().map(|row| row.name).chain(extra).collect();
    names.sort_unstable();
    names
}
