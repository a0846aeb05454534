//! The one path of a call: allowed, checked, waited for, sent, recorded.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};
use toolwright_core::arguments::Accepted;
use toolwright_core::{Binding, Code, Envelope, LinkedBinding, Risk, ToolError, ToolSpec, no_handler};
use toolwright_http::{CallContext, FilterFault, RawRequest};

use crate::App;
use crate::confirm::Intent;
use crate::telemetry::Record;

impl App {
    /// Calls an operation, listed or hidden.
    pub(crate) async fn operation(
        &self,
        row: &'static ToolSpec,
        arguments: Map<String, Value>,
        context: &CallContext,
    ) -> Envelope {
        let context = CallContext { deadline: self.deadline(own_limit(row)), ..context.clone() };
        self.recorded(row, arguments, &context).await
    }

    /// The same within the deadline of the context.
    pub(crate) async fn recorded(
        &self,
        row: &'static ToolSpec,
        arguments: Map<String, Value>,
        context: &CallContext,
    ) -> Envelope {
        let record = Record::start(self, row.name, row.risk);
        let envelope = self.checked(row, arguments, context).await;
        record.finish(&envelope);
        envelope
    }

    async fn checked(&self, row: &'static ToolSpec, arguments: Map<String, Value>, context: &CallContext) -> Envelope {
        let accepted = match self.check(row, arguments) {
            Ok(accepted) => accepted,
            Err(refused) => return *refused,
        };
        let (risk, asked) = (self.risk(row), Instant::now());
        let intent = Intent { name: row.name, title: row.title, risk, arguments: &accepted.arguments };
        if let Err(error) = self.confirm(intent, context).await {
            return named_failure(row.name, error);
        }
        // The time that a person takes is not the call's.
        let context = CallContext { deadline: context.deadline + asked.elapsed(), ..context.clone() };
        let mut envelope = self.carried_out(row, accepted.arguments, &context).await;
        envelope.warnings.splice(0..0, accepted.warnings);
        // A call that was never answered is refused in the same shape, whatever refused it.
        if !envelope.ok && envelope.status_code.is_none() {
            envelope.extra.entry("tool_name").or_insert_with(|| row.name.into());
        }
        envelope
    }

    /// A checked call, when a slot is free.
    async fn carried_out(
        &self,
        row: &'static ToolSpec,
        arguments: Map<String, Value>,
        context: &CallContext,
    ) -> Envelope {
        if !row.binding.is_own()
            && let Err(error) = self.upstream(context.deadline).await
        {
            return named_failure(row.name, error);
        }
        // On the heap, since few calls are several and each would carry their state.
        let call = async {
            match row.binding {
                Binding::Steps(plan) => Box::pin(self.steps(row, plan, arguments, context)).await,
                _ => self.single(row, arguments, context).await,
            }
        };
        self.in_turn(context, call).await
    }

    /// A checked call that is one: of the API, of this program's own code, or of a filter.
    pub(crate) async fn single(
        &self,
        row: &'static ToolSpec,
        arguments: Map<String, Value>,
        context: &CallContext,
    ) -> Envelope {
        let started = Instant::now();
        match (row.binding, &self.native) {
            (Binding::Native, Some(native)) => {
                let envelope = match self.complete_settings(context.deadline).await {
                    Ok(_) => native.execute(row, arguments, &self.own.discreet(context)).await,
                    Err(error) => Envelope::failure(error),
                };
                self.own.finish(row, started, envelope)
            }
            (Binding::Native, None) => named_failure(row.name, no_handler(row.name)),
            (Binding::Expression(filter), _) => {
                self.own.finish(row, started, self.expression(filter, arguments, context).await)
            }
            (Binding::Linked(linked), _) => {
                self.own.finish(row, started, self.linked(row, linked, arguments, context).await)
            }
            (Binding::Steps(_), _) => {
                let message = format!("{} makes several calls, and none of them can be such a tool", row.name);
                named_failure(row.name, ToolError::new(Code::NotAllowed, message))
            }
            _ => match self.upstream(context.deadline).await {
                Ok(upstream) => upstream.execute(row, arguments, context).await,
                Err(error) => named_failure(row.name, error),
            },
        }
    }

    /// A call that a linked executor carries out, and what its filter makes of the outcome.
    async fn linked(
        &self,
        row: &'static ToolSpec,
        linked: LinkedBinding,
        arguments: Map<String, Value>,
        context: &CallContext,
    ) -> Envelope {
        let mut envelope = match self.complete_settings(context.deadline).await {
            Ok(_) => self.executors.execute(row, linked, arguments, &self.own.discreet(context)).await,
            Err(error) => Envelope::failure(error),
        };
        if let Some(filter) = linked.project {
            let most = self.settings.max_response_bytes.0;
            self.filters.project(filter, most, &mut envelope, context).await;
        }
        envelope
    }

    /// A filter over the arguments. It is the server's own; what it is applied to may be anything that the tool's schema takes.
    async fn expression(&self, filter: &str, arguments: Map<String, Value>, context: &CallContext) -> Envelope {
        let most = self.settings.max_response_bytes.0;
        match self.filters.run(filter, Arc::new(Value::Object(arguments)), most, context).await {
            Ok(data) => Envelope::success(data),
            Err(fault) => {
                let (code, message) = match fault {
                    FilterFault::Failed(reason) => {
                        (Code::HandlerFailed, format!("the tool's filter failed on these arguments: {reason}"))
                    }
                    FilterFault::Deadline => {
                        (Code::Deadline, "the tool's filter was not done before the deadline; ask for less".to_owned())
                    }
                    FilterFault::Cancelled => (Code::Cancelled, "the call was cancelled".to_owned()),
                };
                Envelope::failure(ToolError::new(code, message))
            }
        }
    }

    /// What comes before any I/O: whether the call is allowed, and whether its arguments fit.
    ///
    /// # Errors
    /// The result of the refused call.
    pub(crate) fn check(
        &self,
        row: &'static ToolSpec,
        arguments: Map<String, Value>,
    ) -> Result<Accepted, Box<Envelope>> {
        let failed = |error| Box::new(named_failure(row.name, error));
        self.exposure.admit(row).map_err(failed)?;
        let checker = self.checker(row).map_err(failed)?;
        checker.check(arguments).map_err(|refusal| {
            let schema = Value::Object(crate::listing::schema(row.listed_schema()));
            Box::new(refusal.into_envelope(row.name, &schema))
        })
    }

    /// Sends a request that is not in the catalog, with a deadline of its own where `timeout` gives one. `secrets`
    /// are the pointers into its answer that must be masked.
    pub(crate) async fn raw_request(
        &self,
        request: &RawRequest,
        secrets: &[&str],
        timeout: Option<Duration>,
        context: &CallContext,
    ) -> Envelope {
        const NAME: &str = "raw_request";
        let reads = request.only_reads();
        let record = Record::start(self, NAME, if reads { Risk::ReadOnly } else { Risk::Destructive });
        let context = CallContext { deadline: self.deadline(timeout), ..context.clone() };
        let upstream = match self.exposure.admit_extra(NAME, reads) {
            Ok(()) => self.upstream(context.deadline).await,
            Err(error) => Err(error),
        };
        let envelope = match upstream {
            Ok(upstream) => self.in_turn(&context, upstream.send_raw(request, secrets, &context)).await,
            Err(error) => named_failure(NAME, error),
        };
        record.finish(&envelope);
        envelope
    }

    /// Runs a call when a slot is free. Waiting counts against the deadline.
    async fn in_turn(&self, context: &CallContext, call: impl Future<Output = Envelope>) -> Envelope {
        let slot = tokio::select! {
            biased;
            () = context.cancel.cancelled() => {
                return Envelope::failure(ToolError::new(Code::Cancelled, "the call was cancelled before it was sent"));
            }
            slot = timeout_at(context.deadline, self.slots.acquire()) => slot,
        };
        let Ok(_slot) = slot else {
            let running = self.settings.max_concurrency.0;
            let message = format!("{running} other calls are running, and none ended before the deadline; try again");
            return Envelope::failure(ToolError::new(Code::Deadline, message));
        };
        call.await
    }

    /// When a call that arrives now must be over.
    pub(crate) fn deadline(&self, limit: Option<Duration>) -> Instant {
        Instant::now() + limit.unwrap_or(self.settings.request_timeout.0)
    }
}

/// How long a call of that tool may take, where it says so itself.
pub(crate) fn own_limit(row: &ToolSpec) -> Option<Duration> {
    row.deadline_seconds.map(|seconds| Duration::from_secs(seconds.into()))
}

/// A failure that names its tool.
pub(crate) fn named_failure(name: &str, error: ToolError) -> Envelope {
    let mut envelope = Envelope::failure(error);
    envelope.extra.insert("tool_name".into(), name.into());
    envelope
}
