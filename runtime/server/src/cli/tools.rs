//! `tools`: the catalog for people and programs.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::ArgMatches;
use serde_json::{Value, json};
use toolwright_core::ToolSpec;

use crate::{App, listing};

/// Prints the listed tools, or all.
pub(super) fn print(app: &App, chosen: &ArgMatches) -> ExitCode {
    let rows: Vec<&ToolSpec> =
        if chosen.get_flag("all") { app.catalog.tools().iter().collect() } else { app.exposure.listed() };
    let text = if chosen.get_flag("json") {
        let entries: Vec<Value> = rows.iter().map(|row| entry(app, row)).collect();
        format!("{:#}\n", Value::from(entries))
    } else if chosen.get_flag("markdown") {
        markdown(app, &rows)
    } else {
        table(app, &rows)
    };
    super::print(&text)
}

fn entry(app: &App, row: &ToolSpec) -> Value {
    let parsed = |text: &str| Value::Object(listing::schema(text));
    json!({
        "name": row.name,
        "title": row.title,
        "description": row.description,
        "tags": row.tags,
        "risk": row.risk,
        "listed": app.exposure.is_listed(row),
        "allowed": app.exposure.admit(row).is_ok(),
        "method": row.declared.method,
        "path": row.declared.path,
        "annotations": listing::hints(row.risk, row.idempotent, row.open_world),
        "input_schema": parsed(row.listed_schema()),
        "result_schema": row.result_schema.map(parsed),
    })
}

fn state(app: &App, row: &ToolSpec) -> &'static str {
    match (app.exposure.admit(row).is_ok(), app.exposure.is_listed(row)) {
        (false, _) => "not allowed",
        (true, true) => "listed",
        (true, false) => "hidden",
    }
}

fn risk(row: &ToolSpec) -> String {
    json!(row.risk).as_str().unwrap_or_default().to_owned()
}

fn table(app: &App, rows: &[&ToolSpec]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for row in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{:width$}  {:11}  {:11}  {}", row.name, risk(row), state(app, row), row.title);
    }
    let _ = writeln!(out, "{} of {} operations", rows.len(), app.catalog.tools().len());
    out
}

fn markdown(app: &App, rows: &[&ToolSpec]) -> String {
    let mut out = String::from("| tool | risk | state | operation | purpose |\n|---|---|---|---|---|\n");
    for row in rows {
        let purpose = row.summary.replace('|', "\\|").replace('\n', " ");
        let (method, path) = (row.declared.method, row.declared.path);
        let _ =
            writeln!(out, "| `{}` | {} | {} | `{method} {path}` | {purpose} |", row.name, risk(row), state(app, row));
    }
    out
}
