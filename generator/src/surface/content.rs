//! How prompts and resources of two versions differ.

use std::collections::BTreeMap;

use super::Surface;
use super::changes::ContentChange;

/// Changes that break callers first, then by kind and name.
pub(super) fn compare(old: &Surface, new: &Surface) -> Vec<ContentChange> {
    let mut found = Vec::new();
    for (name, arguments) in &old.prompts {
        match new.prompts.get(name) {
            Some(now) => arguments_of(name, arguments, now, &mut found),
            None => found.push(change(true, "prompt", name, "is gone")),
        }
    }
    let added = new.prompts.keys().filter(|name| !old.prompts.contains_key(*name));
    found.extend(added.map(|name| change(false, "prompt", name, "is new")));
    found.extend(old.resources.difference(&new.resources).map(|uri| change(true, "resource", uri, "is gone")));
    found.extend(new.resources.difference(&old.resources).map(|uri| change(false, "resource", uri, "is new")));
    found.sort_by(|left, right| right.breaks.cmp(&left.breaks).then_with(|| left.cmp(right)));
    found
}

fn change(breaks: bool, kind: &'static str, id: &str, what: impl Into<String>) -> ContentChange {
    ContentChange { breaks, kind, id: id.to_owned(), what: what.into() }
}

fn arguments_of(
    prompt: &str,
    old: &BTreeMap<String, bool>,
    new: &BTreeMap<String, bool>,
    found: &mut Vec<ContentChange>,
) {
    for (name, required) in new {
        let told = match (old.get(name), *required) {
            (None | Some(false), true) => change(true, "prompt", prompt, format!("requires `{name}`")),
            (None, false) => change(false, "prompt", prompt, format!("takes `{name}`")),
            (Some(true), false) => change(false, "prompt", prompt, format!("requires `{name}` no more")),
            _ => continue,
        };
        found.push(told);
    }
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    found.extend(gone.map(|name| change(true, "prompt", prompt, format!("takes no `{name}`"))));
}
