//! Cancellation in the catalogue.

use serde_json::json;
use toolwright_workflow::{Ending, State};

use super::{LEASE, fixture};

#[tokio::test]
async fn what_nobody_works_on_is_cancelled_at_once() {
    let all = fixture().await;
    let waiting = all.made().await.id;
    assert_eq!(all.catalogue.request_cancel(&waiting, "ada").await.unwrap().state, State::Cancelled);
    let left = all.made().await.id;
    all.held(&left, "dead").await;
    all.clock.forward(LEASE);
    assert_eq!(all.catalogue.request_cancel(&left, "ada").await.unwrap().state, State::Cancelled);
}

#[tokio::test]
async fn a_worker_learns_of_it_by_its_heartbeat() {
    let all = fixture().await;
    let id = all.made().await.id;
    let lease = all.held(&id, "one").await;
    assert!(!all.catalogue.renew(&lease, LEASE).await.unwrap().cancel_requested);
    all.catalogue.request_cancel(&id, "ada").await.unwrap();
    assert!(all.catalogue.renew(&lease, LEASE).await.unwrap().cancel_requested);
}

#[tokio::test]
async fn a_client_sees_a_cancelled_task_from_the_first_moment_to_the_last() {
    let all = fixture().await;
    let id = all.made().await.id;
    let lease = all.held(&id, "one").await;
    let asked = all.catalogue.request_cancel(&id, "ada").await.unwrap();
    assert_eq!((asked.state, asked.task_state()), (State::Working, State::Cancelled));
    let ended = all.catalogue.end(&lease, &Ending::Completed(json!("late"))).await.unwrap();
    assert_eq!((ended.state, ended.result), (State::Cancelled, None));
}

#[tokio::test]
async fn what_has_ended_stays_as_it_is() {
    let all = fixture().await;
    let id = all.made().await.id;
    let lease = all.held(&id, "one").await;
    let ended = all.catalogue.end(&lease, &Ending::Completed(json!(1))).await.unwrap();
    assert_eq!(all.catalogue.request_cancel(&id, "ada").await.unwrap(), ended);
}

#[tokio::test]
async fn a_question_that_waits_is_cancelled_at_once() {
    let all = fixture().await;
    let id = all.made().await.id;
    let lease = all.held(&id, "one").await;
    all.catalogue.suspend(&lease, 0, "ask", &json!("ok?")).await.unwrap();
    assert_eq!(all.catalogue.request_cancel(&id, "ada").await.unwrap().state, State::Cancelled);
}

#[tokio::test]
async fn a_question_is_not_asked_any_more_where_the_end_is_wanted() {
    let all = fixture().await;
    let id = all.made().await.id;
    let lease = all.held(&id, "one").await;
    all.catalogue.request_cancel(&id, "ada").await.unwrap();
    all.catalogue.suspend(&lease, 0, "ask", &json!("ok?")).await.unwrap();
    assert_eq!(all.get(&id).await.state, State::Cancelled);
}
