//! Each rule of overlays, and what an author reads when one does not fit.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::origin::Origins;
use crate::diagnostic::Sink;
use crate::source::Source;

const DOCUMENT: &str = "
paths:
  /a:
    get: {tags: [x], summary: old}
list: [{n: 1}, {n: 2}, {n: 3}]
";

struct Applied {
    value: Value,
    origins: Origins,
    findings: String,
}

fn apply_all(overlay: &str) -> Applied {
    let mut sink = Sink::new();
    let document = Arc::new(Source::new("document.yaml", DOCUMENT));
    let source = Arc::new(Source::new("overlay.yaml", overlay));
    let mut value = document.read(&mut sink).unwrap();
    let mut origins = Origins::new(document);
    let number = origins.add(Arc::clone(&source));
    let overlay = source.read(&mut sink).unwrap();
    super::apply(&overlay, &mut value, &mut origins, number, &|p| source.place(p), &mut sink);
    Applied { value, origins, findings: sink.to_string() }
}

/// An overlay of one action.
fn apply(action: &str) -> Applied {
    apply_all(&format!("overlay: 1.0.0\ninfo: {{title: t, version: '1'}}\nactions:\n  - {action}\n"))
}

fn clean(action: &str) -> Value {
    let applied = apply(action);
    assert_eq!(applied.findings, "");
    applied.value
}

#[test]
fn objects_merge_lists_grow_and_the_rest_is_replaced() {
    let value = clean("{target: \"$.paths['/a'].get\", update: {tags: [y], summary: new, x-b: {c: 1}}}");
    assert_eq!(value["paths"]["/a"]["get"], json!({"tags": ["x", "y"], "summary": "new", "x-b": {"c": 1}}));
}

#[test]
fn a_list_takes_one_element() {
    assert_eq!(clean("{target: $.list, update: {n: 4}}")["list"][3], json!({"n": 4}));
}

#[test]
fn every_match_is_updated() {
    let value = clean("{target: '$.list[?@.n > 1]', update: {big: true}}");
    assert_eq!(value["list"], json!([{"n": 1}, {"n": 2, "big": true}, {"n": 3, "big": true}]));
}

#[test]
fn removing_elements_leaves_the_others() {
    assert_eq!(clean("{target: '$.list[0, 2]', remove: true}")["list"], json!([{"n": 2}]));
    assert_eq!(
        clean("{target: \"$.paths['/a'].get.tags\", remove: true}")["paths"]["/a"]["get"],
        json!({"summary": "old"})
    );
}

#[test]
fn a_copy_merges_what_stands_elsewhere() {
    let value = clean("{target: \"$.paths['/a']\", copy: '$.list[0]'}");
    assert_eq!(value["paths"]["/a"]["n"], 1);
}

#[test]
fn written_nodes_lead_to_the_overlay_and_others_to_the_document() {
    let applied = apply("target: \"$.paths['/a'].get\"\n    update: {summary: new,\n      tags: [y]}");
    let place = |pointer: &str| {
        let place = applied.origins.place(pointer);
        format!("{place}")
    };
    assert_eq!(place("/paths/~1a/get/summary"), "overlay.yaml:5:14");
    assert_eq!(place("/paths/~1a/get/tags/0"), "document.yaml:4:18");
    assert_eq!(place("/paths/~1a/get/tags/1"), "overlay.yaml:6:14");
}

#[test]
fn an_action_that_matches_nothing_is_an_error() {
    assert_eq!(
        apply("{target: \"$.paths['/other'].get\", remove: true}").findings,
        "error[no-match]: `$.paths['/other'].get` matches nothing\n  --> overlay.yaml:4:6\n  at /actions/0/target\n  help: $['paths'] has no `/other`; there are: /a\n\n"
    );
}

#[test]
fn a_slip_of_the_keyboard_is_named() {
    let findings = apply("{target: \"$.paths['/a'].gett\", remove: true}").findings;
    assert!(findings.contains("$['paths']['/a'] has no `gett`; did you mean `get`?"), "{findings}");
    let findings = apply("{target: $.list, updat: {}}").findings;
    assert!(findings.contains("unknown key `updat`") && findings.contains("did you mean `update`?"), "{findings}");
}

#[test]
fn an_action_without_effect_is_a_warning() {
    let findings = apply("{target: \"$.paths['/a'].get\", update: {summary: old}}").findings;
    assert!(findings.starts_with("warning[no-effect]"), "{findings}");
}

#[test]
fn all_faults_of_an_overlay_are_reported_at_once() {
    let findings = apply_all("overlay: 2.0.0\nactions: [{target: 'paths['}, {}, {target: $.list}]\n").findings;
    for code in [
        "unknown-overlay",
        "missing-key]: the key `info`",
        "invalid-path",
        "missing-key]: the key `target`",
        "empty-action",
    ] {
        assert!(findings.contains(code), "{code}: {findings}");
    }
}
