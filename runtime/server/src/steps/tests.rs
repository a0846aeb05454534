//! Plans against a small API: what is called, what comes back, and what a failure says.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tempfile::{TempDir, tempdir};
use tokio::sync::mpsc;
use toolwright_core::{Binding, Catalog, Risk, ToolSpec};
use toolwright_http::{CallContext, Progress};

use crate::App;
use crate::settings::SettingValue as _;
use crate::testing::{ROWS, SERVER, Upstream, settings};

const ANY: &str = r#"{"type":"object","properties":{"id":{"type":"integer"}}}"#;

const fn steps(name: &'static str, plan: &'static str) -> ToolSpec {
    ToolSpec { name, risk: Risk::Write, input_schema: ANY, binding: Binding::Steps(plan), ..ROWS[3] }
}

static CATALOG: Catalog = Catalog::new(TOOLS);

const TOOLS: &[ToolSpec] = &[
    ROWS[0],
    steps(
        "chain",
        r##"{"steps":[
            {"id":"list","call":{"tool":{"name":"list_items"}},"outputs":{"id":"$response.body#/0/id","status":"$statusCode"}},
            {"id":"get","call":{"request":{"method":"GET","path":"/items/{$steps.list.outputs.id}","reads":true}},
             "outputs":{"id":"$response.body#/id","type":"$response.header.Content-Type"}},
            {"id":"add","call":{"tool":{"name":"add_item","arguments":{"request":{"name":"copy of {$steps.get.outputs.id}","no":"$inputs.id"}}}},
             "outputs":{"name":"$response.body#/name","body":"$response.body"}}],
          "outputs":{"name":"$steps.add.outputs.name","type":"$steps.get.outputs.type","body":"$steps.add.outputs.body"},
          "project":"{name, type, body}"}"##,
    ),
    ROWS[1],
    steps("denied", r#"{"steps":[{"id":"drop","call":{"tool":{"name":"delete_item","arguments":{"id":1}}}}]}"#),
    steps(
        "denied_path",
        r#"{"steps":[{"id":"drop","call":{"request":{"method":"DELETE","path":"/items/1","reads":false}}}]}"#,
    ),
    ToolSpec {
        input_schema: r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a"]}"#,
        result_schema: Some(r#"{"type":"integer"}"#),
        ..ToolSpec { name: "divide", binding: Binding::Expression(".a / (.b // 1)"), ..ROWS[3] }
    },
    steps(
        "end_early",
        r##"{"steps":[
            {"id":"get","call":{"tool":{"name":"get_item","arguments":{"id":"$inputs.id"}}},
             "success":[{"condition":"$statusCode == 200 || $statusCode == 404"}],
             "outputs":{"found":"$statusCode"},
             "on_success":[{"next":"end","criteria":[{"condition":"$statusCode == 404"}]}]},
            {"id":"drop","call":{"tool":{"name":"delete_item","arguments":{"id":1}}}}]}"##,
    ),
    steps(
        "fails_late",
        r##"{"steps":[
            {"id":"add","call":{"tool":{"name":"add_item","arguments":{"request":{"name":"x"}}}}},
            {"id":"get","call":{"tool":{"name":"get_item","arguments":{"id":404}}}}]}"##,
    ),
    ToolSpec { name: "forever", deadline_seconds: Some(1), binding: Binding::Expression("def f: f; f"), ..ROWS[3] },
    ROWS[2],
    ROWS[3],
    steps(
        "loops",
        r##"{"steps":[{"id":"again","call":{"tool":{"name":"list_items"}},"on_success":[{"next":{"goto":"again"}}]}]}"##,
    ),
    steps(
        "never_sent",
        r##"{"steps":[{"id":"get","call":{"request":{"method":"GET","path":"/items/{$inputs.id}/x","reads":true}}}]}"##,
    ),
    steps(
        "picky",
        r##"{"steps":[{"id":"list","call":{"tool":{"name":"list_items"}},
            "success":[{"condition":"length > 5","kind":"jq","context":"$response.body"}],
            "on_failure":[{"next":{"retry":{"after":0.0,"limit":2}}}]}]}"##,
    ),
    steps(
        "slow",
        r##"{"steps":[{"id":"list","call":{"tool":{"name":"list_items"}}},{"id":"slow","call":{"tool":{"name":"slow_report"}}}]}"##,
    ),
    ROWS[4],
    steps("wrong", r##"{"steps":[{"id":"get","call":{"tool":{"name":"get_item","arguments":{"id":"one"}}}}]}"##),
];

struct Running {
    app: Arc<App>,
    api: Upstream,
    _state: TempDir,
}

async fn running(change: impl FnOnce(&mut crate::settings::Settings)) -> Running {
    let (state, api) = (tempdir().unwrap(), Upstream::start().await);
    let mut settings = settings(&state);
    settings.base_url = crate::settings::BaseUrl::read(&api.url()).unwrap();
    change(&mut settings);
    Running { app: App::new(&SERVER, &CATALOG, settings).unwrap(), api, _state: state }
}

impl Running {
    async fn call(&self, name: &str, arguments: Value) -> Value {
        self.call_in(name, arguments, &CallContext::within(Duration::from_secs(20))).await
    }

    async fn call_in(&self, name: &str, arguments: Value, context: &CallContext) -> Value {
        let arguments: Map<String, Value> = arguments.as_object().unwrap().clone();
        let envelope = self.app.operation(CATALOG.find(name).unwrap(), arguments, context).await;
        Value::Object(envelope.into_json())
    }
}

async fn called(name: &str, arguments: Value) -> Value {
    running(|_| ()).await.call(name, arguments).await
}

#[tokio::test]
async fn each_step_sees_what_came_before_it() {
    let result = called("chain", json!({"id": 9})).await;
    let expected = json!({"name": "copy of 1", "type": "application/json", "body": {"name": "copy of 1", "no": 9}});
    assert_eq!(result["data"], expected, "{result}");
    assert_eq!((&result["ok"], result.get("status_code"), result.get("warnings")), (&json!(true), None, None));
}

#[tokio::test]
async fn what_has_no_value_is_not_sent() {
    let result = called("chain", json!({})).await;
    assert_eq!(result["data"]["body"], json!({"name": "copy of 1"}), "{result}");
}

#[tokio::test]
async fn a_path_around_nothing_is_never_sent() {
    let result = called("never_sent", json!({})).await;
    assert_eq!(result["code"], "invalid_arguments");
    assert!(result["error"].as_str().unwrap().contains("`$inputs.id` has no value"), "{result}");
}

#[tokio::test]
async fn a_failure_names_its_step_and_what_was_done() {
    let result = called("fails_late", json!({})).await;
    assert_eq!((&result["ok"], &result["status_code"]), (&json!(false), &json!(404)));
    assert_eq!((&result["failed_step"], &result["steps_done"]), (&json!("get"), &json!(["add"])));
    let error = result["error"].as_str().unwrap();
    assert!(error.starts_with("the step get failed: "), "{error}");
    assert!(error.ends_with("done before it and not undone: add"), "{error}");
}

#[tokio::test]
async fn arguments_of_a_step_are_checked_as_those_of_any_call() {
    let result = called("wrong", json!({})).await;
    assert_eq!((&result["code"], &result["tool_name"]), (&json!("invalid_arguments"), &json!("wrong")), "{result}");
}

#[tokio::test]
async fn a_tool_that_the_operator_denies_is_denied_as_a_step() {
    let running = running(|settings| settings.deny.0 = vec!["delete_item".into()]).await;
    for name in ["denied", "denied_path"] {
        let result = running.call(name, json!({})).await;
        assert_eq!(result["code"], "not_allowed", "{name}: {result}");
    }
    assert_eq!(running.api.seen.changes.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn criteria_decide_what_a_success_is_and_where_it_ends() {
    let running = running(|_| ()).await;
    let result = running.call("end_early", json!({"id": 404})).await;
    assert_eq!((&result["ok"], &result["data"]), (&json!(true), &json!({"get": {"found": 404}})), "{result}");
    assert_eq!(running.api.seen.changes.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_step_is_repeated_as_often_as_it_may() {
    let running = running(|_| ()).await;
    let result = running.call("picky", json!({})).await;
    assert_eq!(running.api.seen.users.lock().unwrap().len(), 3, "once, and two repetitions");
    assert!(result["error"].as_str().unwrap().contains("`length > 5` does not hold"), "{result}");
}

#[tokio::test]
async fn a_circle_ends() {
    let result = called("loops", json!({})).await;
    assert!(result["error"].as_str().unwrap().contains("100 calls"), "{result}");
}

#[tokio::test]
async fn one_deadline_is_over_all_steps_and_cancellation_reaches_the_one_at_hand() {
    let running = running(|_| ()).await;
    let context = CallContext::within(Duration::from_secs(20));
    let (call, cancel) = (running.call_in("slow", json!({}), &context), context.cancel.clone());
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(call, stop);
    assert_eq!((&result["code"], &result["failed_step"]), (&json!("cancelled"), &json!("slow")), "{result}");
    let result = running.call("slow", json!({})).await;
    assert_eq!((&result["code"], &result["steps_done"]), (&json!("deadline"), &json!(["list"])), "{result}");
}

#[tokio::test]
async fn progress_names_each_step() {
    let running = running(|_| ()).await;
    let (sender, mut updates) = mpsc::channel(16);
    let context = CallContext { progress: Progress::to(sender), ..CallContext::within(Duration::from_secs(20)) };
    running.call_in("fails_late", json!({}), &context).await;
    drop(context);
    let mut told = Vec::new();
    while let Some(update) = updates.recv().await {
        told.push(update.message);
    }
    assert_eq!(told, ["add: step 1 of 2", "get: step 2 of 2"]);
}

#[tokio::test]
async fn an_expression_is_evaluated_over_the_arguments() {
    assert_eq!(called("divide", json!({"a": 6, "b": 3})).await["data"], 2.0);
}

#[tokio::test]
async fn an_expression_that_fails_or_makes_another_shape_is_a_failure() {
    let failed = called("divide", json!({"a": 6, "b": 0})).await;
    assert_eq!(failed["code"], "handler_failed", "{failed}");
    let other = called("divide", json!({"a": 1, "b": 2})).await;
    assert!(other["error"].as_str().unwrap().contains("not of the shape"), "{other}");
}

#[tokio::test]
async fn an_expression_that_never_ends_is_left_at_the_deadline() {
    let result = called("forever", json!({})).await;
    assert_eq!(result["code"], "deadline", "{result}");
}

#[tokio::test]
async fn a_tool_with_a_destructive_step_asks_once_before_its_first_step() {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut settings = settings(&state);
    settings.base_url = crate::settings::BaseUrl::read(&upstream.url()).unwrap();
    settings.exposed_tools = crate::settings::Exposed::Everything;
    settings.confirm = crate::settings::Confirm::Destructive;
    let app = App::new(&SERVER, &CATALOG, settings).unwrap();
    let mut wire = crate::testing::Wire::open(&app);
    let mut call = json!({"name": "end_early", "arguments": {"id": 1}});
    let forms = json!({"elicitation": {}});
    let first = wire.ask_modern_with("tools/call", call.clone(), forms.clone()).await;
    assert!(first["result"]["inputRequests"]["confirm_1"].is_object(), "{first}");
    assert_eq!(upstream.seen.changes.load(Ordering::SeqCst), 0);
    call["requestState"] = first["result"]["requestState"].clone();
    call["inputResponses"] = json!({"confirm_1": {"action": "accept"}});
    let second = wire.ask_modern_with("tools/call", call, forms).await;
    assert_eq!(second["result"]["structuredContent"]["ok"], true, "{second}");
    assert_eq!(upstream.seen.changes.load(Ordering::SeqCst), 1);
}
