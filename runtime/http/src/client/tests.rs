use serde::{Deserialize, Serialize};
use toolwright_core::{Code, Tool, ToolSpec};

use super::Client;
use crate::testing::{POST_JSON, Server, Setting, answer, json_answer, tool};

#[derive(Serialize)]
struct Count {
    request: Text,
}

#[derive(Serialize)]
struct Text {
    text: &'static str,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Counted {
    tokens: u64,
}

impl Tool for Count {
    const SPEC: ToolSpec = ToolSpec { binding: toolwright_core::Binding::Http(POST_JSON), ..SPEC };
    type Output = Counted;
}

const SPEC: ToolSpec = tool(POST_JSON);

const CALL: Count = Count { request: Text { text: "안녕" } };

#[tokio::test]
async fn a_typed_call_takes_the_same_path_as_any_other() {
    let server = Server::with(json_answer(r#"{"tokens":2,"more":true}"#)).await;
    let reply = Client::new(Setting::for_server(&server).config).unwrap().call(&CALL).await.unwrap();
    assert_eq!(reply.data, Counted { tokens: 2 });
    assert_eq!(reply.envelope.status_code, Some(200));
    assert_eq!(server.only_request().text(), r#"{"text":"안녕"}"#);
}

#[tokio::test]
async fn a_failure_is_an_error() {
    let server = Server::with(answer("404 Not Found", &[], "")).await;
    let error = Client::new(Setting::for_server(&server).config).unwrap().call(&CALL).await.unwrap_err();
    assert_eq!(error.code, Code::UpstreamError);
}

#[tokio::test]
async fn an_answer_of_another_shape_says_where() {
    let server = Server::with(json_answer(r#"{"tokens":"two"}"#)).await;
    let error = Client::new(Setting::for_server(&server).config).unwrap().call(&CALL).await.unwrap_err();
    assert!(error.message.starts_with("the answer has another shape than thing: "), "{}", error.message);
}
