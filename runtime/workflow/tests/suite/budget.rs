//! Budgets of tool calls.

use std::sync::Arc;

use serde_json::json;
use toolwright_workflow::{Error, Started};

use super::{LEASE, fixture};

#[tokio::test]
async fn a_budget_is_used_up_call_by_call() {
    let all = fixture().await;
    let lease = all.held(&all.made().await.id, "one").await;
    let mut left = Vec::new();
    for _ in 0..3 {
        left.push(all.catalogue.claim_tool_call(&lease, 2).await.unwrap());
    }
    assert_eq!(left, [Some(1), Some(0), None]);
}

#[tokio::test]
async fn calls_at_once_never_exceed_the_budget() {
    let all = Arc::new(fixture().await);
    let lease = all.held(&all.made().await.id, "one").await;
    let calls = (0..20).map(|_| {
        let (all, lease) = (Arc::clone(&all), lease.clone());
        tokio::spawn(async move { all.catalogue.claim_tool_call(&lease, 7).await.unwrap() })
    });
    let mut granted = 0;
    for call in calls.collect::<Vec<_>>() {
        granted += i32::from(call.await.unwrap().is_some());
    }
    assert_eq!(granted, 7);
}

#[tokio::test]
async fn a_budget_that_admits_nothing_is_a_mistake() {
    let all = fixture().await;
    let lease = all.held(&all.made().await.id, "one").await;
    assert!(matches!(all.catalogue.claim_tool_call(&lease, 0).await, Err(Error::Limit(0))));
    assert!(matches!(all.catalogue.announce_step(&lease, 0, "a", Some(-1)).await, Err(Error::Limit(-1))));
}

#[tokio::test]
async fn a_step_without_budget_is_not_announced() {
    let all = fixture().await;
    let lease = all.held(&all.made().await.id, "one").await;
    assert_eq!(all.catalogue.announce_step(&lease, 0, "a", Some(1)).await.unwrap(), Started::Announced);
    all.catalogue.finish_step(&lease, 0, &json!(1)).await.unwrap();
    assert_eq!(all.catalogue.announce_step(&lease, 1, "b", Some(1)).await.unwrap(), Started::Exhausted);
    assert_eq!(all.catalogue.steps(&lease).await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_budget_outlives_the_worker() {
    let all = fixture().await;
    let id = all.made().await.id;
    let lease = all.held(&id, "one").await;
    all.catalogue.claim_tool_call(&lease, 2).await.unwrap();
    all.clock.forward(LEASE);
    let lease = all.held(&id, "two").await;
    assert_eq!(all.catalogue.claim_tool_call(&lease, 2).await.unwrap(), Some(0));
}
