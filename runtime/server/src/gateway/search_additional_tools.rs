//! `search_additional_tools`: finds tools by words, and shows the best with their schemas within a size budget.

use serde_json::{Map, Value, json};
use toolwright_core::{Envelope, ToolSpec, fixed::SEARCH_ADDITIONAL_TOOLS};

use super::{answer, fixed::Fixed, state::Target};
use crate::search::properties;
use crate::{App, listing};

pub(super) const TOOL: Fixed = Fixed(&SEARCH_ADDITIONAL_TOOLS);

const MOST_MATCHES: i64 = 20;
const DEFAULT_MATCHES: i64 = 5;

/// How much of a match is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Auto,
    Brief,
    Full,
}

impl Detail {
    /// Bytes of JSON that the matches may take; the best match is shown in full whatever it takes.
    const fn budget(self) -> usize {
        match self {
            Detail::Brief => 0,
            Detail::Auto => 6 * 1024,
            Detail::Full => 24 * 1024,
        }
    }
}

/// `query`, `matches` and `count`; a `hint` where nothing was found.
pub(super) fn call(app: &App, arguments: Map<String, Value>) -> Envelope {
    let accepted = match TOOL.check(app, arguments) {
        Ok(accepted) => accepted,
        Err(refused) => return *refused,
    };
    let query = accepted.arguments.get("query").and_then(Value::as_str).unwrap_or_default();
    let limit = limit(accepted.arguments.get("limit"));
    let detail = match accepted.arguments.get("detail").and_then(Value::as_str) {
        Some("brief") => Detail::Brief,
        Some("full") => Detail::Full,
        _ => Detail::Auto,
    };
    let mut targets = app.gateway.find(app, query);
    targets.truncate(limit);
    let matches = matches(app, &targets, detail);
    let mut envelope = answer([("query", shown(query).into()), ("count", matches.len().into())]);
    if matches.is_empty() {
        let hint =
            "Nothing matches. Say what the tool should do in other words, or call list_additional_tools for all names.";
        envelope.extra.insert("hint".into(), hint.into());
    }
    envelope.extra.insert("matches".into(), matches.into());
    envelope.warnings = accepted.warnings;
    envelope
}

/// The query as it is repeated: a pasted document would only fill the client's context.
fn shown(query: &str) -> String {
    const LONGEST: usize = 200;
    match query.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", query.get(..end).unwrap_or_default()),
        None => query.to_owned(),
    }
}

/// Clamped, not rejected; numbers of any size are clamped too.
fn limit(given: Option<&Value>) -> usize {
    let number = given.and_then(|given| given.as_i64().or_else(|| given.as_f64().map(clamp_float)));
    usize::try_from(number.unwrap_or(DEFAULT_MATCHES).clamp(1, MOST_MATCHES)).unwrap_or(1)
}

#[allow(clippy::cast_possible_truncation)] // Clamped before.
fn clamp_float(number: f64) -> i64 {
    number.clamp(1.0, 20.0) as i64
}

/// The best matches in full as long as they fit beside the brief form of the others.
fn matches(app: &App, targets: &[Target], detail: Detail) -> Vec<Value> {
    let mut shown: Vec<Value> = targets.iter().map(|target| brief(app, target)).collect();
    if detail == Detail::Brief {
        return shown;
    }
    let mut size: usize = shown.iter().map(size_of).sum();
    for (place, (target, shown)) in targets.iter().zip(&mut shown).enumerate() {
        let full = full(app, target, detail);
        size = size - size_of(shown) + size_of(&full);
        if place > 0 && size > detail.budget() {
            break;
        }
        *shown = full;
    }
    shown
}

fn size_of(value: &Value) -> usize {
    value.to_string().len()
}

fn brief(app: &App, target: &Target) -> Value {
    let (summary, schema) = match target {
        Target::Operation(row) => (row.summary, listing::schema(row.listed_schema())),
        Target::Extra(fixed) => (fixed.description(app), fixed.schema(app)),
    };
    let mut shown = Map::new();
    shown.insert("name".into(), target.name().into());
    shown.insert("description".into(), summary.into());
    shown.insert("call".into(), how_to_call(app, target).into());
    let schema = Value::Object(schema);
    shown.insert("arguments".into(), argument_names(&schema).into());
    if let Some(required) = schema.get("required") {
        shown.insert("required".into(), required.clone());
    }
    shown.into()
}

fn full(app: &App, target: &Target, detail: Detail) -> Value {
    let mut shown = match target {
        Target::Operation(row) => operation(row),
        Target::Extra(fixed) => extra(app, fixed),
    };
    shown.insert("call".into(), how_to_call(app, target).into());
    let schema = match target {
        Target::Operation(row) => listing::schema(row.listed_schema()),
        Target::Extra(fixed) => fixed.schema(app),
    };
    shown.insert("input_schema".into(), schema.into());
    if let (Detail::Full, Target::Operation(ToolSpec { result_schema: Some(schema), .. })) = (detail, target) {
        shown.insert("result_schema".into(), listing::schema(schema).into());
    }
    shown.into()
}

fn operation(row: &ToolSpec) -> Map<String, Value> {
    let hints = listing::hints(row.risk, row.idempotent, row.open_world);
    members(row.name, row.title, row.description, row.tags, &json!(hints))
}

fn extra(app: &App, fixed: &Fixed) -> Map<String, Value> {
    let hints = listing::hints(fixed.risk(app), fixed.idempotent, fixed.open_world);
    members(fixed.name, fixed.title(app), fixed.description(app), fixed.tags, &json!(hints))
}

fn members(name: &str, title: &str, description: &str, tags: &[&str], hints: &Value) -> Map<String, Value> {
    let mut tags = tags.to_vec();
    tags.sort_unstable();
    let members = json!({"name": name, "title": title, "description": description, "tags": tags, "hints": hints});
    match members {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Listed tools by their own name, the others through the gateway.
fn how_to_call(app: &App, target: &Target) -> &'static str {
    match target {
        Target::Operation(row) if app.exposure.is_listed(row) => "directly",
        _ => "execute_additional_tool",
    }
}

/// Names of the arguments; members of an argument that is an object follow it as `argument.member`.
fn argument_names(schema: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for (name, argument) in properties(schema, schema) {
        names.push(name.clone());
        names.extend(properties(schema, argument).map(|(member, _)| format!("{name}.{member}")));
    }
    names
}
