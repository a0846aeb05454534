//! `server_health`: the spec's health calls at the same time, with their answers in short.

use futures_util::future::join_all;
use serde_json::{Map, Value};
use toolwright_core::fixed::SERVER_HEALTH;
use toolwright_core::{Code, Envelope, Payload, ToolError, ToolSpec};
use toolwright_http::{CallContext, Progress};

use super::{answer, fixed::Fixed, summary::summary};
use crate::App;

pub(super) const TOOL: Fixed = Fixed(&SERVER_HEALTH);

/// One member a health call, named after the last segment of its path: the call's envelope with a `summary` in place of
/// what came back.
pub(super) async fn call(app: &App, arguments: Map<String, Value>, context: &CallContext) -> Envelope {
    if let Err(refused) = TOOL.check(app, arguments) {
        return *refused;
    }
    let rows = app.server.health.iter().filter_map(|name| app.catalog.find(name));
    let (rows, denied): (Vec<&'static ToolSpec>, Vec<_>) = rows.partition(|row| app.exposure.admit(row).is_ok());
    if let (true, Some(row)) = (rows.is_empty(), denied.first()) {
        return app.exposure.admit(row).map_or_else(Envelope::failure, |()| Envelope::default());
    }
    let quiet = CallContext { progress: Progress::none(), ..context.clone() };
    let calls = rows.iter().map(|row| Box::pin(app.operation(row, Map::new(), &quiet)));
    let envelopes = join_all(calls).await;
    let mut health = answer([]);
    health
        .warnings
        .extend(denied.iter().map(|row| format!("{} was not asked: the operator does not allow it", row.name)));
    let mut failed: Vec<String> = Vec::new();
    let mut code = None;
    for (row, envelope) in rows.iter().zip(envelopes) {
        let key = key(row, &health.extra);
        if !envelope.ok {
            failed.push(key.clone());
            code = code.or(envelope.code());
        }
        health.extra.insert(key, Value::Object(shortened(envelope).to_json()));
    }
    if !failed.is_empty() {
        health.ok = false;
        let message = format!("{} of {} health calls failed: {}", failed.len(), rows.len(), failed.join(", "));
        health.error = Some(ToolError::new(code.unwrap_or(Code::UpstreamError), message));
    }
    health
}

/// The last segment of the path, or the tool's name where that is taken or no name.
fn key(row: &ToolSpec, taken: &Map<String, Value>) -> String {
    let reserved = ["ok", "error", "code", "elapsed_ms", "warnings"];
    let segment = row.declared.path.rsplit('/').find(|segment| !segment.is_empty()).unwrap_or_default();
    let is_name = !segment.is_empty() && !segment.contains(['{', '}']) && !reserved.contains(&segment);
    if is_name && !taken.contains_key(segment) { segment.to_owned() } else { row.name.to_owned() }
}

fn shortened(mut envelope: Envelope) -> Envelope {
    let payload = std::mem::take(&mut envelope.payload);
    let short = match payload {
        Payload::Data(data) => Some(summary(&data)),
        Payload::Text(text) => Some(summary(&Value::String(text))),
        Payload::Events { data, .. } => data.as_ref().map(summary),
        Payload::Messages { messages, .. } => Some(summary(&messages.into())),
        Payload::Empty | Payload::Binary(_) | Payload::Content(_) => None,
    };
    if let Some(short) = short {
        envelope.extra.insert("summary".into(), short);
    }
    envelope.attachments.clear();
    envelope
}
