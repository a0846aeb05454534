//! The fixed tools: three that reach hidden tools (list, search, execute) and two that diagnose; and the two hidden
//! extra tools that every server has beside its operations.

mod execute_additional_tool;
mod fixed;
mod list_additional_tools;
mod live_document;
mod probe_safe_endpoints;
mod raw_request;
mod schema_audit;
mod search_additional_tools;
mod server_health;
mod state;
mod summary;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

use rmcp::model::Tool;
use serde_json::{Map, Value};
use toolwright_core::fixed::{PROBE_SAFE_ENDPOINTS, RAW_REQUEST};
use toolwright_core::{Envelope, Risk};
use toolwright_http::{CallContext, RawRequest};

use crate::telemetry::Record;
use crate::{App, listing};
use fixed::Fixed;
pub(crate) use raw_request::admit as admit_request;
pub(crate) use state::Gateway;

/// Tools that every server has beside its operations, never listed, reached only through execute.
pub(crate) const EXTRA_TOOLS: [&str; 2] = [PROBE_SAFE_ENDPOINTS.name, RAW_REQUEST.name];

/// The listed ones in their order, then the hidden ones.
static FIXED: [&Fixed; 7] = [
    &list_additional_tools::TOOL,
    &search_additional_tools::TOOL,
    &execute_additional_tool::TOOL,
    &server_health::TOOL,
    &schema_audit::TOOL,
    &probe_safe_endpoints::TOOL,
    &raw_request::TOOL,
];

/// How many of [`FIXED`] are listed.
const LISTED: usize = toolwright_core::fixed::LISTED.len();

/// The five fixed tools as listed, in their order.
pub(crate) fn tools(app: &App) -> Vec<Tool> {
    FIXED.iter().take(LISTED).map(|fixed| tool(app, fixed)).collect()
}

/// The two hidden extra tools, and whether they may be called.
pub(crate) fn extra_tools(app: &App) -> Vec<(Tool, bool)> {
    let hidden = FIXED.iter().skip(LISTED);
    hidden.map(|fixed| (tool(app, fixed), app.exposure.admit_extra(fixed.name, true).is_ok())).collect()
}

fn tool(app: &App, fixed: &Fixed) -> Tool {
    let hints = listing::hints(fixed.risk(app), fixed.idempotent, fixed.open_world);
    Tool::new(fixed.name, fixed.description(app), Arc::new(fixed.schema(app)))
        .with_title(fixed.title(app))
        .with_annotations(hints)
}

/// True for the name of a fixed tool.
pub(crate) fn is_fixed(name: &str) -> bool {
    FIXED.iter().take(LISTED).any(|fixed| fixed.name == name)
}

/// Calls a fixed tool. The structured content of the MCP result is the envelope's JSON: members of the tool's own
/// answer go into `extra`.
pub(crate) async fn call(app: &App, name: &str, arguments: Map<String, Value>, context: &CallContext) -> Envelope {
    let started = Instant::now();
    let mut envelope = match name {
        // The tool that it executes is recorded, and has its own time.
        "execute_additional_tool" => return execute_additional_tool::call(app, arguments, context).await,
        "list_additional_tools" => {
            recorded(app, &list_additional_tools::TOOL, || list_additional_tools::call(app, arguments))
        }
        "search_additional_tools" => {
            recorded(app, &search_additional_tools::TOOL, || search_additional_tools::call(app, arguments))
        }
        "server_health" => {
            let record = Record::start(app, server_health::TOOL.name, Risk::ReadOnly);
            let envelope = server_health::call(app, arguments, context).await;
            record.finish(&envelope);
            envelope
        }
        "schema_audit" => {
            let record = Record::start(app, schema_audit::TOOL.name, Risk::ReadOnly);
            let envelope = schema_audit::call(app, arguments, context).await;
            record.finish(&envelope);
            envelope
        }
        other => execute_additional_tool::unknown(app, other),
    };
    envelope.elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
    envelope
}

/// The request that these arguments of `raw_request` describe, checked and allowed as in a call.
///
/// # Errors
/// The refusal.
pub(crate) fn raw_request(app: &App, arguments: Map<String, Value>) -> Result<RawRequest, Box<Envelope>> {
    raw_request::admitted(app, arguments).map(|admitted| admitted.request)
}

fn recorded(app: &App, fixed: &'static Fixed, call: impl FnOnce() -> Envelope) -> Envelope {
    let record = Record::start(app, fixed.name, Risk::ReadOnly);
    let envelope = call();
    record.finish(&envelope);
    envelope
}

/// A success whose members stand beside `ok`.
fn answer<const N: usize>(members: [(&str, Value); N]) -> Envelope {
    let extra = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Envelope { ok: true, extra, ..Envelope::default() }
}
