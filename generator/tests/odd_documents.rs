//! Documents that are legal and odd: what would break a server is made to fit, and said. One rule each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Value, json};
use support::{arguments, document, file_names, findings, generated, json as file, tools};
use toolwright_generator::diagnostic::Sink;
use toolwright_generator::load::{Files, Prose};
use toolwright_generator::{draft, generate};

/// A document with these paths, in YAML.
fn openapi(paths: &str) -> String {
    format!("openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths:\n{paths}")
}

/// A document of one POST with this body, in flow YAML.
fn post(content: &str) -> String {
    openapi(&format!("  /t: {{post: {{operationId: t, requestBody: {{required: true, content: {content}}}}}}}\n"))
}

/// A document of one GET with these parameters, in flow YAML.
fn get(path: &str, parameters: &str) -> String {
    openapi(&format!("  {path}: {{get: {{operationId: t, parameters: [{parameters}]}}}}\n"))
}

/// What a query parameter of this schema accepts, and what is reported of it.
fn parameter(schema: &str) -> (Value, String) {
    let files = document(&get("/t", &format!("{{name: p, in: query, schema: {schema}}}")));
    let schema = file(&generated(&files).0, "schemas/t.json");
    (schema["properties"]["p"].clone(), findings(&files))
}

fn assert_found(findings: &str, code: &str) {
    let found = findings.split("\n\n").find(|finding| finding.contains(&format!("warning[{code}]")));
    let found = found.unwrap_or_else(|| panic!("no `{code}` in\n{findings}"));
    assert!(found.contains("\n  --> specs/t/openapi.yaml:") && found.contains("\n  help: "), "{found}");
}

#[test]
fn a_name_told_apart_is_not_the_name_of_another_tool() {
    let paths =
        "  /a: {get: {operationId: x}}\n  /b: {get: {operationId: x}}\n  /c: {get: {operationId: x_f302dfbc}}\n";
    let (generated, _) = generated(&document(&openapi(paths)));
    let mut names = tools(&generated);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.contains(&"x_db789e7b".to_owned()), "who is not contested again keeps the name: {names:?}");
    assert!(names.iter().all(|name| name.len() <= 48), "{names:?}");
}

#[test]
fn a_form_with_a_file_is_multipart() {
    let content = "{application/x-www-form-urlencoded: {schema: {type: object, properties: \
                   {name: {type: string}, data: {type: string, format: binary}}}}}";
    let files = document(&post(content));
    let (generated, _) = generated(&files);
    let catalog = file(&generated, "catalog.json");
    assert_eq!(catalog["tools"][0]["binding"]["http"]["form"], "multipart/form-data");
    assert_eq!(arguments(&generated, "t")["data"]["in"], "file");
    assert_found(&findings(&files), "form-with-file");
}

#[test]
fn a_draft_that_lists_nothing_has_an_empty_list() {
    let paths: String = (0..41).map(|number| format!("  /t{number}: {{delete: {{}}}}\n")).collect();
    let mut files = Files::new();
    files.insert("specs/t/openapi.yaml", openapi(&paths));
    let mut sink = Sink::new();
    let text = draft(&files, "specs/t", "openapi.yaml", Prose::Keep, &mut sink).unwrap().text;
    assert!(text.lines().any(|line| line == "exposed: []"), "{text}");
    files.insert("specs/t/server.yaml", text);
    assert!(generate(&files, "specs/t", &mut sink).is_some(), "{sink}");
}

#[test]
fn long_tags_become_short_modules_that_stay_apart() {
    let tag = "t".repeat(300);
    let paths = format!("  /a: {{get: {{tags: [{tag}a]}}}}\n  /b: {{get: {{tags: [{tag}b]}}}}\n");
    let (generated, _) = generated(&document(&openapi(&paths)));
    let all = file_names(&generated);
    let modules: Vec<&str> = all.iter().filter_map(|path| path.strip_prefix("generated/t-tools/src/ttt")).collect();
    assert_eq!(modules.len(), 2, "{modules:?}");
    assert!(modules.iter().all(|rest| "ttt".len() + rest.len() <= 60 + ".rs".len()), "{modules:?}");
}

#[test]
fn a_body_that_is_not_json_is_described_by_its_media_type() {
    for media_type in ["application/xml", "text/plain", "text/csv", "application/yaml"] {
        let (generated, _) = generated(&document(&post(&format!("{{{media_type}: {{schema: {{type: string}}}}}}"))));
        let text = &file(&generated, "schemas/t.json")["properties"]["text"]["description"];
        assert_eq!(text, &json!(format!("Body of the request, as {media_type}.")));
    }
}

#[test]
fn long_argument_names_are_cut_and_stay_apart() {
    let long = "a".repeat(80);
    let parameters = format!(
        "{{name: {long}, in: path, required: true, schema: {{type: string}}}}, \
         {{name: {long}, in: query, schema: {{type: string}}}}, {{name: {long}b, in: query, schema: {{type: string}}}}"
    );
    let (generated, _) = generated(&document(&get(&format!("'/t/{{{long}}}'"), &parameters)));
    let arguments = arguments(&generated, "t");
    let names: Vec<&String> = arguments.as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.iter().all(|name| name.len() <= 64), "{names:?}");
}

#[test]
fn values_of_an_enum_are_of_the_declared_type() {
    let cases = [
        ("{type: integer, enum: ['1', '2']}", json!([1, 2])),
        ("{type: string, enum: [1, true]}", json!(["1", "true"])),
        ("{type: boolean, enum: ['true']}", json!([true])),
    ];
    for (schema, accepted) in cases {
        let (parameter, findings) = parameter(schema);
        assert_eq!(parameter["enum"], accepted, "{schema}");
        assert_found(&findings, "enum-of-other-type");
    }
}

#[test]
fn values_that_cannot_be_of_the_declared_type_are_said() {
    let (parameter, findings) = parameter("{type: integer, enum: [1, two]}");
    assert_eq!(parameter["enum"], json!([1, "two"]));
    assert_found(&findings, "enum-of-other-type");
}

#[test]
fn null_among_values_is_no_mistake() {
    let (parameter, findings) = parameter("{type: [string, 'null'], enum: [a, null], default: null}");
    assert_eq!(parameter["enum"], json!(["a", null]));
    assert!(!findings.contains("enum-of-other-type") && !findings.contains("bad-default"), "{findings}");
}

#[test]
fn a_default_that_is_not_accepted_is_left_out() {
    for schema in ["{type: integer, default: abc}", "{type: string, enum: [a, b], default: c}"] {
        let (parameter, findings) = parameter(schema);
        assert_eq!(parameter.get("default"), None, "{schema}");
        assert_found(&findings, "bad-default");
    }
}

#[test]
fn a_default_follows_its_enum() {
    let (parameter, _) = parameter("{type: string, enum: [1, 2], default: 1}");
    assert_eq!((&parameter["enum"], &parameter["default"]), (&json!(["1", "2"]), &json!("1")));
}
