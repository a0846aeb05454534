//! Mistakes that people make in specs, and what they are told. The snapshots are the texts that they read.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use insta::assert_snapshot;
use support::{files, findings};

const DOCUMENT: &str = "openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /items:
    get:
      tags: [items]
      parameters: [{name: limit, in: query, schema: {type: integer}}]
    post:
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/Item'}}}
  /items/{id}:
    delete:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
components:
  schemas:
    Item: {type: object, required: [name], properties: {name: {type: string}, note: {type: string}}}
";

/// A curation of the whole document without a fault, with one line replaced.
fn curated(replaced: &str, by: &str) -> String {
    curated_with("require_descriptions: true\n", replaced, by)
}

fn curated_with(settings: &str, replaced: &str, by: &str) -> String {
    let actions = "  - target: $.paths['/items'].get
    update:
      summary: List items
      description: List the items that are stored, newest first.
      x-toolwright:
        name: list_items
        risk: read-only
        returns: an array of items.
        arguments: {limit: Most items to return.}
  - target: $.paths['/items'].post
    update:
      summary: Create item
      description: Store a new item under a name.
      x-toolwright:
        name: create_item
        risk: write
        returns: the item with its `id`.
        caution: The item is seen by everybody.
  - target: $.paths['/items/{id}'].delete
    update:
      summary: Delete item
      description: Delete an item by its id, for good and for everybody.
      x-toolwright:
        name: delete_item
        risk: destructive
        returns: nothing but success.
        caution: The item is lost.
        arguments: {id: Item to delete.}
  - target: $.components.schemas.Item
    update:
      x-toolwright:
        fields:
          name: What it is called.
          note: Anything else about it.
";
    assert!(replaced.is_empty() || actions.contains(replaced), "the test replaces nothing");
    findings(&files(DOCUMENT, settings, Some(&actions.replacen(replaced, by, 1))))
}

#[test]
fn a_good_spec_has_nothing_to_report() {
    assert_eq!(curated("", ""), "");
}

#[test]
fn misspelt_key() {
    assert_snapshot!(curated("risk: write", "rsik: write"));
}

#[test]
fn overlay_that_matches_nothing() {
    assert_snapshot!(curated("$.paths['/items'].post", "$.paths['/item'].post"));
}

#[test]
fn two_tools_of_one_name() {
    assert_snapshot!(curated("name: create_item", "name: list_items"));
}

#[test]
fn name_that_is_no_tool_name() {
    assert_snapshot!(curated("name: create_item", "name: Create-Item"));
}

#[test]
fn name_that_the_runtime_uses() {
    assert_snapshot!(curated("name: create_item", "name: server_health"));
}

#[test]
fn unknown_tool_in_the_preset() {
    assert_snapshot!(curated_with("exposed: [list_items, creat_item]\n", "", ""));
}

#[test]
fn unknown_tool_in_the_health_check() {
    assert_snapshot!(curated_with("health: [list_item]\n", "", ""));
}

#[test]
fn health_check_that_changes_something() {
    assert_snapshot!(curated_with("health: [list_items]\n", "risk: read-only", "risk: write"));
}

#[test]
fn missing_name() {
    assert_snapshot!(curated("        name: create_item\n", ""));
}

#[test]
fn missing_risk() {
    assert_snapshot!(curated("        risk: write\n", ""));
}

#[test]
fn missing_description_of_a_tool() {
    assert_snapshot!(curated("      description: Store a new item under a name.\n", ""));
}

#[test]
fn missing_description_of_an_argument() {
    assert_snapshot!(curated("        arguments: {limit: Most items to return.}\n", ""));
}

#[test]
fn missing_description_of_a_field() {
    let settings = "require_descriptions: true\nbody: wrapped\n";
    assert_snapshot!(curated_with(settings, "          note: Anything else about it.\n", ""));
}

#[test]
fn missing_description_of_a_member() {
    assert_snapshot!(curated("          note: Anything else about it.\n", ""));
}

#[test]
fn description_of_an_argument_that_does_not_exist() {
    assert_snapshot!(curated("{limit: Most", "{limt: Most"));
}

#[test]
fn title_that_is_too_long() {
    assert_snapshot!(curated("summary: Create item", "summary: Create an item in the store of all items there are"));
}

#[test]
fn purpose_that_is_too_long() {
    let long = format!("description: {}", "Store a new item under a name. ".repeat(8).trim_end());
    assert_snapshot!(curated("description: Store a new item under a name.", &long));
}

#[test]
fn description_that_says_too_little() {
    assert_snapshot!(curated("description: List the items that are stored, newest first.", "description: List."));
}

#[test]
fn reading_tool_that_is_not_idempotent() {
    assert_snapshot!(curated("risk: read-only", "risk: read-only\n        idempotent: false"));
}

#[test]
fn delete_that_only_reads() {
    assert_snapshot!(curated("risk: destructive", "risk: read-only"));
}

#[test]
fn destructive_tool_that_does_not_say_what_is_lost() {
    assert_snapshot!(curated("        caution: The item is lost.\n", ""));
}

#[test]
fn required_field_that_is_not_advertised() {
    assert_snapshot!(curated("risk: write", "risk: write\n        advertise: [note]"));
}

#[test]
fn substitute_that_does_not_exist() {
    assert_snapshot!(curated(
        "risk: write",
        "risk: write\n        route: {missing: No such route., instead: list_itms}"
    ));
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let text = curated_with(
        "exposed: [nope]\nrequire_descriptions: true\n",
        "        risk: write\n        returns: the item with its `id`.\n        caution: The item is seen by everybody.\n",
        "",
    );
    assert_snapshot!(text);
}

/// The first line of each finding.
fn messages(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("error[") || line.starts_with("warning[")).collect()
}

#[test]
fn what_an_unread_overlay_would_have_said_is_not_missed() {
    let text = curated("    update:\n      summary: List items", "    update: [\n      summary: List items");
    assert_eq!(messages(&text).len(), 1, "{text}");
    let text =
        curated_with("exposed: [create_item]\nrequire_descriptions: true\n", "['/items'].post", "['/itms'].post");
    assert_eq!(messages(&text).len(), 1, "{text}");
}

#[test]
fn actions_that_contradict_themselves() {
    for (of, expected) in [
        ("{target: $, remove: true}", "cannot remove the whole document"),
        ("{target: $, update: 5}", "the target is a mapping, and the update is a number"),
        ("{target: \"$.paths['/items'].get\", update: [1]}", "to replace `get` whole, remove it"),
        ("{target: \"$.paths['/items'].get\", update: {}, remove: true}", "so `update` does nothing"),
    ] {
        let text = curated_action(of);
        assert!(text.contains("error[contradicting-action]") && text.contains(expected), "{of}\n---\n{text}");
    }
}

/// What is found where a further action follows the curation.
fn curated_action(action: &str) -> String {
    curated("          note: Anything else about it.\n", &format!("          note: Any.\n  - {action}\n"))
}

/// What is found where the POST says more under our own key, and takes a query parameter.
fn further(extension: &str) -> String {
    curated_action(&format!(
        "{{target: \"$.paths['/items'].post\", update: {{parameters: [{{name: kind, in: query, description: Kind., \
         schema: {{enum: [a, b]}}}}], x-toolwright: {extension}}}}}"
    ))
}

#[test]
fn keys_that_would_have_no_effect() {
    for (extension, expected) in [
        ("{media: [json, websocket]}", "says `websocket`, and nothing makes it so"),
        ("{stream: openai, media: [json]}", "leaves out `sse`"),
        ("{arguments: {kind: {name: note}}}", "2 arguments of POST /items are named `note`"),
        ("{arguments: {kind: {name: 'Bad name'}}}", "`Bad name` is no argument name"),
        ("{arguments: {kind: {send_as: {c: d}}}}", "`c` is no value that `kind` accepts"),
        ("{deadline_seconds: 100000}", "a whole number from 1 to 86400"),
    ] {
        let text = further(extension);
        assert!(text.contains(expected), "{extension}\n---\n{text}");
    }
    let text = curated("returns: an array of items.", "returns: an array of items.\n        argument: body");
    assert!(text.contains("`argument` speaks of a JSON body, and this operation takes none"), "{text}");
    let text = curated_action("{target: \"$.paths['/items'].get\", update: {x-toolwrite: {name: x}}}");
    assert!(text.contains("did you mean `x-toolwright`?"), "{text}");
    let text = curated_with("exposed: [server_health]\n", "", "");
    assert!(text.contains("every server has this tool"), "{text}");
}

#[test]
fn writing_tool_that_does_not_say_what_changes() {
    assert_snapshot!(curated("        caution: The item is seen by everybody.\n", ""));
}

#[test]
fn type_that_does_not_exist_behind_references() {
    assert_snapshot!(findings(&support::document(
        "
openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /t: {post: {operationId: t, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}}}
components:
  schemas:
    A: {type: object, properties: {b: {$ref: '#/components/schemas/B'}}}
    B: {type: object, properties: {c: {type: strng, minLength: -1, patern: x}}}
"
    )));
}

#[test]
fn placeholder_that_the_path_of_an_overlay_makes_up() {
    assert_snapshot!(curated("risk: destructive", "risk: destructive\n        path: /things/{di}"));
}

#[test]
fn search_phrase_that_is_empty() {
    assert_snapshot!(curated("risk: write", "risk: write\n        search: {en: [new item, ''], ko: [' ']}"));
}

#[test]
fn a_value_that_is_wrong_is_not_missing_as_well() {
    for (replaced, by) in [
        ("risk: write", "risk: wriet"),
        ("returns: the item with its `id`.", "returns: 5"),
        ("caution: The item is seen by everybody.", "caution: [x]"),
        ("caution: The item is lost.", "caution: 5"),
        ("name: create_item", "name: 5"),
        ("{limit: Most items to return.}", "{limit: 5}"),
        ("{limit: Most items to return.}", "[limit]"),
        ("note: Anything else about it.", "note: 5"),
    ] {
        let text = curated(replaced, by);
        assert_eq!(messages(&text).len(), 1, "{by}\n---\n{text}");
    }
}

#[test]
fn a_key_that_is_misspelt_is_not_missing_as_well() {
    for (replaced, by) in [
        ("risk: write", "rsik: write"),
        ("returns: the item with its `id`.", "retruns: the item with its `id`."),
        ("caution: The item is seen by everybody.", "cautoin: The item is seen by everybody."),
        ("name: create_item", "nmae: create_item"),
    ] {
        let text = curated(replaced, by);
        assert_eq!(messages(&text).len(), 1, "{by}\n---\n{text}");
    }
}

#[test]
fn names_that_no_overlay_holds_are_reported_beside_its_errors() {
    let text = curated_with("exposed: [nope, create_item]\nhealth: [nada]\n", "['/items'].post", "['/itms'].post");
    let found = messages(&text);
    assert_eq!(found.len(), 3, "{text}");
    assert!(text.contains("`exposed` names `nope`") && text.contains("`health` names `nada`"), "{text}");
}

/// A finding without a remedy leaves its reader alone.
#[test]
fn every_finding_has_a_help_line() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let mut findings = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if !path.file_name().unwrap().to_str().unwrap().starts_with("spec_mistakes__") {
            continue;
        }
        for finding in text.split("\n\n").filter(|part| part.contains("error[") || part.contains("warning[")) {
            findings += 1;
            assert!(finding.contains("\n  help: "), "{}: {finding}", path.display());
        }
    }
    assert!(findings > 20, "{findings}");
}
