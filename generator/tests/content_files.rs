//! Prompt files and resource files: what they become, and what their authors are told. The snapshots are what people read.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use insta::assert_snapshot;
use support::{file_names, findings, generated, json, text, tool_files};
use toolwright_generator::load::Files;

const FIND: &str = "description: Find a model.
hints: {risk: read-only}
input:
  name: {type: string, description: Its name.}
  depth?: {type: integer, description: How much to tell.}
http: {method: GET, path: '/models/{name}', query: {depth: depth}}
";

const LIST: &str = "description: List the models.\nhints: {risk: read-only}\nhttp: {method: GET, path: /models}\n";

const DROP: &str = "description: Drop a model.\ncaution: The model is gone.\nhints: {risk: destructive}
input:\n  name: {type: string, description: Its name.}\nhttp: {method: DELETE, path: '/models/{name}'}\n";

const PROMPT: &str = "title: Compare models
description: Compare two models.
arguments:
  first: {description: A model., complete: {tool: list_models, project: '[.models[].id]'}}
  second?: {title: Other model, description: Another model., default: base, complete: [base, large]}
messages:
  - text: |
      Compare {first} with {second}. Answer as {{first}}, or as {\"better\": \"..\"}.
  - role: assistant
    text: Here is what I know.
  - resource: t://models/{first}
  - resource: {uri: 't://notes/{first}', mime_type: text/markdown, text: '# {second}'}
  - file: picture.png
  - file: rules.md
";

const MODEL: &str = "title: Model
description: A model.
uri: t://models/{id}
annotations: {audience: [user, assistant], priority: 0.7, last_modified: '2026-01-31T12:00:00Z'}
tool: find_model
arguments: {name: '{id}', depth: 2}
project: .model
complete: {id: {tool: list_models, project: '[.models[].id]'}}
";

const RULES: &str = "description: The rules.\nuri: t://rules\nfile: rules.md\n";
const DOT: &str = "description: A dot.\nuri: t://dot\nfile: dot.png\n";
const ECHO: &str = "description: What stands in the URI.\nuri: t://echo/{word}/end\nmime_type: application/json\ntext: '{\"word\": \"{word}\"}'\n";

/// A server with these tools and everything above, one file of which is another.
fn server(changed: &str, by: &str) -> Files {
    let upstream = "upstream: {base_url: 'http://127.0.0.1:8080', env_prefix: T}\n";
    let mut files = tool_files(&[("find_model", FIND), ("list_models", LIST), ("drop_model", DROP)], upstream);
    let all: [(&str, &[u8]); 9] = [
        ("prompts/compare.yaml", PROMPT.as_bytes()),
        ("prompts/picture.png", b"\x89PNG picture"),
        ("prompts/rules.md", b"Be fair.\n"),
        ("resources/model.yaml", MODEL.as_bytes()),
        ("resources/rules.yaml", RULES.as_bytes()),
        ("resources/rules.md", b"# Rules\n"),
        ("resources/dot.yaml", DOT.as_bytes()),
        ("resources/dot.png", b"\x89PNG dot"),
        ("resources/echo.yaml", ECHO.as_bytes()),
    ];
    for (path, content) in all {
        let content = if path == changed { by.as_bytes() } else { content };
        files.insert(format!("specs/t/{path}"), content.to_vec());
    }
    files
}

/// What is said of the prompt with a part of its file replaced.
fn prompt(replaced: &str, by: &str) -> String {
    assert!(PROMPT.contains(replaced), "the test replaces nothing");
    findings(&server("prompts/compare.yaml", &PROMPT.replacen(replaced, by, 1)))
}

/// What is said of the template with a part of its file replaced.
fn model(replaced: &str, by: &str) -> String {
    assert!(MODEL.contains(replaced), "the test replaces nothing");
    findings(&server("resources/model.yaml", &MODEL.replacen(replaced, by, 1)))
}

#[test]
fn good_files_have_nothing_to_report() {
    assert_eq!(findings(&server("", "")), "");
}

#[test]
fn everything_that_the_files_become() {
    let (generated, _) = generated(&server("", ""));
    let catalog = json(&generated, "catalog.json");
    let shown = serde_json::to_string_pretty(&(&catalog["prompts"], &catalog["resources"])).unwrap();
    let parts = [text(&generated, "src/prompts.rs"), text(&generated, "src/resources.rs"), shown];
    assert_snapshot!(parts.join("\n----\n"));
    let server = text(&generated, "src/lib.rs");
    for part in ["pub mod prompts;", "prompts: prompts::PROMPTS,", "resources: resources::RESOURCES,"] {
        assert!(server.contains(part), "{part} in {server}");
    }
    let tables = text(&generated, "TOOLS.md");
    for row in
        ["| `compare` | Compare two models. | `first`, `second`? |", "| `t://models/{id}` | A model. | `find_model` |"]
    {
        assert!(tables.contains(row), "{row} in {tables}");
    }
}

#[test]
fn files_beside_them_become_part_of_the_package() {
    let (generated, _) = generated(&server("", ""));
    let package = |path: &str| generated.files.get(&format!("generated/t-tools/{path}")).map(<[u8]>::to_vec);
    assert_eq!(package("prompts/picture.png").unwrap(), b"\x89PNG picture");
    assert_eq!(package("resources/rules.md").unwrap(), b"# Rules\n");
    assert!(text(&generated, "MANIFEST.sha256").contains("resources/dot.png"));
}

#[test]
fn a_server_without_them_has_no_file_and_no_key_about_them() {
    let upstream = "upstream: {base_url: 'http://127.0.0.1:8080', env_prefix: T}\n";
    let (generated, _) = generated(&tool_files(&[("list_models", LIST)], upstream));
    assert!(file_names(&generated).iter().all(|path| !path.contains("prompts") && !path.contains("resources")));
    let catalog = json(&generated, "catalog.json");
    assert!(catalog.get("prompts").is_none() && catalog.get("resources").is_none());
}

#[test]
fn the_hash_of_the_catalog_covers_what_resources_hold() {
    let hash = |files: &Files| {
        let text = text(&generated(files).0, "src/lib.rs");
        text.split_once("catalog_sha256: ").unwrap().1.to_owned()
    };
    assert_ne!(hash(&server("", "")), hash(&server("resources/rules.md", "# Other rules\n")));
}

#[test]
fn misspelt_keys_in_each_mapping() {
    assert_snapshot!(prompt("title: Compare", "titel: Compare"));
    assert_snapshot!(prompt("description: A model.", "descripton: A model."));
    assert_snapshot!(prompt("role: assistant", "rol: assistant"));
    assert_snapshot!(model("project: .model", "projekt: .model"));
}

#[test]
fn a_place_of_nothing() {
    assert_snapshot!(prompt("Compare {first}", "Compare {frist}"));
}

#[test]
fn an_argument_that_no_message_uses() {
    assert_snapshot!(prompt("messages:", "  third?: {description: Nobody needs it.}\nmessages:"));
}

#[test]
fn a_required_argument_with_a_default() {
    assert_snapshot!(prompt("second?:", "second:"));
}

#[test]
fn an_argument_with_and_without_question_mark() {
    assert_snapshot!(prompt("second?:", "first?: {description: Twice.}\n  second?:"));
}

#[test]
fn a_role_that_does_not_exist() {
    assert_snapshot!(prompt("role: assistant", "role: assistent"));
}

#[test]
fn messages_with_two_contents_and_with_none() {
    assert_snapshot!(prompt("text: Here is what I know.", "text: Here.\n    file: rules.md"));
    assert_snapshot!(prompt("\n    text: Here is what I know.", ""));
}

#[test]
fn a_resource_that_is_not_there() {
    assert_snapshot!(prompt("resource: t://models/{first}", "resource: t://model/{first}"));
}

#[test]
fn a_file_that_is_not_there_and_one_that_nobody_names() {
    assert_snapshot!(prompt("file: picture.png", "file: pictur.png"));
}

#[test]
fn a_file_outside_the_folder() {
    assert_snapshot!(prompt("file: picture.png", "file: ../server.yaml"));
}

#[test]
fn a_completion_of_a_tool_that_is_misspelt() {
    assert_snapshot!(prompt("tool: list_models", "tool: list_model"));
}

#[test]
fn a_filter_that_does_not_compile() {
    assert_snapshot!(prompt("[.models[].id]", "[.models[.id]"));
}

#[test]
fn a_name_that_is_not_the_files() {
    assert_snapshot!(findings(&server("resources/rules.yaml", &format!("name: law\n{RULES}"))));
}

#[test]
fn two_resources_of_one_uri() {
    assert_snapshot!(findings(&server(
        "resources/echo.yaml",
        &ECHO.replace("t://echo/{word}/end", "t://models/{word}")
    )));
}

#[test]
fn uris_that_are_none() {
    for uri in ["models", "toolwright://t/x", "t://{a}{b}", "t://{+path}", "t://a b", "t://{a}/{a}", "t://{a"] {
        assert_snapshot!(findings(&server("resources/rules.yaml", &RULES.replace("t://rules", &format!("'{uri}'")))));
    }
}

#[test]
fn a_tool_that_changes_state() {
    assert_snapshot!(model("find_model", "drop_model"));
}

#[test]
fn an_argument_that_the_tool_does_not_have() {
    assert_snapshot!(model("name: '{id}'", "nam: '{id}'"));
}

#[test]
fn a_variable_that_goes_nowhere() {
    assert_snapshot!(model("name: '{id}'", "name: base"));
}

#[test]
fn a_place_inside_a_value() {
    assert_snapshot!(model("depth: 2", "depth: ['{id}']"));
}

#[test]
fn a_completion_of_a_variable_that_does_not_exist() {
    assert_snapshot!(model("complete: {id:", "complete: {ids:"));
}

#[test]
fn annotations_that_mean_nothing() {
    assert_snapshot!(model("priority: 0.7", "priority: 7"));
}

#[test]
fn a_projection_without_a_tool() {
    assert_snapshot!(findings(&server("resources/rules.yaml", &format!("{RULES}project: .a\n"))));
}

#[test]
fn a_file_of_a_kind_that_its_name_does_not_say() {
    let mut files = server("resources/rules.yaml", &RULES.replace("rules.md", "rules"));
    files.insert("specs/t/resources/rules", "# Rules\n");
    assert_snapshot!(findings(&files));
}
