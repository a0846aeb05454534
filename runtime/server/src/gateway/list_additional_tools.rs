//! `list_additional_tools`: the names of everything that is not listed.

use serde_json::{Map, Value};
use toolwright_core::{Envelope, fixed::LIST_ADDITIONAL_TOOLS};

use super::{FIXED, LISTED, answer, fixed::Fixed};
use crate::App;

pub(super) const TOOL: Fixed = Fixed(&LIST_ADDITIONAL_TOOLS);

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
