//! Applies the rules of `server.yaml`: what calls may do, which tools a read-only server has, and which are listed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::hints;
use crate::diagnostic::{Diagnostic, Sink};
use crate::ledger::{Outcome, Part, Rule};
use crate::load::did_you_mean;
use crate::load::extension::Risk;
use crate::load::select::{Selector, Traits};
use crate::model::Model;
use crate::model::operation::Operation;
use crate::model::tool::Tool;

/// More listed tools than this make models choose badly, and some clients refuse them.
pub(crate) const MAX_LISTED: usize = 40;
/// How many a preset has where it is chosen by rule.
const PRESET: usize = 20;
/// A tool that weighs more than this in a list is not chosen by rule.
const MAX_WEIGHT: usize = 4000;

/// Gives operations what the rules under `hints` say, where no overlay says it. Runs before tools are made.
pub(super) fn declare(model: &mut Model, sink: &mut Sink) {
    let mut operations = std::mem::take(&mut model.operations);
    for rule in &model.loaded.config.hints {
        let mut bites = false;
        for operation in operations.iter_mut().filter(|operation| rule.of.matches(traits_of(operation))) {
            bites = true;
            let extension = &mut operation.extension;
            extension.risk = extension.risk.or(rule.risk);
            extension.idempotent = extension.idempotent.or(rule.idempotent);
            extension.open_world |= rule.open_world.unwrap_or(false);
            extension.caution = extension.caution.take().or_else(|| rule.caution.clone());
        }
        if !bites {
            idle(model, &rule.of, sink);
        }
    }
    model.operations = operations;
}

/// A read-only server has only tools that leave the upstream's state as it is.
pub(super) fn restrict(model: &mut Model, _sink: &mut Sink) {
    if !model.loaded.config.read_only {
        return;
    }
    let (kept, dropped): (Vec<Tool>, Vec<Tool>) = std::mem::take(&mut model.tools)
        .into_iter()
        .partition(|tool| matches!(tool.hints.risk, Risk::ReadOnly | Risk::Compute));
    for tool in dropped {
        model.ledger.record(Part::Operation, tool.origin, Outcome::Dropped(Rule::ReadOnlyServer));
    }
    model.tools = kept;
}

/// Settles which tools are listed by default: the names under `exposed`, then what the rules under `expose` pick.
/// Where the spec has neither, all tools of a small server are, and a chosen few of a large one.
pub(crate) fn expose(model: &mut Model, sink: &mut Sink) {
    let config = &model.loaded.config;
    let mut listed = config.exposed.clone();
    let mut known: BTreeSet<String> = listed.iter().cloned().collect();
    for rule in &config.expose {
        let picked: Vec<&Tool> = model.tools.iter().filter(|tool| rule.matches(traits(tool))).collect();
        if picked.is_empty() {
            idle(model, rule, sink);
        }
        listed.extend(picked.iter().filter(|tool| known.insert(tool.name.clone())).map(|tool| tool.name.clone()));
    }
    if config.exposes_by_default {
        listed = preset(model);
    }
    for rule in &config.hide {
        let hidden: Vec<&str> =
            model.tools.iter().filter(|tool| rule.matches(traits(tool))).map(|tool| tool.name.as_str()).collect();
        if hidden.is_empty() {
            idle(model, rule, sink);
        }
        listed.retain(|name| config.exposed.contains(name) || !hidden.contains(&name.as_str()));
    }
    model.exposed = listed;
    structs(model, sink);
}

/// `structs` names tags that some tool has as its first.
fn structs(model: &Model, sink: &mut Sink) {
    let areas: BTreeSet<String> = model.tools.iter().map(|tool| tool.area().to_owned()).collect();
    let wanted = model.loaded.config.structs.iter().flatten().enumerate();
    for (index, tag) in wanted.filter(|(_, tag)| *tag != "*" && !areas.contains(*tag)) {
        let place = model.loaded.config_place(&format!("/structs/{index}"));
        let help = did_you_mean(tag, areas.iter().map(String::as_str));
        let help = help.or_else(|| Some("write a tag in lower case; a tool belongs to its first one".to_owned()));
        let message = format!("no tool belongs to the tag `{tag}`");
        sink.push(Diagnostic::error("unknown-tag", message).at(place).maybe_help(help));
    }
}

/// All tools of a small server. Of a large one the most useful of every area in turn: reading before writing, nothing
/// destructive or deprecated, short paths, well described, light.
pub(crate) fn preset(model: &Model) -> Vec<String> {
    if model.tools.len() <= MAX_LISTED {
        return model.tools.iter().map(|tool| tool.name.clone()).collect();
    }
    let mut areas: BTreeMap<&str, Vec<(Merit<'_>, &Tool)>> = BTreeMap::new();
    for tool in model.tools.iter().filter(|tool| is_candidate(model, tool)) {
        areas.entry(tool.area()).or_default().push((merit(tool), tool));
    }
    let mut areas: Vec<Vec<(Merit<'_>, &Tool)>> = areas.into_values().collect();
    for area in &mut areas {
        area.sort_by(|left, right| left.0.cmp(&right.0));
    }
    areas.sort_by(|left, right| left.first().map(|(merit, _)| merit).cmp(&right.first().map(|(merit, _)| merit)));
    let rounds = areas.iter().map(Vec::len).max().unwrap_or(0);
    let in_turn = (0..rounds).flat_map(|round| areas.iter().filter_map(move |area| area.get(round)));
    in_turn.take(PRESET).map(|(_, tool)| tool.name.clone()).collect()
}

/// Smaller is better.
type Merit<'t> = (u8, usize, &'t str);

fn merit(tool: &Tool) -> Merit<'_> {
    let effect = match tool.hints.risk {
        Risk::ReadOnly => 0,
        Risk::Compute => 1,
        Risk::Write | Risk::Destructive => 2,
    };
    let segments = tool.declared.1.split('/').filter(|segment| !segment.is_empty()).count();
    let placeholders = tool.declared.1.matches('{').count();
    let silence = if tool.is_described { 0 } else { 2 };
    (effect, segments + placeholders + silence, &tool.name)
}

fn is_candidate(model: &Model, tool: &Tool) -> bool {
    let node = model.loaded.document.get(&tool.origin);
    let deprecated = node.and_then(|node| node.get("deprecated")).and_then(Value::as_bool) == Some(true);
    let weight = tool.frozen.shown_bytes + tool.description.len();
    !deprecated && tool.hints.risk != Risk::Destructive && weight <= MAX_WEIGHT
}

/// Every rule must bite.
fn idle(model: &Model, rule: &Selector, sink: &mut Sink) {
    let place = model.loaded.config_place(&rule.pointer);
    let help = "correct its globs, or remove it; `toolwright regenerate -v` and TOOLS.md show names, tags and paths";
    sink.push(Diagnostic::error("rule-matches-nothing", "this rule matches no tool").at(place).help(help));
}

/// What rules see of an operation.
pub(super) fn traits_of(operation: &Operation) -> Traits<'_> {
    let hints = hints::of(operation);
    Traits {
        name: operation.extension.name.as_deref().unwrap_or_default(),
        method: &operation.method,
        path: &operation.path,
        tags: &operation.tags,
        risk: hints.risk,
        idempotent: hints.idempotent,
        open_world: hints.open_world,
    }
}

fn traits(tool: &Tool) -> Traits<'_> {
    Traits {
        name: &tool.name,
        method: &tool.declared.0,
        path: &tool.declared.1,
        tags: &tool.tags,
        risk: tool.hints.risk,
        idempotent: tool.hints.idempotent,
        open_world: tool.hints.open_world,
    }
}
