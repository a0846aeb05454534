//! What becomes of tasks when their server ends and another one starts.

use serde_json::json;
use tempfile::tempdir;

use super::{app, ask, begun, ended, until};
use crate::testing::{Upstream, Wire};

#[tokio::test]
async fn a_result_is_there_for_the_next_process() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let first = app(&state, &upstream, |_| ());
    let mut wire = Wire::open(&first);
    let id = begun(&mut wire, "get_item", json!({"id": 7})).await;
    let before = ended(&mut wire, &id).await;
    first.tasks.as_ref().unwrap().close().await;
    let mut wire = Wire::open(&app(&state, &upstream, |_| ()));
    assert_eq!(ended(&mut wire, &id).await, before);
}

#[tokio::test]
async fn a_call_that_may_be_repeated_is_taken_up_by_the_next_process() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let first = app(&state, &upstream, |_| ());
    let id = begun(&mut Wire::open(&first), "slow_report", json!({})).await;
    until(&upstream.seen.slow_begun, 1).await;
    first.tasks.as_ref().unwrap().close().await;
    until(&upstream.seen.slow_dropped, 1).await;
    let mut wire = Wire::open(&app(&state, &upstream, |_| ()));
    let task = ask(&mut wire, "tasks/get", json!({"taskId": id})).await;
    assert_eq!(task["result"]["status"], "working");
    until(&upstream.seen.slow_begun, 2).await;
}

#[tokio::test]
async fn a_call_that_may_have_been_applied_is_not_repeated() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let first = app(&state, &upstream, |_| ());
    let id = begun(&mut Wire::open(&first), "slow_change", json!({})).await;
    until(&upstream.seen.slow_begun, 1).await;
    first.tasks.as_ref().unwrap().close().await;
    let mut wire = Wire::open(&app(&state, &upstream, |_| ()));
    let task = ended(&mut wire, &id).await;
    assert_eq!((&task["status"], &task["error"]["code"]), (&json!("failed"), &json!(-32603)), "{task}");
    assert!(task["error"]["message"].as_str().unwrap().contains("may have been applied: read the state"), "{task}");
    assert_eq!(upstream.seen.slow_begun.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_task_is_not_taken_up_for_another_api() {
    let (state, upstream, other) = (tempdir().unwrap(), Upstream::start().await, Upstream::start().await);
    let first = app(&state, &upstream, |_| ());
    let id = begun(&mut Wire::open(&first), "slow_report", json!({})).await;
    until(&upstream.seen.slow_begun, 1).await;
    first.tasks.as_ref().unwrap().close().await;
    let mut wire = Wire::open(&app(&state, &other, |_| ()));
    let task = ended(&mut wire, &id).await;
    assert!(task["error"]["message"].as_str().unwrap().contains("another API"), "{task}");
    assert_eq!(other.seen.slow_begun.load(std::sync::atomic::Ordering::SeqCst), 0);
}
