//! Documents whose types all refer to each other: what a tool brings in has bounds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Map, Value, json};
use support::{document, generated, json as file, tools};
use toolwright_generator::ledger::{Outcome, Part};

/// Types of `length` bytes each, which all refer to all, and operations that take and return one of them.
fn connected(types: usize, length: usize, operations: usize) -> String {
    let name = |number: usize| format!("T{number:03}");
    let reference = |number: usize| json!({"$ref": format!("#/components/schemas/{}", name(number % types))});
    let schema = |number: usize| {
        let properties: Map<String, Value> =
            (1..4).map(|step| (format!("to{step}"), reference(number * 3 + step))).collect();
        json!({"type": "object", "description": "x".repeat(length), "properties": properties})
    };
    let schemas: Map<String, Value> = (0..types).map(|number| (name(number), schema(number))).collect();
    let operation = |number: usize| {
        let content = json!({"application/json": {"schema": reference(number)}});
        let answer = json!({"200": {"description": "ok", "content": content}});
        json!({"post": {"operationId": format!("t{number}"), "requestBody": {"content": content}, "responses": answer}})
    };
    let paths: Map<String, Value> = (0..operations).map(|number| (format!("/t{number}"), operation(number))).collect();
    let info = json!({"title": "t", "version": "1"});
    json!({"openapi": "3.1.0", "info": info, "paths": paths, "components": {"schemas": schemas}}).to_string()
}

const NOTE: &str = "whose schema is left out here for its length";

#[test]
fn a_result_keeps_the_types_that_are_nearest() {
    let (generated, sink) = generated(&document(&connected(60, 2_000, 1)));
    let result = file(&generated, "schemas/t0.result.json");
    let text = result.to_string();
    assert!(text.len() < 40_000 && text.contains(NOTE), "{} bytes", text.len());
    // `T000` refers to these, and each of them to three more.
    let kept = |name: &str| text.contains(&format!("\"#/$defs/{name}\"")) && result["$defs"][name].is_object();
    assert!(kept("T001") && kept("T002") && kept("T003") && !kept("T059"), "{text}");
    assert!(!sink.has_errors(), "{sink}");
}

#[test]
fn an_input_keeps_everything() {
    let (generated, _) = generated(&document(&connected(60, 2_000, 1)));
    let text = file(&generated, "schemas/t0.json").to_string();
    assert!(text.len() > 120_000 && !text.contains(NOTE), "{} bytes", text.len());
}

#[test]
fn one_input_beyond_the_bound_costs_its_tool_alone() {
    let with_other = connected(60, 20_000, 1).replacen(
        "\"paths\":{",
        "\"paths\":{\"/other\":{\"get\":{\"operationId\":\"other\",\"responses\":{}}},",
        1,
    );
    let (generated, sink) = generated(&document(&with_other));
    let told = sink.to_string();
    assert!(
        told.contains("warning[wide-input]: the input schema of `t0` would take more than 1048576 bytes"),
        "{told}"
    );
    assert!(told.contains("--> specs/t/openapi.yaml:1:"), "{told}");
    assert_eq!(tools(&generated), ["other"]);
    assert_eq!(generated.ledger.outcome(Part::Operation, "/paths/~1t0/post"), Some(&Outcome::Refused));
}

#[test]
fn inputs_that_take_too_much_together_keep_what_is_nearest_and_say_so() {
    let (generated, sink) = generated(&document(&connected(60, 12_000, 60)));
    let told: Vec<String> =
        sink.iter().filter(|finding| finding.code == "crowded-inputs").map(|it| it.message.clone()).collect();
    assert_eq!(told.len(), 1, "{sink}");
    assert!(told[0].contains("60 tools, `t0` among them"), "{told:?}");
    let text = file(&generated, "schemas/t7.json").to_string();
    assert!(text.len() < 60_000 && text.contains(NOTE), "{} bytes", text.len());
}
