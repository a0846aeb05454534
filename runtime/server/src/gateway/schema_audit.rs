//! `schema_audit`: what the server was made from and what became of it, without network unless asked.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use toolwright_core::fixed::SCHEMA_AUDIT;
use toolwright_core::{Binding, Body, Code, DocumentFacts, Envelope, Payload, Risk, ToolError, ToolSpec};
use toolwright_http::{CallContext, Progress, RawRequest};

use super::{EXTRA_TOOLS, answer, fixed::Fixed, live_document};
use crate::App;

pub(super) const TOOL: Fixed = Fixed(&SCHEMA_AUDIT);

/// Where APIs serve their own document.
const DOCUMENT_PATHS: [&str; 4] = ["/swagger/doc.json", "/openapi.json", "/swagger.json", "/v3/api-docs"];

/// The facts; with `live` also what differs from the document that the API serves now.
pub(super) async fn call(app: &App, arguments: Map<String, Value>, context: &CallContext) -> Envelope {
    let accepted = match TOOL.check(app, arguments) {
        Ok(accepted) => accepted,
        Err(refused) => return *refused,
    };
    let mut envelope = app.gateway.audit.get_or_init(|| facts(app)).clone();
    if accepted.arguments.get("live").and_then(Value::as_bool) == Some(true) {
        match Box::pin(live(app, context)).await {
            Ok(drift) => drop(envelope.extra.insert("live".into(), drift)),
            Err(error) => {
                envelope.ok = false;
                envelope.error = Some(error);
            }
        }
    }
    envelope.warnings.extend(accepted.warnings);
    envelope
}

fn facts(app: &App) -> Envelope {
    let rows = app.catalog.tools();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
    let unique = names.len() == rows.len();
    let exposed = rows.iter().filter(|row| app.exposure.is_listed(row)).count();
    let document = &app.server.document;
    let count = |wanted: fn(&ToolSpec) -> bool| rows.iter().filter(|row| wanted(row)).count();
    let mut envelope = answer([
        ("names_unique", unique.into()),
        ("swagger_paths", document.paths.into()),
        ("swagger_operations", document.operations.into()),
        ("unique_operation_names", names.len().into()),
        ("exposed_operation_tools", exposed.into()),
        ("additional_operation_tools", (rows.len() - exposed).into()),
        ("additional_helper_tools", EXTRA_TOOLS.len().into()),
        ("websocket_operations", count(|row| matches!(row.binding, Binding::WebSocket(_))).into()),
        ("multipart_operations", count(is_multipart).into()),
        ("operations_by_tag", tags(rows)),
        ("operations_by_risk", risks(rows)),
        ("operations_without_route", missing_routes(rows)),
        ("operations_served_elsewhere", moved_routes(rows)),
        ("document", if document.dialect.is_empty() { Value::Null } else { origin(document) }),
        ("catalog_sha256", app.server.catalog_sha256.into()),
    ]);
    let refused = rows.iter().filter(|row| app.exposure.admit(row).is_err()).count();
    if refused > 0 {
        envelope.extra.insert("operations_not_allowed".into(), refused.into());
    }
    if !unique {
        envelope.ok = false;
        envelope.error = Some(ToolError::new(Code::NotAllowed, "two tools share a name; the catalog is broken"));
    }
    envelope
}

/// The document that the server was made from. One without a title is given none.
fn origin(document: &DocumentFacts) -> Value {
    let mut facts = Map::new();
    if !document.title.is_empty() {
        facts.insert("title".to_owned(), document.title.into());
    }
    for (name, value) in [
        ("version", document.version.into()),
        ("dialect", document.dialect.into()),
        ("definitions", document.definitions.into()),
        ("sha256", Value::from(document.sha256)),
    ] {
        facts.insert(name.to_owned(), value);
    }
    facts.into()
}

fn is_multipart(row: &ToolSpec) -> bool {
    matches!(row.binding, Binding::Http(http) if matches!(http.body, Body::Multipart { .. }))
}

/// An operation counts once for each of its tags.
fn tags(rows: &[ToolSpec]) -> Value {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for tag in rows.iter().flat_map(|row| row.tags) {
        *counts.entry(tag).or_default() += 1;
    }
    json!(counts)
}

fn risks(rows: &[ToolSpec]) -> Value {
    let mut counts: BTreeMap<Risk, usize> = BTreeMap::new();
    for row in rows {
        *counts.entry(row.risk).or_default() += 1;
    }
    json!(
        counts
            .iter()
            .map(|(risk, count)| (json!(risk).as_str().unwrap_or_default().to_owned(), json!(count)))
            .collect::<Map<_, _>>()
    )
}

/// The operations that the real server has no route for, with what to use instead.
fn missing_routes(rows: &[ToolSpec]) -> Value {
    let missing = |row: &ToolSpec| match row.binding {
        Binding::NoRoute(missing) => Some((row.name, missing, false)),
        Binding::Http(http) => http.stand_in.map(|missing| (row.name, missing, true)),
        _ => None,
    };
    let rows = rows.iter().filter_map(missing);
    rows.map(|(name, missing, answered)| json!({"tool": name, "instead": missing.instead, "answered_by_another_route": answered})).collect()
}

/// The operations that the real server has under another path than its document says.
fn moved_routes(rows: &[ToolSpec]) -> Value {
    let real_path = |row: &ToolSpec| match row.binding {
        Binding::Http(http) if http.stand_in.is_none() => Some(http.path),
        Binding::WebSocket(socket) => Some(socket.path),
        _ => None,
    };
    let moved = rows.iter().filter_map(|row| Some((row, real_path(row)?)));
    let moved = moved.filter(|(row, path)| *path != row.declared.path);
    moved.map(|(row, path)| json!({"tool": row.name, "declared": row.declared.path, "served": path})).collect()
}

/// What the API's own document has more and less than the one that the server was made from.
async fn live(app: &App, context: &CallContext) -> Result<Value, ToolError> {
    if app.server.document.dialect.is_empty() {
        let message = "this server was made without a document, so that there is nothing to compare";
        return Err(ToolError::new(Code::NotAllowed, message));
    }
    let quiet = CallContext { progress: Progress::none(), ..context.clone() };
    let mut failure = ToolError::new(Code::UpstreamError, "the API serves no document at a known path");
    for path in DOCUMENT_PATHS {
        let request = RawRequest { method: "GET".into(), path: path.into(), ..RawRequest::default() };
        let envelope = app.upstream(quiet.deadline).await?.send_raw(&request, &[], &quiet).await;
        match (envelope.payload, envelope.error) {
            (Payload::Data(document), None) if document.get("paths").is_some_and(Value::is_object) => {
                return Ok(drift(app, path, &document));
            }
            (_, Some(error)) if error.code != Code::UpstreamError => {
                failure = error;
                break;
            }
            _ => {}
        }
    }
    Err(failure)
}

/// How many operations of each kind of difference are named.
const MOST_NAMED: usize = 50;

/// What a reader of the differences has to know.
const NOTE: &str = "`changed` compares the names of inputs and which are required; corrections that this server makes of its document are among it.";

fn drift(app: &App, path: &str, document: &Value) -> Value {
    let served = live_document::operations(document);
    // The document never had what is described in files of its own.
    let of_files = app.server.document.tools_of_files;
    let is_of_document = |row: &&ToolSpec| !row.binding.is_own() && !of_files.contains(&row.name);
    let rows = app.catalog.tools().iter().filter(is_of_document);
    let known: BTreeMap<String, &ToolSpec> =
        rows.map(|row| (format!("{} {}", row.declared.method, row.declared.path), row)).collect();
    let (added, removed): (Vec<&String>, Vec<&String>) = (
        served.keys().filter(|operation| !known.contains_key(*operation)).collect(),
        known.keys().filter(|operation| !served.contains_key(*operation)).collect(),
    );
    let changed: Vec<(&String, Vec<String>)> = known
        .iter()
        .filter_map(|(operation, row)| {
            let differences = live_document::differences(&live_document::of_row(row)?, served.get(operation)?);
            (!differences.is_empty()).then_some((operation, differences))
        })
        .collect();
    let shown = |names: &[&String]| names.iter().take(MOST_NAMED).map(|name| cut(name)).collect::<Vec<_>>();
    let told = changed.iter().take(MOST_NAMED).map(|(operation, differences)| {
        let inputs: Vec<String> = differences.iter().take(MOST_NAMED).map(|difference| cut(difference)).collect();
        json!({"operation": cut(operation), "inputs": inputs})
    });
    let version = document.pointer("/info/version").and_then(Value::as_str);
    json!({
        "document": path,
        "version": version.map(|version| version.chars().take(80).collect::<String>()),
        "operations": served.len(),
        "same_operations": added.is_empty() && removed.is_empty(),
        "same_inputs": changed.is_empty(),
        "added": shown(&added),
        "removed": shown(&removed),
        "changed_operations": changed.len(),
        "changed": told.collect::<Vec<_>>(),
        "note": NOTE,
    })
}

/// Words of a document, at a length that a list can take.
fn cut(text: &str) -> String {
    text.chars().take(200).collect()
}
