use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::settings::Exposed;
use crate::testing::{Upstream, Wire, app};

fn names(list: &Value) -> Vec<&str> {
    list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

const FIXED: [&str; 5] =
    ["list_additional_tools", "search_additional_tools", "execute_additional_tool", "server_health", "schema_audit"];

#[tokio::test]
async fn operations_are_listed_by_path_then_method_before_the_fixed_tools() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let list = Wire::initialized(&app).await.ask("tools/list", json!({})).await;
    let operations = ["list_items", "get_item", "delete_item", "slow_report"];
    assert_eq!(names(&list), operations.iter().chain(&FIXED).copied().collect::<Vec<_>>());
}

#[tokio::test]
async fn with_none_exposed_only_the_fixed_tools_are_listed() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |settings| settings.exposed_tools = Exposed::Nothing);
    let list = Wire::initialized(&app).await.ask("tools/list", json!({})).await;
    assert_eq!(names(&list), FIXED);
}

#[tokio::test]
async fn hints_follow_from_the_risk() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |settings| settings.exposed_tools = Exposed::Everything);
    let list = Wire::initialized(&app).await.ask("tools/list", json!({})).await;
    let hints = |name: &str| {
        let tools = list["result"]["tools"].as_array().unwrap();
        let hints = &tools.iter().find(|tool| tool["name"] == name).unwrap()["annotations"];
        [&hints["readOnlyHint"], &hints["destructiveHint"], &hints["idempotentHint"]].map(|hint| hint == true)
    };
    assert_eq!(hints("get_item"), [true, false, true]);
    assert_eq!(hints("slow_report"), [true, false, false]);
    assert_eq!(hints("add_item"), [false, false, false]);
    assert_eq!(hints("delete_item"), [false, true, false]);
}

#[tokio::test]
async fn a_cursor_is_refused_since_none_was_given_out() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let mut wire = Wire::initialized(&app).await;
    for method in ["tools/list", "resources/list"] {
        assert_eq!(wire.ask(method, json!({"cursor": "x"})).await["error"]["code"], -32602, "{method}");
    }
}

#[tokio::test]
async fn the_text_block_is_the_compact_json_of_the_structured_content() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let result = Wire::initialized(&app).await.call("get_item", json!({"id": 7})).await;
    assert_eq!(result["isError"], false);
    assert_eq!(result["structuredContent"]["data"], json!({"id": 7}));
    assert_eq!(result["content"][0]["text"], result["structuredContent"].to_string());
}

#[tokio::test]
async fn an_http_error_is_a_result_with_is_error() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let result = Wire::initialized(&app).await.call("get_item", json!({"id": 404})).await;
    assert_eq!(result["isError"], true);
    assert_eq!(result["structuredContent"]["status_code"], 404);
    assert_eq!(result["structuredContent"]["data"], json!({"error": "no such item"}));
}

#[tokio::test]
async fn bad_arguments_are_a_result_with_all_violations_and_the_schema() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let result = Wire::initialized(&app).await.call("get_item", json!({"idd": 7})).await;
    let envelope = &result["structuredContent"];
    assert_eq!((&result["isError"], &envelope["code"]), (&json!(true), &json!("invalid_arguments")));
    assert_eq!(envelope["validation_errors"].as_array().unwrap().len(), 2);
    assert_eq!(envelope["input_schema"]["required"], json!(["id"]));
}

#[tokio::test]
async fn numbers_keep_every_digit_on_their_way() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |settings| settings.exposed_tools = Exposed::Everything);
    let mut wire = Wire::initialized(&app).await;
    let arguments: Value =
        serde_json::from_str(r#"{"request":{"name":"n","exact":12345678901234567890123,"price":1.10}}"#).unwrap();
    let result = wire.call("add_item", arguments.clone()).await;
    assert_eq!(result["structuredContent"]["data"].to_string(), arguments["request"].to_string());
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error_with_a_suggestion() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let answer = Wire::initialized(&app).await.ask("tools/call", json!({"name": "get_itm"})).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["message"], "Unknown tool: get_itm; did you mean get_item?");
}

#[tokio::test]
async fn a_hidden_tool_is_unknown_to_direct_calls_and_points_to_the_gateway() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let mut wire = Wire::initialized(&app).await;
    for hidden in ["add_item", "raw_request"] {
        let answer = wire.ask("tools/call", json!({"name": hidden, "arguments": {}})).await;
        assert_eq!(answer["error"]["code"], -32602);
        assert!(answer["error"]["message"].as_str().unwrap().contains("execute_additional_tool"), "{answer}");
    }
    assert_eq!(upstream.seen.changes.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_read_only_server_refuses_changes_also_through_the_gateway() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |settings| settings.read_only.0 = true);
    let mut wire = Wire::initialized(&app).await;
    let direct = wire.call("delete_item", json!({"id": 1})).await;
    let arguments = json!({"request": {"name": "n"}});
    let hidden = wire.call("execute_additional_tool", json!({"tool_name": "add_item", "arguments": arguments})).await;
    for result in [direct, hidden] {
        assert_eq!(result["structuredContent"]["code"], "not_allowed", "{result}");
    }
    assert_eq!(upstream.seen.changes.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_denied_tool_is_neither_listed_nor_callable() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |settings| settings.deny.0 = vec!["get_item".into()]);
    let mut wire = Wire::initialized(&app).await;
    assert!(!names(&wire.ask("tools/list", json!({})).await).contains(&"get_item"));
    assert_eq!(wire.call("get_item", json!({"id": 1})).await["structuredContent"]["code"], "not_allowed");
}

#[tokio::test]
async fn a_call_ends_at_its_tools_deadline() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let result = Wire::initialized(&app).await.call("slow_report", json!({})).await;
    assert_eq!(result["structuredContent"]["code"], "deadline");
}

#[tokio::test]
async fn waiting_for_a_slot_counts_against_the_deadline() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |settings| {
        settings.max_concurrency.0 = 1;
        settings.request_timeout.0 = Duration::from_millis(200);
    });
    let slow = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "slow_report"}});
    let mut wire = Wire::initialized(&app).await;
    wire.send(&slow).await;
    while upstream.seen.slow_begun.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let result = wire.call("get_item", json!({"id": 1})).await;
    assert_eq!(result["structuredContent"]["code"], "deadline");
    assert!(result["structuredContent"]["error"].as_str().unwrap().contains("1 other calls"), "{result}");
}

#[tokio::test]
async fn a_cancelled_call_closes_its_upstream_connection() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let mut wire = Wire::initialized(&app).await;
    let slow = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "slow_report"}});
    wire.send(&slow).await;
    while upstream.seen.slow_begun.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    wire.tell("notifications/cancelled", json!({"requestId": 2})).await;
    let dropped = async {
        while upstream.seen.slow_dropped.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_millis(700), dropped).await.expect("before the deadline of one second");
}

#[tokio::test]
async fn results_of_2026_07_28_carry_type_caching_and_the_servers_name() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let mut wire = Wire::open(&app);
    for (method, cached) in [("server/discover", true), ("tools/list", true), ("resources/list", true)] {
        let answer = wire.ask_modern(method, json!({})).await;
        let result = &answer["result"];
        assert_eq!(result["resultType"], "complete", "{answer}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "demo-server", "{answer}");
        assert_eq!(result["ttlMs"].is_u64() && result["cacheScope"].is_string(), cached, "{answer}");
    }
    let answer = wire.ask_modern("tools/call", json!({"name": "get_item", "arguments": {"id": 1}})).await;
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["version"], "1.2.3");
}

#[tokio::test]
async fn results_of_2025_11_25_carry_none_of_it() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let answer = Wire::initialized(&app).await.ask("tools/list", json!({})).await;
    for absent in ["resultType", "ttlMs", "cacheScope", "_meta"] {
        assert!(answer["result"].get(absent).is_none(), "{absent}");
    }
}

#[tokio::test]
async fn methods_that_this_server_does_not_have_are_not_found() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let mut wire = Wire::initialized(&app).await;
    for method in ["prompts/list", "logging/setLevel", "no/such"] {
        let answer = wire.ask(method, json!({"level": "info"})).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
}

#[tokio::test]
async fn the_handshake_is_an_unknown_method_of_2026_07_28() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let mut wire = Wire::open(&app);
    wire.ask_modern("server/discover", json!({})).await;
    assert_eq!(wire.ask_modern("initialize", json!({})).await["error"]["code"], -32601);
}

#[tokio::test]
async fn malformed_parameters_are_invalid_and_not_an_unknown_method() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let mut wire = Wire::initialized(&app).await;
    for parameters in [json!({"nam": "get_item"}), json!({"name": "get_item", "arguments": [1]}), json!({"name": 1})] {
        assert_eq!(wire.ask("tools/call", parameters.clone()).await["error"]["code"], -32602, "{parameters}");
    }
}

#[tokio::test]
async fn an_unknown_resource_has_the_code_of_its_era() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let unknown = json!({"uri": "toolwright://demo/files/../../etc/passwd"});
    let old = Wire::initialized(&app).await.ask("resources/read", unknown.clone()).await;
    let new = Wire::open(&app).ask_modern("resources/read", unknown).await;
    assert_eq!((&old["error"]["code"], &new["error"]["code"]), (&json!(-32002), &json!(-32602)));
}

#[tokio::test]
async fn calls_are_counted_with_their_outcomes() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let mut wire = Wire::initialized(&app).await;
    wire.call("get_item", json!({"id": 1})).await;
    wire.call("get_item", json!({})).await;
    let text = app.metrics.render(app.server);
    for outcome in ["ok", "invalid_arguments"] {
        let line = format!("toolwright_calls_total{{server=\"demo\",tool=\"get_item\",outcome=\"{outcome}\"}} 1");
        assert!(text.contains(&line), "{line} in {text}");
    }
}

#[tokio::test]
async fn a_call_that_changes_state_leaves_one_audit_line_without_its_arguments() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |settings| settings.exposed_tools = Exposed::Everything);
    // Without a subscriber for all threads, another test's thread may have the spans switched off for the process.
    let everyone = tracing_subscriber::fmt().with_writer(std::io::sink).finish();
    drop(tracing::subscriber::set_global_default(everyone));
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let mut wire = Wire::initialized(&app).await;
    wire.call("add_item", json!({"request": {"name": "s3cr3t"}})).await;
    wire.call("get_item", json!({"id": 1})).await;
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let audit: Vec<&str> = text.lines().filter(|line| line.contains("toolwright::audit")).collect();
    assert_eq!(audit.len(), 1, "{text}");
    for part in ["tool=\"add_item\"", "risk=\"write\"", "outcome=\"ok\"", "status=200", "client=\"test\""] {
        assert!(audit[0].contains(part), "{part} in {}", audit[0]);
    }
    assert!(!audit[0].contains("s3cr3t"), "{}", audit[0]);
}

#[derive(Clone, Default)]
struct Log(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_servers_icon_is_a_uri_without_illegal_characters() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let app = app(&state, &upstream, |_| ());
    let icon = app.identity().icons.unwrap()[0].src.clone();
    let legal = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    assert!(icon.starts_with("data:image/svg+xml;base64,") && icon.chars().all(legal), "{icon}");
}
