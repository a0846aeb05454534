//! The server of tool files, as people build it: over stdio, its one request against a mock, its handler in the process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use rmcp::model::{GetPromptRequestParams, JsonObject};
use serde_json::{Value, json};
use toolwright_e2e::{Profile, Session, build, structured};
use toolwright_mock::{Mock, Options};

/// The API that `define_word` and `compare_words` call, in its own words.
fn dictionary() -> Value {
    let text =
        |place: &str, name: &str| json!({"name": name, "in": place, "required": true, "schema": {"type": "string"}});
    let limit = json!({"name": "limit", "in": "query", "required": true, "schema": {"type": "integer", "maximum": 20}});
    let entry = json!({"type": "object", "required": ["meaning"], "properties": {"meaning": {"type": "string"}}});
    let sentences = json!({"type": "object", "required": ["sentences"], "properties": {"sentences": {"type": "array", "items": {"type": "string"}}}});
    let answer = json!({"type": "object", "required": ["entries"], "properties": {"entries": {"type": "array", "items": entry}}});
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Dictionary", "version": "1"},
        "paths": {
            "/entries/{word}": {"get": {
                "parameters": [text("path", "word"), text("query", "lang"), limit],
                "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": answer}}}},
            }},
            "/examples/{word}": {"get": {
                "parameters": [text("path", "word"), text("query", "with")],
                "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": sentences}}}},
            }},
        },
    })
}

async fn session(mock: &Mock, home: &tempfile::TempDir) -> Session {
    let mut command = tokio::process::Command::new(build("starter-server", Profile::Dev).unwrap());
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path())
        .env("STARTER_BASE_URL", mock.url())
        .env("STARTER_WORDS_PER_MINUTE", "60")
        .kill_on_drop(true)
        .arg("stdio");
    Session::over_stdio(command).await.unwrap()
}

fn object(value: Value) -> JsonObject {
    value.as_object().cloned().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_of_the_starter_answers_over_stdio() {
    let mock = Mock::start(&dictionary(), Options::default()).unwrap();
    let home = tempfile::tempdir().unwrap();
    let session = session(&mock, &home).await;

    let tools = session.list().await.unwrap();
    let find =
        |name: &str| tools.iter().find(|tool| tool.name == name).unwrap_or_else(|| panic!("{name} is not listed"));
    let output = json!(find("measure_text").output_schema);
    assert_eq!(output["properties"]["data"]["properties"]["words"]["type"], "integer");
    assert!(find("define_word").output_schema.is_none(), "what an API answers is promised to nobody");

    let measured = session.call("measure_text", json!({"text": "One two. Three!"})).await.unwrap();
    let measured = structured(&measured);
    assert_eq!(measured["data"]["sentences"], 2, "{measured}");
    assert_eq!(measured["data"]["reading_seconds"], 3, "the setting from the environment counts");

    let defined = session.call("define_word", json!({"word": "as/is", "most": 3})).await.unwrap();
    let defined = structured(&defined);
    assert_eq!(defined["ok"], true, "{defined}");
    assert!(defined["data"]["entries"].is_array(), "{defined}");

    let timed = session.call("reading_time", json!({"words": 2300})).await.unwrap();
    assert_eq!(structured(&timed)["data"], json!({"minutes": 11, "is_long": true}));

    let compared = session.call("compare_words", json!({"first": "as/is", "second": "such as"})).await.unwrap();
    let compared = structured(&compared);
    assert!(compared["data"]["first"].is_string() && compared["data"]["second"].is_string(), "{compared}");
    assert!(compared["data"]["examples"].is_array(), "{compared}");
    assert!(find("compare_words").annotations.as_ref().is_some_and(|hints| hints.read_only_hint == Some(true)));
    assert!(mock.violations().is_empty(), "{:?}", mock.violations());

    let prompt = GetPromptRequestParams::new("tighten").with_arguments(object(json!({"text": "So {words} it is."})));
    let prompt = json!(session.peer().get_prompt(prompt).await.unwrap());
    let said = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(said.contains("at most 100 words") && !said.contains("as they are"), "{said}");
    assert!(prompt["messages"][1]["content"]["resource"]["text"].as_str().unwrap().starts_with("# House style"));
    assert_eq!(prompt["messages"][2]["content"]["text"], "So {words} it is.");

    let entries = json!(session.read("starter://words/as%2Fis").await.unwrap());
    let entries: Value = serde_json::from_str(entries["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert!(entries[0]["meaning"].is_string(), "{entries}");
    assert!(mock.violations().is_empty(), "{:?}", mock.violations());

    let refused = session.call("measure_text", json!({"txt": "a"})).await.unwrap();
    assert_eq!(structured(&refused)["code"], "invalid_arguments");
    session.close().await.unwrap();
}
