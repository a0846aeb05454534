//! Making, reading, claiming and forgetting operations.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolwright_workflow::{Catalogue, Change, Claim, Edit, Ending, Error, NewOperation, State};

use super::{LEASE, fixture, new};

#[tokio::test]
async fn an_operation_is_read_as_it_was_made() {
    let all = fixture().await;
    let request = json!({"z": [1, null], "a": {"digits": 1}});
    let made = all.catalogue.create(&NewOperation::new("ada", "a label", request.clone())).await.unwrap();
    assert_eq!((made.state, &made.request, made.label.as_str()), (State::Working, &request, "a label"));
    assert_eq!(all.get(&made.id).await, made);
}

#[tokio::test]
async fn what_is_missing_and_what_is_anothers_are_told_apart_by_nobody() {
    let all = fixture().await;
    let id = all.made().await.id;
    let foreign = all.catalogue.get(&id, "bob").await.unwrap_err().to_string();
    let missing = all.catalogue.get("none", "bob").await.unwrap_err().to_string();
    assert_eq!(foreign.replace(&id, "none"), missing);
    assert!(matches!(all.catalogue.request_cancel(&id, "bob").await, Err(Error::Unknown { .. })));
    assert!(matches!(all.catalogue.answer(&id, "bob", &json!(1)).await, Err(Error::Unknown { .. })));
}

#[tokio::test]
async fn a_key_makes_one_operation() {
    let all = fixture().await;
    let keyed = NewOperation { idempotency_key: Some("k".to_owned()), ..new() };
    let first = all.catalogue.create(&keyed).await.unwrap();
    assert_eq!(all.catalogue.create(&keyed).await.unwrap().id, first.id);
    let others = NewOperation { owner: "bob".to_owned(), ..keyed };
    assert_ne!(all.catalogue.create(&others).await.unwrap().id, first.id);
}

#[tokio::test]
async fn a_key_makes_one_operation_whatever_the_order_of_members() {
    let all = fixture().await;
    let keyed = |request| NewOperation { idempotency_key: Some("k".to_owned()), request, ..new() };
    let first = all.catalogue.create(&keyed(json!({"b": 1e30, "a": 2}))).await.unwrap();
    assert_eq!(all.catalogue.create(&keyed(json!({"a": 2, "b": 1e30}))).await.unwrap().id, first.id);
}

#[tokio::test]
async fn a_key_of_another_request_is_refused() {
    let all = fixture().await;
    let keyed = NewOperation { idempotency_key: Some("k".to_owned()), ..new() };
    all.catalogue.create(&keyed).await.unwrap();
    let other = NewOperation { request: json!({"n": 2}), ..keyed };
    assert!(matches!(all.catalogue.create(&other).await, Err(Error::KeyReused { .. })));
}

#[tokio::test]
async fn without_a_key_every_operation_is_new() {
    let all = fixture().await;
    assert_ne!(all.made().await.id, all.made().await.id);
}

#[tokio::test]
async fn a_text_with_a_nul_is_kept_without_it() {
    let all = fixture().await;
    let made = all.catalogue.create(&NewOperation::new("ada", "a\0b", json!("c\0d"))).await.unwrap();
    assert_eq!((made.label.as_str(), &made.request), ("a\u{fffd}b", &json!("c\0d")));
}

#[tokio::test]
async fn a_request_that_is_too_large_is_refused() {
    let all = fixture().await;
    let text =
        all.catalogue.create(&NewOperation::new("ada", "", json!("x".repeat(999)))).await.unwrap_err().to_string();
    assert_eq!(text, "the request has 1001 bytes, and 1000 are allowed: keep large things in files");
}

#[tokio::test]
async fn a_claimed_operation_is_nobody_elses_until_the_lease_ends() {
    let all = fixture().await;
    let id = all.made().await.id;
    all.held(&id, "one").await;
    all.clock.forward(LEASE - Duration::from_millis(1));
    assert!(matches!(all.claim(&id, "two").await, Claim::NotNow));
    all.clock.forward(Duration::from_millis(1));
    assert_eq!(all.held(&id, "two").await.fence, 2);
}

#[tokio::test]
async fn a_worker_may_claim_again_what_it_has() {
    let all = fixture().await;
    let id = all.made().await.id;
    let earlier = all.held(&id, "one").await;
    all.held(&id, "one").await;
    assert!(matches!(all.catalogue.renew(&earlier, LEASE).await, Err(Error::Lost { .. })));
}

#[tokio::test]
async fn of_many_that_claim_at_once_one_wins() {
    let all = fixture().await;
    let id = all.made().await.id;
    let claims = (0..12).map(|worker| {
        let (location, clock, id) = (all.place.location.clone(), Arc::new(all.clock.clone()), id.clone());
        tokio::spawn(async move {
            let catalogue = Catalogue::open(&location, clock, 1000).await.unwrap();
            catalogue.claim(&id, &format!("worker {worker}"), LEASE, 5).await.unwrap()
        })
    });
    let mut won = 0;
    for claim in claims.collect::<Vec<_>>() {
        won += i32::from(matches!(claim.await.unwrap(), Claim::Held(..)));
    }
    assert_eq!((won, all.get(&id).await.fence), (1, 1));
}

#[tokio::test]
async fn a_renewed_lease_lasts_from_then_on() {
    let all = fixture().await;
    let id = all.made().await.id;
    let lease = all.held(&id, "one").await;
    all.clock.forward(LEASE / 2);
    all.catalogue.renew(&lease, LEASE).await.unwrap();
    all.clock.forward(LEASE - Duration::from_millis(1));
    assert!(matches!(all.claim(&id, "two").await, Claim::NotNow));
}

#[tokio::test]
async fn an_ended_operation_is_claimed_by_nobody() {
    let all = fixture().await;
    let id = all.made().await.id;
    let lease = all.held(&id, "one").await;
    let ended = all.catalogue.end(&lease, &Ending::Completed(json!([1]))).await.unwrap();
    assert_eq!((ended.state, ended.result, ended.lease_owner), (State::Completed, Some(json!([1])), None));
    assert!(matches!(all.claim(&id, "one").await, Claim::NotNow));
}

#[tokio::test]
async fn a_result_is_read_back_byte_for_byte() {
    let all = fixture().await;
    let id = all.made().await.id;
    let lease = all.held(&id, "one").await;
    let text = r#"{"z":[{"b":12345678901234567890123,"a":1.50}],"a":null,"m":0.10000000000000000000000000000000001}"#;
    let result = serde_json::from_str(text).unwrap();
    all.catalogue.end(&lease, &Ending::Completed(result)).await.unwrap();
    assert_eq!(all.get(&id).await.result.unwrap().to_string(), text);
}

#[tokio::test]
async fn what_was_given_back_waits_as_long_as_it_was_told() {
    let all = fixture().await;
    let id = all.made().await.id;
    let lease = all.held(&id, "one").await;
    all.catalogue.release(&lease, Duration::from_secs(5), true).await.unwrap();
    assert!(matches!(all.claim(&id, "two").await, Claim::NotNow));
    all.clock.forward(Duration::from_secs(5));
    all.held(&id, "two").await;
}

#[tokio::test]
async fn runs_that_die_without_a_step_are_counted_until_there_were_too_many() {
    let all = fixture().await;
    let id = all.made().await.id;
    for _ in 0..5 {
        all.held(&id, "one").await;
        all.clock.forward(LEASE);
    }
    let Claim::Poisoned(operation) = all.claim(&id, "one").await else { panic!("not poisoned") };
    assert_eq!(operation.state, State::Failed);
    assert_eq!(operation.error.unwrap(), "given up: 5 runs in a row ended without finishing a step");
}

#[tokio::test]
async fn a_run_that_was_only_stopped_does_not_count() {
    let all = fixture().await;
    let id = all.made().await.id;
    let lease = all.held(&id, "one").await;
    all.catalogue.release(&lease, Duration::ZERO, false).await.unwrap();
    assert_eq!(all.get(&id).await.attempts, 0);
    let lease = all.held(&id, "one").await;
    all.catalogue.release(&lease, Duration::ZERO, true).await.unwrap();
    assert_eq!(all.get(&id).await.attempts, 1);
}

#[tokio::test]
async fn a_change_keeps_clears_or_replaces_each_value() {
    let all = fixture().await;
    let id = all.made().await.id;
    let lease = all.held(&id, "one").await;
    let set = Change {
        metadata: Some(json!({"trace": "t"})),
        preview: Edit::Set(json!(null)),
        message: Edit::Set("half".to_owned()),
    };
    all.catalogue.update(&lease, &set).await.unwrap();
    all.catalogue.update(&lease, &Change::default()).await.unwrap();
    let kept = all.get(&id).await;
    assert_eq!(kept.metadata, json!({"trace": "t"}));
    assert_eq!((kept.preview, kept.message.as_deref()), (Some(json!(null)), Some("half")));
    let clear = Change { preview: Edit::Clear, message: Edit::Clear, metadata: None };
    all.catalogue.update(&lease, &clear).await.unwrap();
    let cleared = all.get(&id).await;
    assert_eq!((cleared.preview, cleared.message), (None, None));
}

#[tokio::test]
async fn recoverable_is_what_waits_or_was_left_oldest_first() {
    let all = fixture().await;
    let left = all.made().await.id;
    all.held(&left, "dead").await;
    all.clock.forward(LEASE);
    let waiting = all.made().await.id;
    let held = all.made().await.id;
    all.held(&held, "alive").await;
    let ended = all.made().await.id;
    let lease = all.held(&ended, "alive").await;
    all.catalogue.end(&lease, &Ending::Failed("no".to_owned())).await.unwrap();
    assert_eq!(all.catalogue.recoverable(9).await.unwrap(), [left.clone(), waiting]);
    assert_eq!(all.catalogue.recoverable(1).await.unwrap(), [left]);
}

#[tokio::test]
async fn what_ended_long_ago_is_forgotten_with_its_journal() {
    let all = fixture().await;
    let (old, unfinished) = (all.made().await.id, all.made().await.id);
    let lease = all.held(&old, "one").await;
    all.catalogue.record_step(&lease, 0, "a", &json!(1)).await.unwrap();
    all.catalogue.end(&lease, &Ending::Completed(json!(1))).await.unwrap();
    all.clock.forward(Duration::from_secs(10));
    assert_eq!(all.catalogue.forget_ended(Duration::from_secs(11)).await.unwrap(), 0);
    assert_eq!(all.catalogue.forget_ended(Duration::from_secs(10)).await.unwrap(), 1);
    assert!(matches!(all.catalogue.get(&old, "ada").await, Err(Error::Unknown { .. })));
    all.get(&unfinished).await;
}

#[tokio::test]
async fn a_closed_catalogue_says_so() {
    let all = fixture().await;
    all.catalogue.close().await.unwrap();
    all.catalogue.close().await.unwrap();
    assert!(matches!(all.catalogue.get("x", "ada").await, Err(Error::Closed)));
}

#[tokio::test]
async fn an_error_that_is_too_long_is_cut() {
    let all = fixture().await;
    let id = all.made().await.id;
    let lease = all.held(&id, "one").await;
    let ended = all.catalogue.end(&lease, &Ending::Failed(format!("x{}", "é".repeat(600)))).await.unwrap();
    assert_eq!(ended.error.unwrap(), format!("x{}", "é".repeat(499)));
}

#[tokio::test]
async fn what_has_ended_is_unknown_once_its_own_time_is_over() {
    let all = fixture().await;
    let new = NewOperation { keep: Some(Duration::from_secs(60)), ..new() };
    let made = all.catalogue.create(&new).await.unwrap();
    assert_eq!(made.expires_at, Some(made.created_at + 60_000));
    let lease = all.held(&made.id, "w").await;
    all.clock.forward(Duration::from_secs(61));
    assert_eq!(all.get(&made.id).await.state, State::Working, "what works is not forgotten");
    all.catalogue.end(&lease, &Ending::Completed(json!(1))).await.unwrap();
    assert!(matches!(all.catalogue.get(&made.id, "ada").await, Err(Error::Unknown { .. })));
    assert!(all.catalogue.list("ada", None, 10).await.unwrap().is_empty());
    assert_eq!(all.catalogue.forget_ended(Duration::from_secs(3600)).await.unwrap(), 1);
}

#[tokio::test]
async fn an_owners_operations_are_listed_page_by_page_from_the_newest() {
    let all = fixture().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(all.made().await.id);
        all.clock.forward(Duration::from_secs(1));
    }
    all.catalogue.create(&NewOperation { owner: "bob".to_owned(), ..new() }).await.unwrap();
    let page = all.catalogue.list("ada", None, 2).await.unwrap();
    assert_eq!(page.iter().map(|it| &it.id).collect::<Vec<_>>(), [&ids[2], &ids[1]]);
    let last = page.last().map(|it| (it.created_at, it.id.as_str()));
    let rest = all.catalogue.list("ada", last, 2).await.unwrap();
    assert_eq!(rest.iter().map(|it| &it.id).collect::<Vec<_>>(), [&ids[0]]);
}
