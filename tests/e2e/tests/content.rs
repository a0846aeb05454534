//! What the LocalAI server offers beside its tools, against the mock.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use rmcp::model::{GetPromptRequestParams, JsonObject};
use serde_json::{Value, json};
use toolwright_core::content::{Content, MessageContent, Piece};
use toolwright_e2e::Stage;

fn object(value: Value) -> JsonObject {
    value.as_object().cloned().unwrap()
}

/// Words of a text that are written as tools are named.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '_');
    words.filter(|word| word.contains('_'))
}

#[test]
fn prompts_name_tools_that_there_are() {
    let fixed = localai_tools::SERVER.fixed_tools.iter().map(|tool| tool.name);
    let known: Vec<&str> = fixed.chain(localai_tools::TOOLS.tools().iter().map(|tool| tool.name)).collect();
    let mut named = 0;
    for message in localai_tools::SERVER.prompts.iter().flat_map(|prompt| prompt.messages) {
        let MessageContent::Text(pieces) = message.content else { continue };
        for piece in pieces {
            let Piece::Text(text) = piece else { continue };
            for name in names(text) {
                assert!(known.contains(&name), "{name} in {text}");
                named += 1;
            }
        }
    }
    assert!(named > 10, "{named}");
}

#[tokio::test]
async fn every_resource_and_template_is_read_as_the_api_has_it() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[]).await.unwrap();
    let listed = session.peer().list_all_resources().await.unwrap();
    let templates = session.peer().list_all_resource_templates().await.unwrap();
    assert_eq!((listed.len(), templates.len()), (3, 3));
    let value = |template: &str| match template.contains("{topic}") {
        true => template.replace("{topic}", "chat-inference"),
        false => template.replace("{model}", "%ED%95%9C%EA%B5%AD%EC%96%B4-%EB%AA%A8%EB%8D%B8"),
    };
    let filled = templates.iter().map(|template| value(&template.uri_template));
    for uri in listed.iter().map(|resource| resource.uri.clone()).chain(filled) {
        let read = json!(session.read(&uri).await.unwrap_or_else(|error| panic!("{uri}: {error}")));
        let contents = &read["contents"][0];
        assert_eq!(contents["uri"], uri);
        assert!(!contents["text"].as_str().unwrap().is_empty(), "{read}");
    }
    assert!(stage.mock.violations().is_empty(), "{:?}", stage.mock.violations());
}

#[tokio::test]
async fn names_of_models_topics_and_gallery_entries_complete() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[]).await.unwrap();
    let peer = session.peer();
    let models = peer.complete_prompt_simple("diagnose_model", "model", "").await.unwrap();
    assert_eq!(models, ["gemma-3-4b-it", "whisper-large-v3", "한국어-모델"]);
    assert_eq!(peer.complete_prompt_simple("chat_with_model", "model", "WHIS").await.unwrap(), ["whisper-large-v3"]);
    let topics = peer.complete_resource_simple("localai://guides/{topic}", "topic", "a").await.unwrap();
    assert_eq!(topics, ["audio", "agents"]);
    assert!(!peer.complete_prompt_simple("install_model", "model", "").await.unwrap().is_empty());
    assert!(stage.mock.violations().is_empty(), "{:?}", stage.mock.violations());
}

#[tokio::test]
async fn a_prompt_without_its_optional_arguments_has_no_gap() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[]).await.unwrap();
    let arguments = object(json!({"model": "gemma-3-4b-it"}));
    let request = GetPromptRequestParams::new("diagnose_model").with_arguments(arguments);
    let prompt = json!(session.peer().get_prompt(request).await.unwrap());
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.starts_with("The model gemma-3-4b-it of this LocalAI server"), "{text}");
    assert!(!text.contains("What I see"), "{text}");
}

#[tokio::test]
async fn what_the_operator_denies_is_neither_listed_nor_read() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[("LOCALAI_MCP_DENY", "get_backend_logs")]).await.unwrap();
    let templates = session.peer().list_all_resource_templates().await.unwrap();
    assert!(templates.iter().all(|template| !template.uri_template.ends_with("/log")), "{templates:?}");
    let error = session.read("localai://models/gemma-3-4b-it/log").await.unwrap_err().to_string();
    assert!(error.contains("get_backend_logs is on this server's list of denied tools"), "{error}");
}

#[test]
fn resources_of_tools_are_read_only() {
    for resource in localai_tools::SERVER.resources {
        let Content::Answer(answer) = resource.content else { continue };
        let tool = localai_tools::TOOLS.find(answer.tool).unwrap();
        assert!(tool.risk.leaves_state(), "{}", resource.name);
    }
}
