//! The first `server.yaml` that a document gets. One point each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use toolwright_generator::diagnostic::Sink;
use toolwright_generator::load::{Files, Prose};
use toolwright_generator::{draft, generate};

/// The drafted settings, which must generate as they are.
fn drafted(document: &str) -> String {
    let mut files = Files::new();
    files.insert("specs/my-api/openapi.yaml", document);
    let mut sink = Sink::new();
    let text = draft(&files, "specs/my-api", "openapi.yaml", Prose::Keep, &mut sink).unwrap().text;
    files.insert("specs/my-api/server.yaml", text.clone());
    assert!(generate(&files, "specs/my-api", &mut sink).is_some(), "{sink}\n{text}");
    text
}

fn openapi(head: &str, paths: &str) -> String {
    format!("openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\n{head}\npaths:\n{paths}")
}

fn assert_line(text: &str, line: &str) {
    assert!(text.lines().any(|own| own.trim() == line), "no line `{line}` in\n{text}");
}

#[test]
fn names_follow_from_the_folder() {
    let text = drafted(&openapi("", "  /t: {get: {}}\n"));
    assert_line(&text, "server: my-api");
    assert_line(&text, "env_prefix: MY_API");
}

#[test]
fn the_base_url_is_the_first_server_with_its_defaults() {
    let servers = "servers: [{url: 'https://{region}.example.com/v1/', variables: {region: {default: eu}}}]";
    assert_line(&drafted(&openapi(servers, "  /t: {get: {}}\n")), "base_url: \"https://eu.example.com/v1\"");
}

#[test]
fn a_path_without_a_host_is_kept() {
    let text = drafted(&openapi("servers: [{url: /api/v1}]", "  /t: {get: {}}\n"));
    assert_line(&text, "base_url: \"http://127.0.0.1:8080/api/v1\"");
}

#[test]
fn health_is_a_reading_tool_without_required_arguments_that_does_not_log_out() {
    let paths = "  /a: {get: {operationId: logout}}\n  /b/{id}: {get: {operationId: one, parameters: [{name: id, in: path, required: true, schema: {type: string}}]}}\n  /c/d: {get: {operationId: things}}\n";
    assert_line(&drafted(&openapi("", paths)), "health: [things]");
    assert_line(
        &drafted(&openapi("", &format!("{paths}  /e/f/version: {{get: {{operationId: v}}}}\n"))),
        "health: [v]",
    );
    assert_line(&drafted(&openapi("", "  /a: {post: {operationId: make}}\n")), "health: []");
}

#[test]
fn words_of_the_document_cannot_break_out_of_the_settings() {
    let head = "openapi: 3.1.0\ninfo:\n  title: \"x\\\"\\nserver: evil # {a: b}\"\n  description: \"- a: [b\\n\\ny\"\n  version: '1'\npaths: {/t: {get: {}}}\n";
    let text = drafted(head);
    assert_line(&text, "server: my-api");
    assert!(!text.lines().any(|line| line.starts_with("server: evil")), "{text}");
}

#[test]
fn a_document_without_operations_is_a_server_without_tools() {
    let text = drafted("openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths: {}\n");
    assert!(!text.contains("\nexpose:"), "{text}");
}
