//! What a workflow sees of its operation: the steps that it takes, and what it may say and ask.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{Catalogue, Change, Error, Failure, Lease, Operation, Recorded, Started};

/// One run of an operation. A step that the journal has is not run again: its result is handed out.
///
/// A step whose work fails stays open: the next step must be the same one again, in this run or a later one. A fault that
/// the workflow wants to go on from is therefore a result, such as `Ok(Err(..))`.
pub struct Context {
    catalogue: Arc<Catalogue>,
    lease: Lease,
    operation: Operation,
    cancellation: CancellationToken,
    /// Steps of the journal that this run has not come to yet.
    journal: VecDeque<Recorded>,
    /// The place of the next step.
    seq: i64,
}

/// One try of a step with an effect outside.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The same on every try of this step and different from every other step: what to send as idempotency key.
    pub key: String,
    /// True where an earlier try was cut off: its effect may have happened, or not.
    pub interrupted: bool,
    /// Fires where somebody wants the operation to end. The effect may go on, or stop where that is safe.
    pub cancellation: CancellationToken,
}

/// Says how an operation stands, beside the step that runs. Cheap to clone.
#[derive(Clone)]
pub struct Reporter {
    catalogue: Arc<Catalogue>,
    lease: Lease,
}

impl Reporter {
    /// Changes what the operation says about itself: its preview, its message, its metadata.
    ///
    /// # Errors
    /// [`Failure::Lost`], or [`Failure::Failed`] for what is too large.
    pub async fn update(&self, change: &Change) -> Result<(), Failure> {
        Ok(self.catalogue.update(&self.lease, change).await?)
    }
}

/// What the journal knows about the next step.
enum Known {
    Nothing,
    Unfinished,
    Result(Value),
}

/// What to do with a step that was cut off.
#[derive(Clone, Copy, PartialEq)]
enum CutOff {
    Repeat,
    Refuse,
}

impl Context {
    pub(crate) fn new(
        catalogue: Arc<Catalogue>,
        lease: Lease,
        operation: Operation,
        cancellation: CancellationToken,
        journal: Vec<Recorded>,
    ) -> Self {
        Context { catalogue, lease, operation, cancellation, journal: journal.into(), seq: 0 }
    }

    /// The operation as it was when this run began.
    #[must_use]
    pub const fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Fires where somebody wants the operation to end. Every further step then fails with [`Failure::Cancelled`].
    #[must_use]
    pub const fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// A step without an effect outside: a question to a model, a time, a random number. Cut off, it is run again; on
    /// cancellation it is dropped. One commit.
    ///
    /// # Errors
    /// What `work` fails with, [`Failure::Cancelled`], or a fault of the journal.
    pub async fn compute<T, Work>(&mut self, kind: &str, work: impl FnOnce() -> Work) -> Result<T, Failure>
    where
        T: Serialize + DeserializeOwned,
        Work: Future<Output = Result<T, Failure>>,
    {
        match self.look_up(kind)? {
            Known::Result(value) => return self.replay(kind, value),
            // Only a step with an effect is announced, so this place belongs to one.
            Known::Unfinished => return Err(self.diverged(kind, "a step with an effect")),
            Known::Nothing => {}
        }
        let found = tokio::select! {
            biased;
            () = self.cancellation.cancelled() => return Err(Failure::Cancelled),
            found = work() => found?,
        };
        let payload = self.as_json(kind, &found)?;
        self.catalogue.record_step(&self.lease, self.seq, kind, &payload).await?;
        self.seq += 1;
        Ok(found)
    }

    /// A step with an effect outside that can be told from its repetition: by [`Attempt::key`], or by looking whether it
    /// happened where the attempt is [`interrupted`](Attempt::interrupted). Two commits.
    ///
    /// # Errors
    /// What `work` fails with, [`Failure::Cancelled`], or a fault of the journal.
    pub async fn effect<T, Work>(&mut self, kind: &str, work: impl FnOnce(Attempt) -> Work) -> Result<T, Failure>
    where
        T: Serialize + DeserializeOwned,
        Work: Future<Output = Result<T, Failure>>,
    {
        let done = self.announced(kind, None, CutOff::Repeat, work).await?;
        done.ok_or(Failure::Lost(Error::Closed))
    }

    /// A step with an effect outside that is never repeated. Cut off, it makes the operation fail with
    /// [`Error::InDoubt`], since nobody knows whether it happened. Two commits.
    ///
    /// # Errors
    /// What `work` fails with, [`Failure::Cancelled`], or a fault of the journal.
    pub async fn effect_once<T, Work>(&mut self, kind: &str, work: impl FnOnce(Attempt) -> Work) -> Result<T, Failure>
    where
        T: Serialize + DeserializeOwned,
        Work: Future<Output = Result<T, Failure>>,
    {
        let done = self.announced(kind, None, CutOff::Refuse, work).await?;
        done.ok_or(Failure::Lost(Error::Closed))
    }

    /// An [`effect`](Context::effect) that takes one tool call from a budget of `limit`. `None` where it is used up. However
    /// often the step is cut off, it counts once.
    ///
    /// # Errors
    /// What `work` fails with, [`Failure::Cancelled`], a limit below 1, or a fault of the journal.
    pub async fn tool_call<T, Work>(
        &mut self,
        kind: &str,
        limit: i64,
        work: impl FnOnce(Attempt) -> Work,
    ) -> Result<Option<T>, Failure>
    where
        T: Serialize + DeserializeOwned,
        Work: Future<Output = Result<T, Failure>>,
    {
        self.announced(kind, Some(limit), CutOff::Repeat, work).await
    }

    /// Asks a person, and ends this run until the answer is there: the failure is to be passed on. The run after that
    /// comes here again and has the answer.
    ///
    /// # Errors
    /// [`Failure::Suspended`] where there is no answer yet, [`Failure::Cancelled`], or a fault of the journal.
    pub async fn ask(&mut self, kind: &str, question: &Value) -> Result<Value, Failure> {
        match self.look_up(kind)? {
            Known::Result(value) => self.replay(kind, value),
            Known::Unfinished => Err(self.diverged(kind, "a step with an effect")),
            Known::Nothing => {
                self.catalogue.suspend(&self.lease, self.seq, kind, question).await?;
                Err(Failure::Suspended)
            }
        }
    }

    /// Changes what the operation says about itself: its preview, its message, its metadata.
    ///
    /// # Errors
    /// As [`Reporter::update`].
    pub async fn update(&self, change: &Change) -> Result<(), Failure> {
        self.reporter().update(change).await
    }

    /// What can say how the operation stands while one of its steps runs.
    #[must_use]
    pub fn reporter(&self) -> Reporter {
        Reporter { catalogue: Arc::clone(&self.catalogue), lease: self.lease.clone() }
    }

    async fn announced<T, Work>(
        &mut self,
        kind: &str,
        tool_calls: Option<i64>,
        cut_off: CutOff,
        work: impl FnOnce(Attempt) -> Work,
    ) -> Result<Option<T>, Failure>
    where
        T: Serialize + DeserializeOwned,
        Work: Future<Output = Result<T, Failure>>,
    {
        let seq = self.seq;
        let interrupted = match self.look_up(kind)? {
            Known::Result(value) => return self.replay(kind, value).map(Some),
            Known::Unfinished if cut_off == CutOff::Refuse => {
                return Err(Error::InDoubt { seq, kind: kind.to_owned() }.into());
            }
            Known::Unfinished => true,
            Known::Nothing => {
                if self.catalogue.announce_step(&self.lease, seq, kind, tool_calls).await? == Started::Exhausted {
                    return Ok(None);
                }
                false
            }
        };
        // Until it is finished the step stays the next one, whatever becomes of this future.
        self.journal.push_front(Recorded { seq, kind: kind.to_owned(), payload: None });
        let key = format!("{}-{seq}", self.lease.operation_id);
        let found = work(Attempt { key, interrupted, cancellation: self.cancellation.clone() }).await?;
        let payload = self.as_json(kind, &found)?;
        self.catalogue.finish_step(&self.lease, seq, &payload).await?;
        self.journal.pop_front();
        self.seq += 1;
        Ok(Some(found))
    }

    /// Takes the next step from the journal, if it is there.
    fn look_up(&mut self, kind: &str) -> Result<Known, Failure> {
        if self.cancellation.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        match self.journal.front() {
            None => return Ok(Known::Nothing),
            Some(next) if next.seq != self.seq => {
                return Err(Error::Corrupt { what: format!("step {} where {} belongs", next.seq, self.seq) }.into());
            }
            Some(next) if next.kind != kind => return Err(self.diverged(kind, &next.kind)),
            Some(_) => {}
        }
        let payload = self.journal.pop_front().and_then(|step| step.payload);
        Ok(payload.map_or(Known::Unfinished, Known::Result))
    }

    fn replay<T: DeserializeOwned>(&mut self, kind: &str, value: Value) -> Result<T, Failure> {
        let seq = self.seq;
        self.seq += 1;
        serde_json::from_value(value).map_err(|source| Error::Result { seq, kind: kind.to_owned(), source }.into())
    }

    fn as_json<T: Serialize>(&self, kind: &str, found: &T) -> Result<Value, Failure> {
        let refuse = |source| Error::Result { seq: self.seq, kind: kind.to_owned(), source };
        Ok(serde_json::to_value(found).map_err(refuse)?)
    }

    fn diverged(&self, kind: &str, recorded: &str) -> Failure {
        Error::Diverged { seq: self.seq, recorded: recorded.to_owned(), now: kind.to_owned() }.into()
    }
}
