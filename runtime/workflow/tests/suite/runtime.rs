//! The runtime: runs, heartbeats, recovery, cancellation, the end.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::{FutureExt as _, future::BoxFuture};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolwright_workflow::{
    Catalogue, Claim, Context, Error, Failure, NewOperation, Operation, Runtime, Settings, State, Workflow,
};

use super::{Hands, LEASE, fixture, new};

type Run = dyn for<'a> Fn(&'a mut Context) -> BoxFuture<'a, Result<Value, Failure>> + Send + Sync;

/// A workflow that is a closure.
pub(crate) struct Script {
    run: Box<Run>,
    close: Option<&'static str>,
}

impl Script {
    pub(crate) fn new(
        run: impl for<'a> Fn(&'a mut Context) -> BoxFuture<'a, Result<Value, Failure>> + Send + Sync + 'static,
    ) -> Self {
        Script { run: Box::new(run), close: None }
    }

    fn that_hangs() -> Self {
        Script::new(|_| pending().boxed())
    }
}

impl Workflow for Script {
    async fn run(&self, context: &mut Context) -> Result<Value, Failure> {
        (self.run)(context).await
    }

    async fn close(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.close.map_or(Ok(()), |fault| Err(fault.into()))
    }
}

/// Short times where a test waits for them.
pub(crate) fn quick() -> Settings {
    let short = Duration::from_millis(30);
    Settings { heartbeat: short, recovery_scan: short, ..Settings::new("test") }
}

pub(crate) async fn started(script: Script) -> (Runtime<Script>, crate::Place) {
    let place = crate::place();
    (Runtime::start(script, place.location.clone(), quick()).await.unwrap(), place)
}

/// How one operation of that workflow ends.
pub(crate) async fn ended_by(script: Script) -> Operation {
    let (runtime, _place) = started(script).await;
    let id = runtime.submit(new()).await.unwrap().id;
    let ended = runtime.wait(&id, "ada").await.unwrap();
    runtime.close().await.unwrap();
    ended
}

/// A workflow that tells when it runs, and hangs until it is cancelled.
fn until_cancelled(began: &Arc<AtomicU32>) -> Script {
    let began = Arc::clone(began);
    Script::new(move |context| {
        began.fetch_add(1, Ordering::SeqCst);
        async move {
            context.cancellation().cancelled().await;
            context.compute("never", || async { Ok(json!(1)) }).await
        }
        .boxed()
    })
}

/// A workflow that hangs, and counts how often it began and how often it was dropped.
pub(crate) fn watched(began: &Arc<AtomicU32>, ended: &Arc<AtomicU32>) -> Script {
    struct Ended(Arc<AtomicU32>);
    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (began, ended) = (Arc::clone(began), Arc::clone(ended));
    Script::new(move |_| {
        began.fetch_add(1, Ordering::SeqCst);
        let guard = Ended(Arc::clone(&ended));
        async move {
            let _guard = guard;
            pending().await
        }
        .boxed()
    })
}

/// Waits until something holds, as long as a slow machine may take.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..1000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} did not happen");
}

pub(crate) async fn until_running(began: &AtomicU32) {
    until("the run", async || began.load(Ordering::SeqCst) > 0).await;
}

#[tokio::test]
async fn a_failure_is_the_operations_error() {
    let ended = ended_by(Script::new(|_| async { Err(Failure::Failed("no disk".to_owned())) }.boxed())).await;
    assert_eq!((ended.state, ended.error.as_deref()), (State::Failed, Some("no disk")));
}

#[tokio::test]
async fn a_cancelled_operation_ends_at_its_next_step() {
    let began = Arc::new(AtomicU32::new(0));
    let (runtime, _place) = started(until_cancelled(&began)).await;
    let id = runtime.submit(new()).await.unwrap().id;
    until_running(&began).await;
    runtime.cancel(&id, "ada").await.unwrap();
    assert_eq!(runtime.wait(&id, "ada").await.unwrap().state, State::Cancelled);
}

#[tokio::test]
async fn a_computation_is_dropped_when_the_operation_is_cancelled() {
    let began = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&began);
    let script = Script::new(move |context| {
        let counted = Arc::clone(&counted);
        async move {
            context
                .compute("think", || async move {
                    counted.fetch_add(1, Ordering::SeqCst);
                    pending().await
                })
                .await
        }
        .boxed()
    });
    let (runtime, _place) = started(script).await;
    let id = runtime.submit(new()).await.unwrap().id;
    until_running(&began).await;
    runtime.cancel(&id, "ada").await.unwrap();
    assert_eq!(runtime.wait(&id, "ada").await.unwrap().state, State::Cancelled);
}

#[tokio::test]
async fn giving_up_the_call_cancels_its_operation() {
    let began = Arc::new(AtomicU32::new(0));
    let (runtime, _place) = started(until_cancelled(&began)).await;
    let call = CancellationToken::new();
    let run = runtime.run_to_end(new(), &call);
    let give_up = async {
        until_running(&began).await;
        call.cancel();
    };
    let (ended, ()) = tokio::join!(run, give_up);
    assert_eq!(ended.unwrap().state, State::Cancelled);
}

#[tokio::test]
async fn another_process_cancels_with_the_next_heartbeat() {
    let began = Arc::new(AtomicU32::new(0));
    let (runtime, place) = started(until_cancelled(&began)).await;
    let id = runtime.submit(new()).await.unwrap().id;
    until_running(&began).await;
    let clock = Arc::new(toolwright_workflow::SystemClock);
    let other = Catalogue::open(&place.location, clock, 1000).await.unwrap();
    other.request_cancel(&id, "ada").await.unwrap();
    assert_eq!(runtime.wait(&id, "ada").await.unwrap().state, State::Cancelled);
}

#[tokio::test]
async fn a_run_ends_when_its_lease_is_anothers() {
    let (began, ended) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let script = watched(&began, &ended);
    let all = fixture().await;
    let location = all.place.location.clone();
    let runtime = Runtime::start_with_clock(script, location, quick(), Arc::new(Hands::new())).await.unwrap();
    let id = runtime.submit(new()).await.unwrap().id;
    until_running(&began).await;
    all.clock.forward(LEASE * 2);
    let Claim::Held(thief, _) = all.claim(&id, "thief").await else { panic!("not claimed") };
    until("the end of the run", async || ended.load(Ordering::SeqCst) == 1).await;
    all.catalogue.renew(&thief, LEASE).await.unwrap();
    assert_eq!(began.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn heartbeats_keep_a_lease_that_is_shorter_than_the_work() {
    let place = crate::place();
    let settings = Settings { lease: Duration::from_millis(600), heartbeat: Duration::from_millis(100), ..quick() };
    let script = Script::new(|_| {
        async {
            tokio::time::sleep(Duration::from_millis(1500)).await;
            Ok(json!("done"))
        }
        .boxed()
    });
    let runtime = Runtime::start(script, place.location.clone(), settings).await.unwrap();
    let id = runtime.submit(new()).await.unwrap().id;
    let ended = runtime.wait(&id, "ada").await.unwrap();
    assert_eq!((ended.result, ended.fence), (Some(json!("done")), 1));
}

#[tokio::test]
async fn what_a_dead_worker_left_is_taken_up() {
    let all = fixture().await;
    let id = all.made().await.id;
    all.held(&id, "dead").await;
    let script = Script::new(|_| async { Ok(json!("alive")) }.boxed());
    let clock = Arc::new(all.clock.clone());
    let runtime = Runtime::start_with_clock(script, all.place.location.clone(), quick(), clock).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(all.get(&id).await.state, State::Working);
    all.clock.forward(LEASE);
    assert_eq!(runtime.wait(&id, "ada").await.unwrap().result, Some(json!("alive")));
}

#[tokio::test]
async fn a_workflow_that_panics_is_tried_again_until_it_counts_as_poison() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let ended = ended_by(Script::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { panic!("a mistake, as this test wants it") }.boxed()
    }));
    let ended = ended.await;
    assert_eq!((ended.state, runs.load(Ordering::SeqCst)), (State::Failed, 5));
}

#[tokio::test]
async fn closing_gives_back_what_runs_and_the_next_runtime_goes_on() {
    let (runtime, place) = started(Script::that_hangs()).await;
    let id = runtime.submit(new()).await.unwrap().id;
    until("the claim", async || runtime.get(&id, "ada").await.unwrap().fence == 1).await;
    runtime.close().await.unwrap();
    let script = Script::new(|context| {
        let attempts = context.operation().attempts;
        async move { Ok(json!(attempts)) }.boxed()
    });
    let next = Runtime::start(script, place.location.clone(), quick()).await.unwrap();
    // The run that was only stopped does not count.
    assert_eq!(next.wait(&id, "ada").await.unwrap().result, Some(json!(1)));
}

#[tokio::test]
async fn closing_goes_through_whatever_fails_and_tells_the_first_fault() {
    let script = Script { close: Some("the domain is stuck"), ..Script::that_hangs() };
    let (runtime, _place) = started(script).await;
    let id = runtime.submit(new()).await.unwrap().id;
    assert_eq!(runtime.close().await.unwrap_err().to_string(), "closing the workflow: the domain is stuck");
    assert!(matches!(runtime.get(&id, "ada").await, Err(Error::Closed)), "the catalogue was closed as well");
    runtime.close().await.unwrap();
}

#[tokio::test]
async fn who_waits_learns_that_the_runtime_was_closed() {
    let (runtime, _place) = started(Script::that_hangs()).await;
    let id = runtime.submit(new()).await.unwrap().id;
    let (waited, closed) = tokio::join!(runtime.wait(&id, "ada"), runtime.close());
    closed.unwrap();
    assert!(matches!(waited, Err(Error::Closed)));
}

#[tokio::test]
async fn no_more_run_at_once_than_are_allowed() {
    let (now, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (running, seen) = (Arc::clone(&now), Arc::clone(&most));
    let script = Script::new(move |_| {
        let (running, seen) = (Arc::clone(&running), Arc::clone(&seen));
        async move {
            seen.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(json!(null))
        }
        .boxed()
    });
    let place = crate::place();
    let settings = Settings { concurrency: 2, ..quick() };
    let runtime = Runtime::start(script, place.location.clone(), settings).await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(runtime.submit(new()).await.unwrap().id);
    }
    for id in &ids {
        assert_eq!(runtime.wait(id, "ada").await.unwrap().state, State::Completed);
    }
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_key_that_was_used_runs_nothing_twice() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let (runtime, _place) = started(Script::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(json!(null)) }.boxed()
    }))
    .await;
    let keyed = NewOperation { idempotency_key: Some("k".to_owned()), ..new() };
    for _ in 0..3 {
        let id = runtime.submit(keyed.clone()).await.unwrap().id;
        runtime.wait(&id, "ada").await.unwrap();
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}
