//! What the spec doctor says. One point each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use support::{document, files};
use toolwright_generator::diagnostic::Sink;
use toolwright_generator::doctor::examine;

fn told(paths: &str) -> String {
    let document = document(&format!("openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths:\n{paths}"));
    let mut sink = Sink::new();
    examine(&document, "specs/t", &mut sink).unwrap();
    sink.to_string()
}

fn assert_told(paths: &str, expected: &str) {
    let told = told(paths);
    assert!(told.contains(expected), "{expected} is not among\n{told}");
}

#[test]
fn a_well_described_document_is_left_in_peace() {
    let told = told(
        "  /t: {get: {operationId: listThings, summary: List things, description: List the things that are stored here.}}\n",
    );
    assert_eq!(told, "");
}

#[test]
fn thin_texts_are_named_with_a_remedy() {
    assert_told("  /t: {get: {operationId: t}}\n", "warning[thin-description]: `t` has no description");
    assert_told("  /t: {get: {operationId: t, description: T.}}\n", "the description of `t` says little: \"T.\"");
    assert_told("  /t: {get: {operationId: t}}\n", "help: add to an overlay: description:");
}

#[test]
fn names_that_were_not_the_first_choice_are_named() {
    assert_told("  /t: {get: {}}\n", "warning[missing-operation-id]: GET /t has no operationId");
    let clash = "  /a: {get: {operationId: t}}\n  /b: {get: {operationId: T}}\n";
    assert_told(clash, "warning[clashing-name]: several operations claim the name `t`");
    let long = format!("  /a: {{get: {{operationId: {}}}}}\n", "word_".repeat(12));
    assert_told(&long, "warning[long-name]");
}

#[test]
fn words_that_contradict_the_method_are_named() {
    assert_told(
        "  /t: {get: {operationId: deleteThing}}\n",
        "counts as read-only by its method, and its words say `delete`",
    );
    assert_told(
        "  /t: {post: {operationId: searchThings}}\n",
        "counts as writing by its method, and its words say `search`",
    );
}

#[test]
fn credentials_in_examples_are_named_at_their_place() {
    let key = format!("{}{}", "AKIA", "Q3EGTUVW5X2YZ7AB");
    let paths = format!("  /t: {{get: {{operationId: t, description: Read with {key} please.}}}}\n");
    assert_told(&paths, "warning[secret]: this text looks like an API key");
    assert_told(&paths, "at /paths/~1t/get/description");
}

#[test]
fn too_many_listed_tools_are_named() {
    let paths: String = (0..41).map(|n| format!("  /p{n}: {{get: {{operationId: op{n}}}}}\n")).collect();
    let document = format!("openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths:\n{paths}");
    let mut sink = Sink::new();
    examine(&files(&document, "expose: [{name: '*'}]\n", None), "specs/t", &mut sink).unwrap();
    assert!(sink.to_string().contains("warning[too-many-tools]: 41 tools are listed"), "{sink}");
}

#[test]
fn a_declared_risk_that_method_or_words_speak_against_is_named() {
    let declared = |method: &str, id: &str| {
        told(&format!("  /t: {{{method}: {{operationId: {id}, x-toolwright: {{risk: read-only}}}}}}\n"))
    };
    assert!(declared("delete", "listThings").contains("warning[contradicting-risk]: DELETE /t"));
    assert!(declared("post", "purgeThings").contains("declared to change nothing, and it says `purge`"));
    assert!(!declared("post", "searchThings").contains("contradicting-risk"));
}

#[test]
fn arguments_that_had_to_be_told_apart_and_paths_that_are_alike_are_named() {
    let parameters = "parameters: [{name: a, in: query, schema: {}}, {name: a, in: header, schema: {}}]";
    assert_told(
        &format!("  /t: {{get: {{operationId: t, {parameters}}}}}\n"),
        "note[clashing-argument]: `a` is claimed by several arguments of `t`; the argument is `a_header`",
    );
    assert_told(
        "  '/t/{a}': {get: {operationId: t}}\n  '/t/{b}': {get: {operationId: u}}\n",
        "warning[ambiguous-path]: GET /t/{a} and GET /t/{b} are one request under two names",
    );
}

#[test]
fn texts_that_tell_no_tool_from_another_are_named() {
    assert_told(
        "  /t: {get: {operationId: listThings, description: 'List the things, list all of the things.'}}\n",
        "warning[thin-description]: the description of `list_things` says no more than its name",
    );
    let one = "description: Return what is stored below this path.";
    assert_told(
        &format!("  /a: {{get: {{operationId: a, {one}}}}}\n  /b: {{get: {{operationId: b, {one}}}}}\n"),
        "warning[same-description]: 2 tools have one description, `a` and `b` among them",
    );
}
