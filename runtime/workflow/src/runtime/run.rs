//! One run of an operation: under a lease with a heartbeat, to whatever end it comes to.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::Value;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;

use super::{Inner, Workflow};
use crate::{Catalogue, Claim, Context, Ending, Error, Failure, Lease, Operation, Settings};

/// How a run came to its end.
enum Run {
    Returned(Result<Value, Failure>),
    Panicked,
    LeaseLost,
    Stopped,
}

impl<W: Workflow> Inner<W> {
    /// Runs an operation if it can be claimed. Answers with how long to wait for the next run where there is to be one.
    pub(super) async fn run_leased(
        &self,
        id: &str,
        cancellation: CancellationToken,
    ) -> Result<Option<Duration>, Error> {
        let Settings { name, lease: duration, max_attempts, .. } = &self.settings;
        match self.catalogue.claim(id, &self.worker, *duration, *max_attempts).await? {
            Claim::NotNow => Ok(None),
            Claim::Poisoned(operation) => {
                tracing::error!(workflow = name, operation = id, attempts = operation.attempts, "workflow.poisoned");
                Ok(None)
            }
            Claim::Held(lease, operation) => {
                let span = tracing::info_span!("workflow", otel.name = format!("workflow.{name}"), operation = id);
                self.run_held(&lease, *operation, cancellation).instrument(span).await
            }
        }
    }

    async fn run_held(
        &self,
        lease: &Lease,
        operation: Operation,
        cancellation: CancellationToken,
    ) -> Result<Option<Duration>, Error> {
        if operation.cancel_requested {
            cancellation.cancel();
        }
        let is_lost = CancellationToken::new();
        let heartbeat = AbortOnDropHandle::new(tokio::spawn(keep_alive(
            Arc::clone(&self.catalogue),
            lease.clone(),
            self.settings.clone(),
            cancellation.clone(),
            is_lost.clone(),
        )));
        let run = tokio::select! {
            biased;
            () = is_lost.cancelled() => Run::LeaseLost,
            () = self.stop.cancelled() => Run::Stopped,
            returned = AssertUnwindSafe(self.run_steps(lease, operation, cancellation)).catch_unwind() => returned
                .map_or_else(|_: Box<dyn Any + Send>| Run::Panicked, Run::Returned),
        };
        drop(heartbeat);
        self.settle(lease, run).await
    }

    async fn run_steps(
        &self,
        lease: &Lease,
        operation: Operation,
        cancellation: CancellationToken,
    ) -> Result<Value, Failure> {
        let steps = self.catalogue.steps(lease).await?;
        let mut context = Context::new(Arc::clone(&self.catalogue), lease.clone(), operation, cancellation, steps);
        self.workflow.run(&mut context).await
    }

    /// Ends the operation or gives it back. Whoever lost the lease writes nothing: the fence sees to it.
    async fn settle(&self, lease: &Lease, run: Run) -> Result<Option<Duration>, Error> {
        let ending = match run {
            Run::Returned(Ok(result)) => Ending::Completed(result),
            Run::Returned(Err(Failure::Failed(text))) => Ending::Failed(text),
            Run::Returned(Err(Failure::Cancelled)) => Ending::Cancelled,
            // It was given back in the transaction that asked the question.
            Run::Returned(Err(Failure::Suspended)) => return Ok(None),
            Run::Returned(Err(Failure::Retry { message, after })) => {
                tracing::info!(message, ?after, "workflow.retry");
                return self.catalogue.release(lease, after, true).await.map(|()| Some(after));
            }
            Run::Returned(Err(Failure::Lost(error))) => {
                tracing::warn!(%error, "workflow.lease_lost");
                return self.give_back(lease, true).await;
            }
            Run::Panicked => {
                tracing::error!("workflow.panicked");
                return self.give_back(lease, true).await;
            }
            Run::LeaseLost => return self.give_back(lease, true).await,
            Run::Stopped => return self.give_back(lease, false).await,
        };
        match self.catalogue.end(lease, &ending).await {
            Err(error @ Error::TooLarge { .. }) => {
                self.catalogue.end(lease, &Ending::Failed(error.to_string())).await.map(|_| None)
            }
            other => other.map(|_| None),
        }
    }

    /// The lease may be another's already, which is no fault here.
    async fn give_back(&self, lease: &Lease, is_attempt: bool) -> Result<Option<Duration>, Error> {
        match self.catalogue.release(lease, Duration::ZERO, is_attempt).await {
            Ok(()) | Err(Error::Lost { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Renews a lease until it fails, and then says that it is lost: a worker that cannot reach the database must not work
/// on, since another one may take over. It gives up while the lease still lasts.
async fn keep_alive(
    catalogue: Arc<Catalogue>,
    lease: Lease,
    settings: Settings,
    cancellation: CancellationToken,
    is_lost: CancellationToken,
) {
    let patience = (settings.lease - settings.heartbeat) / 2;
    loop {
        sleep(settings.heartbeat).await;
        let renewed = timeout(patience, catalogue.renew(&lease, settings.lease)).await;
        match renewed.unwrap_or(Err(Error::Slow(patience))) {
            Ok(renewal) if renewal.cancel_requested => cancellation.cancel(),
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(operation = lease.operation_id, %error, "workflow.heartbeat_failed");
                is_lost.cancel();
                return;
            }
        }
    }
}
