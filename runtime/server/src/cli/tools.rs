//! `tools`: the catalog for people and programs.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::ArgMatches;
use rmcp::model::Tool;
use serde_json::{Value, json};
use toolwright_core::ToolSpec;

use crate::{App, gateway, listing};

/// Prints the listed tools, or all.
pub(super) fn print(app: &App, chosen: &ArgMatches) -> ExitCode {
    let rows: Vec<&ToolSpec> =
        if chosen.get_flag("all") { app.catalog.tools().iter().collect() } else { app.exposure.listed() };
    let mut fixed: Vec<(Tool, &str)> = gateway::tools(app).into_iter().map(|tool| (tool, "listed")).collect();
    if chosen.get_flag("all") {
        let state = |allowed| if allowed { "hidden" } else { "not allowed" };
        fixed.extend(gateway::extra_tools(app).into_iter().map(|(tool, allowed)| (tool, state(allowed))));
    }
    let text = if chosen.get_flag("json") {
        let operations = rows.iter().map(|row| entry(app, row));
        let entries: Vec<Value> = operations.chain(fixed.iter().map(fixed_entry)).collect();
        format!("{:#}\n", Value::from(entries))
    } else if chosen.get_flag("markdown") {
        markdown(app, &rows, &fixed)
    } else {
        table(app, &rows, &fixed)
    };
    super::print(&text)
}

/// Prints one tool, listed or not.
pub(super) fn print_one(app: &App, name: &str, as_json: bool) -> ExitCode {
    let fixed = gateway::tools(app).into_iter().map(|tool| (tool, "listed"));
    let mut fixed = fixed.chain(gateway::extra_tools(app).into_iter().map(|(tool, _)| (tool, "hidden")));
    let found = match app.catalog.find(name) {
        Some(row) => Some(entry(app, row)),
        None => fixed.find(|(tool, _)| tool.name == name).as_ref().map(fixed_entry),
    };
    let Some(entry) = found else {
        eprintln!("{}", super::unknown_tool(app, name));
        return ExitCode::FAILURE;
    };
    if as_json {
        return super::print(&format!("{entry:#}\n"));
    }
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut out = format!("{} – {}\n\n{}\n", text("name"), text("title"), text("description"));
    // Writing to a String cannot fail.
    if !text("method").is_empty() {
        let _ = write!(out, "\nOperation: {} {} ({})\n", text("method"), text("path"), text("risk"));
    }
    let _ = write!(out, "\nArguments, as JSON Schema:\n{:#}\n", entry.get("input_schema").unwrap_or(&Value::Null));
    super::print(&out)
}

fn fixed_entry((tool, state): &(Tool, &str)) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "listed": *state == "listed",
        "allowed": *state != "not allowed",
        "annotations": tool.annotations,
        "input_schema": tool.input_schema,
    })
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

fn table(app: &App, rows: &[&ToolSpec], fixed: &[(Tool, &str)]) -> String {
    let names = rows.iter().map(|row| row.name).chain(fixed.iter().map(|(tool, _)| tool.name.as_ref()));
    let width = names.map(str::len).max().unwrap_or(0);
    let mut out = String::new();
    // Writing to a String cannot fail.
    for row in rows {
        let _ = writeln!(out, "{:width$}  {:11}  {:11}  {}", row.name, risk(row), state(app, row), row.title);
    }
    for (tool, state) in fixed {
        let title = tool.title.as_deref().unwrap_or_default();
        let _ = writeln!(out, "{:width$}  {:11}  {state:11}  {title}", tool.name, "fixed");
    }
    let (shown, all) = (rows.len(), app.catalog.tools().len());
    let _ = writeln!(out, "\n{shown} of {all} operations and {} fixed tools", fixed.len());
    out
}

fn markdown(app: &App, rows: &[&ToolSpec], fixed: &[(Tool, &str)]) -> String {
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    let mut out = String::from("| tool | risk | state | operation | purpose |\n|---|---|---|---|---|\n");
    for row in rows {
        let (method, path, purpose) = (row.declared.method, row.declared.path, cell(row.summary));
        let state = state(app, row);
        let operation = if method.is_empty() { "–".to_owned() } else { format!("`{method} {path}`") };
        let _ = writeln!(out, "| `{}` | {} | {state} | {operation} | {purpose} |", row.name, risk(row));
    }
    for (tool, state) in fixed {
        let purpose = cell(tool.title.as_deref().unwrap_or_default());
        let _ = writeln!(out, "| `{}` | fixed | {state} | – | {purpose} |", tool.name);
    }
    out
}

#[cfg(test)]
mod tests {
    use tempfile::tempdir;

    use super::*;
    use crate::testing::{CATALOG, SERVER, settings};

    #[test]
    fn the_table_shows_what_the_list_shows_and_says_how_much_there_is() {
        let state = tempdir().unwrap();
        let app = App::new(&SERVER, &CATALOG, settings(&state)).unwrap();
        let fixed: Vec<(Tool, &str)> = gateway::tools(&app).into_iter().map(|tool| (tool, "listed")).collect();
        let text = table(&app, &app.exposure.listed(), &fixed);
        assert_eq!(text.lines().count(), app.listed().len() + 2);
        assert!(text.ends_with("\n4 of 5 operations and 5 fixed tools\n"), "{text}");
    }

    #[test]
    fn a_tool_that_the_operator_forbids_is_shown_as_such() {
        let state = tempdir().unwrap();
        let mut settings = settings(&state);
        settings.deny.0 = vec!["get_item".into()];
        let app = App::new(&SERVER, &CATALOG, settings).unwrap();
        let row = CATALOG.find("get_item").unwrap();
        assert_eq!(self::state(&app, row), "not allowed");
    }
}
