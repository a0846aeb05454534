//! JSON bodies whose members are arguments.

use serde_json::{Map, Value, json};
use toolwright_core::{
    Body, Code, HttpBinding, Location, Member, Method, Parameter, Style, ToolSpec, arguments::Checker,
};

use crate::testing::{GET, Request, Server, Setting, answer, json_answer, parameter, tool};

const fn member(argument: &'static str, wire: &'static str, required: bool) -> Member {
    Member { argument, wire, required }
}

const MEMBERS: &[Member] = &[member("name", "name", true), member("page_size", "pageSize", false)];

const fn posting(required: bool) -> ToolSpec {
    let body = Body::Object { media_type: "application/merge-patch+json", required, members: MEMBERS };
    tool(HttpBinding { method: Method::Post, body, ..GET })
}

async fn sent(spec: &ToolSpec, arguments: &str) -> Request {
    let server = Server::with(json_answer("{}")).await;
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    let envelope = Setting::for_server(&server).call(spec, arguments).await;
    assert!(envelope.ok, "{:?}", envelope.error);
    server.only_request()
}

#[tokio::test]
async fn members_that_are_given_make_the_object_under_their_names_on_the_wire() {
    let seen = sent(&posting(true), r#"{"page_size": 3, "name": "n"}"#).await;
    assert_eq!(seen.header("content-type"), Some("application/merge-patch+json"));
    assert_eq!(seen.text(), r#"{"name":"n","pageSize":3}"#);
}

#[tokio::test]
async fn values_are_sent_digit_by_digit_and_null_is_a_value() {
    let seen = sent(&posting(true), r#"{"name": null, "page_size": [12345678901234567890123, 1.10]}"#).await;
    assert_eq!(seen.text(), r#"{"name":null,"pageSize":[12345678901234567890123,1.10]}"#);
}

#[tokio::test]
async fn without_members_a_required_body_is_an_empty_object_and_an_optional_one_is_not_sent() {
    const FREE: Body =
        Body::Object { media_type: "application/json", required: true, members: &[member("a", "a", false)] };
    assert_eq!(sent(&tool(HttpBinding { method: Method::Post, body: FREE, ..GET }), "{}").await.text(), "{}");
    let none = sent(&posting(false), "{}").await;
    assert_eq!((none.header("content-type"), none.text().as_str()), (None, ""));
}

#[tokio::test]
async fn an_optional_body_without_what_it_needs_is_refused() {
    let server = Server::with(json_answer("{}")).await;
    let envelope = Setting::for_server(&server).call(&posting(false), json!({"page_size": 3})).await;
    assert_eq!(envelope.code(), Some(Code::InvalidArguments));
    assert_eq!(envelope.error.unwrap().message, "`name` is required where any member of the body is given");
    assert_eq!(server.requests().len(), 0);
}

/// A path, a query parameter and a member of one name, as `generator/tests/flattened.rs` has them.
const MOVE_THING: ToolSpec = tool(HttpBinding {
    method: Method::Put,
    path: "/things/{id}",
    parameters: &[
        Parameter { argument: "id_path", ..parameter("id", Location::Path, Style::Simple, false) },
        Parameter { argument: "id_query", ..parameter("id", Location::Query, Style::Form, true) },
    ],
    body: Body::Object {
        media_type: "application/json",
        required: true,
        members: &[member("id_body", "id", true), member("place", "place", true)],
    },
    ..GET
});

#[tokio::test]
async fn one_name_in_path_query_and_body_goes_to_each_place() {
    let server = Server::with(answer("204 No Content", &[], "")).await;
    let arguments = json!({"id_path": "a/1", "id_query": 7, "id_body": "b", "place": "x"});
    let envelope = Setting::for_server(&server).call(&MOVE_THING, arguments).await;
    assert!(envelope.ok, "{:?}", envelope.error);
    assert_eq!(envelope.status_code, Some(204));
    let seen = server.only_request();
    assert_eq!(seen.line, "PUT /things/a%2F1?id=7 HTTP/1.1");
    assert_eq!(seen.text(), r#"{"id":"b","place":"x"}"#);
}

/// The arguments that are sent where these are given.
fn completed(required: bool, arguments: Value) -> Map<String, Value> {
    const SCHEMA: &str = r#"{"type":"object","properties":{"name":{"type":"string"},"page_size":{"default":10}}}"#;
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let spec = ToolSpec { input_schema: SCHEMA, ..posting(required) };
    Checker::new(&spec).unwrap().check(arguments).unwrap().arguments
}

#[test]
fn defaults_complete_a_body_and_make_none_where_none_has_to_be_sent() {
    assert_eq!(Value::Object(completed(true, json!({}))), json!({"page_size": 10}));
    assert_eq!(Value::Object(completed(false, json!({"name": "n"}))), json!({"name": "n", "page_size": 10}));
    assert_eq!(Value::Object(completed(false, json!({}))), json!({}));
}
