//! Tools that make several calls: runs a plan step by step, each call through the same checks as any other.

mod call;
mod run;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use tokio::time::Instant;
use toolwright_core::{Binding, Code, Envelope, Risk, ToolError, ToolSpec};
use toolwright_http::CallContext;
use toolwright_steps::{Call, Plan};

use crate::App;

/// A plan, and the headers of answers that it speaks of.
type Read = (Arc<Plan>, Arc<[String]>);

/// Plans by their text, each read by the first call that needs it.
#[derive(Default)]
pub(crate) struct Plans(Mutex<BTreeMap<&'static str, Read>>);

impl Plans {
    fn read(&self, text: &'static str) -> Result<Read, serde_json::Error> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = known.get(text) {
            return Ok(plan.clone());
        }
        let plan: Plan = serde_json::from_str(text)?;
        let headers = plan.headers().into();
        let entry = (Arc::new(plan), headers);
        known.insert(text, entry.clone());
        Ok(entry)
    }
}

impl App {
    /// What a call may do at worst. Of several calls as one it is what the worst of them does, whatever their author says of
    /// the whole: no step asks a person by itself, so that nothing is left half done by a no.
    pub(crate) fn risk(&self, row: &ToolSpec) -> Risk {
        let Binding::Steps(text) = row.binding else { return row.risk };
        // A plan that cannot be read is not run either.
        let Ok((plan, _)) = self.plans.read(text) else { return row.risk };
        let of_step = |call: &Call| match call {
            Call::Tool { name, .. } => self.catalog.find(name).map_or(row.risk, |step| step.risk),
            Call::Request { reads: true, .. } => Risk::ReadOnly,
            Call::Request { method, .. } if method == "DELETE" => Risk::Destructive,
            Call::Request { .. } => Risk::Write,
        };
        plan.steps.iter().map(|step| of_step(&step.call)).max().map_or(row.risk, |worst| worst.max(row.risk))
    }

    /// Runs the steps of a tool whose arguments are checked. Every outcome is an envelope.
    pub(crate) async fn steps(
        &self,
        row: &'static ToolSpec,
        text: &'static str,
        arguments: Map<String, Value>,
        context: &CallContext,
    ) -> Envelope {
        let started = Instant::now();
        let envelope = match self.plans.read(text) {
            Ok((plan, keep_headers)) => {
                let context = CallContext { keep_headers, ..context.clone() };
                run::Run::new(self, &plan, arguments, context).run().await
            }
            Err(error) => {
                let message = format!("the plan of {} cannot be read: {error}; generate the server again", row.name);
                Envelope::failure(ToolError::new(Code::NotAllowed, message))
            }
        };
        self.own.finish(row, started, envelope)
    }
}
