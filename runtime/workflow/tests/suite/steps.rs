//! The steps of a run: what is done once, what is done again, and what is refused.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::json;
use toolwright_workflow::{Context, Failure, Operation, State};

use super::new;
use super::runtime::{Script, ended_by, started};

/// A fault after which the run is tried again at once.
fn again() -> Failure {
    Failure::Retry { message: "again".to_owned(), after: Duration::ZERO }
}

/// Fails with `again` the first time that it is asked.
fn first_time_fails(asked: &AtomicU32) -> Result<(), Failure> {
    if asked.fetch_add(1, Ordering::SeqCst) == 0 { Err(again()) } else { Ok(()) }
}

fn error(operation: Operation) -> String {
    assert_eq!(operation.state, State::Failed);
    operation.error.unwrap()
}

#[tokio::test]
async fn a_finished_step_is_not_run_again() {
    let (steps, runs) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (counted, seen) = (Arc::clone(&steps), Arc::clone(&runs));
    let script = Script::new(move |context: &mut Context| {
        let (counted, seen) = (Arc::clone(&counted), Arc::clone(&seen));
        async move {
            let first: u32 = context.compute("a", || async { Ok(counted.fetch_add(1, Ordering::SeqCst)) }).await?;
            let second: u32 = context.effect("b", |_| async { Ok(counted.fetch_add(1, Ordering::SeqCst)) }).await?;
            first_time_fails(&seen)?;
            Ok(json!([first, second]))
        }
        .boxed()
    });
    assert_eq!(ended_by(script).await.result, Some(json!([0, 1])));
    assert_eq!((steps.load(Ordering::SeqCst), runs.load(Ordering::SeqCst)), (2, 2));
}

#[tokio::test]
async fn an_effect_that_was_cut_off_is_told_so_under_the_same_key() {
    let tries = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&tries);
    let script = Script::new(move |context: &mut Context| {
        let seen = Arc::clone(&seen);
        async move {
            context
                .effect("send", |attempt| async move {
                    let mut seen = seen.lock().unwrap();
                    seen.push((attempt.key, attempt.interrupted));
                    if seen.len() < 3 { Err(again()) } else { Ok(json!(seen.len())) }
                })
                .await
        }
        .boxed()
    });
    let ended = ended_by(script).await;
    let key = format!("{}-0", ended.id);
    assert_eq!(ended.result, Some(json!(3)));
    assert_eq!(*tries.lock().unwrap(), [(key.clone(), false), (key.clone(), true), (key, true)]);
}

#[tokio::test]
async fn a_step_that_failed_may_be_taken_again_in_the_same_run() {
    let script = Script::new(|context: &mut Context| {
        async move {
            let first = context.effect::<u32, _>("send", |_| async { Err(again()) }).await;
            assert!(first.is_err());
            let second = context.effect("send", |attempt| async move { Ok(attempt.interrupted) }).await?;
            Ok(json!(second))
        }
        .boxed()
    });
    assert_eq!(ended_by(script).await.result, Some(json!(true)));
}

#[tokio::test]
async fn an_effect_that_must_not_be_repeated_is_not() {
    let tries = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&tries);
    let script = Script::new(move |context: &mut Context| {
        let seen = Arc::clone(&seen);
        async move {
            context
                .effect_once("pay", |_| async move {
                    seen.fetch_add(1, Ordering::SeqCst);
                    Err(again())
                })
                .await
        }
        .boxed()
    });
    let text = error(ended_by(script).await);
    assert_eq!(text, r#"step 0 ("pay") was cut off, may have happened, and must not be repeated: look at its effect"#);
    assert_eq!(tries.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn another_step_in_the_place_of_a_recorded_one_is_refused() {
    let runs = Arc::new(AtomicU32::new(0));
    let script = Script::new(move |context: &mut Context| {
        let runs = Arc::clone(&runs);
        async move {
            let kind = if runs.load(Ordering::SeqCst) == 0 { "a" } else { "b" };
            let found = context.compute(kind, || async { Ok(json!(1)) }).await?;
            first_time_fails(&runs)?;
            Ok(found)
        }
        .boxed()
    });
    let text = error(ended_by(script).await);
    assert_eq!(text, r#"step 0 is "b", and the journal has "a" there: a workflow must take the same steps again"#);
}

#[tokio::test]
async fn a_recorded_result_of_another_type_is_refused() {
    let runs = Arc::new(AtomicU32::new(0));
    let script = Script::new(move |context: &mut Context| {
        let runs = Arc::clone(&runs);
        async move {
            if runs.load(Ordering::SeqCst) == 0 {
                context.compute("a", || async { Ok("text".to_owned()) }).await?;
            } else {
                context.compute("a", || async { Ok(1_u32) }).await?;
            }
            first_time_fails(&runs)?;
            Ok(json!(null))
        }
        .boxed()
    });
    let text = error(ended_by(script).await);
    assert!(text.starts_with(r#"the result of step 0 ("a"): invalid type: string "text", expected u32"#), "{text}");
}

#[tokio::test]
async fn a_tool_call_that_is_cut_off_counts_once() {
    let runs = Arc::new(AtomicU32::new(0));
    let script = Script::new(move |context: &mut Context| {
        let runs = Arc::clone(&runs);
        async move {
            let mut done = Vec::new();
            for _ in 0..3 {
                let runs = Arc::clone(&runs);
                let call = context.tool_call("call", 2, |_| async move { first_time_fails(&runs).map(|()| 1) });
                done.push(call.await?);
            }
            Ok(json!(done))
        }
        .boxed()
    });
    let ended = ended_by(script).await;
    assert_eq!((ended.result, ended.tool_calls_used), (Some(json!([1, 1, null])), 2));
}

#[tokio::test]
async fn a_question_waits_for_its_answer_and_the_run_goes_on_with_it() {
    let script = Script::new(|context: &mut Context| {
        async move {
            let before: u32 = context.compute("a", || async { Ok(1) }).await?;
            let answer = context.ask("confirm", &json!({"delete": 3})).await?;
            Ok(json!([before, answer]))
        }
        .boxed()
    });
    let (runtime, _place) = started(script).await;
    let id = runtime.submit(new()).await.unwrap().id;
    let asking = runtime.wait(&id, "ada").await.unwrap();
    assert_eq!((asking.state, asking.question), (State::InputRequired, Some(json!({"delete": 3}))));
    runtime.answer(&id, "ada", &json!("yes")).await.unwrap();
    let ended = runtime.wait(&id, "ada").await.unwrap();
    assert_eq!((ended.result, ended.question), (Some(json!([1, "yes"])), None));
    let text = runtime.answer(&id, "ada", &json!("no")).await.unwrap_err().to_string();
    assert_eq!(text, format!("operation {id:?} is completed, not input_required"));
}

#[tokio::test]
async fn a_result_that_is_too_large_fails_the_operation() {
    let script = Script::new(|_: &mut Context| async { Ok(json!("x".repeat(5 * 1024 * 1024))) }.boxed());
    let text = error(ended_by(script).await);
    assert!(text.starts_with("the result has 5242882 bytes, and 4194304 are allowed"), "{text}");
}
