//! Small servers for tests: a document, and what an overlay adds.

#![allow(dead_code)] // Each test file uses its own part.

use toolwright_generator::diagnostic::Sink;
use toolwright_generator::load::Files;
use toolwright_generator::{Generated, generate};

/// Lines of a `server.yaml` that every test server has.
const SERVER: &str = "server: t\ntitle: T\ndocument: openapi.yaml\nupstream: {env_prefix: T}\n";

/// A server without overlays.
pub(crate) fn document(document: &str) -> Files {
    files(document, "", None)
}

/// A server with further lines in `server.yaml`, and perhaps an overlay's actions.
pub(crate) fn files(document: &str, settings: &str, actions: Option<&str>) -> Files {
    let mut files = Files::new();
    let overlays = if actions.is_some() { "overlays: [o.yaml]\n" } else { "" };
    files.insert("specs/t/server.yaml", format!("{SERVER}{overlays}{settings}"));
    files.insert("specs/t/openapi.yaml", document);
    if let Some(actions) = actions {
        let head = "overlay: 1.0.0\ninfo: {title: o, version: '1'}\nactions:\n";
        files.insert("specs/t/o.yaml", format!("{head}{actions}"));
    }
    files
}

/// Generates; errors fail the test.
pub(crate) fn generated(files: &Files) -> (Generated, Sink) {
    let mut sink = Sink::new();
    match generate(files, "specs/t", &mut sink) {
        Some(generated) => (generated, sink),
        None => panic!("nothing was generated:\n{sink}"),
    }
}

/// What is reported, as people read it.
pub(crate) fn findings(files: &Files) -> String {
    let mut sink = Sink::new();
    let _ = generate(files, "specs/t", &mut sink);
    sink.to_string()
}

/// The text of a generated file, by its path inside `generated/t-tools`.
pub(crate) fn text(generated: &Generated, path: &str) -> String {
    let path = format!("generated/t-tools/{path}");
    let content = generated.files.get(&path).unwrap_or_else(|| panic!("{path} is not generated"));
    String::from_utf8(content.to_vec()).unwrap()
}

/// Paths of all generated files.
pub(crate) fn file_names(generated: &Generated) -> Vec<String> {
    generated.files.iter().map(|(path, _)| path.to_owned()).collect()
}

/// A generated JSON file.
pub(crate) fn json(generated: &Generated, path: &str) -> serde_json::Value {
    serde_json::from_str(&text(generated, path)).unwrap()
}

/// The arguments of a tool as the catalog shows them.
pub(crate) fn arguments(generated: &Generated, tool: &str) -> serde_json::Value {
    let catalog = json(generated, "catalog.json");
    let tools = catalog["tools"].as_array().unwrap();
    let tool = tools.iter().find(|entry| entry["name"] == tool).unwrap_or_else(|| panic!("no tool {tool}"));
    tool["arguments"].clone()
}

/// Names of all tools.
pub(crate) fn tools(generated: &Generated) -> Vec<String> {
    generated.summary.tools.iter().map(|tool| tool.name.clone()).collect()
}

/// A server without a document: tool files by their names, and further lines of `server.yaml`.
pub(crate) fn tool_files(tools: &[(&str, &str)], settings: &str) -> Files {
    let mut files = Files::new();
    files.insert("specs/t/server.yaml", format!("server: t\ntitle: T\n{settings}"));
    for (name, text) in tools {
        files.insert(format!("specs/t/tools/{name}.yaml"), *text);
    }
    files
}
