//! The catalogue of operations: who made what, where it stands, and what is to be done.
//!
//! What is written here needs no lease; `lease` and `journal` hold what does.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::database::{Database, Outlives, Statement, statement};
use crate::operation::{columns, new_id};
use crate::settings::milliseconds;
use crate::{Clock, Error, Location, NewOperation, Operation, State, json};

/// Operations of one database.
pub struct Catalogue {
    pub(crate) database: Database,
    clock: Arc<dyn Clock>,
    max_payload_bytes: usize,
}

const CREATE: &str = concat!(
    "INSERT INTO operations (id, owner, label, state, request, metadata, idempotency_key, cancel_requested, created_at, \
     updated_at, fence, attempts, tool_calls_used, expires_at) \
     VALUES (?1, ?2, ?3, 'working', ?4, ?5, ?6, 0, ?7, ?7, 0, 0, 0, ?8) \
     ON CONFLICT (owner, idempotency_key) DO NOTHING RETURNING ",
    columns!()
);
const BY_KEY: &str = concat!("SELECT ", columns!(), " FROM operations WHERE owner = ?1 AND idempotency_key = ?2");
/// What has not been forgotten: `?3` is the time.
macro_rules! kept {
    () => {
        " AND (expires_at IS NULL OR expires_at > ?3 OR state IN ('working', 'input_required')) "
    };
}
const GET: &str = concat!("SELECT ", columns!(), " FROM operations WHERE id = ?1 AND owner = ?2", kept!());
// In the order of `columns`, without the large ones.
const LIST: &str = concat!(
    "SELECT id, owner, label, state, 'null', metadata, NULL, NULL, NULL, error, message, idempotency_key, \
     cancel_requested, created_at, updated_at, lease_owner, lease_expires, fence, attempts, tool_calls_used, expires_at \
     FROM operations WHERE owner = ?1 AND (created_at < ?2 OR (created_at = ?2 AND id < ?4))",
    kept!(),
    "ORDER BY created_at DESC, id DESC LIMIT ?5"
);
// Without a worker nobody would carry the wish out; with one, the worker ends the operation.
const CANCEL: &str = concat!(
    "UPDATE operations SET cancel_requested = 1, updated_at = ?3, \
     state = CASE WHEN lease_owner IS NULL OR lease_expires <= ?3 THEN 'cancelled' ELSE state END \
     WHERE id = ?1 AND owner = ?2 AND state IN ('working', 'input_required') RETURNING ",
    columns!()
);
const RESUME: &str = "UPDATE operations SET state = 'working', question = NULL, updated_at = ?3 \
     WHERE id = ?1 AND owner = ?2 AND state = 'input_required' RETURNING id";
const ANSWER: &str = "UPDATE steps SET payload = ?2 WHERE operation_id = ?1 AND payload IS NULL RETURNING seq";
const RECOVERABLE: &str = "SELECT id FROM operations WHERE state = 'working' \
     AND (lease_expires IS NULL OR lease_expires <= ?1) ORDER BY created_at, id LIMIT ?2";
const FORGET: &str = "DELETE FROM operations WHERE state IN ('completed', 'failed', 'cancelled') \
     AND (expires_at <= ?2 OR (expires_at IS NULL AND updated_at <= ?1)) RETURNING id";

impl Catalogue {
    /// Opens the catalogue, and makes its tables where they are missing.
    ///
    /// # Errors
    /// Faults of the folder, the database or the [`Location`]; [`Error::Newer`] where a newer program wrote it.
    pub async fn open(location: &Location, clock: Arc<dyn Clock>, max_payload_bytes: usize) -> Result<Self, Error> {
        Ok(Catalogue { database: Database::open(location).await?, clock, max_payload_bytes })
    }

    /// Makes an operation. With an idempotency key that its owner used before, the operation of then is the answer.
    ///
    /// # Errors
    /// [`Error::KeyReused`] where the key belongs to another request, [`Error::TooLarge`], or a fault of the database.
    pub async fn create(&self, new: &NewOperation) -> Result<Operation, Error> {
        self.check_size("the label", &new.label)?;
        self.check_size("the owner", &new.owner)?;
        let request = self.written("the request", &new.request)?;
        let metadata = self.written("the metadata", &new.metadata)?;
        let key = new.idempotency_key.as_deref();
        self.check_size("the idempotency key", key.unwrap_or_default())?;
        let id = new_id()?;
        let (now, owner) = (self.now(), &new.owner);
        let expires = new.keep.map(|keep| now.saturating_add(milliseconds(keep)));
        let create = statement!(CREATE, &id, owner, &new.label, &request, &metadata, key, now, expires);
        if let Some(made) = self.one(Outlives::PowerCut, create).await? {
            return Ok(made);
        }
        // Gone meanwhile only if it ended long ago and was forgotten in this very moment.
        let known =
            self.one(Outlives::Process, statement!(BY_KEY, &new.owner, key)).await?.ok_or(Error::Unknown { id })?;
        // Equal whatever the order of members.
        if known.request == json::read(&request)? {
            return Ok(known);
        }
        Err(Error::KeyReused { key: key.unwrap_or_default().to_owned() })
    }

    /// An operation of that owner.
    ///
    /// # Errors
    /// [`Error::Unknown`] where there is none or it is another's, or a fault of the database.
    pub async fn get(&self, id: &str, owner: &str) -> Result<Operation, Error> {
        let found = self.one(Outlives::Process, statement!(GET, id, owner, self.now())).await?;
        found.ok_or_else(|| Error::Unknown { id: id.to_owned() })
    }

    /// At most `limit` operations of that owner, newest first, made before the one with that time and id. Their request,
    /// preview, question and result are left out.
    ///
    /// # Errors
    /// Faults of the database.
    pub async fn list(&self, owner: &str, before: Option<(i64, &str)>, limit: u32) -> Result<Vec<Operation>, Error> {
        let (time, id) = before.unwrap_or((i64::MAX, ""));
        let list = statement!(LIST, owner, time, self.now(), id, i64::from(limit));
        let rows = self.database.rows(Outlives::Process, list).await?;
        rows.into_iter().map(Operation::read).collect()
    }

    /// Notes that the operation shall end. One that no worker has is cancelled at once; one that has ended stays as it is.
    ///
    /// # Errors
    /// [`Error::Unknown`], or a fault of the database.
    pub async fn request_cancel(&self, id: &str, owner: &str) -> Result<Operation, Error> {
        match self.one(Outlives::PowerCut, statement!(CANCEL, id, owner, self.now())).await? {
            Some(operation) => Ok(operation),
            None => self.get(id, owner).await,
        }
    }

    /// Answers the question of an operation that waits for input, so that it can go on.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::WrongState`] where it waits for nothing, [`Error::TooLarge`], or a fault of the database.
    pub async fn answer(&self, id: &str, owner: &str, answer: &Value) -> Result<Operation, Error> {
        let answer = self.written("the answer", answer)?;
        let resume = statement!(RESUME, id, owner, self.now());
        let resumed = self.database.all(Outlives::PowerCut, vec![resume, statement!(ANSWER, id, &answer)]).await?;
        let operation = self.get(id, owner).await?;
        if resumed.is_some() {
            return Ok(operation);
        }
        let (id, state) = (operation.id, operation.state.as_str());
        Err(Error::WrongState { id, state, wanted: State::InputRequired.as_str() })
    }

    /// Ids of at most `limit` operations that are to be worked on and that nobody works on, oldest first.
    ///
    /// # Errors
    /// Faults of the database.
    pub async fn recoverable(&self, limit: u32) -> Result<Vec<String>, Error> {
        let rows = self.database.rows(Outlives::Process, statement!(RECOVERABLE, self.now(), i64::from(limit))).await?;
        rows.into_iter().map(|mut row| row.text()).collect()
    }

    /// Removes operations that ended that long ago or longer, or whose own time is over, with their journals. Answers with
    /// their number.
    ///
    /// # Errors
    /// Faults of the database.
    pub async fn forget_ended(&self, age: Duration) -> Result<usize, Error> {
        let now = self.now();
        let before = now.saturating_sub(milliseconds(age));
        Ok(self.database.rows(Outlives::Process, statement!(FORGET, before, now)).await?.len())
    }

    /// Closes the database; every later call fails with [`Error::Closed`].
    ///
    /// # Errors
    /// Faults of the database.
    pub async fn close(&self) -> Result<(), Error> {
        self.database.close().await
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now()
    }

    /// A value as it is stored, unless it is too large.
    pub(crate) fn written(&self, what: &'static str, value: &Value) -> Result<String, Error> {
        let text = json::written(value);
        self.check_size(what, &text)?;
        Ok(text)
    }

    /// Refuses a text that is larger than a row may hold.
    pub(crate) fn check_size(&self, what: &'static str, text: &str) -> Result<(), Error> {
        let (size, limit) = (text.len(), self.max_payload_bytes);
        if size > limit { Err(Error::TooLarge { what, size, limit }) } else { Ok(()) }
    }

    /// As much of a text as a row may hold: an error that is too long must not hide that there was one.
    pub(crate) fn cut<'text>(&self, text: &'text str) -> &'text str {
        let fits = text.char_indices().map(|(at, next)| at + next.len_utf8());
        let end = fits.take_while(|end| *end <= self.max_payload_bytes).last().unwrap_or_default();
        text.get(..end).unwrap_or_default()
    }

    async fn one(&self, commit: Outlives, statement: Statement) -> Result<Option<Operation>, Error> {
        self.database.rows(commit, statement).await?.into_iter().next().map(Operation::read).transpose()
    }
}
