//! Hidden arguments, projections and pages: what they make, and what their authors are told. One point each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use insta::assert_snapshot;
use serde_json::{Value, json};
use support::{files, findings, generated, json as file, text};

const THINGS: &str = "openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /tenants/{tenantId}/things:
    parameters:
      - {name: tenantId, in: path, required: true, schema: {type: string, pattern: '^[a-z]+$'}}
      - {name: api-version, in: query, required: true, schema: {type: integer}}
    get:
      operationId: listThings
      tags: [things]
      description: List things.
      parameters:
        - {name: cursor, in: query, schema: {type: string}}
        - {name: offset, in: query, schema: {type: integer}}
        - {name: limit, in: query, schema: {type: integer, default: 10}}
      responses:
        '200':
          description: ok
          content: {application/json: {schema: {type: object, properties: {rows: {type: array, items: {type: object}}, next: {type: string}, total: {type: integer}}}}}
    post:
      operationId: addThing
      tags: [things]
      requestBody:
        required: true
        content: {application/json: {schema: {type: object, required: [name, kind], properties: {name: {type: string}, kind: {type: string, enum: [a, b]}}}}}
  /health:
    get: {operationId: health, tags: [service]}
";

/// An overlay of the list that says this in its `x-toolwright`.
fn listing(said: &str) -> String {
    action("get", said)
}

fn action(method: &str, said: &str) -> String {
    format!("  - target: $.paths['/tenants/{{tenantId}}/things'].{method}\n    update: {{x-toolwright: {{{said}}}}}\n")
}

fn told(settings: &str, said: &str) -> String {
    findings(&files(THINGS, settings, Some(&listing(said))))
}

fn tool(settings: &str, actions: Option<&str>, name: &str) -> (Value, Value, Value) {
    let (generated, sink) = generated(&files(THINGS, settings, actions));
    assert_eq!(sink.to_string(), "");
    let catalog = file(&generated, "catalog.json");
    let tool = catalog["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
    let schema = file(&generated, &format!("schemas/{name}.json"));
    (tool["hidden"].clone(), schema, tool["binding"]["http"].clone())
}

fn properties(schema: &Value) -> Vec<&str> {
    schema["properties"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_hidden_argument_is_in_no_schema_and_keeps_its_place() {
    let said = listing("arguments: {tenantId: {setting: tenant}, api-version: {constant: 2}}");
    let (hidden, schema, _) = tool("", Some(&said), "list_things");
    assert_eq!(properties(&schema), ["cursor", "offset", "limit"]);
    assert_eq!(schema.get("required"), None);
    assert_eq!(
        hidden,
        json!({
            "tenant_id": {"in": "path", "wire": "tenantId", "style": "simple", "explode": false, "required": true, "setting": "tenant"},
            "api_version": {"in": "query", "wire": "api-version", "style": "form", "explode": true, "required": true, "constant": 2},
        })
    );
}

#[test]
fn a_hidden_member_of_a_body_is_sent_and_not_asked_for() {
    let said = action("post", "arguments: {kind: {constant: a}}");
    let (hidden, schema, _) = tool("", Some(&said), "add_thing");
    assert_eq!(properties(&schema), ["tenant_id", "api_version", "name"]);
    assert_eq!(hidden["kind"], json!({"in": "member", "required": true, "constant": "a"}));
}

#[test]
fn a_rule_hides_an_argument_of_every_operation_that_it_picks() {
    let rules = "arguments:\n  - {name: tenantId, in: path, setting: tenant}\n  - {name: api-version, method: GET, constant: 3}\n";
    let (hidden, schema, _) = tool(rules, None, "add_thing");
    assert_eq!((properties(&schema), hidden.as_object().unwrap().len()), (vec!["api_version", "name", "kind"], 1));
    let (hidden, ..) = tool(rules, None, "list_things");
    assert_eq!(hidden["api_version"]["constant"], 3);
}

#[test]
fn what_an_overlay_says_goes_before_a_rule() {
    let said = listing("arguments: {api-version: {constant: 4}}");
    let (hidden, ..) = tool("arguments: [{name: api-version, constant: 3}]\n", Some(&said), "list_things");
    assert_eq!(hidden["api_version"]["constant"], 4);
}

#[test]
fn settings_of_hidden_arguments_are_settings_of_the_server() {
    for (said, written) in [
        ("default: acme", r#"default:"acme",help:"Whosedata.",secret:false"#),
        ("secret: true", r#"default:"",help:"Whosedata.",secret:true"#),
    ] {
        let rule = format!("arguments: [{{name: tenantId, setting: tenant, {said}, description: Whose data.}}]\n");
        let (generated, _) = generated(&files(THINGS, &rule, None));
        let root = text(&generated, "src/lib.rs").split_whitespace().collect::<String>();
        let row = format!(r#"Setting{{key:"tenant",env:"T_TENANT",{written},allowed:&[],}}"#);
        assert!(root.contains(&row), "{root}");
    }
}

#[test]
fn a_default_that_can_never_be_sent_and_one_of_a_secret_are_errors() {
    let document = THINGS.replace(", pattern: '^[a-z]+$'", "");
    let rule = "arguments: [{name: tenantId, setting: tenant, default: '..'}]\n";
    let said = findings(&files(&document, rule, None));
    assert!(said.contains("error[wrong-value]: the default of `tenantId` can never be sent: the path"), "{said}");
    let two =
        "arguments: [{name: tenantId, setting: tenant, default: a}, {name: cursor, setting: tenant, secret: true}]\n";
    assert!(findings(&files(&document, two, None)).contains("error[default-secret]"));
}

#[test]
fn a_hidden_argument_leaves_its_name_to_another() {
    let document = THINGS.replace("{name: cursor, in: query", "{name: tenantId, in: query");
    let said = "arguments: [{name: tenantId, in: path, constant: a}]\n";
    let (generated, _) = generated(&files(&document, said, None));
    assert!(properties(&file(&generated, "schemas/list_things.json")).contains(&"tenant_id"));
    let catalog = file(&generated, "catalog.json");
    let tools = catalog["tools"].as_array().unwrap();
    let hidden = &tools.iter().find(|tool| tool["name"] == "list_things").unwrap()["hidden"];
    assert_eq!(hidden.as_object().unwrap().keys().collect::<Vec<_>>(), ["tenant_id_hidden_1"]);
}

#[test]
fn a_constant_that_can_never_be_sent_is_an_error_at_its_place() {
    let document =
        THINGS.replace(", pattern: '^[a-z]+$'", "").replace("{name: cursor, in: query", "{name: cursor, in: header");
    let told = |said: &str| findings(&files(&document, "", Some(&listing(&format!("arguments: {{{said}}}")))));
    for text in ["''", "'.'", "'..'"] {
        let said = told(&format!("tenantId: {{constant: {text}}}"));
        assert!(said.contains("error[wrong-value]: the constant of `tenantId` can never be sent: the path"), "{said}");
    }
    for text in [r#""a\r\nb""#, r#""a\nb""#] {
        let said = told(&format!("cursor: {{constant: {text}}}"));
        assert!(said.contains("error[wrong-value]: the constant of `cursor` can never be sent: a header"), "{said}");
    }
    let said = told("tenantId: {constant: a..b}, cursor: {constant: 'a; b'}");
    assert!(!said.contains("can never be sent"), "{said}");
}

#[test]
fn mistakes_about_hidden_arguments_are_told_at_their_places() {
    let rules = "arguments:
  - {name: tenantid, setting: tenant}
  - {name: tenantId, setting: port}
  - {name: tenantId, constant: NOT small}
  - {name: api-version, setting: version, default: many}
  - {name: limit}
  - {name: offset, constant: 1, setting: x}
  - {name: cursor, constant: a, secret: true}
";
    assert_snapshot!(findings(&files(THINGS, rules, None)));
}

#[test]
fn a_text_that_names_a_hidden_argument_is_a_warning() {
    let document = THINGS.replace("List things.", "List the things of `tenantId`.");
    let told = findings(&files(&document, "arguments: [{name: tenantId, constant: a}]\n", None));
    assert!(told.contains("warning[hidden-name]: a text of `list_things` names `tenantId`, which is hidden"), "{told}");
    assert!(!told.contains("add_thing"), "{told}");
}

#[test]
fn two_defaults_of_one_setting_are_an_error() {
    let rules =
        "arguments:\n  - {name: tenantId, setting: s, default: a}\n  - {name: cursor, setting: s, default: b}\n";
    let told = findings(&files(THINGS, rules, None));
    assert!(told.contains("error[setting-default]: the setting `s` has another default"), "{told}");
}

#[test]
fn a_file_cannot_be_hidden() {
    let document = "openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /f: {post: {operationId: send, requestBody: {content: {multipart/form-data: {schema: {type: object, properties: {file: {type: string, format: binary}}}}}}}}
";
    let told = findings(&files(document, "arguments: [{name: file, constant: x}]\n", None));
    assert!(told.contains("error[cannot-be-hidden]: `file` of POST /f cannot be hidden: it is a file"), "{told}");
}

#[test]
fn a_projected_tool_has_its_filter_and_no_result_schema() {
    let (generated, _) = generated(&files(THINGS, "", Some(&listing("project: '[.rows[] | {id}]'"))));
    let catalog = file(&generated, "catalog.json");
    let tool = catalog["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "list_things").unwrap();
    assert_eq!(tool["binding"]["http"]["project"], "[.rows[] | {id}]");
    assert_eq!(tool["schemas"], json!(["schemas/list_things.json"]));
    assert!(tool["description"].as_str().unwrap().contains("Returns: JSON in `data`"));
}

#[test]
fn a_filter_that_does_not_compile_is_told_with_its_place() {
    assert_snapshot!(told("", "project: '.rows | mpa(.id)'"));
}

#[test]
fn pages_add_an_argument_and_name_others_as_callers_know_them() {
    let said = listing("paginate: {offset: {argument: offset, size_argument: limit}, items: /rows}");
    let (_, schema, http) = tool("", Some(&said), "list_things");
    assert_eq!(schema["properties"]["max_items"]["maximum"], 10_000);
    let expected = json!({
        "argument": "max_items", "items": "/rows", "next": {"offset": {"argument": "offset", "size_argument": "limit"}},
    });
    assert_eq!(http["paginate"], expected);
}

#[test]
fn mistakes_about_pages_are_told_at_their_places() {
    for said in [
        "paginate: {cursor: {answer: next, argument: cursor}}",
        "paginate: {cursor: {answer: /nxt, argument: cursr}, items: /total}",
        "paginate: {link: true, page: {argument: offset}}",
        "paginate: {offset: {argument: offset, size: limit}}",
    ] {
        let name = said.chars().filter(char::is_ascii_alphabetic).collect::<String>();
        assert_snapshot!(name, told("", said));
    }
}

#[test]
fn pages_cannot_be_asked_for_with_a_hidden_argument() {
    let told = told("", "paginate: {offset: {argument: offset}, items: /rows}, arguments: {offset: {constant: 0}}");
    assert!(told.contains("error[no-pages]: `offset` of GET /tenants/{tenantId}/things is hidden"), "{told}");
}
