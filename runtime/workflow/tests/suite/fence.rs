//! A lease that is not the last one writes nothing.

use serde_json::json;
use toolwright_workflow::{Change, Edit, Ending, Error, Lease, Operation};

use super::{Fixture, LEASE, fixture};

/// Tries every write there is, and tells those that were not refused.
async fn accepted(all: &Fixture, lease: &Lease) -> Vec<&'static str> {
    let catalogue = &all.catalogue;
    let change = Change { message: Edit::Set("stale".to_owned()), ..Change::default() };
    let ending = Ending::Completed(json!("stale"));
    let tried: [(&str, Result<(), Error>); 11] = [
        ("renew", catalogue.renew(lease, LEASE).await.map(drop)),
        ("update", catalogue.update(lease, &change).await),
        ("claim_tool_call", catalogue.claim_tool_call(lease, 9).await.map(drop)),
        ("announce_step", catalogue.announce_step(lease, 1, "stale", None).await.map(drop)),
        ("announce_step with a budget", catalogue.announce_step(lease, 1, "stale", Some(9)).await.map(drop)),
        ("finish_step", catalogue.finish_step(lease, 0, &json!("stale")).await),
        ("record_step", catalogue.record_step(lease, 1, "stale", &json!("stale")).await),
        ("suspend", catalogue.suspend(lease, 1, "stale", &json!("stale")).await),
        ("steps", catalogue.steps(lease).await.map(drop)),
        ("end", catalogue.end(lease, &ending).await.map(drop)),
        ("release", catalogue.release(lease, LEASE, true).await),
    ];
    let refused = |result: &Result<(), Error>| matches!(result, Err(Error::Lost { .. }));
    tried.iter().filter(|(_, result)| !refused(result)).map(|(name, _)| *name).collect()
}

/// An operation that one worker announced a step of, and then lost.
async fn taken_over(all: &Fixture) -> (Lease, Lease) {
    let id = all.made().await.id;
    let stale = all.held(&id, "one").await;
    all.catalogue.announce_step(&stale, 0, "open", None).await.unwrap();
    all.clock.forward(LEASE);
    let fresh = all.held(&id, "two").await;
    (stale, fresh)
}

async fn rows(all: &Fixture, lease: &Lease) -> (Operation, usize) {
    (all.get(&lease.operation_id).await, all.catalogue.steps(lease).await.unwrap().len())
}

#[tokio::test]
async fn a_worker_that_lost_its_lease_writes_nothing() {
    let all = fixture().await;
    let (stale, fresh) = taken_over(&all).await;
    let before = rows(&all, &fresh).await;
    assert_eq!(accepted(&all, &stale).await, Vec::<&str>::new());
    assert_eq!(rows(&all, &fresh).await, before);
    all.catalogue.finish_step(&fresh, 0, &json!("fresh")).await.unwrap();
}

#[tokio::test]
async fn a_worker_that_gave_its_lease_back_writes_nothing() {
    let all = fixture().await;
    let (_, lease) = taken_over(&all).await;
    all.catalogue.release(&lease, std::time::Duration::ZERO, true).await.unwrap();
    assert_eq!(accepted(&all, &lease).await, Vec::<&str>::new());
}

#[tokio::test]
async fn nothing_is_written_about_an_operation_that_has_ended() {
    let all = fixture().await;
    let (_, lease) = taken_over(&all).await;
    all.catalogue.end(&lease, &Ending::Cancelled).await.unwrap();
    assert_eq!(accepted(&all, &lease).await, Vec::<&str>::new());
}

#[tokio::test]
async fn a_lease_that_ran_out_still_writes_while_nobody_else_has_claimed() {
    let all = fixture().await;
    let lease = all.held(&all.made().await.id, "one").await;
    all.clock.forward(LEASE * 2);
    all.catalogue.record_step(&lease, 0, "a", &json!(1)).await.unwrap();
}
