//! The sandbox as a model's tool.

use crate::{Stage, sandbox};
use std::convert::Infallible;
use toolwright_sandbox::{CancellationToken, answer, input_schema};

#[tokio::test]
async fn each_call_claims_from_the_budget() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.reading()).await;
    let cancel = CancellationToken::new();
    let reply = answer(&sandbox, "echo hi", 1000, None, &cancel, async || Ok::<_, Infallible>(Some(2))).await;
    assert_eq!((reply.result.unwrap().stdout.as_str(), reply.error, reply.tool_budget), ("hi\n", None, Some(2)));
}

#[tokio::test]
async fn without_budget_no_command_runs() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    let cancel = CancellationToken::new();
    let reply = answer(&sandbox, "echo > made", 1000, None, &cancel, async || Ok::<_, Infallible>(None)).await;
    assert!(reply.result.is_none() && reply.error.unwrap().contains("final structured result"));
    assert_eq!(reply.tool_budget, Some(0));
    assert!(!stage.read_write.join("made").exists());
}

#[tokio::test]
async fn a_fault_is_an_answer() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.reading()).await;
    let cancel = CancellationToken::new();
    let reply = answer(&sandbox, " ", 1000, None, &cancel, async || Ok::<_, Infallible>(Some(1))).await;
    assert_eq!(
        serde_json::to_value(reply).unwrap(),
        serde_json::json!({"error": "the command is blank", "tool_budget": 1})
    );
    let reply = answer(&sandbox, "ls", 1000, None, &cancel, async || Err::<Option<u64>, _>("locked")).await;
    assert!(reply.error.unwrap().contains("locked") && reply.result.is_none());
}

#[test]
fn the_input_is_one_command() {
    assert_eq!(input_schema()["required"], serde_json::json!(["command"]));
}
