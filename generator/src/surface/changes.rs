//! Which tools came, went, were renamed or changed.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{Surface, SurfaceTool, content, inputs};

/// The differences of two surfaces, each list sorted by tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Changes {
    /// New tools, with their routes.
    pub added: BTreeMap<String, String>,
    /// Tools that are gone, with their routes.
    pub removed: BTreeMap<String, String>,
    /// Tools of one route that have another name now.
    pub renamed: Vec<Renamed>,
    /// Tools that are still there and differ.
    pub changed: Vec<ToolChange>,
    /// Tools that are listed by default now, and were not.
    pub listed: Vec<String>,
    /// Tools that were listed by default, are not any more, and still exist.
    pub hidden: Vec<String>,
    /// Prompts and resources.
    pub content: Vec<ContentChange>,
}

/// A prompt or a resource that came, went, or asks for something else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ContentChange {
    /// True where whoever uses it has to change.
    pub breaks: bool,
    /// `prompt` or `resource`.
    pub kind: &'static str,
    /// Name of the prompt, URI of the resource.
    pub id: String,
    /// What is different, as a phrase that follows it.
    pub what: String,
}

/// A tool with a new name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Renamed {
    /// The old name.
    pub from: String,
    /// The new name.
    pub to: String,
    /// Method and path.
    pub route: String,
}

/// How one tool differs, by its new name.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ToolChange {
    /// The tool's name.
    pub tool: String,
    /// Old and new route, where they differ.
    pub route: Option<(String, String)>,
    /// Inputs, those that break callers first.
    pub inputs: Vec<InputChange>,
    /// Hints: name, old, new.
    pub hints: Vec<(String, String, String)>,
    /// True where the tool may do more harm than before.
    pub is_riskier: bool,
    /// True where title or description differ.
    pub texts: bool,
}

/// One difference of an input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct InputChange {
    /// True where a call that was right before may be refused now.
    pub breaks: bool,
    /// Path of the argument, such as `request.items[].id`.
    pub path: String,
    /// What is different, as a phrase that follows the path.
    pub what: String,
}

impl Changes {
    /// Whether callers have to change: a tool is gone or renamed, refuses what it accepted, or may do more harm.
    #[must_use]
    pub fn is_breaking(&self) -> bool {
        let breaks = |change: &ToolChange| change.is_riskier || change.inputs.iter().any(|input| input.breaks);
        !self.removed.is_empty()
            || !self.renamed.is_empty()
            || self.changed.iter().any(breaks)
            || self.content.iter().any(|change| change.breaks)
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Compares an old surface with a new one.
#[must_use]
pub fn compare(old: &Surface, new: &Surface) -> Changes {
    let mut changes = Changes::default();
    let added: BTreeMap<String, &String> = new
        .tools
        .iter()
        // A tool without a route is known by its name alone.
        .filter(|(name, tool)| !old.tools.contains_key(*name) && !tool.route.is_empty())
        .map(|(name, tool)| (tool.route.clone(), name))
        .collect();
    for (name, tool) in &old.tools {
        let (new_name, now) = match (new.tools.get(name), added.get(&tool.route)) {
            (Some(now), _) => (name, now),
            (None, Some(renamed)) => match new.tools.get(*renamed) {
                Some(now) => {
                    let (from, to) = (name.clone(), (*renamed).clone());
                    changes.renamed.push(Renamed { from, to, route: tool.route.clone() });
                    (*renamed, now)
                }
                None => continue,
            },
            (None, None) => {
                changes.removed.insert(name.clone(), tool.route.clone());
                continue;
            }
        };
        changes.changed.extend(difference(new_name, tool, now));
    }
    let renamed: Vec<String> = changes.renamed.iter().map(|renamed| renamed.to.clone()).collect();
    let is_new = |name: &&String| !old.tools.contains_key(*name) && !renamed.contains(name);
    changes.added = new
        .tools
        .iter()
        .filter(|(name, _)| is_new(name))
        .map(|(name, tool)| (name.clone(), tool.route.clone()))
        .collect();
    let known = |name: &&String| old.tools.contains_key(*name) && new.tools.contains_key(*name);
    changes.listed = new.listed.iter().filter(known).filter(|name| !old.listed.contains(name)).cloned().collect();
    changes.hidden = old.listed.iter().filter(known).filter(|name| !new.listed.contains(name)).cloned().collect();
    changes.content = content::compare(old, new);
    changes
}

fn difference(name: &str, old: &SurfaceTool, new: &SurfaceTool) -> Option<ToolChange> {
    let mut hints = Vec::new();
    if old.risk != new.risk {
        hints.push(("risk".to_owned(), old.risk.clone(), new.risk.clone()));
    }
    for (hint, was) in &old.hints {
        if let Some(is) = new.hints.get(hint).filter(|is| *is != was) {
            hints.push((hint.clone(), was.to_string(), is.to_string()));
        }
    }
    let change = ToolChange {
        tool: name.to_owned(),
        route: (old.route != new.route).then(|| (old.route.clone(), new.route.clone())),
        inputs: inputs(old, new),
        is_riskier: is_riskier(old, new),
        texts: old.texts != new.texts,
        hints,
    };
    let unchanged = ToolChange { tool: name.to_owned(), ..ToolChange::default() };
    (change != unchanged).then_some(change)
}

/// What differs in the schemas, and in what an optional body needs, which schemas cannot say.
fn inputs(old: &SurfaceTool, new: &SurfaceTool) -> Vec<InputChange> {
    let renamed = renamed_arguments(old, new);
    let mut found = inputs::compare(&old.input, &under_old_names(&new.input, &renamed));
    for (was, is) in &renamed {
        found.push(InputChange { breaks: true, path: was.clone(), what: format!("is named `{is}` now") });
    }
    let old_names: BTreeMap<&str, &str> = renamed.iter().map(|(was, is)| (is.as_str(), was.as_str())).collect();
    let required = old.input.get("required").and_then(Value::as_array);
    let was_needed = |name: &String| {
        old.members.get(name) == Some(&true) || required.is_some_and(|names| names.iter().any(|it| it == name.as_str()))
    };
    let needed = new.members.iter().filter(|(_, is_needed)| **is_needed);
    let needed = needed.map(|(name, _)| old_names.get(name.as_str()).map_or_else(|| name.clone(), ToString::to_string));
    for name in needed.filter(|name| !was_needed(name)) {
        // A call that gives no other member of the body is as right as it was.
        let breaks = old.members.keys().any(|other| *other != name);
        let what = "is required now where any other field of the body is given".to_owned();
        found.push(InputChange { breaks, path: name, what });
    }
    found.sort_by_key(|change| !change.breaks);
    found
}

/// Arguments that go to the same place under the same name on the wire, and are called something else now: old and new
/// name. A name that stays while its argument goes elsewhere is among them too: two arguments may have swapped names.
fn renamed_arguments(old: &SurfaceTool, new: &SurfaceTool) -> Vec<(String, String)> {
    let by_wire: BTreeMap<&(String, String), &String> = new.sent_as.iter().map(|(name, sent)| (sent, name)).collect();
    let pairs = old.sent_as.iter().filter_map(|(was, sent)| Some((was, *by_wire.get(sent)?)));
    pairs.filter(|(was, is)| was != is).map(|(was, is)| (was.clone(), is.clone())).collect()
}

/// The schema with its arguments under the names that they had, so that a new name is one difference and not two.
fn under_old_names(input: &Value, renamed: &[(String, String)]) -> Value {
    if renamed.is_empty() {
        return input.clone();
    }
    // A new argument may have a name that another one had before.
    let is_reused = |name: &str| renamed.iter().any(|(was, _)| was == name);
    let old_name = |name: &str| match renamed.iter().find(|(_, is)| is == name) {
        Some((was, _)) => Some(was.clone()),
        None => is_reused(name).then(|| format!("{name} (of now)")),
    };
    let mut out = input.clone();
    if let Some(properties) = out.get_mut("properties").and_then(Value::as_object_mut) {
        let all = std::mem::take(properties);
        properties.extend(all.into_iter().map(|(name, schema)| (old_name(&name).unwrap_or(name), schema)));
    }
    if let Some(required) = out.get_mut("required").and_then(Value::as_array_mut) {
        for name in required.iter_mut() {
            if let Some(old) = name.as_str().and_then(old_name) {
                *name = old.into();
            }
        }
    }
    out
}

/// Clients approve calls by these hints, so a call that was approved must not do more.
fn is_riskier(old: &SurfaceTool, new: &SurfaceTool) -> bool {
    let hint = |tool: &SurfaceTool, name: &str| tool.hints.get(name).copied();
    let lost = |name: &str| hint(old, name) == Some(true) && hint(new, name) == Some(false);
    let gained = |name: &str| hint(old, name) == Some(false) && hint(new, name) == Some(true);
    lost("readOnlyHint") || lost("idempotentHint") || gained("destructiveHint") || gained("openWorldHint")
}
