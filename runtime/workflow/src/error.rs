//! What can go wrong in the catalogue, and how the run of a workflow ends other than with a result.

use std::path::PathBuf;
use std::time::Duration;

/// A failure of the catalogue or the runtime.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder of the database cannot be used.
    #[error("workflow folder {path}: {source}; it must be writable by this user")]
    Folder {
        /// The folder, or the file in it.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A setting that cannot be.
    #[error("workflow setting {name}: {problem}")]
    Setting {
        /// The setting's name.
        name: &'static str,
        /// What is wrong with it and what to write.
        problem: String,
    },
    /// SQLite reported a fault.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL reported a fault, or could not be reached.
    #[cfg(feature = "postgres")]
    #[error("PostgreSQL: {}", described(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// A newer version wrote the database.
    #[error("the operations have format {found}, and this program knows formats up to {known}: use the newer program")]
    Newer {
        /// The format of the database.
        found: i64,
        /// The newest format that is known here.
        known: i64,
    },
    /// A row holds what this program never writes.
    #[error("a row of the operations is damaged: {what}")]
    Corrupt {
        /// What was found.
        what: String,
    },
    /// The database did not answer in time.
    #[error("the database of operations did not answer within {0:?}")]
    Slow(Duration),
    /// The database was closed.
    #[error("the operations are closed")]
    Closed,
    /// No such operation, or one of another owner: the text is the same, so that ids cannot be tried out.
    #[error("there is no operation {id:?} of this caller")]
    Unknown {
        /// The id that was asked for.
        id: String,
    },
    /// The operation is in a state in which this cannot be done.
    #[error("operation {id:?} is {state}, not {wanted}")]
    WrongState {
        /// The operation.
        id: String,
        /// The state that it is in.
        state: &'static str,
        /// The state that it would have to be in.
        wanted: &'static str,
    },
    /// The lease is another's by now, or the operation has ended. Nothing was written.
    #[error("the lease of operation {id:?} is lost")]
    Lost {
        /// The operation.
        id: String,
    },
    /// An idempotency key was used before, for another request.
    #[error("idempotency key {key:?} belongs to another request: use a new key, or send that request again")]
    KeyReused {
        /// The key.
        key: String,
    },
    /// A limit of tool calls that admits none.
    #[error("a limit of tool calls must be at least 1, and is {0}")]
    Limit(i64),
    /// What a row may hold at most was exceeded.
    #[error("{what} has {size} bytes, and {limit} are allowed: keep large things in files")]
    TooLarge {
        /// Which value.
        what: &'static str,
        /// Its size in bytes.
        size: usize,
        /// The setting `max_payload_bytes`.
        limit: usize,
    },
    /// A step is not the one that the journal has in this place.
    #[error("step {seq} is {now:?}, and the journal has {recorded:?} there: a workflow must take the same steps again")]
    Diverged {
        /// The place of the step, from 0.
        seq: i64,
        /// The name that the journal has.
        recorded: String,
        /// The name that the workflow gave.
        now: String,
    },
    /// A recorded result does not fit the type that the workflow expects, or a result is not JSON.
    #[error("the result of step {seq} ({kind:?}): {source}")]
    Result {
        /// The place of the step, from 0.
        seq: i64,
        /// The step's name.
        kind: String,
        /// What serde said.
        source: serde_json::Error,
    },
    /// A step that must not be repeated was cut off, so that nobody knows whether its effect happened.
    #[error("step {seq} ({kind:?}) was cut off, may have happened, and must not be repeated: look at its effect")]
    InDoubt {
        /// The place of the step, from 0.
        seq: i64,
        /// The step's name.
        kind: String,
    },
    /// The system has no random numbers.
    #[error("no random numbers for the id of an operation: {0}")]
    Random(#[from] getrandom::Error),
    /// What the workflow itself holds could not be closed.
    #[error("closing the workflow: {0}")]
    Close(Box<dyn std::error::Error + Send + Sync>),
}

/// What PostgreSQL says stands in the sources of its error, not in its text.
#[cfg(feature = "postgres")]
fn described(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// How a run ends that has no result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The operation ends as failed, with this text.
    #[error("{0}")]
    Failed(String),
    /// The run is given up, and a later one goes on from the journal. It counts as an attempt.
    #[error("{message}; to be tried again after {after:?}")]
    Retry {
        /// Why, for logs.
        message: String,
        /// How long to wait at least.
        after: Duration,
    },
    /// The operation ends as cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The operation waits for a person; [`Context::ask`](crate::Context::ask) makes this.
    #[error("waiting for input")]
    Suspended,
    /// The lease is lost or the journal cannot be written: this run ends and writes nothing more.
    #[error(transparent)]
    Lost(Error),
}

impl From<Error> for Failure {
    /// Faults of the workflow itself end the operation; those of the database end only this run.
    fn from(error: Error) -> Self {
        match error {
            Error::Diverged { .. }
            | Error::Result { .. }
            | Error::InDoubt { .. }
            | Error::TooLarge { .. }
            | Error::Limit(_) => Failure::Failed(error.to_string()),
            other => Failure::Lost(other),
        }
    }
}
