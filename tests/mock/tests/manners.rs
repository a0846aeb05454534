//! Keys, limits, the admin doors, and what the mock remembers.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod client;

use client::{client, serve, swagger, violations};
use serde_json::{Value, json};
use std::time::Duration;
use toolwright_mock::{Fault, Kind, Mock, Options, Outcome};

fn ping() -> Value {
    swagger("/ping", "get", json!({"responses": {"200": {"schema": {"type": "string"}}}}))
}

async fn json_of(url: String) -> Value {
    serde_json::from_slice(&client().get(url).send().await.unwrap().bytes().await.unwrap()).unwrap()
}

#[tokio::test]
async fn requests_are_kept_as_they_were_sent() {
    let mock = serve(swagger("/m/{name}", "get", json!({"responses": {}})));
    client().get(format!("{}/m/org%2Fmodel%20x?q=%ED%95%9C", mock.url())).header("X-Mine", "1").send().await.unwrap();
    let request = &mock.requests()[0];
    assert_eq!((request.path.as_str(), request.query.as_deref()), ("/m/org%2Fmodel%20x", Some("q=%ED%95%9C")));
    assert_eq!((request.operation.as_deref(), request.header("x-mine")), (Some("GET /m/{name}"), Some("1")));
}

#[tokio::test]
async fn a_key_is_demanded_when_one_is_set() {
    let mock = Mock::start(&ping(), Options { bearer: Some("s3cret".into()), ..Options::default() }).unwrap();
    let get = || client().get(format!("{}/ping", mock.url()));
    let refused = get().send().await.unwrap();
    assert_eq!(refused.status(), 401);
    let body: Value = serde_json::from_slice(&refused.bytes().await.unwrap()).unwrap();
    assert_eq!(body["error"]["code"], 401);
    assert_eq!(get().bearer_auth("s3cret").send().await.unwrap().status(), 200);
    assert_eq!(get().header("x-api-key", "s3cret").send().await.unwrap().status(), 200);
    assert_eq!(violations(&mock), [(Kind::Credentials, "header authorization".into())]);
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_413() {
    let document =
        swagger("/a", "post", json!({"parameters": [{"in": "body", "name": "b", "schema": {}}], "responses": {}}));
    let mock = Mock::start(&document, Options { body_limit: Some(10), ..Options::default() }).unwrap();
    let post = |size: usize| {
        client()
            .post(format!("{}/a", mock.url()))
            .header("content-type", "application/json")
            .body(format!("\"{}\"", "x".repeat(size - 2)))
    };
    assert_eq!(post(10).send().await.unwrap().status(), 200);
    assert_eq!(post(11).send().await.unwrap().status(), 413);
}

#[tokio::test]
async fn a_strict_mock_refuses_what_breaks_the_document() {
    let mock = Mock::start(&ping(), Options { refuse: true, ..Options::default() }).unwrap();
    let answer = client().get(format!("{}/ping?x=1", mock.url())).send().await.unwrap();
    assert_eq!(answer.status(), 400);
    assert!(answer.text().await.unwrap().contains("query x: is not declared"));
}

#[tokio::test]
async fn a_client_that_leaves_is_noticed() {
    let mock = serve(ping());
    mock.fault("*", Fault::Delay(60_000), 1);
    let request = client().get(format!("{}/ping", mock.url())).timeout(Duration::from_millis(100)).send();
    assert!(request.await.is_err());
    for _ in 0..100 {
        if mock.requests()[0].outcome == Outcome::Aborted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the mock did not notice");
}

#[tokio::test]
async fn a_finished_exchange_is_complete_and_counted() {
    let mock = serve(ping());
    client().get(format!("{}/ping", mock.url())).send().await.unwrap().bytes().await.unwrap();
    assert_eq!((mock.requests()[0].outcome, mock.most_open()), (Outcome::Complete, 1));
}

#[tokio::test]
async fn clear_forgets_everything() {
    let mock = serve(ping());
    mock.fault("*", Fault::NullBody, 5);
    client().get(format!("{}/nowhere", mock.url())).send().await.unwrap();
    mock.clear();
    assert!(mock.requests().is_empty() && mock.violations().is_empty());
    assert_eq!(client().get(format!("{}/ping", mock.url())).send().await.unwrap().text().await.unwrap(), "\"sample\"");
}

#[tokio::test]
async fn faults_and_records_can_be_reached_over_http() {
    let mock = serve(ping());
    let plan = json!({"operation": "GET /ping", "fault": {"status": {"code": 503, "retry_after": 1}}, "times": 1});
    let planned = client().post(format!("{}/__mock/faults", mock.url())).body(plan.to_string()).send().await.unwrap();
    assert_eq!(planned.status(), 204);
    assert_eq!(client().get(format!("{}/ping?x=1", mock.url())).send().await.unwrap().status(), 503);
    assert_eq!(json_of(format!("{}/__mock/requests", mock.url())).await[0]["path"], "/ping");
    assert_eq!(json_of(format!("{}/__mock/violations", mock.url())).await[0]["kind"], "undeclared");
    assert_eq!(json_of(format!("{}/__mock/operations", mock.url())).await, json!(["GET /ping"]));
    let nonsense = client().post(format!("{}/__mock/faults", mock.url())).body("{}").send().await.unwrap();
    assert_eq!(nonsense.status(), 400);
}

#[tokio::test]
async fn big_answers_are_made_while_they_are_sent() {
    let mock = serve(ping());
    let answer = client().get(format!("{}/__mock/big?bytes=5000000&length=1", mock.url())).send().await.unwrap();
    assert_eq!(answer.headers()["content-length"], "5000000");
    assert_eq!(answer.bytes().await.unwrap().len(), 5_000_000);
}

#[tokio::test]
async fn a_stopped_mock_refuses_connections() {
    let mock = serve(ping());
    let url = mock.url();
    tokio::task::spawn_blocking(|| mock.stop()).await.unwrap();
    assert!(client().get(format!("{url}/ping")).send().await.is_err());
}

#[tokio::test]
async fn the_base_path_belongs_to_every_operation() {
    let mut document = ping();
    document["basePath"] = json!("/v2");
    let mock = serve(document);
    assert_eq!(mock.base_url(), format!("{}/v2", mock.url()));
    assert_eq!(client().get(format!("{}/ping", mock.base_url())).send().await.unwrap().status(), 200);
    assert_eq!(client().get(format!("{}/ping", mock.url())).send().await.unwrap().status(), 404);
}

#[test]
fn the_program_prints_its_address_and_stops_by_itself() {
    let folder = std::env::temp_dir().join(format!("toolwright-mock-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let document = folder.join("ping.yaml");
    std::fs::write(
        &document,
        "swagger: '2.0'\nbasePath: /v2\npaths: {/ping: {get: {responses: {200: {description: ok}}}}}\n",
    )
    .unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_toolwright-mock"))
        .arg(&document)
        .args(["--stop-after", "0"])
        .output()
        .unwrap();
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("http://127.0.0.1:"), "{printed}");
    assert_eq!(lines[1..], [format!("base: {}/v2", lines[0])]);
    std::fs::remove_dir_all(folder).unwrap();
}
