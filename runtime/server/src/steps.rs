//! Tools that make several calls: runs a plan step by step, each call through the same checks as any other.

mod call;
mod run;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use tokio::time::Instant;
use toolwright_core::{Code, Envelope, ToolError, ToolSpec};
use toolwright_http::CallContext;
use toolwright_steps::Plan;

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
