//! Rules of `server.yaml`: what is listed, what calls may do, what gets a struct. One point each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::Value;
use support::{document, files, findings, generated, json as file, text, tools};

const THINGS: &str = "openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /things:
    get: {operationId: listThings, tags: [Things]}
    post: {operationId: createThing, tags: [Things]}
  /things/search:
    post: {operationId: searchThings, tags: [Things]}
  /things/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    put: {operationId: replaceThing, tags: [Things]}
    patch: {operationId: patchThing, tags: [Things]}
    delete: {operationId: deleteThing, tags: [Things]}
  /health:
    get: {operationId: health, tags: [Service]}
";

fn exposed(settings: &str) -> Vec<String> {
    let (generated, _) = generated(&files(THINGS, settings, None));
    generated.summary.exposed
}

#[test]
fn rules_pick_by_tag_path_method_hint_and_name() {
    for (rule, expected) in [
        ("{tag: service}", &["health"][..]),
        ("{path: /things/*, method: post}", &["search_things"]),
        ("{hint: destructive}", &["delete_thing"]),
        ("{name: [list_*, health]}", &["health", "list_things"]),
        ("{method: PUT, hint: idempotent}", &["replace_thing"]),
    ] {
        assert_eq!(exposed(&format!("expose: [{rule}]\n")), expected, "{rule}");
    }
}

#[test]
fn names_come_first_then_rules_in_their_order_and_hide_takes_out() {
    let settings = "exposed: [search_things]\nexpose: [{tag: service}, {tag: things}]\nhide: [{method: [POST, PATCH, PUT, DELETE]}]\n";
    assert_eq!(exposed(settings), ["search_things", "health", "list_things"]);
}

#[test]
fn a_small_server_lists_everything_unless_told_otherwise() {
    assert_eq!(exposed("").len(), 7);
    assert_eq!(exposed("exposed: []\n").len(), 0);
}

#[test]
fn a_rule_that_matches_nothing_is_an_error_at_its_place() {
    let told = findings(&files(THINGS, "expose:\n  - {tag: things}\n  - {tag: thimgs}\n", None));
    assert!(told.contains("error[rule-matches-nothing]"), "{told}");
    assert!(told.contains("at /expose/1"), "{told}");
}

#[test]
fn a_misspelt_hint_is_an_error() {
    let told = findings(&files(THINGS, "hide: [{hint: readonly}]\n", None));
    assert!(told.contains("`readonly` is no hint"), "{told}");
}

fn risks(settings: &str) -> Vec<String> {
    let (generated, _) = generated(&files(THINGS, settings, None));
    let catalog = file(&generated, "catalog.json");
    let told = |tool: &Value| {
        let repeat = if tool["annotations"]["idempotentHint"] == true { " idempotent" } else { "" };
        format!("{} {}{repeat}", tool["name"].as_str().unwrap(), tool["risk"].as_str().unwrap())
    };
    catalog["tools"].as_array().unwrap().iter().map(told).collect()
}

#[test]
fn hints_follow_from_the_method_where_nothing_is_declared() {
    assert_eq!(
        risks(""),
        [
            "create_thing write",
            "delete_thing destructive idempotent",
            "health read-only idempotent",
            "list_things read-only idempotent",
            "patch_thing write",
            "replace_thing write idempotent",
            "search_things write",
        ]
    );
}

#[test]
fn a_rule_declares_what_a_method_does_not_tell() {
    let risks = risks("hints: [{path: /**/search, risk: compute}]\n");
    assert!(risks.contains(&"search_things compute".to_owned()), "{risks:?}");
}

#[test]
fn a_read_only_server_has_only_tools_that_read_and_the_ledger_says_so() {
    let (generated, _) = generated(&files(THINGS, "read_only: true\n", None));
    assert_eq!(tools(&generated), ["health", "list_things"]);
    let ledger = file(&generated, "ledger.json");
    assert_eq!(ledger["totals"]["operation"]["dropped"]["read-only-server"], 5);
}

/// This many operations, in areas of ten.
fn large(operations: usize) -> String {
    let paths: String = (0..operations)
        .map(|n| {
            format!(
                "  /p{n}: {{get: {{operationId: op{n}, tags: [a{}], responses: {{'200': {{description: ok}}}}}}}}\n",
                n / 10
            )
        })
        .collect();
    format!("openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths:\n{paths}")
}

#[test]
fn a_large_server_lists_a_few_of_every_area() {
    let (generated, _) = generated(&document(&large(60)));
    let listed = &generated.summary.exposed;
    assert_eq!(listed.len(), 20);
    for area in 0..6 {
        assert!(
            listed.iter().any(|name| name.len() == 4 && name.starts_with(&format!("op{area}")) || area == 0),
            "{listed:?}"
        );
    }
}

#[test]
fn above_200_operations_tools_are_rows_without_types() {
    let (generated, _) = generated(&document(&large(201)));
    let module = text(&generated, "src/a0.rs");
    assert!(module.contains("pub const OP3: ToolSpec = ToolSpec {"), "{module}");
    assert!(!module.contains("struct"), "{module}");
    assert!(text(&generated, "src/lib.rs").contains("a0::OP3,"));
}

#[test]
fn structs_are_made_by_tag_on_request() {
    let (generated, _) = generated(&files(&large(201), "structs: [a0]\n", None));
    assert!(text(&generated, "src/a0.rs").contains("pub struct Op3"));
    assert!(text(&generated, "src/a1.rs").contains("pub const OP13: ToolSpec"));
    assert!(text(&generated, "src/lib.rs").contains("<a0::Op3 as Tool>::SPEC"));
}

#[test]
fn structs_of_a_tag_that_no_tool_has_are_an_error() {
    let told = findings(&files(&large(3), "structs: [a1]\n", None));
    assert!(told.contains("error[unknown-tag]: no tool belongs to the tag `a1`"), "{told}");
}

#[test]
fn a_name_changes_only_when_another_operation_claims_it() {
    let named = |more: &str| {
        let (generated, _) = generated(&document(&format!(
            "openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths:\n  /a: {{get: {{operationId: getA}}}}\n  /b/{{id}}: {{get: {{summary: Read one b, parameters: [{{name: id, in: path, required: true, schema: {{type: string}}}}]}}}}\n{more}"
        )));
        tools(&generated)
    };
    let alone = named("");
    assert_eq!(alone, ["get_a", "get_b_id_read"]);
    let with_others = named("  /0: {get: {operationId: first}}\n  /z: {get: {summary: Last}}\n");
    assert!(alone.iter().all(|name| with_others.contains(name)), "{with_others:?}");
    let contested = named("  /0: {get: {operationId: get_A}}\n");
    assert!(
        !contested.contains(&"get_a".to_owned()) && contested.contains(&"get_b_id_read".to_owned()),
        "{contested:?}"
    );
}
