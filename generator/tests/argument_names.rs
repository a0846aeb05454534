//! Names of tools and arguments in any script, and in any order. One rule each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::collections::BTreeMap;

use support::{arguments, document, generated, json as file, text, tools};

/// A GET with these query parameters, each with its text.
fn query(id: &str, names: &[&str]) -> String {
    let parameters: String =
        names.iter().map(|name| format!("{{name: \"{name}\", in: query, schema: {{type: string}}}}, ")).collect();
    format!(
        "openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths: {{/t: {{get: {{operationId: \"{id}\", parameters: [{parameters}]}}}}}}\n"
    )
}

/// Name on the wire by name of the argument.
fn names(document_text: &str, tool: &str) -> BTreeMap<String, String> {
    let arguments = arguments(&generated(&document(document_text)).0, tool);
    let wire = |(name, argument): (&String, &serde_json::Value)| {
        (argument["wire"].as_str().unwrap_or(name).to_owned(), name.clone())
    };
    arguments.as_object().unwrap().iter().map(wire).collect()
}

#[test]
fn other_scripts_and_accents_are_spelt_in_ascii() {
    let found = names(&query("t", &["größe", "用户名", "名前", "имя", "naïve"]), "t");
    let expected = [("größe", "grosse"), ("用户名", "yong_hu_ming"), ("имя", "imya"), ("naïve", "naive")];
    for (wire, name) in expected {
        assert_eq!(found[wire], name);
    }
}

#[test]
fn a_name_of_which_nothing_is_left_is_called_after_its_place_and_has_digits_of_its_own() {
    let found = names(&query("t", &["$", "*"]), "t");
    assert!(found["$"].starts_with("query_") && found["$"].len() == "query_".len() + 8, "{found:?}");
    assert_ne!(found["$"], found["*"]);
    assert_eq!(found, names(&query("t", &["*", "$"]), "t"));
}

#[test]
fn operation_ids_of_other_scripts_are_spelt_in_ascii() {
    assert_eq!(tools(&generated(&document(&query("列出用户", &[]))).0), ["lie_chu_yong_hu"]);
}

#[test]
fn names_do_not_depend_on_the_order_of_members() {
    let body = |members: &[&str]| {
        let members: String = members.iter().map(|name| format!("\"{name}\": {{type: string}}, ")).collect();
        format!(
            "openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths: {{'/t/{{id}}': {{post: {{operationId: t, parameters: [{{name: id, in: path, required: true, schema: {{type: string}}}}], requestBody: {{content: {{application/json: {{schema: {{type: object, properties: {{{members}}}}}}}}}}}}}}}}}\n"
        )
    };
    let forwards = ["fooBar", "foo_bar", "foo-bar", "foo_bar_body", "id", "ID", "字", "字字"];
    let mut backwards = forwards;
    backwards.reverse();
    let (first, second) = (names(&body(&forwards), "t"), names(&body(&backwards), "t"));
    assert_eq!(first.len(), forwards.len());
    assert_eq!(first, second);
}

#[test]
fn names_do_not_depend_on_the_order_of_media_types() {
    let body = |first: &str, second: &str| {
        let content = format!(
            "{{application/json: {{schema: {{type: integer}}}}, {first}: {{schema: {{type: string}}}}, {second}: {{schema: {{type: string, minLength: 1}}}}}}"
        );
        let text = format!(
            "openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths: {{/t: {{post: {{operationId: t, requestBody: {{content: {content}}}}}}}}}\n"
        );
        let arguments = arguments(&generated(&document(&text)).0, "t");
        let members = arguments.as_object().unwrap().iter();
        members
            .filter_map(|(name, it)| Some((it["media_type"].as_str()?.to_owned(), name.clone())))
            .collect::<BTreeMap<_, _>>()
    };
    assert_eq!(body("text/plain", "text/csv"), body("text/csv", "text/plain"));
}

#[test]
fn a_schema_behind_a_reference_describes_its_argument() {
    let document_text = "openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /t:
    post:
      operationId: t
      parameters: [{name: q, in: query, schema: {$ref: '#/components/schemas/Q'}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {m: {$ref: '#/components/schemas/M'}}}}}}
components:
  schemas:
    Q: {type: string, description: What is asked.}
    M: {type: string, description: How it is meant.}
";
    let (generated, _) = generated(&document(document_text));
    let code = text(&generated, "src/general.rs");
    assert!(code.contains("/// What is asked.") && code.contains("/// How it is meant."), "{code}");
    let schema = file(&generated, "schemas/t.json");
    assert_eq!(schema["properties"]["q"]["description"], "What is asked.");
    assert_eq!(schema["properties"]["m"]["description"], "How it is meant.");
}
