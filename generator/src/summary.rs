//! What a run has to tell people.

use serde_json::{Value, json};

use crate::catalog;
use crate::diagnostic::Place;
use crate::load::config::FixedTool;
use crate::model::Model;
use crate::model::tool::Binding;

/// Numbers of one server, and the texts by which lists are measured.
#[derive(Debug)]
pub struct Summary {
    /// The server's name.
    pub server: String,
    /// Operations of the document.
    pub operations: usize,
    /// Every tool, as `tools/list` shows it.
    pub tools: Vec<ListedTool>,
    /// Names of the tools listed by default.
    pub exposed: Vec<String>,
    /// The fixed tools, roughly as the runtime shows them.
    pub fixed: Vec<ListedTool>,
    /// Names of the tools that are Rust.
    pub native: Vec<String>,
    /// Most tokens that the list by default may take, where `server.yaml` says so, and the place that says it.
    pub budget: Option<(u64, Place)>,
}

/// One entry of `tools/list`.
#[derive(Debug)]
pub struct ListedTool {
    /// The tool's name.
    pub name: String,
    /// Its compact JSON.
    pub json: String,
}

/// Tools that only the gateway runs.
const HIDDEN: [&str; 2] = ["raw_request", "probe_safe_endpoints"];

pub(crate) fn summarize(model: &Model) -> Summary {
    let config = &model.loaded.config;
    let tools = model.tools.iter().map(|tool| {
        let shown: Value = serde_json::from_str(tool.frozen.shown()).unwrap_or_default();
        let entry = json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": shown,
            "annotations": catalog::annotations(tool),
        });
        ListedTool { name: tool.name.clone(), json: serde_json::to_string(&entry).unwrap_or_default() }
    });
    let fixed = config.fixed_tools.iter().filter(|(name, _)| !HIDDEN.contains(&name.as_str()));
    let native = model.tools.iter().filter(|tool| matches!(tool.binding, Binding::Native { .. }));
    Summary {
        server: config.server.clone(),
        operations: model.operations.len(),
        tools: tools.collect(),
        exposed: model.exposed.clone(),
        fixed: fixed.map(|(name, tool)| fixed_tool(name, tool)).collect(),
        native: native.map(|tool| tool.name.clone()).collect(),
        budget: config.budget.map(|tokens| (tokens, model.loaded.config_place("/budget"))),
    }
}

fn fixed_tool(name: &str, tool: &FixedTool) -> ListedTool {
    let properties: serde_json::Map<String, Value> = tool
        .arguments
        .iter()
        .map(|(name, text)| (name.clone(), json!({"type": "string", "description": text})))
        .collect();
    let entry = json!({
        "name": name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": {"type": "object", "properties": properties, "additionalProperties": false},
        "annotations": {"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false},
    });
    ListedTool { name: name.to_owned(), json: entry.to_string() }
}
