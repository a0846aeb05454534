//! The fixed tools: three that reach hidden tools (list, search, execute) and two that diagnose.

use rmcp::model::Tool;
use serde_json::{Map, Value};
use toolwright_core::Envelope;
use toolwright_http::CallContext;

use crate::App;

/// Tools that every server has beside its operations, never listed, reached only through execute.
pub(crate) const EXTRA_TOOLS: [&str; 2] = ["probe_safe_endpoints", "raw_request"];

/// The five fixed tools as listed, in their order.
pub(crate) fn tools(_app: &App) -> Vec<Tool> {
    Vec::new()
}

/// True for the name of a fixed tool.
pub(crate) fn is_fixed(_name: &str) -> bool {
    false
}

/// Calls a fixed tool. The structured content of the MCP result is the envelope's JSON: members of the tool's own
/// answer go into `extra`.
pub(crate) async fn call(
    app: &App,
    name: &str,
    arguments: Map<String, Value>,
    context: &CallContext,
) -> Envelope {
    let _ = (app, name, arguments, context);
    Envelope::default()
}
