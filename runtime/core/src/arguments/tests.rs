use serde_json::{Map, Value, json};

use super::{Accepted, Checker, Refusal};
use crate::{Binding, Body, Declared, HttpBinding, Risk, SearchTerms, ToolSpec};

/// A declarative tool without hints: strict throughout.
const PRUNE: &str = r#"{"type":"object","additionalProperties":false,"required":["folder"],"properties":{
    "folder":{"type":"string","minLength":1},"dry_run":{"type":"boolean","default":true},
    "limit":{"type":"integer","minimum":1,"maximum":100,"default":10}}}"#;

/// A tool that sends a body.
const fn posting(body: Body) -> ToolSpec {
    ToolSpec {
        name: "t",
        title: "",
        description: "",
        summary: "",
        tags: &[],
        risk: Risk::Write,
        idempotent: false,
        open_world: false,
        input_schema: "{}",
        advertised_schema: None,
        result_schema: None,
        search: SearchTerms { en: &[], ko: &[], ja: &[] },
        declared: Declared { method: "POST", path: "/t" },
        binding: Binding::Http(HttpBinding { body, ..HttpBinding::PLAIN }),
        deadline_seconds: None,
        long: false,
        secrets: &[],
    }
}

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
fn a_body_that_is_one_argument_has_the_defaults_of_its_members() {
    const SCHEMA: &str = r##"{"type":"object","additionalProperties":false,"properties":{"request":{"$ref":"#/$defs/Body"}},
        "$defs":{"Body":{"type":"object","required":["name"],"allOf":[{"properties":{"kind":{"default":"k"}}}],
            "properties":{"name":{"type":"string"},"limit":{"type":"integer","default":10},
                "odd":{"type":"integer","default":"none"},"empty":{"default":null},
                "inner":{"type":"object","properties":{"deep":{"default":1}}}}}}}"##;
    let body = Body::Json { argument: "request", media_type: "application/json" };
    let spec = ToolSpec { input_schema: SCHEMA, ..posting(body) };
    let filled = |given: Value| Value::Object(Checker::new(&spec).unwrap().check(object(given)).unwrap().arguments);
    let given = json!({"request": {"name": "n", "inner": {}}});
    assert_eq!(filled(given), json!({"request": {"name": "n", "inner": {}, "limit": 10, "kind": "k"}}));
    assert_eq!(filled(json!({"request": {"name": "n", "limit": 2, "kind": "x"}}))["request"]["limit"], 2);
    assert_eq!(filled(json!({})), json!({}));
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
fn a_whole_number_that_clients_would_round_may_be_text_in_a_strict_tool_too() {
    const SCHEMA: &str = r#"{"type":"object","properties":{"id":{"type":"integer"}}}"#;
    let check = |id: Value| Checker::from_schema(SCHEMA, false).unwrap().check(object(json!({"id": id})));
    for big in ["9007199254740993", "-9223372036854775808", "18446744073709551616"] {
        let accepted = check(json!(big)).unwrap();
        assert_eq!(accepted.arguments["id"].to_string(), big);
        assert_eq!(accepted.warnings, ["/id: text was read as a number"]);
    }
    assert!(check(json!("9007199254740991")).is_err());
    assert!(check(json!("1e20")).is_err());
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

/// The plain form of `given` where an integer is wanted, in a query argument, in a body and behind branches.
fn plain(given: &str) -> String {
    let schema = r##"{"type":"object","properties":{"n":{"type":"integer"},"x":{"type":"number"},
        "body":{"$ref":"#/$defs/Body"}},"$defs":{"Body":{"type":"object","properties":{
            "list":{"type":"array","items":{"type":["integer","null"]}},
            "rate":{"type":"integer","anyOf":[{"const":0},{"minimum":5}]},
            "either":{"anyOf":[{"type":"string"},{"type":"integer"}]},
            "any":{"anyOf":[{"type":"integer"},{"type":"number"}]},
            "shape":{"anyOf":[{"type":"object","properties":{"size":{"type":"integer"}}},{"type":"null"}]}}}}}"##;
    let body =
        format!(r#"{{"list":[{given}],"rate":{given},"either":{given},"any":{given},"shape":{{"size":{given}}}}}"#);
    let arguments = serde_json::from_str(&format!(r#"{{"n":{given},"x":{given},"body":{body}}}"#)).unwrap();
    let accepted = Checker::from_schema(schema, false).unwrap().check(arguments).unwrap().arguments;
    let (n, x, body) = (accepted["n"].to_string(), accepted["x"].to_string(), &accepted["body"]);
    for place in [&body["list"][0], &body["rate"], &body["either"], &body["shape"]["size"]] {
        assert_eq!(place.to_string(), n);
    }
    assert_eq!(body["any"].to_string(), x, "where any number is taken, it stays as it is");
    n
}

#[test]
fn a_whole_number_is_written_as_an_integer_digit_by_digit() {
    for (given, wanted) in [
        ("5.0", "5"),
        ("16000.0", "16000"),
        ("1e2", "100"),
        ("1.5e1", "15"),
        ("1200e-2", "12"),
        ("0.5e1", "5"),
        ("12345678901234567890123.0", "12345678901234567890123"),
        ("1.2345678901234567890123e22", "12345678901234567890123"),
        ("7", "7"),
    ] {
        assert_eq!(plain(given), wanted, "{given}");
    }
}

#[test]
fn the_sign_stays_and_zero_has_none() {
    let n = |given: &str| {
        let arguments = serde_json::from_str(&format!(r#"{{"request":{{"n":{given}}}}}"#)).unwrap();
        Checker::from_schema(CHAT, true).unwrap().check(arguments).unwrap().arguments["request"]["n"].to_string()
    };
    assert_eq!((n("-5.0").as_str(), n("-0.0").as_str(), n("0e5").as_str()), ("-5", "0", "0"));
}

#[test]
fn an_exponent_beyond_all_measure_is_not_written_out() {
    let arguments = serde_json::from_str(r#"{"request":{"n":1e999999}}"#).unwrap();
    if let Ok(accepted) = Checker::from_schema(CHAT, true).unwrap().check(arguments) {
        assert!(accepted.arguments["request"]["n"].to_string().len() < 20);
    }
}

fn shapes(schema: &str, given: Value) -> String {
    let schema = format!(r#"{{"type":"object","properties":{{"x":{schema}}}}}"#);
    only_message(Checker::from_schema(&schema, false).unwrap().check(object(json!({"x": given}))))
}

#[test]
fn a_value_of_no_allowed_shape_is_told_the_shapes() {
    for (schema, given, wanted) in [
        (
            r#"{"type":"integer","anyOf":[{"const":0},{"minimum":8000,"maximum":192000}]}"#,
            json!(100),
            "`x` must be 0, or 8000 to 192000; 100 was given",
        ),
        (
            r#"{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"object","required":["url"]}}]}"#,
            json!(5),
            "`x` must be text, or an array (each item an object with `url`); 5 was given",
        ),
        (
            r#"{"anyOf":[{"enum":["a","b"]},{"type":"null"},{"type":"number","exclusiveMinimum":0}]}"#,
            json!("c"),
            "`x` must be one of \"a\", \"b\", null, or more than 0; \"c\" was given",
        ),
        (
            r#"{"anyOf":[{"type":"string","maxLength":2},{"type":"object","required":["a"]},{"type":["boolean","integer"]}]}"#,
            json!([]),
            "`x` must be text of at most 2 characters, an object with `a`, or true or false or an integer; [] was given",
        ),
    ] {
        assert_eq!(shapes(schema, given), wanted);
    }
}

#[test]
fn shapes_behind_a_reference_are_told_too() {
    let schema = r##"{"type":"object","properties":{"x":{"$ref":"#/$defs/X"}},
        "$defs":{"X":{"anyOf":[{"$ref":"#/$defs/One"},{"type":"null"}]},"One":{"const":1}}}"##;
    let refused = Checker::from_schema(schema, false).unwrap().check(object(json!({"x": 2})));
    assert_eq!(only_message(refused), "`x` must be 1, or null; 2 was given");
}

#[test]
fn many_long_shapes_make_a_short_message() {
    let long = "y".repeat(500);
    let branches: Vec<Value> = (0..30).map(|number| json!({"const": format!("{number}{long}")})).collect();
    let message = shapes(&json!({"anyOf": branches}).to_string(), json!(1));
    assert!(message.contains("or 24 more shapes") && message.len() < 1000, "{message}");
}

const PETS: &str = r#"{"anyOf":[
    {"type":"object","additionalProperties":false,"required":["kind","lives"],"properties":{"kind":{"const":"cat"},"lives":{"type":"integer"}}},
    {"type":"object","required":["kind"],"properties":{"kind":{"enum":["dog","wolf"]}}},
    {"type":"null"}]}"#;

#[test]
fn a_value_that_no_alternative_has_is_told_the_values_of_the_tag() {
    assert_eq!(
        shapes(PETS, json!({"kind": "cow"})),
        "`x.kind` must be one of \"cat\", \"dog\", \"wolf\"; \"cow\" was given"
    );
    assert_eq!(shapes(PETS, json!({"lives": 9})), "`kind` is required in `x`: one of \"cat\", \"dog\", \"wolf\"");
}

#[test]
fn the_alternative_whose_tag_matches_says_what_is_wrong() {
    assert_eq!(shapes(PETS, json!({"kind": "cat"})), "`lives` is required in `x`");
    assert_eq!(
        shapes(PETS, json!({"kind": "cat", "lives": "many"})),
        "`x.lives` must be of type integer, and \"many\" was given"
    );
    assert_eq!(
        shapes(PETS, json!({"kind": "cat", "lives": 9, "livse": 1})),
        "`livse` is not a known argument; known are `kind`, `lives`"
    );
}
