use serde_json::json;
use tempfile::tempdir;

use super::{app, ask, begun, ended, until};
use crate::settings::Exposed;
use crate::tasks::{Fault, Owner};
use crate::testing::{Upstream, Wire};

#[tokio::test]
async fn a_long_call_of_a_client_that_declares_tasks_becomes_one_with_the_calls_result() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::open(&app(&state, &upstream, |_| ()));
    let answer = ask(&mut wire, "tools/call", json!({"name": "get_item", "arguments": {"id": 7}})).await;
    let created = &answer["result"];
    assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")), "{answer}");
    assert_eq!((&created["pollIntervalMs"], &created["ttlMs"]), (&json!(1000), &json!((3600 + 86_400) * 1000)));
    assert_eq!(created["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "demo-server");
    let task = ended(&mut wire, created["taskId"].as_str().unwrap()).await;
    assert_eq!((&task["resultType"], &task["status"]), (&json!("complete"), &json!("completed")));
    assert_eq!(task["result"]["structuredContent"]["data"], json!({"id": 7}));
    assert_eq!(task["result"]["isError"], false);
    assert!(task["createdAt"].as_str().unwrap() <= task["lastUpdatedAt"].as_str().unwrap(), "{task}");
}

#[tokio::test]
async fn an_error_of_the_tool_is_the_result_of_a_completed_task() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::open(&app(&state, &upstream, |_| ()));
    let id = begun(&mut wire, "get_item", json!({"id": 404})).await;
    let task = ended(&mut wire, &id).await;
    assert_eq!((&task["status"], &task["result"]["isError"]), (&json!("completed"), &json!(true)), "{task}");
}

#[tokio::test]
async fn a_client_that_does_not_declare_tasks_gets_the_result_itself() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::open(&app(&state, &upstream, |_| ()));
    let answer = wire.ask_modern("tools/call", json!({"name": "get_item", "arguments": {"id": 7}})).await;
    assert_eq!(answer["result"]["structuredContent"]["data"], json!({"id": 7}));
    let answer = wire.ask_modern("tasks/get", json!({"taskId": "x"})).await;
    assert_eq!(answer["error"]["code"], -32021, "{answer}");
}

#[tokio::test]
async fn an_id_that_is_none_is_told_no_longer_than_one_is() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::open(&app(&state, &upstream, |_| ()));
    let answer = ask(&mut wire, "tasks/get", json!({"taskId": "x".repeat(100_000)})).await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("there is no task xxx") && message.len() < 200, "{} bytes", message.len());
}

#[tokio::test]
async fn short_calls_and_refused_ones_are_no_tasks() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::open(&app(&state, &upstream, |settings| settings.deny.0 = vec!["slow_change".into()]));
    for (tool, is_error) in [("list_items", false), ("get_item", true), ("slow_change", true)] {
        let answer = ask(&mut wire, "tools/call", json!({"name": tool, "arguments": {}})).await;
        assert_eq!(
            (&answer["result"]["resultType"], &answer["result"]["isError"]),
            (&json!("complete"), &json!(is_error))
        );
    }
    assert!(!state.path().join("toolwright").exists(), "the store opens with the first task");
}

#[tokio::test]
async fn a_hidden_long_tool_becomes_a_task_through_the_gateway() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::open(&app(&state, &upstream, |settings| settings.exposed_tools = Exposed::Nothing));
    let id =
        begun(&mut wire, "execute_additional_tool", json!({"tool_name": "get_item", "arguments": {"id": 3}})).await;
    assert_eq!(ended(&mut wire, &id).await["result"]["structuredContent"]["data"], json!({"id": 3}));
}

#[tokio::test]
async fn cancelling_a_task_closes_its_connection_to_the_api() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::open(&app(&state, &upstream, |_| ()));
    let id = begun(&mut wire, "slow_report", json!({})).await;
    until(&upstream.seen.slow_begun, 1).await;
    for _ in 0..2 {
        let answer = ask(&mut wire, "tasks/cancel", json!({"taskId": id})).await;
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
        assert_eq!(ended(&mut wire, &id).await["status"], "cancelled");
    }
    until(&upstream.seen.slow_dropped, 1).await;
}

#[tokio::test]
async fn acknowledgements_name_the_server_as_every_result_does() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::open(&app(&state, &upstream, |_| ()));
    let id = begun(&mut wire, "get_item", json!({"id": 7})).await;
    for method in ["tasks/update", "tasks/cancel"] {
        let answer = ask(&mut wire, method, json!({"taskId": id, "inputResponses": {}})).await;
        let server = &answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!((&answer["result"]["resultType"], &server["name"]), (&json!("complete"), &json!("demo-server")));
    }
}

#[tokio::test]
async fn what_is_unknown_and_what_is_anothers_are_the_same() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let mut wire = Wire::open(&app);
    let id = begun(&mut wire, "get_item", json!({"id": 7})).await;
    ended(&mut wire, &id).await;
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let answer = ask(&mut wire, method, json!({"taskId": "none", "inputResponses": {}})).await;
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
    }
    let store = app.tasks.as_ref().unwrap().store().await.unwrap();
    for other in [Owner::Anyone, Owner::Holder("bearer x".into())] {
        let fault = store.get(&id, &other).await.unwrap_err();
        assert!(matches!(&fault, Fault::Unknown { .. }), "{fault}");
        assert_eq!(fault.to_string(), store.get("none", &other).await.unwrap_err().to_string().replace("none", &id));
    }
}

#[tokio::test]
async fn a_result_is_gone_when_its_time_is_over() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |settings| {
        settings.task_timeout.0 = std::time::Duration::from_millis(400);
        settings.task_ttl.0 = std::time::Duration::from_millis(100);
    });
    let mut wire = Wire::open(&app);
    let id = begun(&mut wire, "get_item", json!({"id": 7})).await;
    assert_eq!(ended(&mut wire, &id).await["ttlMs"], 500);
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    let answer = ask(&mut wire, "tasks/get", json!({"taskId": id})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn a_task_ends_at_its_deadline() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |settings| {
        settings.task_timeout.0 = std::time::Duration::from_millis(200);
        settings.request_timeout.0 = std::time::Duration::from_secs(60);
    });
    let mut wire = Wire::open(&app);
    let id = begun(&mut wire, "slow_report", json!({})).await;
    assert_eq!(ended(&mut wire, &id).await["result"]["structuredContent"]["code"], "deadline");
}

#[tokio::test]
async fn without_a_store_a_long_call_is_an_ordinary_one() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let file = state.path().join("file");
    std::fs::write(&file, "").unwrap();
    let mut wire = Wire::open(&app(&state, &upstream, |settings| settings.task_dir = file.join("tasks")));
    let answer = ask(&mut wire, "tools/call", json!({"name": "get_item", "arguments": {"id": 7}})).await;
    assert_eq!(answer["result"]["structuredContent"]["data"], json!({"id": 7}), "{answer}");
    let answer = ask(&mut wire, "tasks/get", json!({"taskId": "x"})).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(!answer.to_string().contains("file/tasks"), "{answer}");
}

#[tokio::test]
async fn a_server_without_long_tools_has_no_tasks() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::open(&crate::testing::app(&state, &upstream, |_| ()));
    let answer = ask(&mut wire, "server/discover", json!({})).await;
    assert_eq!(answer["result"]["capabilities"].get("extensions"), None, "{answer}");
    let answer = ask(&mut wire, "tasks/get", json!({"taskId": "x"})).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}

#[tokio::test]
async fn a_server_with_long_tools_says_that_it_has_tasks() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::open(&app(&state, &upstream, |_| ()));
    let answer = ask(&mut wire, "server/discover", json!({})).await;
    assert_eq!(answer["result"]["capabilities"]["extensions"], json!({"io.modelcontextprotocol/tasks": {}}));
}

#[tokio::test]
async fn what_a_person_must_agree_to_is_asked_and_no_task() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |settings| settings.confirm = crate::settings::Confirm::Writes);
    let mut wire = Wire::open(&app);
    let answer = ask(&mut wire, "tools/call", json!({"name": "slow_change", "arguments": {}})).await;
    assert_ne!(answer["result"]["resultType"], "task", "{answer}");
    let answer = ask(&mut wire, "tools/call", json!({"name": "get_item", "arguments": {"id": 7}})).await;
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
}
