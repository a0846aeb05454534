//! Tasks as operations of `toolwright-workflow`: each is one step, the call, in SQLite or PostgreSQL.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use rmcp::model::RequestMetaObject;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use toolwright_core::ToolSpec;
use toolwright_http::{CallContext, ForwardedHeaders, Progress, ProgressUpdate};
use toolwright_workflow as workflow;
use toolwright_workflow::{
    Attempt, Change, Clock as _, Edit, Failure, Location, NewOperation, Operation, Reporter, Runtime, SystemClock,
};

use super::{Answer, Caller, Fault, NewTask, Owner, Record, State, Store, TaskCall};
use crate::App;

/// After so long without a heartbeat the process of a task counts as dead.
const LEASE: Duration = Duration::from_secs(15);
/// How often a task is told to be alive, and tasks of dead processes are looked for.
const LOOK: Duration = Duration::from_secs(5);
/// How often the progress of a call becomes the message of its task.
const TELL: Duration = Duration::from_secs(1);
/// Largest request or result of a task. Binary answers are files that a result links to.
const MOST_BYTES: usize = 16 << 20;
/// Updates that may wait for the next message.
const WAITING: usize = 64;

/// Opens the store that the settings name.
pub(crate) fn open(app: Weak<App>) -> Answer<'static, Box<dyn Store>> {
    Box::pin(async move {
        let Some(server) = app.upgrade() else { return Err(Fault::Store("the server has ended".to_owned())) };
        let settings = workflow::Settings {
            lease: LEASE,
            heartbeat: LOOK,
            recovery_scan: LOOK,
            // Other calls are to have places as well.
            concurrency: (server.settings.max_concurrency.0 / 2).max(1),
            keep_ended: server.settings.task_ttl.0,
            max_payload_bytes: MOST_BYTES,
            ..workflow::Settings::new("tasks")
        };
        let credentials = Arc::new(Credentials::default());
        let calls = Calls { app, credentials: Arc::clone(&credentials) };
        let runtime = Runtime::start(calls, location(&server), settings).await.map_err(fault)?;
        let store: Box<dyn Store> = Box::new(Durable { runtime, credentials, api: api(&server) });
        Ok(store)
    })
}

fn location(app: &App) -> Location {
    match &app.settings.task_store {
        Some(url) => Location::Postgres {
            url: url.expose().to_owned(),
            schema: format!("toolwright_{}", app.server.name.replace('-', "_")),
            authorities: app.settings.ca_file.clone(),
        },
        None => Location::Sqlite { folder: app.settings.task_dir.clone() },
    }
}

/// What tells one API from another, without its address, which may say more than a file should.
fn api(app: &App) -> String {
    digest(app.settings.base_url.as_str())
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut out, byte| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// The owner as it is stored: credentials only by their digest.
fn stored(owner: &Owner) -> String {
    match owner {
        Owner::User => "user".to_owned(),
        Owner::Anyone => "anyone".to_owned(),
        Owner::Holder(credentials) => format!("holder {}", digest(credentials)),
    }
}

fn fault(error: workflow::Error) -> Fault {
    match error {
        workflow::Error::Unknown { id } => Fault::Unknown { id },
        other => Fault::Store(other.to_string()),
    }
}

/// Headers that calls of this process forward, by the key of their task.
#[derive(Default)]
struct Credentials(Mutex<HashMap<String, ForwardedHeaders>>);

impl Credentials {
    fn keep(&self, key: &str, headers: ForwardedHeaders) {
        self.lock().insert(key.to_owned(), headers);
    }

    fn of(&self, key: &str) -> Option<ForwardedHeaders> {
        self.lock().get(key).cloned()
    }

    fn forget(&self, key: &str) {
        self.lock().remove(key);
    }

    /// No code that can panic runs under the lock, so what a poisoned one holds is whole.
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, ForwardedHeaders>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an operation is asked for.
#[derive(Serialize, Deserialize)]
struct Request {
    tool: String,
    arguments: Map<String, Value>,
}

/// What is to be found again beside it.
#[derive(Clone, Serialize, Deserialize)]
struct Metadata {
    /// The API that the call was meant for.
    api: String,
    /// The key of the headers that the call forwards, where it does.
    forwards: Option<String>,
    /// How long the call may take, over all runs, in milliseconds.
    limit_ms: u64,
    /// The trace of the request.
    trace: RequestMetaObject,
    /// Whether the result is an error of the tool.
    is_error: bool,
}

struct Durable {
    runtime: Runtime<Calls>,
    credentials: Arc<Credentials>,
    api: String,
}

impl Store for Durable {
    fn submit(&self, new: NewTask) -> Answer<'_, Record> {
        Box::pin(async move {
            let NewTask { caller: Caller { owner, forwarded, trace }, row, arguments, keep, limit } = new;
            let key = (!forwarded.is_empty()).then(key);
            if let Some(key) = &key {
                self.credentials.keep(key, forwarded);
            }
            let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            let metadata = Metadata { api: self.api.clone(), forwards: key.clone(), limit_ms, trace, is_error: false };
            let new = NewOperation {
                metadata: json!(metadata),
                keep: Some(keep),
                ..NewOperation::new(stored(&owner), row.title, json!({"tool": row.name, "arguments": arguments}))
            };
            let made = self.runtime.submit(new).await;
            if let (Err(_), Some(key)) = (&made, &key) {
                self.credentials.forget(key);
            }
            Ok(record(made.map_err(fault)?))
        })
    }

    fn get<'a>(&'a self, id: &'a str, owner: &'a Owner) -> Answer<'a, Record> {
        Box::pin(async move { Ok(record(self.runtime.get(id, &stored(owner)).await.map_err(fault)?)) })
    }

    fn wait<'a>(&'a self, id: &'a str, owner: &'a Owner) -> Answer<'a, Record> {
        Box::pin(async move { Ok(record(self.runtime.wait(id, &stored(owner)).await.map_err(fault)?)) })
    }

    fn cancel<'a>(&'a self, id: &'a str, owner: &'a Owner) -> Answer<'a, Record> {
        Box::pin(async move { Ok(record(self.runtime.cancel(id, &stored(owner)).await.map_err(fault)?)) })
    }

    fn list<'a>(&'a self, owner: &'a Owner, before: Option<(i64, &'a str)>, most: u32) -> Answer<'a, Vec<Record>> {
        Box::pin(async move {
            let page = self.runtime.list(&stored(owner), before, most).await.map_err(fault)?;
            Ok(page.into_iter().map(record).collect())
        })
    }

    fn close(&self) -> Answer<'_, ()> {
        Box::pin(async move { self.runtime.close().await.map_err(fault) })
    }
}

/// A key that no other process has.
fn key() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

fn record(operation: Operation) -> Record {
    let state = match operation.task_state() {
        workflow::State::Working | workflow::State::InputRequired => State::Working,
        workflow::State::Completed => State::Completed,
        workflow::State::Failed => State::Failed,
        workflow::State::Cancelled => State::Cancelled,
    };
    let is_error = operation.metadata.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    Record {
        id: operation.id,
        state,
        is_error,
        message: operation.message,
        created_at: operation.created_at,
        updated_at: operation.updated_at,
        expires_at: operation.expires_at,
        result: operation.result,
        error: operation.error,
    }
}

/// Runs the calls of tasks.
struct Calls {
    app: Weak<App>,
    credentials: Arc<Credentials>,
}

impl workflow::Workflow for Calls {
    async fn run(&self, context: &mut workflow::Context) -> Result<Value, Failure> {
        let unreadable = |error: serde_json::Error| Failure::Failed(format!("the task cannot be read: {error}"));
        let operation = context.operation();
        let (id, created_at) = (operation.id.clone(), operation.created_at);
        let request: Request = serde_json::from_value(operation.request.clone()).map_err(unreadable)?;
        let metadata: Metadata = serde_json::from_value(operation.metadata.clone()).map_err(unreadable)?;
        let Some(app) = self.app.upgrade() else {
            return Err(Failure::Retry { message: "the server is ending".to_owned(), after: LOOK });
        };
        let Some(row) = app.catalog.find(&request.tool) else {
            return Err(Failure::Failed(format!("this server has no tool {} any more", request.tool)));
        };
        let forwarded = metadata.forwards.as_deref().map(|key| self.credentials.of(key));
        let run = Run { id, app: &app, row, metadata: &metadata, created_at, reporter: context.reporter() };
        let arguments = request.arguments;
        let outcome = context.effect("call", |attempt| run.call(arguments, forwarded, attempt)).await;
        if let (Some(key), Ok(_) | Err(Failure::Failed(_) | Failure::Cancelled)) = (&metadata.forwards, &outcome) {
            self.credentials.forget(key);
        }
        outcome
    }
}

/// One run of a task.
struct Run<'a> {
    id: String,
    app: &'a App,
    row: &'static ToolSpec,
    metadata: &'a Metadata,
    created_at: i64,
    reporter: Reporter,
}

impl Run<'_> {
    async fn call(
        self,
        arguments: Map<String, Value>,
        forwarded: Option<Option<ForwardedHeaders>>,
        attempt: Attempt,
    ) -> Result<Value, Failure> {
        self.admit(attempt.interrupted)?;
        let forwarded = match forwarded {
            None => ForwardedHeaders::default(),
            Some(Some(headers)) => headers,
            Some(None) => {
                let message = "the process that began this task has ended, and with it the headers that its caller sent, \
                               which are not stored: call again";
                return Err(Failure::Failed(message.to_owned()));
            }
        };
        let (sender, updates) = mpsc::channel(WAITING);
        let call = TaskCall { id: self.id.clone(), row: self.row, arguments, trace: self.metadata.trace.clone() };
        let context = CallContext {
            cancel: attempt.cancellation.child_token(),
            progress: Progress::to(sender),
            forwarded,
            ..CallContext::within(self.left())
        };
        let outcome = tokio::select! {
            biased;
            outcome = self.app.run_task(call, context) => outcome,
            never = tell(&self.reporter, updates) => match never {},
        };
        if attempt.cancellation.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        let (result, is_error) =
            outcome.map_err(|error| Failure::Failed(format!("the result cannot be written: {error}")))?;
        if is_error {
            self.note_error().await?;
        }
        Ok(result)
    }

    /// Refuses a run that could do harm.
    fn admit(&self, interrupted: bool) -> Result<(), Failure> {
        let refuse = |message: &str| Err(Failure::Failed(message.to_owned()));
        if interrupted && !(self.app.risk(self.row).leaves_state() || self.row.idempotent) {
            return refuse(
                "the server ended while this call ran, and the call may have been applied: read the state before trying \
                 again",
            );
        }
        if self.metadata.api != api(self.app) {
            return refuse("the task was begun for another API than the one that this server calls now: call again");
        }
        Ok(())
    }

    /// What is left of the time of the task.
    fn left(&self) -> Duration {
        let gone = u64::try_from(SystemClock.now().saturating_sub(self.created_at)).unwrap_or_default();
        Duration::from_millis(self.metadata.limit_ms.saturating_sub(gone))
    }

    /// Lists of tasks tell errors from results, and hold no results.
    async fn note_error(&self) -> Result<(), Failure> {
        let metadata = Some(json!(Metadata { is_error: true, ..self.metadata.clone() }));
        self.reporter.update(&Change { metadata, ..Change::default() }).await
    }
}

/// Makes the progress of a call the message of its task, for as long as the call runs.
async fn tell(reporter: &Reporter, mut updates: mpsc::Receiver<ProgressUpdate>) -> Infallible {
    let mut ticks = interval(TELL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut newest = None;
    loop {
        tokio::select! {
            update = updates.recv() => match update {
                Some(update) => newest = Some(said(&update)),
                // The call is about to end.
                None => return std::future::pending().await,
            },
            _ = ticks.tick(), if newest.is_some() => {
                let message = newest.take().map_or(Edit::Keep, Edit::Set);
                if let Err(error) = reporter.update(&Change { message, ..Change::default() }).await {
                    // Whether the task is still this process's is for its heartbeat to say.
                    tracing::debug!(target: "toolwright::tasks", %error, "progress was not noted");
                }
            }
        }
    }
}

fn said(update: &ProgressUpdate) -> String {
    match update.total {
        Some(total) if update.message.is_empty() => format!("{} of {total}", update.progress),
        Some(total) => format!("{} of {total}: {}", update.progress, update.message),
        None => update.message.clone(),
    }
}
