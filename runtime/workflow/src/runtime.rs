//! The runtime of one workflow: it runs what is submitted, and takes up what others left.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::operation::new_id;
use crate::running::Running;
use crate::{
    Catalogue, Clock, Context, Error, Failure, Location, NewOperation, Operation, Settings, State, SystemClock,
};

mod run;

/// How often a waiting caller looks at an operation that another process runs.
const POLL: Duration = Duration::from_millis(500);
/// How many operations one look for work takes up at most.
const SCAN: u32 = 256;

/// What an operation does.
pub trait Workflow: Send + Sync + 'static {
    /// Runs the operation, from its first step in every run: the journal answers for those that were taken before.
    ///
    /// A run may end at any `await`, by the death of its process or the loss of its lease.
    fn run(&self, context: &mut Context) -> impl Future<Output = Result<Value, Failure>> + Send;

    /// Closes what the workflow itself holds, when all runs have ended.
    fn close(&self) -> impl Future<Output = Result<(), Box<dyn std::error::Error + Send + Sync>>> + Send {
        async { Ok(()) }
    }
}

/// Runs the operations of one catalogue. Dropped without [`Runtime::close`], it cuts off what it runs.
pub struct Runtime<W> {
    inner: Arc<Inner<W>>,
    is_closed: AtomicBool,
    _stop: DropGuard,
}

struct Inner<W> {
    workflow: W,
    catalogue: Arc<Catalogue>,
    settings: Settings,
    /// Who this process is in leases: a new one every time, so that it never takes an earlier self for itself.
    worker: String,
    running: Running,
    places: Semaphore,
    tasks: TaskTracker,
    stop: CancellationToken,
    /// Some operation of this process changed.
    changed: Notify,
}

impl<W: Workflow> Runtime<W> {
    /// Opens the catalogue, takes up what is unfinished, and begins to look for it regularly.
    ///
    /// # Errors
    /// Settings that cannot be, or faults of the database. What was opened is closed again.
    pub async fn start(workflow: W, location: Location, settings: Settings) -> Result<Self, Error> {
        Self::start_with_clock(workflow, location, settings, Arc::new(SystemClock)).await
    }

    /// [`Runtime::start`] by another clock.
    ///
    /// # Errors
    /// The same.
    pub async fn start_with_clock(
        workflow: W,
        location: Location,
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        settings.check()?;
        let catalogue = Arc::new(Catalogue::open(&location, clock, settings.max_payload_bytes).await?);
        let stop = CancellationToken::new();
        let inner = Arc::new(Inner {
            workflow,
            catalogue,
            worker: new_id()?,
            running: Running::default(),
            places: Semaphore::new(settings.concurrency),
            settings,
            tasks: TaskTracker::new(),
            stop: stop.clone(),
            changed: Notify::new(),
        });
        let runtime = Runtime { inner, is_closed: AtomicBool::new(false), _stop: stop.drop_guard() };
        if let Err(error) = runtime.inner.recover().await {
            // The first fault is the one to tell.
            if let Err(error) = runtime.close().await {
                tracing::warn!(%error, "workflow.start_cleanup_failed");
            }
            return Err(error);
        }
        runtime.inner.tasks.spawn(Arc::clone(&runtime.inner).keep_recovering());
        Ok(runtime)
    }

    /// Makes an operation and begins to run it.
    ///
    /// # Errors
    /// Those of [`Catalogue::create`].
    pub async fn submit(&self, new: NewOperation) -> Result<Operation, Error> {
        let operation = self.inner.catalogue.create(&new).await?;
        self.inner.begin(&operation.id);
        Ok(operation)
    }

    /// Makes an operation and waits until it has ended or asks something. Fires the token meanwhile, as that of an MCP
    /// call does when its client gives it up, the operation is cancelled.
    ///
    /// # Errors
    /// Those of [`Catalogue::create`] and [`Runtime::wait`].
    pub async fn run_to_end(&self, new: NewOperation, call: &CancellationToken) -> Result<Operation, Error> {
        let owner = new.owner.clone();
        let operation = self.submit(new).await?;
        tokio::select! {
            biased;
            ended = self.wait(&operation.id, &owner) => return ended,
            () = call.cancelled() => {}
        }
        self.cancel(&operation.id, &owner).await?;
        self.wait(&operation.id, &owner).await
    }

    /// An operation as it stands.
    ///
    /// # Errors
    /// Those of [`Catalogue::get`].
    pub async fn get(&self, id: &str, owner: &str) -> Result<Operation, Error> {
        self.inner.catalogue.get(id, owner).await
    }

    /// Operations of an owner, newest first.
    ///
    /// # Errors
    /// Those of [`Catalogue::list`].
    pub async fn list(&self, owner: &str, before: Option<(i64, &str)>, limit: u32) -> Result<Vec<Operation>, Error> {
        self.inner.catalogue.list(owner, before, limit).await
    }

    /// Waits until an operation has ended or asks something, whichever process runs it.
    ///
    /// # Errors
    /// Those of [`Catalogue::get`]; [`Error::Closed`] where the runtime was closed meanwhile.
    pub async fn wait(&self, id: &str, owner: &str) -> Result<Operation, Error> {
        loop {
            let changed = self.inner.changed.notified();
            tokio::pin!(changed);
            // Before the look, so that no change falls between the two.
            changed.as_mut().enable();
            let operation = self.get(id, owner).await?;
            if operation.state.is_terminal() || operation.state == State::InputRequired {
                return Ok(operation);
            }
            tokio::select! {
                () = changed => {}
                () = sleep(POLL) => {}
            }
        }
    }

    /// Cancels an operation. One that runs in this process is told at once, one in another with its next heartbeat.
    ///
    /// # Errors
    /// Those of [`Catalogue::request_cancel`].
    pub async fn cancel(&self, id: &str, owner: &str) -> Result<Operation, Error> {
        let operation = self.inner.catalogue.request_cancel(id, owner).await?;
        self.inner.running.cancel(id);
        self.inner.changed.notify_waiters();
        Ok(operation)
    }

    /// Answers the question of an operation and lets it go on.
    ///
    /// # Errors
    /// Those of [`Catalogue::answer`].
    pub async fn answer(&self, id: &str, owner: &str, answer: &Value) -> Result<Operation, Error> {
        let operation = self.inner.catalogue.answer(id, owner, answer).await?;
        self.inner.begin(id);
        Ok(operation)
    }

    /// Ends all runs, gives their operations back, and closes the workflow and the catalogue. Does all of that whatever
    /// fails of it. A second call does nothing.
    ///
    /// # Errors
    /// The first fault.
    pub async fn close(&self) -> Result<(), Error> {
        if self.is_closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.inner.stop.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
        let workflow = self.inner.workflow.close().await.map_err(Error::Close);
        let catalogue = self.inner.catalogue.close().await;
        self.inner.changed.notify_waiters();
        workflow.and(catalogue)
    }
}

impl<W: Workflow> Inner<W> {
    /// Begins to run an operation, unless this process does so already.
    fn begin(self: &Arc<Self>, id: &str) {
        if self.stop.is_cancelled() {
            return;
        }
        if let Some(cancellation) = self.running.enter(id) {
            self.tasks.spawn(Arc::clone(self).run_while_wanted(id.to_owned(), cancellation));
        }
    }

    async fn run_while_wanted(self: Arc<Self>, id: String, first: CancellationToken) {
        let mut next = Some(first);
        while let Some(cancellation) = next {
            self.run_in_turn(&id, cancellation).await;
            self.changed.notify_waiters();
            next = self.running.leave(&id);
        }
    }

    async fn run_in_turn(self: &Arc<Self>, id: &str, cancellation: CancellationToken) {
        let place = tokio::select! {
            biased;
            () = self.stop.cancelled() => return,
            place = self.places.acquire() => place,
        };
        match self.run_leased(id, cancellation).await {
            Ok(None) => {}
            Ok(Some(wait)) => self.begin_later(id, wait),
            Err(error) => tracing::warn!(operation = id, %error, "workflow.run_failed"),
        }
        drop(place);
    }

    fn begin_later(self: &Arc<Self>, id: &str, wait: Duration) {
        let (this, id) = (Arc::clone(self), id.to_owned());
        self.tasks.spawn(async move {
            tokio::select! {
                () = this.stop.cancelled() => {}
                () = sleep(wait) => this.begin(&id),
            }
        });
    }

    async fn recover(self: &Arc<Self>) -> Result<(), Error> {
        for id in self.catalogue.recoverable(SCAN).await? {
            self.begin(&id);
        }
        Ok(())
    }

    async fn keep_recovering(self: Arc<Self>) {
        let pause = self.settings.recovery_scan;
        let mut ticks = interval_at(Instant::now() + pause, pause);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return,
                _ = ticks.tick() => {}
            }
            // A database that is away now may be there again at the next look.
            if let Err(error) = self.look_around().await {
                tracing::warn!(workflow = self.settings.name, %error, "workflow.recovery_failed");
            }
        }
    }

    async fn look_around(self: &Arc<Self>) -> Result<(), Error> {
        self.recover().await?;
        self.catalogue.forget_ended(self.settings.keep_ended).await.map(drop)
    }
}
