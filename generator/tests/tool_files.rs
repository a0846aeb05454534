//! Tools written as YAML files: what they become, and what their authors are told. The snapshots are what people read.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use insta::assert_snapshot;
use support::{arguments, document, file_names, findings, generated, json, text, tool_files, tools};

const UPSTREAM: &str = "upstream: {base_url: 'http://127.0.0.1:8080', env_prefix: T}\n";

const NOTES: &str = "name: release_notes
title: Release notes
description: List the releases of a project, newest first.
tags: [releases]
hints: {risk: read-only}
input:
  project: {type: string, description: Name of the project.}
  limit?: {type: integer, minimum: 1, default: 10, description: Most releases to return.}
  trace?: {type: string, description: Identifier of the call.}
http:
  method: GET
  path: /projects/{project}/releases
  query: {per_page: limit}
  headers: {X-Trace: trace}
";

const GREET: &str = "description: Greet a person in their language.
hints: {risk: compute, idempotent: true}
input:
  name: {type: string, description: Whom to greet.}
  tone?: {type: string, enum: [plain, warm], description: How to greet.}
output:
  type: object
  required: [greeting]
  properties:
    greeting: {type: string, description: What to say.}
settings:
  house: {description: Name of the house., default: Toolwright}
  key: {description: Key of the phrase book., secret: true}
native: {}
";

/// What is said of one tool with one line of its file replaced.
fn told(file: &str, replaced: &str, by: &str) -> String {
    assert!(file.contains(replaced), "the test replaces nothing");
    findings(&tool_files(&[("release_notes", &file.replacen(replaced, by, 1))], UPSTREAM))
}

fn notes(replaced: &str, by: &str) -> String {
    told(NOTES, replaced, by)
}

#[test]
fn a_good_file_has_nothing_to_report() {
    assert_eq!(findings(&tool_files(&[("release_notes", NOTES), ("greet", GREET)], UPSTREAM)), "");
}

#[test]
fn an_input_in_the_query_of_a_path_is_an_error_at_the_path() {
    let said = notes("path: /projects/{project}/releases", "path: '/releases?of={project}'");
    assert!(said.contains("error[query-in-path]: `?of={project}` is sent as it stands"), "{said}");
    assert!(said.contains("release_notes.yaml:12:") && said.contains("put it under `query`"), "{said}");
    assert!(!said.contains("unused-input"), "{said}");
}

#[test]
fn everything_that_two_files_become() {
    let (generated, sink) = generated(&tool_files(&[("release_notes", NOTES), ("greet", GREET)], UPSTREAM));
    assert!(!sink.has_errors(), "{sink}");
    let mut all = String::new();
    let is_shown = |name: &&String| {
        [".rs", "Cargo.toml", "TOOLS.md", "catalog.json", "schemas/greet.json"].iter().any(|end| name.ends_with(end))
            && !name.ends_with("agreement.rs")
    };
    for name in file_names(&generated).iter().filter(is_shown) {
        let content = String::from_utf8(generated.files.get(name).unwrap().to_vec()).unwrap();
        all.push_str(&format!("=== {name}\n{content}\n"));
    }
    let is_hash = |part: &str| part.len() == 64 && part.bytes().all(|b| b.is_ascii_hexdigit());
    let parts = all.split('"').map(|part| if is_hash(part) { "SHA-256" } else { part });
    assert_snapshot!(parts.collect::<Vec<_>>().join("\""));
}

#[test]
fn a_file_stands_beside_the_operations_of_a_document() {
    let mut files =
        document("openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths: {/a: {get: {operationId: getA}}}\n");
    files.insert("specs/t/tools/release_notes.yaml", NOTES);
    let (generated, sink) = generated(&files);
    assert_eq!(tools(&generated), ["get_a", "release_notes"], "{sink}");
    // The live audit leaves it out: the API's document never had it.
    assert!(text(&generated, "src/lib.rs").contains("tools_of_files: &[\"release_notes\"]"));
    // The ledger is about the document alone.
    assert_eq!(json(&generated, "ledger.json")["added_by_overlays"], serde_json::json!({}));
}

#[test]
fn a_schema_of_a_file_may_name_a_type_of_the_document() {
    let mut files = document(
        "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths: {/a: {get: {}}}\n\
         components: {schemas: {Point: {type: object, properties: {x: {type: integer}}}}}\n",
    );
    let place = "description: Mark a point.\ninput: {point: {$ref: '#/components/schemas/Point'}}\n\
                 http: {method: POST, path: /marks, body: point}\n";
    files.insert("specs/t/tools/mark.yaml", place);
    let (generated, sink) = generated(&files);
    assert!(text(&generated, "src/general.rs").contains("pub point: Point"), "{sink}");
}

#[test]
fn a_server_of_native_tools_needs_neither_document_nor_upstream() {
    let (generated, _) = generated(&tool_files(&[("greet", GREET)], ""));
    let root = text(&generated, "src/lib.rs");
    assert!(root.contains("env_prefix: \"T\"") && root.contains("default_base_url: \"\""), "{root}");
    assert_eq!(generated.summary.native, ["greet"]);
}

#[test]
fn members_of_a_body_have_names_of_their_own() {
    let file = "description: Store a note.\nhints: {risk: write}\ninput: {text: {type: string}, mark?: {type: string}}\n\
                http: {method: POST, path: /notes, body: {content: text, labelName: mark}}\n";
    let (generated, _) = generated(&tool_files(&[("store_note", file)], UPSTREAM));
    let expected = serde_json::json!({
        "text": {"in": "member", "wire": "content", "required": true},
        "mark": {"in": "member", "wire": "labelName"},
    });
    assert_eq!(arguments(&generated, "store_note"), expected);
}

#[test]
fn one_input_can_be_the_whole_body() {
    let file = "description: Store notes.\nhints: {risk: write}\ninput: {notes: {type: array, items: {type: string}}}\n\
                http: {method: POST, path: /notes, body: notes}\n";
    let (generated, _) = generated(&tool_files(&[("store_notes", file)], UPSTREAM));
    assert_eq!(arguments(&generated, "store_notes")["notes"]["in"], "body");
}

#[test]
fn the_input_may_be_a_json_schema() {
    let file = "description: Greet.\nhints: {risk: compute}\nnative: {}\n\
                input: {type: object, required: [name], properties: {name: {type: string}, type: {type: string}}}\n";
    let (generated, _) = generated(&tool_files(&[("greet", file)], ""));
    assert_eq!(arguments(&generated, "greet")["name"]["required"], true);
    assert_eq!(arguments(&generated, "greet")["type"].get("required"), None);
}

#[test]
fn what_a_document_says_under_our_key_is_no_tool() {
    let stray = "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths: {/a: {get: {operationId: getA}}}\n\
                 x-toolwright-tools: {shadow: {native: true, operation: {description: x}}}\n";
    assert_eq!(tools(&generated(&document(stray)).0), ["get_a"]);
}

#[test]
fn a_misspelt_key() {
    assert_snapshot!(notes("hints:", "hint:"));
}

#[test]
fn a_misspelt_executor() {
    assert_snapshot!(notes("http:", "htpp:"));
}

#[test]
fn an_executor_that_does_not_exist() {
    assert_snapshot!(notes("http:", "sql:"));
}

#[test]
fn no_executor() {
    assert_snapshot!(told("description: Does nothing.\n", "", ""));
}

#[test]
fn two_executors() {
    assert_snapshot!(notes("http:", "native: {}\nhttp:"));
}

#[test]
fn a_name_that_is_not_the_files() {
    assert_snapshot!(notes("name: release_notes", "name: releases"));
}

#[test]
fn an_input_that_is_misspelt_where_it_is_sent() {
    assert_snapshot!(notes("per_page: limit", "per_page: limt"));
}

#[test]
fn an_input_that_goes_nowhere() {
    assert_snapshot!(notes("  query: {per_page: limit}\n", ""));
}

#[test]
fn an_input_that_goes_to_two_places() {
    assert_snapshot!(notes("X-Trace: trace", "X-Trace: trace, X-Limit: limit"));
}

#[test]
fn an_optional_input_in_the_path() {
    assert_snapshot!(notes("  project:", "  project?:"));
}

#[test]
fn a_header_that_the_server_sets_itself() {
    assert_snapshot!(notes("X-Trace: trace", "Authorization: trace"));
}

#[test]
fn a_get_with_a_body() {
    assert_snapshot!(notes("  headers: {X-Trace: trace}\n", "  body: {trace: trace}\n"));
}

#[test]
fn a_keyword_that_is_none_of_json_schema() {
    assert_snapshot!(notes("minimum: 1", "minimun: 1"));
}

#[test]
fn a_risk_that_does_not_exist() {
    assert_snapshot!(notes("risk: read-only", "risk: readonly"));
}

#[test]
fn a_name_of_an_argument_that_clients_refuse() {
    assert_snapshot!(notes("trace?:", "traceId?:"));
}

#[test]
fn a_native_tool_that_does_not_say_what_it_may_do() {
    assert_snapshot!(findings(&tool_files(
        &[("greet", &GREET.replace("hints: {risk: compute, idempotent: true}\n", ""))],
        ""
    )));
}

#[test]
fn an_http_tool_without_an_upstream() {
    assert_snapshot!(findings(&tool_files(&[("release_notes", NOTES)], "")));
}

#[test]
fn a_server_with_neither_document_nor_tools() {
    assert_snapshot!(findings(&tool_files(&[], UPSTREAM)));
}

#[test]
fn a_setting_that_every_server_has() {
    assert_snapshot!(findings(&tool_files(&[("greet", &GREET.replace("  house:", "  log_level:"))], "")));
}

#[test]
fn a_setting_that_two_tools_declare_differently() {
    let other = GREET.replace("default: Toolwright", "default: Elsewhere");
    assert_snapshot!(findings(&tool_files(&[("greet", GREET), ("part", &other)], "")));
}

#[test]
fn two_files_of_one_name() {
    let mut files = tool_files(&[("greet", GREET)], "");
    files.insert("specs/t/tools/greet.yml", GREET);
    files.insert("specs/t/tools/more/part.yaml", GREET);
    assert_snapshot!(findings(&files));
}

#[test]
fn missing_texts_where_they_are_required() {
    let file = GREET.replace("{type: string, description: Whom to greet.}", "{type: string}");
    assert_snapshot!(findings(&tool_files(&[("greet", &file)], "require_descriptions: true\n")));
}

/// A tool that sends what callers never see, in every place.
const REPORT: &str = "description: Start a report.
hints: {risk: write}
input:
  $defs: {Span: {type: object, required: [from], properties: {from: {type: string}, inner: {$ref: '#/$defs/Span'}}}}
  span: {$ref: '#/$defs/Span'}
settings:
  tenant: {description: Tenant whose data is used., default: main}
  pages: {description: Most pages., default: '5'}
http:
  method: POST
  path: /{tenant}/reports
  query: {api-version: {constant: '2024-10'}}
  headers: {X-Tenant-Mode: {constant: strict}}
  body:
    span: span
    kind: {constant: {name: full}}
    most: {setting: pages, schema: {type: integer}}
  project: '{id: .report.id}'
output: {type: object, properties: {id: {$ref: '#/$defs/Id'}}, $defs: {Id: {type: string}}}
";

#[test]
fn constants_and_settings_are_sent_and_never_asked_for() {
    let (generated, sink) = generated(&tool_files(&[("start_report", REPORT)], UPSTREAM));
    assert_eq!(sink.to_string(), "");
    let catalog = &json(&generated, "catalog.json")["tools"][0];
    let names = |key: &str| catalog[key].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names("arguments"), ["span"]);
    assert_eq!(names("hidden"), ["tenant", "api_version", "x_tenant_mode", "kind", "most"]);
}

#[test]
fn definitions_of_an_input_and_of_an_output_are_types() {
    let (generated, _) = generated(&tool_files(&[("start_report", REPORT)], UPSTREAM));
    let input = json(&generated, "schemas/start_report.json");
    let span = input["properties"]["span"]["$ref"].as_str().unwrap();
    assert_eq!(input.pointer(&span[1..]).unwrap()["properties"]["inner"]["$ref"], span);
    let output = json(&generated, "schemas/start_report.result.json");
    assert_eq!(output["properties"]["id"]["type"], "string", "{output}");
}

#[test]
fn a_tool_file_has_pages_as_an_operation_has() {
    let paged =
        NOTES.replace("query: {per_page: limit}", "query: {per_page: limit}\n  paginate: {link: true, items: /list}");
    let (generated, _) = generated(&tool_files(&[("release_notes", &paged)], UPSTREAM));
    assert_eq!(arguments(&generated, "release_notes")["max_items"]["in"], "pages");
}

#[test]
fn mistakes_about_what_callers_never_see() {
    let wrong = REPORT
        .replace("setting: pages", "setting: page")
        .replace("{constant: strict}", "{constnt: strict}")
        .replace("'{id: .report.id}'", "'{id: .report | ids}'");
    assert_snapshot!(findings(&tool_files(&[("start_report", &wrong)], UPSTREAM)));
}

#[test]
fn a_setting_whose_default_does_not_fit_where_it_is_sent() {
    assert_snapshot!(told(REPORT, "default: '5'", "default: many"));
}

#[test]
fn a_definition_that_is_misspelt() {
    assert_snapshot!(told(REPORT, "span: {$ref: '#/$defs/Span'}", "span: {$ref: '#/$defs/Spam'}"));
}

#[test]
fn a_long_tool_makes_its_server_link_a_store_of_tasks() {
    let long = format!("{NOTES}long: true\n");
    for (file, is_linked) in [(long.as_str(), true), (NOTES, false)] {
        let (generated, sink) = generated(&tool_files(&[("release_notes", file)], UPSTREAM));
        assert!(!sink.has_errors(), "{sink}");
        let file = |path: &str| {
            let content = generated.files.get(&format!("generated/t-server/{path}")).unwrap();
            String::from_utf8(content.to_vec()).unwrap()
        };
        let main = file("src/main.rs");
        assert_eq!(main.contains(".durable_tasks()"), is_linked, "{main}");
        let manifest = file("Cargo.toml");
        assert_eq!(manifest.contains("features = [\"tasks\"]"), is_linked, "{manifest}");
    }
}

#[test]
fn whether_a_tool_is_long_is_yes_or_no() {
    let said = notes("http:\n", "long: sometimes\nhttp:\n");
    assert!(said.contains("long"), "{said}");
    assert_ne!(said, "");
}
