//! What a run has to tell people.

use serde_json::{Map, Value, json};
use toolwright_core::fixed::{Fixed, LISTED};
use toolwright_core::{Envelope, Risk};

use crate::catalog;
use crate::diagnostic::Place;
use crate::load::config::ServerConfig;
use crate::model::Model;
use crate::model::tool::{Binding, Tool};

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
    /// The fixed tools that every list holds, as the runtime shows them.
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

pub(crate) fn summarize(model: &Model) -> Summary {
    let config = &model.loaded.config;
    let native = model.tools.iter().filter(|tool| matches!(tool.binding, Binding::Native { .. }));
    Summary {
        server: config.server.clone(),
        operations: model.operations.len(),
        tools: model.tools.iter().map(listed).collect(),
        exposed: model.exposed.clone(),
        fixed: LISTED.iter().map(|tool| fixed_tool(tool, config)).collect(),
        native: native.map(|tool| tool.name.clone()).collect(),
        budget: config.budget.map(|tokens| (tokens, model.loaded.config_place("/budget"))),
    }
}

fn listed(tool: &Tool) -> ListedTool {
    let shown: Value = serde_json::from_str(tool.frozen.shown()).unwrap_or_default();
    let mut entry: Map<String, Value> = Map::from_iter([
        ("name".to_owned(), json!(tool.name)),
        ("title".to_owned(), json!(tool.title)),
        ("description".to_owned(), json!(tool.description)),
        ("inputSchema".to_owned(), shown),
    ]);
    // As lists do, which promise nothing of what an API answers.
    let result = tool.frozen.result.as_ref().filter(|_| tool.binding.is_own());
    if let Some(Value::Object(result)) = result.and_then(|result| serde_json::from_str(result).ok()) {
        entry.insert("outputSchema".to_owned(), Envelope::schema(result).into());
    }
    entry.insert("annotations".to_owned(), catalog::annotations(tool));
    ListedTool { name: tool.name.clone(), json: Value::Object(entry).to_string() }
}

/// A fixed tool with the texts of the server, where it has any.
fn fixed_tool(fixed: &Fixed, config: &ServerConfig) -> ListedTool {
    let texts = config.fixed_tools.get(fixed.name);
    let given = |argument: &str| texts.and_then(|texts| texts.arguments.get(argument)).map(String::as_str);
    let risk = if config.read_only { Risk::ReadOnly } else { fixed.risk };
    let entry = json!({
        "name": fixed.name,
        "title": texts.map_or(fixed.title, |texts| texts.title.as_str()),
        "description": texts.map_or(fixed.description, |texts| texts.description.as_str()),
        "inputSchema": fixed.schema(given),
        "annotations": {
            "readOnlyHint": risk.leaves_state(),
            "destructiveHint": risk == Risk::Destructive,
            "idempotentHint": fixed.idempotent || risk == Risk::ReadOnly,
            "openWorldHint": fixed.open_world,
        },
    });
    ListedTool { name: fixed.name.to_owned(), json: entry.to_string() }
}
