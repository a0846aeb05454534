//! Calls of long tools as MCP tasks. A task stands in a store, outlives its connection and its process, and is found again by
//! its id, by whoever began it.
//!
//! Two eras know tasks: as an extension from 2026-07-28 on (`extension`), where the server decides what becomes one, and as
//! an experiment of 2025-11-25 (`experimental`), where the client does.

#![cfg_attr(not(feature = "tasks"), allow(dead_code, reason = "the store, which uses it, is not linked"))]

#[cfg(feature = "tasks")]
pub(crate) mod durable;
pub(crate) mod experimental;
pub(crate) mod extension;
mod owner;
mod record;
#[cfg(all(test, feature = "tasks"))]
pub(crate) mod tests;

use std::future::Future;
use std::pin::Pin;
use std::sync::Weak;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, MetaObject, RequestMetaObject};
use rmcp::service::RequestContext;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;
use toolwright_core::{Catalog, ToolSpec};
use toolwright_http::{CallContext, ForwardedHeaders};

use crate::App;
use crate::call::own_limit;
use crate::exposure::Exposure;
use crate::handler::{forwarded, shown};
use crate::telemetry::{Asked, CallSpan};
pub(crate) use owner::Owner;
pub(crate) use record::{Record, State};

/// How often clients shall ask how a task stands, in milliseconds.
const POLL_INTERVAL_MS: u64 = 1000;

/// The shortest time for which a client may have a result kept.
const SHORTEST_KEPT: Duration = Duration::from_secs(60);

/// An answer of the store.
pub(crate) type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'a>>;

/// Opens the store of a server's tasks.
pub(crate) type Open = fn(Weak<App>) -> Answer<'static, Box<dyn Store>>;

/// Why the store has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// Missing and foreign tasks look the same, so that ids cannot be tried out.
    #[error("there is no task {} of this caller, or it is no longer kept", shown(.id))]
    Unknown {
        /// The id that was asked for.
        id: String,
    },
    /// The store itself failed.
    #[error("the store of tasks failed: {0}")]
    Store(String),
}

impl From<Fault> for ErrorData {
    fn from(fault: Fault) -> Self {
        match &fault {
            Fault::Unknown { .. } => ErrorData::invalid_params(fault.to_string(), None),
            Fault::Store(_) => {
                tracing::error!(target: "toolwright::tasks", error = %fault, "tasks");
                ErrorData::internal_error("the store of tasks cannot be used; the server's log says why", None)
            }
        }
    }
}

/// Where tasks are kept and by whom they are run.
pub(crate) trait Store: Send + Sync {
    /// Makes a task and begins to run it.
    fn submit(&self, new: NewTask) -> Answer<'_, Record>;
    /// A task as it stands.
    fn get<'a>(&'a self, id: &'a str, owner: &'a Owner) -> Answer<'a, Record>;
    /// Waits for the end of a task.
    fn wait<'a>(&'a self, id: &'a str, owner: &'a Owner) -> Answer<'a, Record>;
    /// Wants a task to end. One that has ended stays as it is.
    fn cancel<'a>(&'a self, id: &'a str, owner: &'a Owner) -> Answer<'a, Record>;
    /// Tasks without their results, newest first, made before that one.
    fn list<'a>(&'a self, owner: &'a Owner, before: Option<(i64, &'a str)>, most: u32) -> Answer<'a, Vec<Record>>;
    /// Ends what runs, and leaves it to whoever starts next.
    fn close(&self) -> Answer<'_, ()>;
}

/// A task that is to be made.
pub(crate) struct NewTask {
    pub(crate) caller: Caller,
    pub(crate) row: &'static ToolSpec,
    pub(crate) arguments: Map<String, Value>,
    /// How long it is kept from now on, at least until its deadline.
    pub(crate) keep: Duration,
    /// How long the call may take, over all runs.
    pub(crate) limit: Duration,
}

/// Who begins a task, and what of the request goes along with it.
pub(crate) struct Caller {
    pub(crate) owner: Owner,
    /// These are credentials, and stored nowhere.
    pub(crate) forwarded: ForwardedHeaders,
    /// `_meta` of the request, as far as it is about traces.
    pub(crate) trace: RequestMetaObject,
}

impl Caller {
    fn of(app: &App, context: &RequestContext<RoleServer>) -> Self {
        let mut trace = RequestMetaObject::new();
        if let Some(parent) = context.meta.get_traceparent() {
            trace.set_traceparent(parent);
        }
        if let Some(state) = context.meta.get_tracestate() {
            trace.set_tracestate(state);
        }
        let forwarded = forwarded(context, &app.settings.forward_headers.0);
        Caller { owner: Owner::of(context), forwarded, trace }
    }
}

/// A call of a task that is to be carried out.
pub(crate) struct TaskCall {
    pub(crate) id: String,
    pub(crate) row: &'static ToolSpec,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) trace: RequestMetaObject,
}

/// The tasks of a running server.
pub(crate) struct Tasks {
    open: Open,
    app: Weak<App>,
    /// Opened by the first call that needs it: most processes of a server have no task.
    store: OnceCell<Box<dyn Store>>,
}

impl Tasks {
    /// The tasks of a server, if it has a tool that can be one.
    pub(crate) fn new(open: Open, app: &Weak<App>, catalog: &'static Catalog, exposure: &Exposure) -> Option<Self> {
        let is_long = |row: &ToolSpec| row.long && exposure.admit(row).is_ok();
        let has_long = catalog.tools().iter().any(is_long);
        has_long.then(|| Tasks { open, app: Weak::clone(app), store: OnceCell::new() })
    }

    pub(crate) async fn store(&self) -> Result<&dyn Store, Fault> {
        let store = self.store.get_or_try_init(|| (self.open)(Weak::clone(&self.app))).await?;
        Ok(store.as_ref())
    }

    /// Closes the store, if it was opened.
    pub(crate) async fn close(&self) {
        let Some(store) = self.store.get() else { return };
        if let Err(error) = store.close().await {
            tracing::warn!(target: "toolwright::tasks", %error, "the store of tasks did not close");
        }
    }

    /// True where the store was opened, so that tasks may be running.
    pub(crate) fn are_open(&self) -> bool {
        self.store.initialized()
    }
}

impl App {
    /// The tool and the arguments of a call: those of the request, or those that the gateway is to execute.
    fn called<'a>(
        &self,
        name: &str,
        arguments: &'a Map<String, Value>,
    ) -> Option<(&'static ToolSpec, &'a Map<String, Value>)> {
        if let Some(row) = self.exposure.find_listed(name) {
            return Some((row, arguments));
        }
        if name != "execute_additional_tool" || arguments.len() != 2 {
            return None;
        }
        let row = self.catalog.find(arguments.get("tool_name")?.as_str()?)?;
        let given = arguments.get("arguments")?.as_object()?;
        (!self.exposure.is_listed(row)).then_some((row, given))
    }

    /// `_meta` of acknowledgements about tasks, where this server has tasks.
    pub(crate) fn task_meta(&self) -> Option<MetaObject> {
        self.tasks.as_ref().map(|_| self.result_meta())
    }

    /// Whether calls of a tool can be tasks. A task asks nobody, so that what a person must agree to stays a call.
    fn can_be_task(&self, row: &ToolSpec) -> bool {
        row.long && !self.must_be_confirmed(self.risk(row))
    }

    /// Makes a task of a call. `kept` is how long the client wants its result kept.
    async fn begin_task(
        &self,
        (row, arguments): (&'static ToolSpec, &Map<String, Value>),
        kept: Option<Duration>,
        caller: Caller,
    ) -> Result<Record, Fault> {
        let Some(tasks) = &self.tasks else { return Err(Fault::Store("this server has none".to_owned())) };
        let longest = self.settings.task_ttl.0;
        let kept = kept.map_or(longest, |kept| kept.max(SHORTEST_KEPT).min(longest));
        let limit = own_limit(row).unwrap_or_default().max(self.settings.task_timeout.0);
        let (arguments, keep) = (arguments.clone(), limit.saturating_add(kept));
        tasks.store().await?.submit(NewTask { caller, row, arguments, keep, limit }).await
    }

    /// Carries out the call of a task. Answers with the result as it is kept, and whether it is an error.
    pub(crate) async fn run_task(
        &self,
        call: TaskCall,
        context: CallContext,
    ) -> Result<(Value, bool), serde_json::Error> {
        let TaskCall { id, row, arguments, trace } = call;
        let trace = self.tracing.get().map(|tracing| {
            tracing.begin(&Asked { tool: row.name, arguments: Some(&arguments), meta: &trace, headers: None, id })
        });
        let context = CallContext { observed: self.watched(trace.as_ref().map(CallSpan::span)), ..context };
        let envelope = self.recorded(row, arguments, &context).await;
        if let Some(trace) = trace {
            trace.finish(&envelope);
        }
        let is_error = !envelope.ok;
        let mut result = serde_json::to_value(crate::answer::result(envelope))?;
        if let Some(result) = result.as_object_mut() {
            // Of the result of a task only its own request says this.
            result.shift_remove("resultType");
        }
        Ok((result, is_error))
    }

    /// At the end of the server, gives tasks the time that calls in flight have.
    pub(crate) async fn finish_tasks(&self, stop: impl Future<Output = ()>) {
        let Some(tasks) = self.tasks.as_ref().filter(|tasks| tasks.are_open()) else { return };
        let idle = async {
            while self.metrics.running() > 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            () = idle => {}
            () = self.cut_off.cancelled() => {}
            () = tokio::time::sleep(self.settings.shutdown_grace.0) => {}
            () = stop => {}
        }
        tasks.close().await;
    }
}
