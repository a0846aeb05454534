use serde_json::{Value, json};
use tempfile::tempdir;

use super::{app, until};
use crate::settings::Exposed;
use crate::testing::{Upstream, Wire};

async fn begun(wire: &mut Wire, tool: &str, arguments: Value) -> Value {
    let call = json!({"name": tool, "arguments": arguments, "task": {"ttl": 120_000}});
    let answer = wire.ask("tools/call", call).await;
    assert!(answer["result"]["task"].is_object(), "{answer}");
    answer["result"]["task"].clone()
}

async fn result(wire: &mut Wire, task: &Value) -> Value {
    wire.ask("tasks/result", json!({"taskId": task["taskId"]})).await
}

#[tokio::test]
async fn the_handshake_and_the_list_say_what_can_be_a_task() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::open(&app(&state, &upstream, |_| ()));
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    let answer = wire.ask("initialize", hello).await;
    let capabilities = &answer["result"]["capabilities"];
    assert_eq!(capabilities["tasks"], json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}));
    assert_eq!(capabilities.get("extensions"), None, "{answer}");
    wire.tell("notifications/initialized", json!({})).await;
    let answer = wire.ask("tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    let can: Vec<&str> = tools
        .iter()
        .filter(|tool| tool["execution"] == json!({"taskSupport": "optional"}))
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    // `add_item` is long and hidden.
    assert_eq!(can, ["get_item", "slow_change", "slow_report", "execute_additional_tool"]);
    assert_eq!(answer["result"].get("resultType"), None);
}

#[tokio::test]
async fn a_call_with_task_is_one_and_its_result_is_that_of_the_call() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::initialized(&app(&state, &upstream, |_| ())).await;
    let task = begun(&mut wire, "get_item", json!({"id": 7})).await;
    assert_eq!((&task["status"], &task["ttl"]), (&json!("working"), &json!(3_600_000 + 120_000)));
    let answer = result(&mut wire, &task).await;
    assert_eq!(answer["result"]["structuredContent"]["data"], json!({"id": 7}), "{answer}");
    let related = &answer["result"]["_meta"]["io.modelcontextprotocol/related-task"];
    assert_eq!(related["taskId"], task["taskId"]);
    let answer = wire.ask("tasks/get", json!({"taskId": task["taskId"]})).await;
    assert_eq!((&answer["result"]["status"], &answer["result"]["pollInterval"]), (&json!("completed"), &json!(1000)));
    let answer = wire.ask("tasks/cancel", json!({"taskId": task["taskId"]})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn a_call_without_task_is_an_ordinary_one() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::initialized(&app(&state, &upstream, |_| ())).await;
    assert_eq!(wire.call("get_item", json!({"id": 7})).await["structuredContent"]["data"], json!({"id": 7}));
}

#[tokio::test]
async fn no_arguments_may_be_null_as_in_an_ordinary_call() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::initialized(&app(&state, &upstream, |_| ())).await;
    let task = begun(&mut wire, "get_item", Value::Null).await;
    let answer = result(&mut wire, &task).await;
    assert_eq!(answer["result"]["structuredContent"]["code"], "invalid_arguments", "{answer}");
}

#[tokio::test]
async fn an_error_of_the_tool_is_a_failed_task_that_has_a_result() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::initialized(&app(&state, &upstream, |_| ())).await;
    let task = begun(&mut wire, "get_item", json!({"id": "seven"})).await;
    let answer = result(&mut wire, &task).await;
    assert_eq!(answer["result"]["structuredContent"]["code"], "invalid_arguments", "{answer}");
    let answer = wire.ask("tasks/list", json!({})).await;
    assert_eq!(answer["result"]["tasks"][0]["status"], "failed", "{answer}");
}

#[tokio::test]
async fn cancelling_ends_the_wait_for_the_result() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::initialized(&app(&state, &upstream, |_| ())).await;
    let task = begun(&mut wire, "slow_report", json!({})).await;
    until(&upstream.seen.slow_begun, 1).await;
    let wait = json!({"jsonrpc": "2.0", "id": 9, "method": "tasks/result", "params": {"taskId": task["taskId"]}});
    wire.send(&wait).await;
    let answers = [wire.ask("tasks/cancel", json!({"taskId": task["taskId"]})).await, wire.receive().await];
    let of = |id: i64| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(of(1)["result"]["status"], "cancelled", "{answers:?}");
    assert_eq!(of(9)["error"]["message"], "the task was cancelled", "{answers:?}");
    until(&upstream.seen.slow_dropped, 1).await;
}

#[tokio::test]
async fn a_tool_that_is_not_long_is_no_task() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire = Wire::initialized(&app(&state, &upstream, |_| ())).await;
    for (name, code) in [("list_items", -32601), ("server_health", -32601), ("get_itm", -32602)] {
        let answer = wire.ask("tools/call", json!({"name": name, "arguments": {}, "task": {}})).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    let answer = wire.ask("tools/call", json!({"name": "get_item", "task": 1})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn each_era_has_its_own_methods() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let update = json!({"taskId": "x", "inputResponses": {}});
    let old = Wire::initialized(&app).await.ask("tasks/update", update).await;
    assert_eq!(old["error"]["code"], -32601, "{old}");
    let new = Wire::open(&app).ask_modern("toolwright/2025-11-25/tasks/list", json!({})).await;
    assert_eq!(new["error"]["code"], -32601, "{new}");
}

#[tokio::test]
async fn tasks_are_listed_page_by_page_from_the_newest() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut wire =
        Wire::initialized(&app(&state, &upstream, |settings| settings.exposed_tools = Exposed::Everything)).await;
    let mut ids = Vec::new();
    for id in 0..51 {
        ids.push(begun(&mut wire, "get_item", json!({"id": id})).await["taskId"].clone());
    }
    let first = wire.ask("tasks/list", json!({})).await["result"].take();
    assert_eq!(first["tasks"].as_array().unwrap().len(), 50);
    let rest = wire.ask("tasks/list", json!({"cursor": first["nextCursor"]})).await["result"].take();
    assert_eq!((rest["tasks"].as_array().unwrap().len(), rest.get("nextCursor")), (1, None));
    let mut listed: Vec<&Value> =
        [&first, &rest].iter().flat_map(|page| page["tasks"].as_array().unwrap()).map(|task| &task["taskId"]).collect();
    listed.sort_by_key(|id| id.to_string());
    ids.sort_by_key(|id| id.to_string());
    assert_eq!(listed, ids.iter().collect::<Vec<_>>());
    let answer = wire.ask("tasks/list", json!({"cursor": "x"})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}
