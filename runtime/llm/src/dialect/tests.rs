use serde_json::{Value, json};

use super::*;
use crate::{
    answer::{StopReason, Usage},
    request::{Arguments, Message, ToolCall, ToolDefinition, Turn},
};

const DIALECTS: [Dialect; 3] = [Dialect::OpenAi, Dialect::Anthropic, Dialect::Ollama];

fn spec() -> ModelSpec {
    ModelSpec { temperature: Temperature::Zero, ..crate::catalogue::inferred("m") }
}

fn body(dialect: Dialect, request: &Request) -> Value {
    body_with(dialect, request, &spec(), None)
}

fn body_with(dialect: Dialect, request: &Request, spec: &ModelSpec, effort: Option<Effort>) -> Value {
    let max_output_tokens = request.max_output_tokens;
    dialect.body(&Outgoing { model: "m", request, spec, effort, max_output_tokens, asks_for_usage: true })
}

fn asking(messages: Vec<Message>) -> Request {
    Request { system: "Be brief.".into(), messages, ..Request::default() }
}

/// A turn with one call that could be read and one that could not, and what became of them.
fn history() -> Vec<Message> {
    let call = |id: &str, arguments: Arguments| ToolCall {
        id: id.into(),
        name: "add".into(),
        arguments,
        extra: Default::default(),
    };
    let read = Arguments::Object(json!({"a": 1}).as_object().unwrap().clone());
    let unread = Arguments::Unreadable { reason: "they are not JSON".into() };
    let result = |id: &str, is_error: bool| Message::ToolResult {
        call_id: id.into(),
        tool_name: "add".into(),
        content: "3".into(),
        is_error,
    };
    vec![
        Message::user("Add."),
        Message::Assistant(Turn { calls: vec![call("c1", read), call("c2", unread)], ..Turn::default() }),
        result("c1", false),
        result("c2", true),
    ]
}

#[test]
fn each_dialect_has_its_path_beside_or_below_that_of_the_base_url() {
    let at = |dialect: Dialect, base: &str| dialect.endpoint(&Url::parse(base).unwrap()).to_string();
    assert_eq!(at(Dialect::OpenAi, "http://h"), "http://h/v1/chat/completions");
    assert_eq!(at(Dialect::OpenAi, "http://h/api/v1/"), "http://h/api/v1/chat/completions");
    assert_eq!(at(Dialect::OpenAi, "http://h/v1beta/openai"), "http://h/v1beta/openai/chat/completions");
    assert_eq!(at(Dialect::Anthropic, "http://h/v1"), "http://h/v1/messages");
    assert_eq!(at(Dialect::Anthropic, "http://h/gw"), "http://h/gw/v1/messages");
    assert_eq!(at(Dialect::Ollama, "http://h/v1"), "http://h/api/chat");
}

#[test]
fn a_provider_gets_the_key_in_its_own_place_and_a_gateway_in_both() {
    let names = |dialect: Dialect, is_gateway: bool| {
        let mut headers = HeaderMap::new();
        dialect.add_headers(&mut headers, Some(&Secret::new("k")), is_gateway).unwrap();
        assert!(!format!("{headers:?}").contains("Bearer k"));
        (headers.contains_key("authorization"), headers.contains_key("x-api-key"))
    };
    assert_eq!(names(Dialect::OpenAi, false), (true, false));
    assert_eq!(names(Dialect::Anthropic, false), (false, true));
    assert_eq!(names(Dialect::Anthropic, true), (true, true));
}

#[test]
fn every_question_is_streamed_and_no_tool_is_forced() {
    for dialect in DIALECTS {
        let tool = ToolDefinition { name: "add".into(), description: "Adds.".into(), parameters: json!({}) };
        let sent = body(dialect, &Request { tools: vec![tool], ..asking(vec![Message::user("Hi")]) });
        assert_eq!(sent["stream"], true);
        assert_eq!(sent.get("tool_choice"), None);
        assert_eq!(sent["tools"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn openai_gets_arguments_as_a_text_and_the_others_as_an_object() {
    let request = asking(history());
    let sent = body(Dialect::OpenAi, &request);
    assert_eq!(sent["messages"][2]["tool_calls"][0]["function"]["arguments"], json!("{\"a\":1}"));
    assert_eq!(sent["messages"][3], json!({"role": "tool", "tool_call_id": "c1", "content": "3"}));
    let sent = body(Dialect::Ollama, &request);
    assert_eq!(sent["messages"][2]["tool_calls"][0]["function"]["arguments"], json!({"a": 1}));
    assert_eq!(sent["messages"][3], json!({"role": "tool", "tool_name": "add", "content": "3"}));
    let sent = body(Dialect::Anthropic, &request);
    assert_eq!(sent["messages"][1]["content"][0]["input"], json!({"a": 1}));
}

#[test]
fn arguments_that_could_not_be_read_go_back_empty() {
    let request = asking(history());
    assert_eq!(body(Dialect::OpenAi, &request)["messages"][2]["tool_calls"][1]["function"]["arguments"], json!("{}"));
    assert_eq!(body(Dialect::Anthropic, &request)["messages"][1]["content"][1]["input"], json!({}));
}

#[test]
fn anthropic_gets_all_results_of_a_turn_in_one_message_and_no_empty_one() {
    let sent = body(Dialect::Anthropic, &asking(history()));
    let results = sent["messages"][2]["content"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[1]["is_error"], true);
    let silent = asking(vec![Message::user("a"), Message::Assistant(Turn::default()), Message::user("b")]);
    let sent = body(Dialect::Anthropic, &silent);
    assert_eq!(sent["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn anthropic_gets_signed_reasoning_back_in_front() {
    let block = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let turn = Turn { text: "Yes.".into(), reasoning_blocks: vec![block.clone()], ..Turn::default() };
    let sent = body(Dialect::Anthropic, &asking(vec![Message::user("?"), Message::Assistant(turn)]));
    assert_eq!(sent["messages"][1]["content"][0], block);
}

#[test]
fn limits_of_length_have_the_name_that_the_upstream_knows() {
    let request = Request { max_output_tokens: NonZeroU32::new(7), ..asking(vec![]) };
    assert_eq!(body(Dialect::OpenAi, &request)["max_tokens"], 7);
    let openai = crate::catalogue::inferred("gpt-9");
    assert_eq!(body_with(Dialect::OpenAi, &request, &openai, None)["max_completion_tokens"], 7);
    assert_eq!(body(Dialect::Anthropic, &request)["max_tokens"], 7);
    assert_eq!(body(Dialect::Ollama, &request)["options"]["num_predict"], 7);
}

#[test]
fn where_nobody_knows_a_limit_openai_gets_none_and_anthropic_64000() {
    let request = asking(vec![]);
    assert_eq!(body(Dialect::OpenAi, &request).get("max_tokens"), None);
    assert_eq!(body(Dialect::Anthropic, &request)["max_tokens"], 64_000);
}

#[test]
fn anthropic_gets_an_effort_or_a_temperature_but_not_both() {
    let request = asking(vec![]);
    assert_eq!(body(Dialect::Anthropic, &request)["temperature"], 0);
    let sent = body_with(Dialect::Anthropic, &request, &spec(), Some(Effort::Low));
    assert_eq!((sent.get("temperature"), &sent["output_config"]["effort"]), (None, &json!("low")));
    let sent = body_with(Dialect::OpenAi, &request, &spec(), Some(Effort::Low));
    assert_eq!((&sent["temperature"], &sent["reasoning_effort"]), (&json!(0), &json!("low")));
}

#[test]
fn no_temperature_is_sent_where_it_is_omitted() {
    let omit = ModelSpec { temperature: Temperature::Omit, ..spec() };
    for dialect in DIALECTS {
        let sent = body_with(dialect, &asking(vec![]), &omit, None);
        assert_eq!((sent.get("temperature"), sent.pointer("/options/temperature")), (None, None));
    }
}

#[test]
fn a_schema_goes_where_the_dialect_has_it() {
    let schema = json!({"type": "object"});
    let request = Request { output_schema: Some(schema.clone()), ..asking(vec![]) };
    assert_eq!(body(Dialect::OpenAi, &request)["response_format"]["json_schema"]["schema"], schema);
    assert_eq!(body(Dialect::Anthropic, &request)["output_config"]["format"]["schema"], schema);
    assert_eq!(body(Dialect::Ollama, &request)["format"], schema);
}

fn openai_answer(message: Value) -> Answer {
    Dialect::OpenAi.answer(&json!({"choices": [{"message": message}]})).unwrap()
}

fn arguments(message: Value) -> Vec<Arguments> {
    openai_answer(message).calls.into_iter().map(|call| call.arguments).collect()
}

fn object(value: Value) -> Arguments {
    Arguments::Object(value.as_object().unwrap().clone())
}

fn called(arguments: Value) -> Value {
    json!({"content": null, "tool_calls": [{"id": "c", "function": {"name": "add", "arguments": arguments}}]})
}

#[test]
fn arguments_may_be_a_text_or_an_object() {
    assert_eq!(arguments(called(json!("{\"a\":1,\"b\":2}"))), [object(json!({"a": 1, "b": 2}))]);
    assert_eq!(arguments(called(json!({"a": 1, "b": 2}))), [object(json!({"a": 1, "b": 2}))]);
    assert_eq!(arguments(called(json!("\"{\\\"a\\\":1}\""))), [object(json!({"a": 1}))]);
}

#[test]
fn every_digit_of_an_argument_is_kept() {
    let [Arguments::Object(read)] = &arguments(called(json!("{\"a\":9007199254740993,\"b\":0}")))[..] else { panic!() };
    assert_eq!(read["a"].to_string(), "9007199254740993");
}

#[test]
fn no_arguments_are_an_empty_object() {
    for nothing in [json!(""), json!("null"), json!(null), json!("  ")] {
        assert_eq!(arguments(called(nothing)), [object(json!({}))]);
    }
}

#[test]
fn arguments_that_are_no_object_say_why() {
    let reason = |given: Value| match &arguments(called(given))[..] {
        [Arguments::Unreadable { reason }] => reason.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(json!("{\"a\":1,")), "they are not JSON: EOF while parsing a value at line 1 column 7");
    assert_eq!(reason(json!("[1]")), "they are an array, not an object");
    assert_eq!(reason(json!(5)), "they are a number, not an object");
}

#[test]
fn every_call_has_an_id_of_its_own() {
    let call = |id: &str, arguments: &str| json!({"id": id, "function": {"name": "add", "arguments": arguments}});
    let message = json!({"tool_calls": [call("c7", "null"), call("c7", "{}"), call("", "{}"), call("", "[")]});
    let ids: Vec<String> = openai_answer(message).calls.into_iter().map(|call| call.id).collect();
    assert_eq!(ids[..2], ["c7", "c7-2"]);
    assert!(ids[2].starts_with("call_"), "{}", ids[2]);
    assert_eq!(ids[3], "invalid_3");
}

#[test]
fn what_a_gateway_signs_goes_back_with_the_call() {
    let signed = json!({"tool_calls": [{
        "index": 0, "id": "c", "type": "function", "extra_content": {"google": {"thought_signature": "s"}},
        "function": {"name": "add", "arguments": "{}"}}]});
    let turn = openai_answer(signed).into_turn();
    let sent = body(Dialect::OpenAi, &asking(vec![Message::user("?"), Message::Assistant(turn)]));
    assert_eq!(sent["messages"][2]["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "s");
}

#[test]
fn an_openai_answer_tells_its_end_and_its_cost() {
    let answer = Dialect::OpenAi
        .answer(&json!({
            "choices": [{"message": {"content": "Hi", "reasoning_content": "hm"}, "finish_reason": "length"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1}}))
        .unwrap();
    assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("Hi", "hm"));
    assert_eq!(answer.stop, StopReason::Length);
    assert_eq!(answer.usage, Usage { input_tokens: Some(3), output_tokens: Some(1) });
}

#[test]
fn an_anthropic_answer_counts_what_came_from_a_cache() {
    let answer = Dialect::Anthropic
        .answer(&json!({
            "content": [{"type": "text", "text": "Hi"}, {"type": "tool_use", "id": "t", "name": "add", "input": "{\"a\":"}],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 1}}))
        .unwrap();
    assert_eq!(answer.usage, Usage { input_tokens: Some(7), output_tokens: Some(1) });
    assert_eq!(answer.stop, StopReason::ToolCalls);
    assert!(matches!(answer.calls[0].arguments, Arguments::Unreadable { .. }));
}

#[test]
fn an_answer_without_its_message_cannot_be_read() {
    assert_eq!(Dialect::OpenAi.answer(&json!({"choices": []})), Err("it has no choices"));
    assert_eq!(Dialect::Anthropic.answer(&json!({})), Err("it has no content"));
    assert_eq!(Dialect::Ollama.answer(&json!({})), Err("it has no message"));
}
