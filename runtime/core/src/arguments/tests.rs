use serde_json::{Map, Value, json};

use super::{Accepted, Checker, Refusal};

/// A declarative tool without hints: strict throughout.
const PRUNE: &str = r#"{"type":"object","additionalProperties":false,"required":["folder"],"properties":{
    "folder":{"type":"string","minLength":1},"dry_run":{"type":"boolean","default":true},
    "limit":{"type":"integer","minimum":1,"maximum":100,"default":10}}}"#;

/// A tool with an open body.
const CHAT: &str = r##"{"type":"object","additionalProperties":false,"required":["request"],"properties":{
    "request":{"$ref":"#/$defs/Chat"},"all":{"type":"boolean"}},
    "$defs":{"Chat":{"type":"object","properties":{"model":{"type":"string"},"n":{"type":"integer"},
        "temperature":{"type":"number"},"stops":{"type":"array","items":{"type":"string"}},
        "kind":{"enum":["1","2"]},"metadata":{"type":"object"}}}}}"##;

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn strict(arguments: Value) -> Result<Accepted, Refusal> {
    Checker::from_schema(PRUNE, false).unwrap().check(object(arguments))
}

fn lenient(arguments: Value) -> Result<Accepted, Refusal> {
    Checker::from_schema(CHAT, true).unwrap().check(object(arguments))
}

fn only_message(result: Result<Accepted, Refusal>) -> String {
    let refusal = result.unwrap_err();
    assert_eq!(refusal.violations.len(), 1, "{refusal:?}");
    refusal.violations[0].message.clone()
}

#[test]
fn defaults_are_filled_in() {
    let accepted = strict(json!({"folder": "c"})).unwrap();
    assert_eq!(Value::Object(accepted.arguments), json!({"folder": "c", "dry_run": true, "limit": 10}));
}

#[test]
fn an_unknown_argument_is_refused_with_the_name_that_was_meant() {
    assert_eq!(
        only_message(strict(json!({"folder": "c", "dryRun": false}))),
        "`dryRun` is not a known argument; did you mean `dry_run`?"
    );
}

#[test]
fn a_strict_tool_coerces_nothing() {
    assert_eq!(
        only_message(strict(json!({"folder": "c", "dry_run": "false"}))),
        "`dry_run` must be of type boolean, and \"false\" was given"
    );
    assert_eq!(
        only_message(strict(json!({"folder": "c", "limit": "5"}))),
        "`limit` must be of type integer, and \"5\" was given"
    );
}

#[test]
fn a_whole_float_is_an_integer() {
    assert!(strict(json!({"folder": "c", "limit": 5.0})).is_ok());
}

#[test]
fn bounds_and_lengths_are_named() {
    assert_eq!(
        only_message(strict(json!({"folder": "c", "limit": 1_000_000_000}))),
        "`limit` must be at most 100, and 1000000000 was given"
    );
    assert_eq!(only_message(strict(json!({"folder": ""}))), "`folder` must have at least 1 characters");
}

#[test]
fn all_violations_come_at_once() {
    let refusal = strict(json!({"limit": 0, "x": 1})).unwrap_err();
    let mut keywords: Vec<&str> = refusal.violations.iter().map(|violation| violation.keyword.as_str()).collect();
    keywords.sort_unstable();
    assert_eq!(keywords, ["additionalProperties", "minimum", "required"]);
}

#[test]
fn lossless_coercion_says_what_it_did() {
    let accepted = lenient(json!({"request": "{\"model\":\"m\",\"n\":\"5\",\"temperature\":\"0.10\"}", "all": "true"}));
    let accepted = accepted.unwrap();
    assert_eq!(
        Value::Object(accepted.arguments).to_string(),
        r#"{"request":{"model":"m","n":5,"temperature":0.10},"all":true}"#
    );
    assert_eq!(accepted.warnings.len(), 4);
}

#[test]
fn long_numbers_keep_every_digit() {
    let accepted = lenient(json!({"request": {"n": "12345678901234567890123"}})).unwrap();
    assert_eq!(Value::Object(accepted.arguments).to_string(), r#"{"request":{"n":12345678901234567890123}}"#);
}

#[test]
fn what_is_in_doubt_is_not_coerced() {
    for request in [json!({"n": "5.5"}), json!({"n": "five"}), json!({"kind": 1}), json!({"n": true})] {
        assert!(lenient(json!({"request": request})).is_err(), "{request}");
    }
}

#[test]
fn a_misspelt_field_of_an_open_body_is_refused_and_a_foreign_one_is_sent() {
    assert_eq!(
        only_message(lenient(json!({"request": {"modle": "m"}}))),
        "`modle` is not a known field; did you mean `model`?"
    );
    let accepted = lenient(json!({"request": {"model": "m", "repetition_penalty": 1.1}})).unwrap();
    assert_eq!(accepted.warnings, ["/request/repetition_penalty: not a declared field; sent as it is"]);
}

#[test]
fn a_free_map_has_no_unknown_fields() {
    let accepted = lenient(json!({"request": {"metadata": {"modle": 1}}})).unwrap();
    assert_eq!(accepted.warnings, [""; 0]);
}

#[test]
fn null_for_an_optional_argument_is_absence_and_null_in_a_body_is_not() {
    let accepted = lenient(json!({"request": {"model": "m"}, "all": null})).unwrap();
    assert_eq!(Value::Object(accepted.arguments), json!({"request": {"model": "m"}}));
    assert!(lenient(json!({"request": {"model": null}})).is_err());
}

#[test]
fn a_refusal_carries_the_violations_and_the_schema() {
    let checker = Checker::from_schema(PRUNE, false).unwrap();
    let refusal = checker.check(object(json!({"folder": 1}))).unwrap_err();
    let json = refusal.into_envelope("prune_cache", checker.schema()).to_json();
    assert_eq!(json["ok"], false);
    assert_eq!(json["code"], "invalid_arguments");
    assert_eq!(
        json["validation_errors"],
        json!([{"type": "type", "loc": ["folder"], "msg": "`folder` must be of type string, and 1 was given", "input": 1}])
    );
    assert_eq!(json["input_schema"]["required"], json!(["folder"]));
}

#[test]
fn a_name_as_long_as_the_request_is_neither_compared_nor_repeated() {
    let started = std::time::Instant::now();
    let long = "m".repeat(1_000_000);
    let accepted = lenient(json!({"request": {long.as_str(): 1}})).unwrap();
    assert!(accepted.warnings[0].len() < 300, "{}", accepted.warnings[0].len());
    let refused = lenient(json!({long.as_str(): 1})).unwrap_err().into_envelope("chat", &Value::Null).to_json();
    assert!(Value::Object(refused).to_string().len() < 2000);
    // Counting the edits between it and six names took a minute.
    assert!(started.elapsed() < std::time::Duration::from_secs(5));
}

#[test]
fn a_thousand_warnings_are_cut_to_the_first_fifty() {
    let request: Map<String, Value> = (0..1000).map(|number| (format!("foreign_{number}"), number.into())).collect();
    let accepted = lenient(json!({"request": request})).unwrap();
    assert_eq!(accepted.warnings.len(), 51);
    assert_eq!(accepted.warnings[50], "950 more warnings are left out");
}
