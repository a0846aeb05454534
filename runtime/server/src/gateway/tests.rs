use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use serde_json::{Map, Value, json};
use toolwright_core::{Catalog, ToolSpec};
use toolwright_http::CallContext;

use super::{call, tools};
use crate::App;
use crate::settings::{ConfigFile, Environment, Flags, resolve};
use crate::testing::{CATALOG, ROWS, SERVER};

/// A server whose environment holds these variables beside its state folder.
fn app(variables: &[(&str, &str)]) -> (Arc<App>, tempfile::TempDir) {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().to_str().unwrap().to_owned();
    let all = [("XDG_STATE_HOME", folder.as_str())].into_iter().chain(variables.iter().copied());
    let environment = Environment::fixed(all);
    let (settings, _) = resolve(&SERVER, &environment, &Flags::default(), &ConfigFile::default(), None).unwrap();
    (App::new(&SERVER, &CATALOG, settings).unwrap(), state)
}

/// An upstream with two items and one failing route.
async fn upstream() -> String {
    let json = |value: Value| async move { ([("content-type", "application/json")], value.to_string()) };
    let router = Router::new()
        .route(
            "/items",
            get(move || json(json!([{"id": 1, "note": "x".repeat(500)}, {"id": 2}])))
                .post(|body: String| async { body }),
        )
        .route("/items/{id}", get(move || json(json!({"id": 1}))))
        .route("/slow", get(|| async { axum::http::StatusCode::INTERNAL_SERVER_ERROR }))
        .route("/swagger/doc.json", get(move || json(json!({"paths": {"/items": {"get": {"parameters": [{"in": "query", "name": "limit"}]}}, "/new": {"post": {}}}}))))
        .route("/unknown", post(|| async { "made" }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

async fn run(app: &App, name: &str, arguments: Value) -> Map<String, Value> {
    let context = CallContext::within(Duration::from_secs(5));
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let envelope = call(app, name, arguments, &context).await;
    assert_eq!(envelope.ok, envelope.error.is_none(), "a failure has its error, a success has none");
    envelope.to_json()
}

async fn execute(app: &App, name: &str, arguments: Value) -> Map<String, Value> {
    run(app, "execute_additional_tool", json!({"tool_name": name, "arguments": arguments})).await
}

fn names(matches: &Value) -> Vec<&str> {
    matches.as_array().unwrap().iter().map(|found| found["name"].as_str().unwrap()).collect()
}

#[test]
fn five_tools_are_listed() {
    let (app, _state) = app(&[]);
    let listed: Vec<String> = tools(&app).iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(
        listed,
        [
            "list_additional_tools",
            "search_additional_tools",
            "execute_additional_tool",
            "server_health",
            "schema_audit"
        ]
    );
}

#[test]
fn execute_is_destructive_unless_the_server_is_read_only() {
    let destructive = |app: &App| tools(app)[2].annotations.as_ref().unwrap().destructive_hint;
    assert_eq!(destructive(&app(&[]).0), Some(true));
    assert_eq!(destructive(&app(&[("DEMO_MCP_READ_ONLY", "true")]).0), Some(false));
}

#[tokio::test]
async fn list_names_what_is_hidden() {
    let (app, _state) = app(&[]);
    let result = run(&app, "list_additional_tools", json!({})).await;
    assert_eq!(result["count"], 3);
    assert_eq!(result["tools"], json!(["add_item", "probe_safe_endpoints", "raw_request"]));
}

#[tokio::test]
async fn list_leaves_out_what_may_not_be_called() {
    let (app, _state) = app(&[("DEMO_MCP_DENY", "raw_request"), ("DEMO_MCP_READ_ONLY", "true")]);
    let result = run(&app, "list_additional_tools", json!({})).await;
    assert_eq!(result["tools"], json!(["probe_safe_endpoints"]));
}

#[tokio::test]
async fn fixed_tools_refuse_unknown_arguments() {
    let (app, _state) = app(&[]);
    let result = run(&app, "list_additional_tools", json!({"tag": "x"})).await;
    assert_eq!(result["code"], "invalid_arguments");
}

#[tokio::test]
async fn search_shows_hidden_and_listed_tools_and_how_to_call_them() {
    let (app, _state) = app(&[]);
    let result = run(&app, "search_additional_tools", json!({"query": "add item"})).await;
    let best = &result["matches"][0];
    assert_eq!(best["name"], "add_item");
    assert_eq!(best["call"], "execute_additional_tool");
    assert_eq!(best["tags"], json!(["items"]));
    assert_eq!(best["hints"]["readOnlyHint"], false);
    assert_eq!(best["input_schema"]["required"], json!(["request"]));
    let result = run(&app, "search_additional_tools", json!({"query": "get item"})).await;
    assert_eq!(result["matches"][0]["name"], "get_item");
    assert_eq!(result["matches"][0]["call"], "directly");
}

#[tokio::test]
async fn search_for_reading_shows_reading_tools_first() {
    let (app, _state) = app(&[]);
    let result = run(&app, "search_additional_tools", json!({"query": "show item"})).await;
    let names = names(&result["matches"]);
    let first_change = names.iter().position(|name| name.starts_with("add") || name.starts_with("delete")).unwrap();
    let last_read = names.iter().rposition(|name| name.starts_with("get") || name.starts_with("list")).unwrap();
    assert!(last_read < first_change, "{names:?}");
}

#[tokio::test]
async fn search_finds_the_extra_tools() {
    let (app, _state) = app(&[]);
    let result = run(&app, "search_additional_tools", json!({"query": "raw request"})).await;
    assert_eq!(result["matches"][0]["name"], "raw_request");
}

#[tokio::test]
async fn search_without_a_match_says_what_to_do() {
    let (app, _state) = app(&[]);
    for query in ["", "   ", "zxqv wvut", "the of", "ㅁㄴㅇㄹ"] {
        let result = run(&app, "search_additional_tools", json!({"query": query})).await;
        assert_eq!(result["count"], 0, "{query:?}");
        assert_eq!(result["matches"], json!([]));
        assert!(result["hint"].is_string());
    }
}

#[tokio::test]
async fn search_limits_are_clamped() {
    let (app, _state) = app(&[]);
    for (limit, count) in [(json!(0), 1), (json!(-3), 1), (json!("2"), 2), (json!(1e30), 4)] {
        let result = run(&app, "search_additional_tools", json!({"query": "item", "limit": limit})).await;
        assert_eq!(result["count"], count, "{limit}");
    }
}

#[tokio::test]
async fn brief_matches_name_their_arguments() {
    let (app, _state) = app(&[]);
    let result =
        run(&app, "search_additional_tools", json!({"query": "add item", "limit": 1, "detail": "brief"})).await;
    let expected = json!({
        "name": "add_item",
        "description": "What it does.",
        "call": "execute_additional_tool",
        "arguments": ["request", "request.name"],
        "required": ["request"],
    });
    assert_eq!(result["matches"][0], expected);
}

#[tokio::test]
async fn search_leaves_out_what_may_not_be_called() {
    let (app, _state) = app(&[("DEMO_MCP_DENY", "add_item")]);
    let result = run(&app, "search_additional_tools", json!({"query": "add item"})).await;
    assert!(!names(&result["matches"]).contains(&"add_item"));
}

#[tokio::test]
async fn execute_calls_a_hidden_tool() {
    let url = upstream().await;
    let (app, _state) = app(&[("DEMO_BASE_URL", &url)]);
    let result = execute(&app, "add_item", json!({"request": {"name": "n"}})).await;
    assert_eq!(result["ok"], true);
    assert_eq!(result["status_code"], 200);
}

#[tokio::test]
async fn execute_sends_listed_tools_away() {
    let (app, _state) = app(&[]);
    let result = execute(&app, "list_items", json!({})).await;
    assert_eq!(result["code"], "call_directly");
    assert_eq!(result["tool_name"], "list_items");
}

#[tokio::test]
async fn execute_names_the_closest_tools() {
    let (app, _state) = app(&[]);
    let result = execute(&app, "add_itm", json!({})).await;
    assert_eq!(result["code"], "unknown_tool");
    assert_eq!(result["closest"][0], "add_item");
    assert!(result["hint"].as_str().unwrap().contains("search_additional_tools"));
}

#[tokio::test]
async fn execute_does_not_reach_the_fixed_tools() {
    let (app, _state) = app(&[]);
    let result = execute(&app, "server_health", json!({})).await;
    assert_eq!(result["code"], "unknown_tool");
    assert_eq!(result["hint"], "server_health is listed: call it itself.");
    assert!(!result.contains_key("closest"), "{result:?}");
}

#[tokio::test]
async fn execute_refuses_bad_arguments_with_the_schema() {
    let (app, _state) = app(&[]);
    let result = execute(&app, "add_item", json!({"request": {"name": 3}, "nmae": 1})).await;
    assert_eq!(result["code"], "invalid_arguments");
    assert_eq!(result["tool_name"], "add_item");
    assert!(result["validation_errors"].as_array().unwrap().len() >= 2);
    assert!(result["input_schema"]["properties"]["request"].is_object());
}

#[tokio::test]
async fn execute_takes_arguments_as_text() {
    let url = upstream().await;
    let (app, _state) = app(&[("DEMO_BASE_URL", &url)]);
    let result = execute(&app, "add_item", json!("{\"request\": {\"name\": \"n\"}}")).await;
    assert_eq!(result["ok"], true, "{result:?}");
}

#[tokio::test]
async fn execute_obeys_the_operator() {
    let (app, _state) = app(&[("DEMO_MCP_READ_ONLY", "true")]);
    for (name, arguments) in [
        ("add_item", json!({"request": {"name": "n"}})),
        ("delete_item", json!({"id": 1})),
        ("raw_request", json!({"method": "DELETE", "path": "/items/1"})),
    ] {
        assert_eq!(execute(&app, name, arguments).await["code"], "not_allowed", "{name}");
    }
}

#[tokio::test]
async fn raw_requests_reach_what_no_tool_covers() {
    let url = upstream().await;
    let (app, _state) = app(&[("DEMO_BASE_URL", &url)]);
    let result = execute(&app, "raw_request", json!({"method": "post", "path": "/unknown"})).await;
    assert_eq!(result["ok"], true, "{result:?}");
    assert_eq!(result["text"], "made");
}

#[tokio::test]
async fn raw_requests_stay_on_the_upstream() {
    let (app, _state) = app(&[]);
    for path in ["items", "//host/x", "http://host/x", "/a/../b"] {
        let result = execute(&app, "raw_request", json!({"method": "GET", "path": path})).await;
        assert_eq!(result["code"], "invalid_arguments", "{path}");
        assert_eq!(result["tool_name"], "raw_request");
    }
}

#[tokio::test]
async fn what_is_denied_by_name_is_denied_by_path() {
    let (app, _state) = app(&[("DEMO_MCP_DENY", "delete_item,get_item")]);
    for (method, path) in [
        ("DELETE", "/items/3"),
        ("delete", "/items//3/"),
        ("DELETE", "/%69tems/3?x=1"),
        ("HEAD", "/Items/3"),
        ("DELETE", "/items%2F3"),
        ("DELETE", "/%2569tems/3"),
        ("DELETE", "/x%2F..%2Fitems/3"),
        ("DELETE", "/items;v=1/3"),
    ] {
        let result = execute(&app, "raw_request", json!({"method": method, "path": path})).await;
        assert_eq!(result["code"], "not_allowed", "{method} {path}");
    }
}

#[tokio::test]
async fn what_is_masked_by_name_is_masked_by_path() {
    const SECRET: &[ToolSpec] = &[ToolSpec { secrets: &["/0/note"], ..ROWS[3] }];
    static SECRETS: Catalog = Catalog::new(SECRET);
    let (plain, _state) = app(&[("DEMO_BASE_URL", &upstream().await)]);
    let app = App::new(&SERVER, &SECRETS, plain.settings.clone()).unwrap();
    for path in ["/items", "/items?x=1"] {
        let result = execute(&app, "raw_request", json!({"method": "GET", "path": path})).await;
        assert_eq!(
            result.get("data").map(|data| &data[0]),
            Some(&json!({"id": 1, "note": "[masked]"})),
            "{path} {result:?}"
        );
    }
}

#[tokio::test]
async fn a_refusal_before_the_request_names_its_tool() {
    let (app, _state) = app(&[("DEMO_BASE_URL", "http://127.0.0.1:9")]);
    assert_eq!(execute(&app, "list_items", json!({})).await["tool_name"], "list_items");
}

#[tokio::test]
async fn a_long_query_is_not_repeated_in_full() {
    let (app, _state) = app(&[]);
    let result = run(&app, "search_additional_tools", json!({"query": "x".repeat(10_000)})).await;
    assert_eq!(result["query"].as_str().unwrap().chars().count(), 201);
}

#[tokio::test]
async fn probes_report_each_operation_without_arguments() {
    let url = upstream().await;
    let (app, _state) = app(&[("DEMO_BASE_URL", &url)]);
    let result = execute(&app, "probe_safe_endpoints", json!({"concurrency": 100})).await;
    assert_eq!(result["probed"], 2);
    assert_eq!(result["passed"], 1);
    assert_eq!(result["failed"], 1);
    assert_eq!(
        result["results"][0],
        json!({"tool": "list_items", "path": "/items", "ok": true, "status_code": 200, "error": null})
    );
    assert_eq!(result["results"][1]["status_code"], 500);
    assert_eq!(result["ok"], false);
}

#[tokio::test]
async fn health_is_the_answers_in_short() {
    let url = upstream().await;
    let (app, _state) = app(&[("DEMO_BASE_URL", &url)]);
    let result = run(&app, "server_health", json!({})).await;
    assert_eq!(result["ok"], true);
    assert_eq!(result["items"]["status_code"], 200);
    assert_eq!(result["items"]["summary"], json!({"count": 2, "first": [1, 2]}));
    assert!(result["items"].get("data").is_none());
}

#[tokio::test]
async fn health_calls_that_the_operator_denies_are_named() {
    let (app, _state) = app(&[("DEMO_MCP_DENY", "list_items")]);
    let result = run(&app, "server_health", json!({})).await;
    assert_eq!(result["code"], "not_allowed");
    assert!(result["error"].as_str().unwrap().contains("list_items"));
}

#[tokio::test]
async fn health_without_an_upstream_fails_with_its_code() {
    let (app, _state) = app(&[("DEMO_BASE_URL", "http://127.0.0.1:9")]);
    let result = run(&app, "server_health", json!({})).await;
    assert_eq!(result["code"], "upstream_unreachable");
    assert_eq!(result["items"]["ok"], false);
}

#[tokio::test]
async fn the_audit_counts_the_catalog() {
    let (app, _state) = app(&[]);
    let result = run(&app, "schema_audit", json!({})).await;
    for (member, expected) in [
        ("ok", json!(true)),
        ("swagger_paths", json!(3)),
        ("swagger_operations", json!(5)),
        ("unique_operation_names", json!(5)),
        ("exposed_operation_tools", json!(4)),
        ("additional_operation_tools", json!(1)),
        ("additional_helper_tools", json!(2)),
        ("operations_by_tag", json!({"items": 5})),
        ("operations_by_risk", json!({"read-only": 2, "compute": 1, "write": 1, "destructive": 1})),
        ("operations_without_route", json!([])),
        ("operations_served_elsewhere", json!([])),
        ("catalog_sha256", json!("abcdef0123456789")),
    ] {
        assert_eq!(result[member], expected, "{member}");
    }
}

#[tokio::test]
async fn a_live_audit_shows_what_the_document_gained_and_lost() {
    let url = upstream().await;
    let (app, _state) = app(&[("DEMO_BASE_URL", &url)]);
    let result = run(&app, "schema_audit", json!({"live": true})).await;
    assert_eq!(result["live"]["added"], json!(["POST /new"]));
    let removed = result["live"]["removed"].as_array().unwrap();
    assert!(removed.contains(&json!("GET /slow")));
    // It is described in a tool file, so that the document never had it.
    assert!(!removed.contains(&json!("DELETE /items/{id}")), "{removed:?}");
    let changed = json!([{"operation": "GET /items", "inputs": ["query limit: only in the live document, optional"]}]);
    assert_eq!((&result["live"]["changed"], &result["live"]["same_inputs"]), (&changed, &json!(false)));
}
