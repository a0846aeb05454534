//! The tools that the last run made, as far as `generated/` still says so.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::workspace;

/// What is wanted of a `catalog.json`.
#[derive(Deserialize)]
struct Catalog {
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    /// Nothing where the tool is no request.
    #[serde(default)]
    declared: String,
}

/// Names of the tools in the catalog of a server's folder, with method and path. None where there is no catalog yet, or
/// one that cannot be read: nothing depends on it but a warning.
pub(crate) fn tools(root: &Path, folder: &str) -> BTreeMap<String, String> {
    let server = folder.rsplit('/').next().unwrap_or(folder);
    let path = root.join(format!("generated/{server}-tools/catalog.json"));
    let text = workspace::read_file(&path).unwrap_or_default();
    let catalog = serde_json::from_slice(&text).unwrap_or(Catalog { tools: Vec::new() });
    catalog.tools.into_iter().map(|tool| (tool.name, tool.declared)).collect()
}
