//! Saved answers as MCP resources.

use rmcp::model::{ErrorData, ReadResourceResult, Resource};

use crate::App;

/// The saved files, newest first.
pub(crate) async fn list(_app: &App) -> Vec<Resource> {
    Vec::new()
}

/// The content of a saved file.
///
/// # Errors
/// Resource not found, for anything else.
pub(crate) async fn read(_app: &App, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    Err(ErrorData::resource_not_found(format!("Unknown resource: {uri}"), None))
}
