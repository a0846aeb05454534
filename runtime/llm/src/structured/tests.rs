use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
};

use serde_json::{Map, Value, json};
use toolwright_http::CallContext;

use super::*;
use crate::{
    request::ToolDefinition,
    testing::{Scripted, called, chunk, context, done, said},
};

/// A model that can be held to a schema, and one that cannot.
const LOCAL: &str = "qwen3";
const CLOUD: &str = "gpt-5.6";

const GOOD: &str = "{\"ok\":true}";

fn asked(strategy: Strategy) -> Structured {
    let schema = json!({
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": false
    });
    let schema = OutputSchema::new(schema).unwrap();
    Structured { strategy, ..Structured::new(schema, "Be brief.", vec![Message::user("Well?")]) }
}

async fn submit(upstream: &Arc<Scripted>, asked: &Structured) -> Result<Submitted, StructuredError> {
    submit_structured(&upstream.model(CLOUD), asked, &context()).await
}

/// The tool `look`, and how often it ran.
#[derive(Default)]
struct Look(Mutex<u32>);

impl Tools for Look {
    fn definitions(&self) -> Vec<ToolDefinition> {
        vec![ToolDefinition {
            name: "look".into(),
            description: "Looks.".into(),
            parameters: json!({"type": "object"}),
        }]
    }

    fn run<'a>(
        &'a self,
        _name: &'a str,
        _arguments: &'a Map<String, Value>,
        _context: &'a CallContext,
    ) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>> {
        *self.0.lock().unwrap() += 1;
        Box::pin(async { Ok("a cat".to_owned()) })
    }
}

impl Look {
    fn runs(&self) -> u32 {
        *self.0.lock().unwrap()
    }
}

async fn submit_looking(
    answers: impl IntoIterator<Item = String>,
    asked: &Structured,
) -> (Result<Submitted, StructuredError>, Arc<Scripted>, u32) {
    let upstream = Scripted::streaming(answers);
    let look = Look::default();
    let outcome = submit_with_tools(&upstream.model(CLOUD), asked, &look, &context()).await;
    (outcome, upstream, look.runs())
}

/// What the model was told at the end of its n-th request.
fn told(upstream: &Scripted, request: usize) -> String {
    let messages = upstream.asked()[request]["messages"].as_array().unwrap().clone();
    messages.last().unwrap()["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_tool_is_an_ordinary_one_and_the_instruction_follows_the_system_prompt() {
    let upstream = Scripted::streaming([called(&[("a", "submit_result", GOOD)])]);
    let submitted = submit(&upstream, &asked(Strategy::SubmitTool)).await.unwrap();
    assert_eq!((submitted.value, submitted.turns, submitted.failed_attempts), (json!({"ok": true}), 1, 0));
    let request = &upstream.asked()[0];
    assert_eq!(request.get("tool_choice"), None);
    assert_eq!(request["tools"][0]["function"]["name"], "submit_result");
    assert_eq!(request["tools"][0]["function"]["parameters"]["required"], json!(["ok"]));
    let system = request["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Be brief.\n\nWhen you are done, call the tool submit_result exactly once"), "{system}");
}

#[tokio::test]
async fn calls_of_other_tools_run_and_use_no_attempt() {
    let mut asked = asked(Strategy::SubmitTool);
    asked.max_attempts = NonZeroU32::MIN;
    let look = || called(&[("l", "look", "{}")]);
    let (outcome, upstream, runs) =
        submit_looking([look(), look(), called(&[("a", "submit_result", GOOD)])], &asked).await;
    assert_eq!((outcome.unwrap().failed_attempts, runs), (0, 2));
    assert_eq!(told(&upstream, 1), "a cat");
}

#[tokio::test]
async fn with_a_valid_submission_nothing_else_of_the_turn_runs() {
    let turn = called(&[("l", "look", "{}"), ("a", "submit_result", GOOD), ("b", "look", "[")]);
    let (outcome, _, runs) = submit_looking([turn], &asked(Strategy::SubmitTool)).await;
    let messages = outcome.unwrap().messages;
    assert_eq!(runs, 0);
    let results: Vec<(&str, bool)> = messages
        .iter()
        .filter_map(|message| match message {
            Message::ToolResult { call_id, is_error, .. } => Some((call_id.as_str(), *is_error)),
            _ => None,
        })
        .collect();
    assert_eq!(results, [("l", true), ("a", false), ("b", true)]);
}

#[tokio::test]
async fn an_invalid_submission_is_told_its_faults_without_what_was_given_and_other_calls_still_run() {
    let bad = called(&[("a", "submit_result", "{\"ok\":\"hush\"}"), ("l", "look", "{}")]);
    let good = called(&[("b", "submit_result", GOOD)]);
    let (outcome, upstream, runs) = submit_looking([bad, good], &asked(Strategy::SubmitTool)).await;
    assert_eq!((outcome.unwrap().failed_attempts, runs), (1, 1));
    let messages = upstream.asked()[1]["messages"].as_array().unwrap().clone();
    let fault = messages[3]["content"].as_str().unwrap();
    assert!(fault.contains("\nok: ") && fault.contains("boolean") && !fault.contains("hush"), "{fault}");
}

#[tokio::test]
async fn several_submissions_are_all_refused_with_their_number() {
    let twice = called(&[("a", "submit_result", GOOD), ("b", "submit_result", GOOD)]);
    let upstream = Scripted::streaming([twice, called(&[("c", "submit_result", GOOD)])]);
    assert_eq!(submit(&upstream, &asked(Strategy::SubmitTool)).await.unwrap().failed_attempts, 1);
    let messages = upstream.asked()[1]["messages"].as_array().unwrap().clone();
    for at in [3, 4] {
        assert!(messages[at]["content"].as_str().unwrap().contains("2 times"), "{messages:?}");
    }
}

#[tokio::test]
async fn arguments_that_cannot_be_read_go_back_empty_with_the_reason() {
    let upstream =
        Scripted::streaming([called(&[("", "submit_result", "{\"ok\":tru")]), called(&[("c", "submit_result", GOOD)])]);
    assert_eq!(submit(&upstream, &asked(Strategy::SubmitTool)).await.unwrap().failed_attempts, 1);
    let messages = upstream.asked()[1]["messages"].as_array().unwrap().clone();
    assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(messages[2]["tool_calls"][0]["id"], "invalid_0");
    let told = messages[3]["content"].as_str().unwrap();
    assert!(told.starts_with("The arguments of submit_result were not a JSON object: "), "{told}");
    assert!(!upstream.asked()[1].to_string().contains("tru\""));
}

#[tokio::test]
async fn five_turns_of_prose_are_the_end() {
    let upstream = Scripted::streaming((0..9).map(|_| said("It is so.")));
    let error = submit(&upstream, &asked(Strategy::SubmitTool)).await.unwrap_err();
    let StructuredError::NotSubmitted(failure) = error else { panic!("{error}") };
    assert_eq!((failure.tool_name.as_str(), failure.attempts), ("submit_result", 5));
    assert_eq!(
        failure.to_string(),
        "the model did not submit a valid result by \"submit_result\" within 5 attempts; the last one: it answered without the tool"
    );
    assert_eq!(upstream.asked().len(), 5);
    assert!(told(&upstream, 1).starts_with("You have not submitted a result."));
}

#[tokio::test]
async fn the_turn_under_the_schema_is_none_of_the_five() {
    let upstream = Scripted::streaming((0..9).map(|_| said("It is so.")));
    let error = submit_structured(&upstream.model(LOCAL), &asked(Strategy::Auto), &context()).await.unwrap_err();
    assert!(error.to_string().contains("within 5 attempts, after one under the schema; "), "{error}");
    assert_eq!(upstream.asked().len(), 6);
}

#[tokio::test]
async fn a_model_that_refuses_is_not_asked_on() {
    let refusal = || chunk(json!({"content": "I may not."})) + &done("content_filter");
    for (model, strategy) in [(LOCAL, Strategy::Auto), (CLOUD, Strategy::SubmitTool)] {
        let upstream = Scripted::streaming([refusal()]);
        let error = submit_structured(&upstream.model(model), &asked(strategy), &context()).await.unwrap_err();
        assert_eq!(error.to_string(), format!("the model {model:?} refused to answer; ask in other words"));
        assert_eq!(upstream.asked().len(), 1);
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_before_a_submission_is_told_as_that() {
    let cut = || chunk(json!({"content": "Well, "})) + &done("length");
    let upstream = Scripted::streaming([cut(), cut(), cut(), cut(), cut()]);
    let error = submit(&upstream, &asked(Strategy::SubmitTool)).await.unwrap_err();
    assert!(error.to_string().contains("cut at the limit of its length"), "{error}");
}

#[tokio::test]
async fn a_value_in_prose_is_no_submission() {
    let upstream = Scripted::streaming([said(GOOD), called(&[("c", "submit_result", GOOD)])]);
    assert_eq!(submit(&upstream, &asked(Strategy::SubmitTool)).await.unwrap().turns, 2);
}

#[tokio::test]
async fn attempts_are_counted_anew_in_every_run() {
    let mut asked = asked(Strategy::SubmitTool);
    asked.max_attempts = NonZeroU32::MIN.saturating_add(1);
    for _ in 0..2 {
        let upstream = Scripted::streaming([said("No."), called(&[("c", "submit_result", GOOD)])]);
        let submitted = submit(&upstream, &asked).await.unwrap();
        assert_eq!(submitted.failed_attempts, 1);
        asked.messages = submitted.messages;
    }
}

#[tokio::test]
async fn a_tool_that_does_not_exist_is_told_and_uses_an_attempt() {
    let upstream = Scripted::streaming([called(&[("x", "sub", "{}")]), called(&[("c", "submit_result", GOOD)])]);
    assert_eq!(submit(&upstream, &asked(Strategy::SubmitTool)).await.unwrap().failed_attempts, 1);
    assert_eq!(told(&upstream, 1), "There is no tool \"sub\". There are: submit_result.");
}

#[tokio::test]
async fn a_model_that_only_calls_tools_is_stopped() {
    let mut asked = asked(Strategy::SubmitTool);
    asked.max_turns = NonZeroU32::MIN.saturating_add(2);
    let (outcome, ..) = submit_looking((0..9).map(|_| called(&[("l", "look", "{}")])), &asked).await;
    assert!(matches!(outcome, Err(StructuredError::TooManyTurns { turns: 3, .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_model_that_can_be_held_to_a_schema_is_and_needs_no_tool() {
    let upstream = Scripted::streaming([said("```json\n{\"ok\":true}\n```")]);
    let submitted = submit_structured(&upstream.model(LOCAL), &asked(Strategy::Auto), &context()).await.unwrap();
    assert_eq!((submitted.value, submitted.by, submitted.turns), (json!({"ok": true}), Strategy::Constrained, 1));
    assert!(submitted.cleaned.fence);
    let request = &upstream.asked()[0];
    assert_eq!((request.get("tools"), &request["response_format"]["type"]), (None, &json!("json_schema")));
    assert_eq!(request["messages"][0]["content"], "Be brief.");
}

#[tokio::test]
async fn what_does_not_fit_the_schema_is_caught_by_the_tool() {
    let cut = chunk(json!({"content": "{\"ok\":"})) + &done("length");
    for miss in [said("{\"ok\":\"true\"}"), said("{\"ok\":true} {\"ok\":false}"), said("<think>{\"ok\":true}"), cut] {
        let upstream = Scripted::streaming([miss, called(&[("c", "submit_result", GOOD)])]);
        let submitted = submit_structured(&upstream.model(LOCAL), &asked(Strategy::Auto), &context()).await.unwrap();
        assert_eq!((submitted.by, submitted.turns, submitted.failed_attempts), (Strategy::SubmitTool, 2, 1));
        assert_eq!(upstream.asked()[1].get("response_format"), None);
    }
}

#[tokio::test]
async fn a_gateway_that_refuses_the_schema_is_asked_by_the_tool() {
    let upstream = Scripted::answering([(400, "{}".into()), (200, called(&[("c", "submit_result", GOOD)]))]);
    let submitted = submit_structured(&upstream.model(LOCAL), &asked(Strategy::Auto), &context()).await.unwrap();
    assert_eq!(submitted.by, Strategy::SubmitTool);
}

#[tokio::test]
async fn without_the_net_a_miss_is_an_error() {
    let upstream = Scripted::streaming([said("{\"ok\":1}")]);
    let error = submit_structured(&upstream.model(LOCAL), &asked(Strategy::Constrained), &context()).await.unwrap_err();
    assert!(matches!(error, StructuredError::Unfit(_)), "{error}");
    assert_eq!(upstream.asked().len(), 1);
}

#[tokio::test]
async fn a_model_that_cannot_be_held_to_a_schema_is_asked_by_the_tool_at_once() {
    let upstream = Scripted::streaming([called(&[("c", "submit_result", GOOD)])]);
    assert_eq!(submit(&upstream, &asked(Strategy::Auto)).await.unwrap().turns, 1);
    assert_eq!(upstream.asked()[0].get("response_format"), None);
}
