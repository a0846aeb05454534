//! Leases: who may write about an operation.

use std::time::Duration;

use crate::catalogue::Catalogue;
use crate::database::{Outlives, statement};
use crate::operation::columns;
use crate::settings::milliseconds;
use crate::{Change, Edit, Ending, Error, Operation, State};

/// The right to write about one operation. It ends when another worker claims the operation or when it is released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The operation.
    pub operation_id: String,
    /// The number of the claim. Every write names it, and none of an earlier claim is taken.
    pub fence: i64,
}

/// What became of a claim.
#[derive(Debug)]
pub enum Claim {
    /// The operation is the worker's, as it stands.
    Held(Lease, Box<Operation>),
    /// Too many runs died without finishing a step, so that it has failed now.
    Poisoned(Box<Operation>),
    /// Another worker has it, it has ended, or its time has not come.
    NotNow,
}

/// What a heartbeat brings back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renewal {
    /// Whether somebody wants the operation to end.
    pub cancel_requested: bool,
}

/// The condition of every write under a lease: `?1` is the operation, `?2` the fence.
macro_rules! held {
    () => {
        " WHERE id = ?1 AND fence = ?2 AND lease_owner IS NOT NULL AND state = 'working' "
    };
}
pub(crate) use held;

/// The condition of a claim: `?1` is the operation, `?2` the worker, `?3` the time.
macro_rules! free {
    () => {
        " WHERE id = ?1 AND state = 'working' AND (lease_expires IS NULL OR lease_expires <= ?3 OR lease_owner = ?2) "
    };
}

const CLAIM: &str = concat!(
    "UPDATE operations SET lease_owner = ?2, lease_expires = ?4, fence = fence + 1, attempts = attempts + 1, updated_at = ?3",
    free!(),
    "AND attempts < ?5 RETURNING ",
    columns!()
);
const POISON: &str = concat!(
    "UPDATE operations SET state = 'failed', error = ?4, lease_owner = NULL, lease_expires = NULL, updated_at = ?3",
    free!(),
    "AND attempts >= ?5 RETURNING ",
    columns!()
);
const RENEW: &str = concat!("UPDATE operations SET lease_expires = ?3", held!(), "RETURNING cancel_requested");
const RELEASE: &str = concat!(
    "UPDATE operations SET lease_owner = NULL, lease_expires = ?3, \
     attempts = CASE WHEN ?4 = 1 OR attempts = 0 THEN attempts ELSE attempts - 1 END",
    held!(),
    "RETURNING id"
);
const CHANGE: &str = concat!(
    "UPDATE operations SET updated_at = ?3, metadata = COALESCE(?4, metadata), \
     preview = CASE WHEN ?5 = 1 THEN ?6 ELSE preview END, message = CASE WHEN ?7 = 1 THEN ?8 ELSE message END",
    held!(),
    "RETURNING id"
);
// Somebody who was told that the operation is cancelled must not find a result later.
const END: &str = concat!(
    "UPDATE operations SET state = CASE WHEN cancel_requested = 1 THEN 'cancelled' ELSE ?4 END, \
     result = CASE WHEN cancel_requested = 1 THEN NULL ELSE ?5 END, \
     error = CASE WHEN cancel_requested = 1 THEN NULL ELSE ?6 END, \
     lease_owner = NULL, lease_expires = NULL, updated_at = ?3",
    held!(),
    "RETURNING ",
    columns!()
);
pub(crate) const COUNT_TOOL_CALL: &str = concat!(
    "UPDATE operations SET tool_calls_used = tool_calls_used + 1, updated_at = ?3",
    held!(),
    "AND tool_calls_used < ?4 RETURNING tool_calls_used"
);

impl Catalogue {
    /// Claims an operation that is free, whose lease has ended, or that the same worker has already; in the last case the
    /// earlier lease ends. More than `max_attempts` runs in a row without a finished step make it fail instead.
    ///
    /// # Errors
    /// Faults of the database.
    pub async fn claim(&self, id: &str, worker: &str, lease: Duration, max_attempts: u32) -> Result<Claim, Error> {
        let (now, limit) = (self.now(), i64::from(max_attempts));
        let expires = now.saturating_add(milliseconds(lease));
        let claimed = self.database.rows(Outlives::Process, statement!(CLAIM, id, worker, now, expires, limit)).await?;
        if let Some(row) = claimed.into_iter().next() {
            let operation = Operation::read(row)?;
            let lease = Lease { operation_id: operation.id.clone(), fence: operation.fence };
            return Ok(Claim::Held(lease, Box::new(operation)));
        }
        let why = format!("given up: {max_attempts} runs in a row ended without finishing a step");
        let poisoned = self.database.rows(Outlives::Process, statement!(POISON, id, worker, now, &why, limit)).await?;
        match poisoned.into_iter().next() {
            Some(row) => Ok(Claim::Poisoned(Box::new(Operation::read(row)?))),
            None => Ok(Claim::NotNow),
        }
    }

    /// Makes a lease last that long from now.
    ///
    /// # Errors
    /// [`Error::Lost`], or a fault of the database. After either the work must stop.
    pub async fn renew(&self, lease: &Lease, duration: Duration) -> Result<Renewal, Error> {
        let expires = self.now().saturating_add(milliseconds(duration));
        let rows =
            self.database.rows(Outlives::Process, statement!(RENEW, &lease.operation_id, lease.fence, expires)).await?;
        let mut row = rows.into_iter().next().ok_or_else(|| lost(lease))?;
        Ok(Renewal { cancel_requested: row.integer()? != 0 })
    }

    /// Gives an operation back that has not ended. It may be claimed again after `wait`; whether the run counts as an
    /// attempt is for the caller to say.
    ///
    /// # Errors
    /// [`Error::Lost`], or a fault of the database.
    pub async fn release(&self, lease: &Lease, wait: Duration, is_attempt: bool) -> Result<(), Error> {
        let expires = (!wait.is_zero()).then(|| self.now().saturating_add(milliseconds(wait)));
        let rows = statement!(RELEASE, &lease.operation_id, lease.fence, expires, is_attempt);
        if self.database.rows(Outlives::Process, rows).await?.is_empty() { Err(lost(lease)) } else { Ok(()) }
    }

    /// Changes what the operation says about itself.
    ///
    /// # Errors
    /// [`Error::Lost`], [`Error::TooLarge`], or a fault of the database.
    pub async fn update(&self, lease: &Lease, change: &Change) -> Result<(), Error> {
        let metadata = change.metadata.as_ref().map(|value| self.written("the metadata", value)).transpose()?;
        let preview = match &change.preview {
            Edit::Set(value) => Some(self.written("the preview", value)?),
            Edit::Keep | Edit::Clear => None,
        };
        let message = match &change.message {
            Edit::Set(text) => Some(text.as_str()),
            Edit::Keep | Edit::Clear => None,
        };
        self.check_size("the message", message.unwrap_or_default())?;
        let rows = self.database.rows(
            Outlives::Process,
            statement!(
                CHANGE,
                &lease.operation_id,
                lease.fence,
                self.now(),
                metadata.as_deref(),
                change.preview != Edit::Keep,
                preview.as_deref(),
                change.message != Edit::Keep,
                message,
            ),
        );
        if rows.await?.is_empty() { Err(lost(lease)) } else { Ok(()) }
    }

    /// Ends the operation. Where somebody asked for its cancellation meanwhile, it ends as cancelled whatever `ending` says.
    ///
    /// # Errors
    /// [`Error::Lost`], [`Error::TooLarge`], or a fault of the database.
    pub async fn end(&self, lease: &Lease, ending: &Ending) -> Result<Operation, Error> {
        let (state, result, error) = match ending {
            Ending::Completed(value) => (State::Completed, Some(self.written("the result", value)?), None),
            Ending::Failed(text) => (State::Failed, None, Some(self.cut(text))),
            Ending::Cancelled => (State::Cancelled, None, None),
        };
        let rows = self.database.rows(
            Outlives::PowerCut,
            statement!(END, &lease.operation_id, lease.fence, self.now(), state.as_str(), result.as_deref(), error,),
        );
        Operation::read(rows.await?.into_iter().next().ok_or_else(|| lost(lease))?)
    }

    /// Takes one call from the operation's budget. Answers with what is left of it, or `None` where it is used up.
    ///
    /// # Errors
    /// [`Error::Limit`] for a limit below 1, [`Error::Lost`], or a fault of the database.
    pub async fn claim_tool_call(&self, lease: &Lease, limit: i64) -> Result<Option<i64>, Error> {
        check_limit(limit)?;
        let count = statement!(COUNT_TOOL_CALL, &lease.operation_id, lease.fence, self.now(), limit);
        match self.database.rows(Outlives::PowerCut, count).await?.into_iter().next() {
            Some(mut row) => Ok(Some(limit.saturating_sub(row.integer()?))),
            None => self.require(lease).await.map(|()| None),
        }
    }

    /// Asks whether a lease still holds, to tell a lost lease from another reason that a write was refused.
    pub(crate) async fn require(&self, lease: &Lease) -> Result<(), Error> {
        const HOLDS: &str = concat!("SELECT id FROM operations", held!());
        let rows = self.database.rows(Outlives::Process, statement!(HOLDS, &lease.operation_id, lease.fence)).await?;
        if rows.is_empty() { Err(lost(lease)) } else { Ok(()) }
    }
}

/// A budget that admits nothing is a mistake of the workflow.
pub(crate) fn check_limit(limit: i64) -> Result<(), Error> {
    if limit < 1 { Err(Error::Limit(limit)) } else { Ok(()) }
}

pub(crate) fn lost(lease: &Lease) -> Error {
    Error::Lost { id: lease.operation_id.clone() }
}
