//! Documents that mix the words of Swagger 2.0 and OpenAPI 3 are read as meant, with a warning. One word each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Value, json};
use support::{arguments, document, generated, json as file, text};

/// What is generated of a document with one operation `t`: its catalog entry, the crate root, and the findings.
fn read(text_of_document: &str) -> (Value, String, String) {
    let (generated, sink) = generated(&document(text_of_document));
    let entry = file(&generated, "catalog.json")["tools"][0].clone();
    (entry, text(&generated, "src/lib.rs"), sink.to_string())
}

fn openapi(root: &str, operation: &str) -> String {
    format!(
        "openapi: 3.0.3\ninfo: {{title: t, version: '1'}}\n{root}\npaths: {{'/t/{{id}}': {{post: {{operationId: t, {operation}}}}}}}\n"
    )
}

fn swagger(root: &str, operation: &str) -> String {
    openapi(root, operation).replace("openapi: 3.0.3", "swagger: '2.0'")
}

const ID: &str = "{name: id, in: path, required: true, type: string}";

fn assert_words(findings: &str, words: &[&str]) {
    for word in words {
        assert!(findings.contains(&format!("warning[old-word]: {word} is not a word of")), "{word}\n{findings}");
    }
    assert_eq!(findings.matches("warning[old-word]").count(), words.len(), "{findings}");
}

#[test]
fn host_base_path_and_schemes_are_the_address() {
    let (_, root, findings) = read(&openapi("host: api.example\nbasePath: /v1\nschemes: [https]", "parameters: []"));
    assert!(root.contains("default_base_url: \"https://api.example/v1\""), "{root}");
    assert_words(&findings, &["`host`", "`basePath`", "`schemes`"]);
    assert!(findings.contains("--> specs/t/openapi.yaml:3:1\n  at /host\n"), "{findings}");
}

#[test]
fn a_body_parameter_is_the_body() {
    let parameters = format!("parameters: [{ID}, {{name: thing, in: body, schema: {{$ref: '#/definitions/Thing'}}}}]");
    let root = "definitions: {Thing: {type: object, properties: {size: {type: integer}}}}";
    let (generated, sink) = generated(&document(&openapi(root, &parameters)));
    let arguments = arguments(&generated, "t");
    assert_eq!((&arguments["id"]["in"], &arguments["size"]["in"]), (&json!("path"), &json!("member")), "{arguments}");
    assert_words(&sink.to_string(), &["`definitions`", "`in: body`", "a parameter without `schema`"]);
}

#[test]
fn form_parameters_are_a_form() {
    let parameters =
        format!("consumes: [multipart/form-data], parameters: [{ID}, {{name: page, in: formData, type: file}}]");
    let (generated, sink) = generated(&document(&openapi("", &parameters)));
    assert_eq!(arguments(&generated, "t")["page"]["in"], "file");
    assert_words(&sink.to_string(), &["`consumes`", "`in: formData`", "a parameter without `schema`"]);
}

#[test]
fn a_shared_body_parameter_is_found_under_components() {
    let root = "components: {parameters: {b: {name: b, in: body, required: true, schema: {type: object, properties: {x: {type: string}}}}}}";
    let (generated, sink) =
        generated(&document(&openapi(root, &format!("parameters: [{ID}, {{$ref: '#/components/parameters/b'}}]"))));
    assert_eq!(arguments(&generated, "t")["x"]["in"], "member", "{sink}");
}

#[test]
fn what_an_operation_produces_is_asked_for() {
    let (entry, _, findings) =
        read(&openapi("", "produces: [text/csv], responses: {'200': {description: ok, schema: {type: string}}}"));
    assert_eq!(entry["binding"]["http"]["produces"], json!(["text/csv"]), "{findings}");
    assert_words(&findings, &["`produces`", "`schema` of a response"]);
}

#[test]
fn security_definitions_are_settings() {
    let (_, root, findings) = read(&openapi("securityDefinitions: {login: {type: basic}}", "parameters: []"));
    assert!(root.contains("T_LOGIN_PASSWORD"), "{root}");
    assert_words(&findings, &["`securityDefinitions`"]);
    let (_, root, findings) = read(&openapi("components: {securitySchemes: {login: {type: basic}}}", "parameters: []"));
    assert!(root.contains("T_LOGIN_PASSWORD"), "{root}");
    assert_words(&findings, &["`type: basic`"]);
}

#[test]
fn a_part_of_components_counts_before_one_of_the_same_name() {
    let root = "definitions: {A: {type: integer}, B: {type: boolean}}\ncomponents: {schemas: {A: {type: string}}}";
    let parameters = "parameters: [{name: id, in: path, required: true, schema: {$ref: '#/components/schemas/A'}}, \
                      {name: b, in: query, schema: {$ref: '#/definitions/B'}}]";
    let (generated, _) = generated(&document(&openapi(root, parameters)));
    let schema = file(&generated, "schemas/t.json");
    assert_eq!(schema["properties"]["id"]["type"], "string");
    assert_eq!(schema["properties"]["b"]["type"], "boolean");
}

#[test]
fn a_swagger_document_may_have_request_bodies_contents_and_components() {
    let body = "requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}";
    let answer = "responses: {'200': {description: ok, content: {text/csv: {schema: {type: string}}}}}";
    let root = "servers: [{url: 'https://a.example'}]\ncomponents: {schemas: {A: {type: object, properties: {size: {type: integer}}}}}";
    let (generated, sink) = generated(&document(&swagger(root, &format!("parameters: [{ID}], {body}, {answer}"))));
    let entry = file(&generated, "catalog.json")["tools"][0].clone();
    assert_eq!(arguments(&generated, "t")["size"]["in"], "member");
    assert_eq!(entry["binding"]["http"]["produces"], json!(["text/csv"]));
    assert!(text(&generated, "src/lib.rs").contains("default_base_url: \"https://a.example\""));
    assert_words(&sink.to_string(), &["`servers`", "`components`", "`requestBody`", "`content` of a response"]);
}

#[test]
fn two_bodies_in_two_ways_are_told() {
    let body = "requestBody: {content: {application/json: {schema: {type: object, properties: {x: {type: string}}}}}}";
    let parameters = format!("parameters: [{ID}, {{name: y, in: formData, type: string}}]");
    let (generated, sink) = generated(&document(&openapi("", &format!("{parameters}, {body}"))));
    let arguments = arguments(&generated, "t");
    assert!(arguments["x"].is_object() && arguments["y"].is_null(), "{arguments}");
    assert!(sink.to_string().contains("warning[contradictory-body]"), "{sink}");
}

#[test]
fn references_to_definitions_find_components() {
    let root = "components: {schemas: {A: {type: boolean}}}";
    let parameter = |name: &str| format!("{{name: {name}, in: query, schema: {{$ref: '#/definitions/A'}}}}");
    let (generated, sink) =
        generated(&document(&openapi(root, &format!("parameters: [{}, {}]", parameter("p"), parameter("q")))));
    let schema = file(&generated, "schemas/t.json");
    assert_eq!(
        (&schema["properties"]["p"]["type"], &schema["properties"]["q"]["type"]),
        (&json!("boolean"), &json!("boolean"))
    );
    assert_eq!(sink.to_string().matches("warning[old-word]").count(), 1, "{sink}");
}
