//! The record of one call: a count, a duration, and an audit line where it may change state.

use std::time::Instant;

use toolwright_core::{Envelope, Risk};

use crate::App;

/// A running call. Where it is dropped without an end, as when its client goes away, it counts as cancelled.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    app: &'a App,
    tool: &'static str,
    risk: Risk,
    started: Instant,
    outcome: &'static str,
    status: Option<u16>,
}

impl<'a> Record<'a> {
    /// A call has begun.
    pub(crate) fn start(app: &'a App, tool: &'static str, risk: Risk) -> Self {
        app.metrics.begin();
        Record { app, tool, risk, started: Instant::now(), outcome: "cancelled", status: None }
    }

    /// The call has its result.
    pub(crate) fn finish(mut self, envelope: &Envelope) {
        self.status = envelope.status_code;
        self.outcome = match (envelope.ok, envelope.code()) {
            (true, _) => "ok",
            (false, Some(code)) => code.name(),
            (false, None) => "failed",
        };
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        let took = self.started.elapsed();
        self.app.metrics.end(self.tool, self.outcome, took);
        let (tool, outcome, status) = (self.tool, self.outcome, self.status);
        let elapsed_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        if self.risk.leaves_state() {
            tracing::debug!(target: "toolwright::call", tool, outcome, status, elapsed_ms, "call");
        } else {
            let risk = if self.risk == Risk::Destructive { "destructive" } else { "write" };
            tracing::info!(target: "toolwright::audit", tool, risk, outcome, status, elapsed_ms, "state-changing call");
        }
    }
}
