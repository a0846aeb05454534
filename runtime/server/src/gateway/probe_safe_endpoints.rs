//! `probe_safe_endpoints`: calls every reading operation that needs no argument, and reports which answer.

use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use serde_json::{Map, Value, json};
use toolwright_core::fixed::PROBE_SAFE_ENDPOINTS;
use toolwright_core::{Binding, Code, Envelope, Method, ToolError, ToolSpec};
use toolwright_http::{CallContext, Progress, ProgressUpdate};

use super::{answer, fixed::Fixed};
use crate::{App, call::named_failure, listing};

pub(super) const TOOL: Fixed = Fixed(&PROBE_SAFE_ENDPOINTS);

/// How long one operation may take: a probe is no load test.
const LONGEST: Duration = Duration::from_secs(30);

/// `probed`, `passed`, `failed` and one of `results` an operation, in the order of the document.
pub(super) async fn call(app: &App, arguments: Map<String, Value>, context: &CallContext) -> Envelope {
    let accepted = match TOOL.check(app, arguments) {
        Ok(accepted) => accepted,
        Err(refused) => return *refused,
    };
    if let Err(error) = app.exposure.admit_extra(TOOL.name, true) {
        return named_failure(TOOL.name, error);
    }
    let started = Instant::now();
    let concurrency = accepted.arguments.get("concurrency").and_then(Value::as_i64).unwrap_or(8).clamp(1, 32);
    let candidates = candidates(app);
    let total = candidates.len();
    let mut probes = Vec::with_capacity(total);
    for (place, row) in candidates.into_iter().enumerate() {
        probes.push(Box::pin(probe(app, place, row, context)));
    }
    let mut probes = stream::iter(probes).buffer_unordered(usize::try_from(concurrency).unwrap_or(1));
    let mut results: Vec<(usize, Envelope, &ToolSpec)> = Vec::with_capacity(total);
    while let Some(result) = probes.next().await {
        results.push(result);
        report(context, results.len(), total);
    }
    results.sort_by_key(|(place, ..)| *place);
    let failed = results.iter().filter(|(_, envelope, _)| !envelope.ok).count();
    let results: Vec<Value> = results.iter().map(|(_, envelope, row)| result(row, envelope)).collect();
    let mut envelope = answer([
        ("probed", total.into()),
        ("passed", (total - failed).into()),
        ("failed", failed.into()),
        ("results", results.into()),
    ]);
    envelope.elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
    envelope.warnings = accepted.warnings;
    if failed > 0 {
        envelope.ok = false;
        let message = format!("{failed} of {total} operations failed; see results");
        envelope.error = Some(ToolError::new(Code::UpstreamError, message));
    }
    envelope
}

/// Reading operations over HTTP without a required argument and with a route of their own, by path.
fn candidates(app: &App) -> Vec<&'static ToolSpec> {
    let is_candidate = |row: &&ToolSpec| {
        let Binding::Http(http) = row.binding else { return false };
        http.method == Method::Get
            && http.stand_in.is_none()
            && app.exposure.admit(row).is_ok()
            && listing::schema(row.input_schema).get("required").and_then(Value::as_array).is_none_or(Vec::is_empty)
    };
    let mut rows: Vec<&'static ToolSpec> = app.catalog.tools().iter().filter(is_candidate).collect();
    rows.sort_by_key(|row| (row.declared.path, row.name));
    rows
}

async fn probe(
    app: &App,
    place: usize,
    row: &'static ToolSpec,
    context: &CallContext,
) -> (usize, Envelope, &'static ToolSpec) {
    let context = CallContext { progress: Progress::none(), ..context.clone() };
    let call = app.operation(row, Map::new(), &context);
    let envelope = tokio::time::timeout(LONGEST, call).await.unwrap_or_else(|_| {
        let message = format!("no answer within {} seconds", LONGEST.as_secs());
        Envelope::failure(ToolError::new(Code::Deadline, message))
    });
    (place, envelope, row)
}

#[allow(clippy::cast_precision_loss)] // Counts are small.
fn report(context: &CallContext, done: usize, total: usize) {
    context.progress.send(ProgressUpdate {
        progress: done as f64,
        total: Some(total as f64),
        message: format!("{done} of {total} operations probed"),
    });
}

fn result(row: &ToolSpec, envelope: &Envelope) -> Value {
    let error = envelope.error.as_ref().map(|error| error.message.as_str());
    json!({
        "tool": row.name,
        "path": row.declared.path,
        "ok": envelope.ok,
        "status_code": envelope.status_code,
        "error": error,
    })
}
