//! An operation: one run of a workflow as it stands in the catalogue.

use std::time::Duration;

use serde_json::Value;

use crate::{Error, database::Row, json};

/// Where an operation is. These are the states of an MCP task, under the names that MCP gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// It runs, or waits for a worker.
    Working,
    /// It waits for an answer to [`Operation::question`].
    InputRequired,
    /// It has a result.
    Completed,
    /// It has an error.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl State {
    const ALL: [State; 5] = [State::Working, State::InputRequired, State::Completed, State::Failed, State::Cancelled];

    /// The name of the state in MCP and in the catalogue.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Working => "working",
            State::InputRequired => "input_required",
            State::Completed => "completed",
            State::Failed => "failed",
            State::Cancelled => "cancelled",
        }
    }

    /// True where nothing changes any more.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, State::Completed | State::Failed | State::Cancelled)
    }

    fn read(text: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|state| state.as_str() == text);
        known.ok_or_else(|| Error::Corrupt { what: format!("state {text:?}") })
    }
}

/// An operation that is to be made.
#[derive(Debug, Clone)]
pub struct NewOperation {
    /// Whose it is: only this owner sees, answers or cancels it. What identifies a caller is for the server to say.
    pub owner: String,
    /// What it is, for people.
    pub label: String,
    /// What the workflow is asked for.
    pub request: Value,
    /// What the server wants to find again, such as a trace context.
    pub metadata: Value,
    /// How long it is kept from now on. Once it has ended and this time is over, it counts as unknown. `None` keeps it for
    /// [`Settings::keep_ended`](crate::Settings::keep_ended) after its end.
    pub keep: Option<Duration>,
    /// A second operation of the same owner with this key is not made; the first is handed out instead.
    pub idempotency_key: Option<String>,
}

impl NewOperation {
    /// An operation without metadata and without an idempotency key.
    #[must_use]
    pub fn new(owner: impl Into<String>, label: impl Into<String>, request: Value) -> Self {
        let (owner, label) = (owner.into(), label.into());
        NewOperation {
            owner,
            label,
            request,
            metadata: Value::Object(serde_json::Map::new()),
            keep: None,
            idempotency_key: None,
        }
    }
}

/// An operation as it was when it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// 32 hexadecimal digits, which cannot be guessed.
    pub id: String,
    /// Whose it is.
    pub owner: String,
    /// What it is, for people.
    pub label: String,
    /// Where it is. [`Operation::task_state`] is what a client shall see.
    pub state: State,
    /// What the workflow was asked for.
    pub request: Value,
    /// What the server wants to find again.
    pub metadata: Value,
    /// A part of the result, while the rest is worked on.
    pub preview: Option<Value>,
    /// What a person is asked, while the operation waits for input.
    pub question: Option<Value>,
    /// The result of a completed operation.
    pub result: Option<Value>,
    /// Why a failed operation failed.
    pub error: Option<String>,
    /// How it stands, for people.
    pub message: Option<String>,
    /// The key that it was made with.
    pub idempotency_key: Option<String>,
    /// Whether somebody wants it to end.
    pub cancel_requested: bool,
    /// When it was made, in milliseconds since 1970 UTC.
    pub created_at: i64,
    /// When it changed last; heartbeats do not count.
    pub updated_at: i64,
    /// The worker that has it.
    pub lease_owner: Option<String>,
    /// When the worker's lease ends, in milliseconds since 1970 UTC; without a worker, when it may be claimed at the earliest.
    pub lease_expires: Option<i64>,
    /// How often it was claimed.
    pub fence: i64,
    /// Runs since a step was finished last.
    pub attempts: i64,
    /// How much of its budget of tool calls is used up.
    pub tool_calls_used: i64,
    /// When it is forgotten if it has ended by then, in milliseconds since 1970 UTC.
    pub expires_at: Option<i64>,
}

/// The columns of an [`Operation`], in the order in which [`Operation::read`] takes them.
macro_rules! columns {
    () => {
        "id, owner, label, state, request, metadata, preview, question, result, error, message, idempotency_key, \
         cancel_requested, created_at, updated_at, lease_owner, lease_expires, fence, attempts, tool_calls_used, expires_at"
    };
}
pub(crate) use columns;

impl Operation {
    /// The state that a client sees: an operation that is to be cancelled counts as cancelled at once and for good, even
    /// while its worker still winds up, as MCP demands of tasks.
    #[must_use]
    pub const fn task_state(&self) -> State {
        if self.cancel_requested && !self.state.is_terminal() { State::Cancelled } else { self.state }
    }

    pub(crate) fn read(mut row: Row) -> Result<Self, Error> {
        let document = |text: Option<String>| text.as_deref().map(json::read).transpose();
        Ok(Operation {
            id: row.text()?,
            owner: row.text()?,
            label: row.text()?,
            state: State::read(&row.text()?)?,
            request: json::read(&row.text()?)?,
            metadata: json::read(&row.text()?)?,
            preview: document(row.optional_text()?)?,
            question: document(row.optional_text()?)?,
            result: document(row.optional_text()?)?,
            error: row.optional_text()?,
            message: row.optional_text()?,
            idempotency_key: row.optional_text()?,
            cancel_requested: row.integer()? != 0,
            created_at: row.integer()?,
            updated_at: row.integer()?,
            lease_owner: row.optional_text()?,
            lease_expires: row.optional_integer()?,
            fence: row.integer()?,
            attempts: row.integer()?,
            tool_calls_used: row.integer()?,
            expires_at: row.optional_integer()?,
        })
    }
}

/// What becomes of one value in a [`Change`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Edit<T> {
    /// It stays as it is.
    #[default]
    Keep,
    /// It is taken away.
    Clear,
    /// It is replaced.
    Set(T),
}

/// A change of what an operation says about itself while it works.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Change {
    /// What the server wants to find again.
    pub metadata: Option<Value>,
    /// A part of the result.
    pub preview: Edit<Value>,
    /// How it stands, for people.
    pub message: Edit<String>,
}

/// How an operation ends.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// With a result.
    Completed(Value),
    /// With an error.
    Failed(String),
    /// Because somebody wanted it to.
    Cancelled,
}

/// A new id: 128 random bits, since whoever knows the id of an MCP task may read it where there is no authorization.
pub(crate) fn new_id() -> Result<String, Error> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_the_names_of_mcp() {
        let names: Vec<_> = State::ALL.map(State::as_str).into();
        assert_eq!(names, ["working", "input_required", "completed", "failed", "cancelled"]);
        assert!(State::ALL.iter().all(|state| State::read(state.as_str()).unwrap() == *state));
    }

    #[test]
    fn ids_are_long_and_differ() {
        let (one, other) = (new_id().unwrap(), new_id().unwrap());
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
    }
}
