use std::sync::Arc;
use std::sync::atomic::Ordering;
#[cfg(feature = "tasks")]
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use super::plain;
use crate::App;
use crate::settings::{Confirm, Exposed, Secret, Settings};
use crate::testing::{Upstream, Wire, app};

struct Desk {
    app: Arc<App>,
    upstream: Upstream,
    _state: TempDir,
}

impl Desk {
    async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
        let app = app(&state, &upstream, |settings| {
            settings.confirm = Confirm::Destructive;
            change(settings);
        });
        Desk { app, upstream, _state: state }
    }

    async fn asking() -> Self {
        Desk::with(|_| ()).await
    }

    fn changes(&self) -> usize {
        self.upstream.seen.changes.load(Ordering::SeqCst)
    }
}

fn forms() -> Value {
    json!({"elicitation": {}})
}

fn deletion() -> Value {
    json!({"name": "delete_item", "arguments": {"id": 7}})
}

/// The call with what the first round brought, and that answer.
fn again(mut call: Value, first: &Value, answer: Value) -> Value {
    let key = first["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    call["requestState"] = first["result"]["requestState"].clone();
    call["inputResponses"] = json!({key: answer});
    call
}

async fn first_round(wire: &mut Wire, call: Value) -> Value {
    wire.ask_modern_with("tools/call", call, forms()).await
}

#[tokio::test]
async fn a_destructive_call_is_answered_with_a_question_and_made_after_a_yes() {
    let desk = Desk::asking().await;
    let mut wire = Wire::open(&desk.app);
    let first = first_round(&mut wire, deletion()).await;
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let question = &first["result"]["inputRequests"]["confirm_1"];
    assert_eq!(question["method"], "elicitation/create");
    let expected = "Call Title (delete_item)? It changes, stops or removes what is there.\nid: 7";
    assert_eq!(question["params"]["message"], expected);
    assert_eq!(first["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "demo-server");
    assert_eq!(desk.changes(), 0);
    let second = first_round(&mut wire, again(deletion(), &first, json!({"action": "accept"}))).await;
    assert_eq!(second["result"]["structuredContent"]["ok"], true, "{second}");
    assert_eq!(desk.changes(), 1);
}

#[tokio::test]
async fn over_2025_11_25_the_client_is_asked_while_the_call_waits() {
    let desk = Desk::asking().await;
    let mut wire = Wire::initialized_with(&desk.app, forms()).await;
    let question = wire.ask("tools/call", deletion()).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert_eq!(desk.changes(), 0);
    wire.answer(&question, json!({"action": "accept", "content": {}})).await;
    let answer = wire.receive().await;
    assert_eq!(answer["result"]["structuredContent"]["ok"], true, "{answer}");
    assert_eq!(desk.changes(), 1);
}

#[cfg(feature = "tasks")]
#[tokio::test]
async fn over_2025_11_25_the_time_that_a_person_takes_is_not_the_calls() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let limit = Duration::from_secs(2);
    let app = crate::tasks::tests::app(&state, &upstream, |settings| {
        settings.confirm = Confirm::Writes;
        settings.request_timeout.0 = limit;
    });
    let mut wire = Wire::initialized_with(&app, forms()).await;
    let question = wire.ask("tools/call", json!({"name": "slow_change", "arguments": {}})).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    tokio::time::sleep(limit / 2).await;
    let answered = Instant::now();
    wire.answer(&question, json!({"action": "accept", "content": {}})).await;
    let answer = wire.receive().await;
    assert_eq!(answer["result"]["structuredContent"]["code"], "deadline", "{answer}");
    assert!(answered.elapsed() > limit * 3 / 4, "{:?}", answered.elapsed());
}

#[tokio::test]
async fn a_no_and_no_answer_are_refusals_in_both_eras() {
    let desk = Desk::asking().await;
    for (action, code) in [("decline", "not_allowed"), ("cancel", "cancelled")] {
        let mut old = Wire::initialized_with(&desk.app, forms()).await;
        let question = old.ask("tools/call", deletion()).await;
        old.answer(&question, json!({"action": action})).await;
        let mut new = Wire::open(&desk.app);
        let first = first_round(&mut new, deletion()).await;
        let answers =
            [old.receive().await, first_round(&mut new, again(deletion(), &first, json!({"action": action}))).await];
        for answer in answers {
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            assert_eq!(answer["result"]["structuredContent"]["code"], code, "{answer}");
        }
    }
    assert_eq!(desk.changes(), 0);
}

#[tokio::test]
async fn a_cancelled_call_takes_its_question_back() {
    let desk = Desk::asking().await;
    let mut wire = Wire::initialized_with(&desk.app, forms()).await;
    let question = wire.ask("tools/call", deletion()).await;
    wire.tell("notifications/cancelled", json!({"requestId": 1})).await;
    let word = wire.receive().await;
    assert_eq!(word["method"], "notifications/cancelled", "{word}");
    assert_eq!(word["params"]["requestId"], question["id"]);
    assert_eq!(desk.changes(), 0);
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_refused_with_what_to_do() {
    let desk = Desk::asking().await;
    let old = Wire::initialized(&desk.app).await.ask("tools/call", deletion()).await;
    let new = Wire::open(&desk.app).ask_modern("tools/call", deletion()).await;
    for answer in [old, new] {
        let envelope = &answer["result"]["structuredContent"];
        assert_eq!(envelope["code"], "not_allowed", "{answer}");
        let error = envelope["error"].as_str().unwrap();
        for hint in ["demo-server call delete_item", "DEMO_MCP_CONFIRM=off", "elicitation"] {
            assert!(error.contains(hint), "{hint}: {error}");
        }
    }
    assert_eq!(desk.changes(), 0);
}

#[tokio::test]
async fn a_yes_without_a_question_of_this_server_is_none() {
    let desk = Desk::asking().await;
    let mut call = deletion();
    call["inputResponses"] = json!({"confirm_1": {"action": "accept"}});
    let answer = first_round(&mut Wire::open(&desk.app), call).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    assert_eq!(desk.changes(), 0);
}

#[tokio::test]
async fn a_state_that_was_changed_or_made_for_other_arguments_or_another_server_is_refused() {
    let (desk, other) = (Desk::asking().await, Desk::asking().await);
    let mut wire = Wire::open(&desk.app);
    let first = first_round(&mut wire, deletion()).await;
    let yes = json!({"action": "accept"});
    let mut forged = again(deletion(), &first, yes.clone());
    forged["requestState"] = format!("{}x", forged["requestState"].as_str().unwrap()).into();
    let mut elsewhere = again(deletion(), &first, yes.clone());
    elsewhere["arguments"]["id"] = 8.into();
    let foreign = first_round(&mut Wire::open(&other.app), again(deletion(), &first, yes)).await;
    let answers = [first_round(&mut wire, forged).await, first_round(&mut wire, elsewhere).await, foreign];
    for answer in answers {
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("requestState"), "{answer}");
    }
    assert_eq!(desk.changes() + other.changes(), 0);
}

#[tokio::test]
async fn a_yes_counts_once() {
    let desk = Desk::asking().await;
    let mut wire = Wire::open(&desk.app);
    let first = first_round(&mut wire, deletion()).await;
    let call = again(deletion(), &first, json!({"action": "accept"}));
    first_round(&mut wire, call.clone()).await;
    let second = first_round(&mut wire, call).await;
    assert_eq!(second["result"]["structuredContent"]["code"], "not_allowed", "{second}");
    assert_eq!(desk.changes(), 1);
}

#[tokio::test]
async fn no_yes_counts_after_a_no_and_the_no_may_be_said_again() {
    let desk = Desk::asking().await;
    let mut wire = Wire::open(&desk.app);
    let first = first_round(&mut wire, deletion()).await;
    for (action, part) in [("decline", "declined"), ("accept", "used already"), ("decline", "declined")] {
        let answer = first_round(&mut wire, again(deletion(), &first, json!({"action": action}))).await;
        let envelope = &answer["result"]["structuredContent"];
        assert_eq!(envelope["code"], "not_allowed", "{answer}");
        assert!(envelope["error"].as_str().unwrap().contains(part), "{answer}");
    }
    assert_eq!(desk.changes(), 0);
}

#[tokio::test]
async fn processes_with_one_key_take_each_others_states() {
    let key = || Some(Secret::new("0123456789abcdef0123456789abcdef"));
    let one = Desk::with(|settings| settings.state_key = key()).await;
    let two = Desk::with(|settings| settings.state_key = key()).await;
    let first = first_round(&mut Wire::open(&one.app), deletion()).await;
    let call = again(deletion(), &first, json!({"action": "accept"}));
    let second = first_round(&mut Wire::open(&two.app), call).await;
    assert_eq!(second["result"]["structuredContent"]["ok"], true, "{second}");
    assert_eq!((one.changes(), two.changes()), (0, 1));
}

#[tokio::test]
async fn the_gateway_and_raw_requests_ask_too() {
    let desk = Desk::with(|settings| settings.exposed_tools = Exposed::Nothing).await;
    let mut wire = Wire::open(&desk.app);
    let hidden = json!({"tool_name": "delete_item", "arguments": {"id": 7}});
    let raw = json!({"tool_name": "raw_request", "arguments": {"method": "DELETE", "path": "/items/7"}});
    for arguments in [hidden, raw] {
        let call = json!({"name": "execute_additional_tool", "arguments": arguments});
        let before = desk.changes();
        let first = first_round(&mut wire, call.clone()).await;
        assert_eq!(first["result"]["resultType"], "input_required", "{first}");
        assert_eq!(desk.changes(), before);
        let second = first_round(&mut wire, again(call, &first, json!({"action": "accept"}))).await;
        assert_eq!(second["result"]["structuredContent"]["ok"], true, "{second}");
        assert_eq!(desk.changes(), before + 1);
    }
}

#[tokio::test]
async fn only_what_the_setting_names_is_asked_about() {
    let add = json!({"name": "add_item", "arguments": {"request": {"name": "n"}}});
    let read = json!({"name": "get_item", "arguments": {"id": 1}});
    for (confirm, call, asks) in [
        (Confirm::Off, deletion(), false),
        (Confirm::Destructive, add.clone(), false),
        (Confirm::Destructive, read.clone(), false),
        (Confirm::Writes, add, true),
        (Confirm::Writes, deletion(), true),
        (Confirm::Writes, read, false),
    ] {
        let desk = Desk::with(|settings| {
            settings.confirm = confirm;
            settings.exposed_tools = Exposed::Everything;
        })
        .await;
        let answer = first_round(&mut Wire::open(&desk.app), call.clone()).await;
        assert_eq!(answer["result"]["resultType"] == "input_required", asks, "{confirm:?} {call} {answer}");
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_before_anybody_is_asked() {
    let desk = Desk::asking().await;
    let call = json!({"name": "delete_item", "arguments": {"id": "x"}});
    let answer = first_round(&mut Wire::open(&desk.app), call).await;
    assert_eq!(answer["result"]["structuredContent"]["code"], "invalid_arguments", "{answer}");
}

#[tokio::test]
async fn a_question_shows_no_secrets_and_no_more_than_a_person_reads() {
    let desk = Desk::with(|settings| {
        settings.confirm = Confirm::Writes;
        settings.exposed_tools = Exposed::Everything;
        settings.api_key = Some(Secret::new("key-of-the-api"));
    })
    .await;
    let request = json!({"name": "key-of-the-api", "password": "hunter22", "note": "x".repeat(1000)});
    let call = json!({"name": "add_item", "arguments": {"request": request}});
    let first = first_round(&mut Wire::open(&desk.app), call).await;
    let message = first["result"]["inputRequests"]["confirm_1"]["params"]["message"].as_str().unwrap();
    assert!(!message.contains("key-of-the-api") && !message.contains("hunter22"), "{message}");
    assert!(message.contains("[masked]") && message.len() < 600, "{message}");
    assert!(message.contains("more characters"), "{message}");
}

#[test]
fn characters_that_nobody_sees_are_written_out() {
    assert_eq!(plain("a\u{202e}b\u{200b}c\nd \"e\" \\ 한글"), "a\\u{202e}b\\u{200b}c\\nd \"e\" \\ 한글");
}
