//! The journal: what an operation did, step by step.
//!
//! A row without a payload is a step that was announced and not finished. There is one such row at most, the last: the
//! steps of an operation come one after the other.

use serde_json::Value;

use crate::catalogue::Catalogue;
use crate::database::{Outlives, Row, Statement, statement};
use crate::lease::{COUNT_TOOL_CALL, check_limit, held, lost};
use crate::{Error, Lease, json};

/// A step of the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Its place, from 0.
    pub seq: i64,
    /// Its name.
    pub kind: String,
    /// Its result; none where it was announced and not finished.
    pub payload: Option<Value>,
}

/// What became of the announcement of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// It stands in the journal, and may run.
    Announced,
    /// The budget of tool calls is used up, and nothing was written.
    Exhausted,
}

const TOUCH: &str = concat!("UPDATE operations SET updated_at = ?3", held!(), "RETURNING id");
// Progress: whatever died before has nothing to do with what comes now.
const PROGRESS: &str = concat!("UPDATE operations SET updated_at = ?3, attempts = 0", held!(), "RETURNING id");
const ANNOUNCE: &str = "INSERT INTO steps (operation_id, seq, kind, payload, fence, created_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING RETURNING seq";
const FINISH: &str =
    "UPDATE steps SET payload = ?3 WHERE operation_id = ?1 AND seq = ?2 AND payload IS NULL RETURNING seq";
const READ: &str = "SELECT seq, kind, payload FROM steps WHERE operation_id = ?1 ORDER BY seq";
const SUSPEND: &str = concat!(
    "UPDATE operations SET state = CASE WHEN cancel_requested = 1 THEN 'cancelled' ELSE 'input_required' END, \
     question = ?4, lease_owner = NULL, lease_expires = NULL, attempts = 0, updated_at = ?3",
    held!(),
    "RETURNING id"
);

impl Catalogue {
    /// The steps so far, in their order. Whoever holds the lease reads all of them: nobody else can add one.
    ///
    /// # Errors
    /// [`Error::Lost`], or a fault of the database.
    pub async fn steps(&self, lease: &Lease) -> Result<Vec<Recorded>, Error> {
        self.require(lease).await?;
        let rows = self.database.rows(Outlives::Process, statement!(READ, &lease.operation_id)).await?;
        rows.into_iter().map(recorded).collect()
    }

    /// Announces a step with an effect outside, before it runs. With a limit it takes one tool call from the budget in the
    /// same transaction, so that a step that is cut off and resumed counts once.
    ///
    /// # Errors
    /// [`Error::Limit`], [`Error::Lost`] (also where the place is taken), or a fault of the database.
    pub async fn announce_step(
        &self,
        lease: &Lease,
        seq: i64,
        kind: &str,
        tool_calls: Option<i64>,
    ) -> Result<Started, Error> {
        let announce = self.new_step(lease, seq, kind, None);
        let Some(limit) = tool_calls else {
            let touch = statement!(TOUCH, &lease.operation_id, lease.fence, self.now());
            return self.both(Outlives::PowerCut, lease, touch, announce).await.map(|()| Started::Announced);
        };
        check_limit(limit)?;
        let count = statement!(COUNT_TOOL_CALL, &lease.operation_id, lease.fence, self.now(), limit);
        match self.both(Outlives::PowerCut, lease, count, announce).await {
            Ok(()) => Ok(Started::Announced),
            // Whether the budget or the lease refused it, the transaction does not say.
            Err(Error::Lost { .. }) => self.tell_exhausted(lease, limit).await,
            Err(error) => Err(error),
        }
    }

    /// Writes the result of an announced step. On SQLite a power cut may take it back, and then the step is one that was cut
    /// off, as if the process had died a moment earlier.
    ///
    /// # Errors
    /// [`Error::Lost`], [`Error::TooLarge`], or a fault of the database.
    pub async fn finish_step(&self, lease: &Lease, seq: i64, payload: &Value) -> Result<(), Error> {
        let payload = self.written("the result of a step", payload)?;
        let progress = statement!(PROGRESS, &lease.operation_id, lease.fence, self.now());
        self.both(Outlives::Process, lease, progress, statement!(FINISH, &lease.operation_id, seq, &payload)).await
    }

    /// Writes a step without an effect outside together with its result.
    ///
    /// # Errors
    /// [`Error::Lost`], [`Error::TooLarge`], or a fault of the database.
    pub async fn record_step(&self, lease: &Lease, seq: i64, kind: &str, payload: &Value) -> Result<(), Error> {
        let payload = self.written("the result of a step", payload)?;
        let progress = statement!(PROGRESS, &lease.operation_id, lease.fence, self.now());
        self.both(Outlives::Process, lease, progress, self.new_step(lease, seq, kind, Some(&payload))).await
    }

    /// Announces a step whose result is a person's answer, and gives the operation back until it comes. Where its
    /// cancellation was asked for, it ends as cancelled instead.
    ///
    /// # Errors
    /// [`Error::Lost`], [`Error::TooLarge`], or a fault of the database.
    pub async fn suspend(&self, lease: &Lease, seq: i64, kind: &str, question: &Value) -> Result<(), Error> {
        let question = self.written("the question", question)?;
        let suspend = statement!(SUSPEND, &lease.operation_id, lease.fence, self.now(), &question);
        self.both(Outlives::PowerCut, lease, suspend, self.new_step(lease, seq, kind, None)).await
    }

    fn new_step(&self, lease: &Lease, seq: i64, kind: &str, payload: Option<&str>) -> Statement {
        statement!(ANNOUNCE, &lease.operation_id, seq, kind, payload, lease.fence, self.now())
    }

    /// A write to the journal under the lease. The first statement takes the row of the operation, so that no claim comes
    /// between the two.
    async fn both(&self, commit: Outlives, lease: &Lease, operation: Statement, step: Statement) -> Result<(), Error> {
        match self.database.all(commit, vec![operation, step]).await? {
            Some(_) => Ok(()),
            None => Err(lost(lease)),
        }
    }

    async fn tell_exhausted(&self, lease: &Lease, limit: i64) -> Result<Started, Error> {
        const USED_UP: &str = concat!("SELECT id FROM operations", held!(), "AND tool_calls_used >= ?3");
        let rows =
            self.database.rows(Outlives::Process, statement!(USED_UP, &lease.operation_id, lease.fence, limit)).await?;
        if rows.is_empty() { Err(lost(lease)) } else { Ok(Started::Exhausted) }
    }
}

fn recorded(mut row: Row) -> Result<Recorded, Error> {
    let (seq, kind) = (row.integer()?, row.text()?);
    Ok(Recorded { seq, kind, payload: row.optional_text()?.as_deref().map(json::read).transpose()? })
}
