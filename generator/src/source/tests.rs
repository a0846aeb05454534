//! What reading promises, by the smallest text that shows it.

use serde_json::{Value, json};

use super::{Source, to_yaml};
use crate::diagnostic::Sink;

fn read(label: &str, text: &str) -> (Option<Value>, String) {
    let mut sink = Sink::new();
    let value = Source::new(label, text).read(&mut sink);
    (value, sink.to_string())
}

fn yaml(text: &str) -> Value {
    let (value, findings) = read("a.yaml", text);
    assert_eq!(findings, "");
    value.unwrap()
}

#[test]
fn numbers_keep_every_digit() {
    for text in ["12345678901234567890123", "1e+400", "0.30000000000000000001"] {
        assert_eq!(yaml(&format!("n: {text}"))["n"].to_string(), text);
        let (value, _) = read("a.json", &format!("{{\"n\": {text}}}"));
        assert_eq!(value.unwrap()["n"].to_string(), text);
    }
}

#[test]
fn plain_scalars_follow_the_core_schema() {
    assert_eq!(
        yaml("[~, true, no, 0x10, +5, .5, 007, '5', 1.0.0, 2020-01-01, !!str 5]"),
        json!([null, true, "no", 16, 5, 0.5, "007", "5", "1.0.0", "2020-01-01", "5"])
    );
}

#[test]
fn numeric_keys_are_text() {
    assert_eq!(yaml("200: ok\ntrue: yes"), json!({"200": "ok", "true": "yes"}));
}

#[test]
fn duplicate_keys_are_reported_where_the_second_stands() {
    let (value, findings) = read("a.yaml", "a: 1\nb: {c: 1, c: 2}\na: 3\n");
    assert_eq!(value.unwrap(), json!({"a": 1, "b": {"c": 1}}));
    assert!(findings.contains("the key `c`") && findings.contains("a.yaml:2:11"));
    assert!(findings.contains("the key `a`") && findings.contains("a.yaml:3:1"));
    let (_, findings) = read("a.json", "{\"a\": 1,\n \"a\": 2}");
    assert!(findings.contains("duplicate-key") && findings.contains("a.json:2:2"));
}

#[test]
fn merge_keys_fill_in_what_is_not_there() {
    let value = yaml("base: &b {x: 1, y: 2}\nuse: {y: 3, <<: *b}\nquoted: {\"<<\": 1}\n");
    assert_eq!(value["use"], json!({"y": 3, "x": 1}));
    assert_eq!(value["quoted"], json!({"<<": 1}));
}

#[test]
fn json_surrogate_escapes_are_one_character() {
    assert_eq!(yaml(r#"a: "\ud83d\ude00""#), json!({"a": "\u{1F600}"}));
    assert_eq!(yaml(r"a: '\ud83d\ude00'"), json!({"a": r"\ud83d\ude00"}));
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut text = String::from("a0: &a0 [xxxxxxxxxxxxxxxx, xxxxxxxxxxxxxxxx]\n");
    for level in 1..20 {
        let below = level - 1;
        text.push_str(&format!("a{level}: &a{level} [*a{below}, *a{below}, *a{below}, *a{below}]\n"));
    }
    let (value, findings) = read("bomb.yaml", &text);
    assert_eq!(value, None);
    assert!(findings.contains("alias-bomb"), "{findings}");
}

#[test]
fn deep_nesting_is_refused_in_both_formats() {
    let text = format!("{}{}", "[".repeat(128), "]".repeat(128));
    assert!(read("a.json", &text).1.contains("recursion limit"));
    assert!(read("a.yaml", &format!("a: {text}")).1.contains("too-deep"));
    assert_eq!(read("a.yaml", &"[".repeat(100_000)).0, None);
}

#[test]
fn an_alias_inside_its_own_anchor_is_refused() {
    assert!(read("a.yaml", "a: &a [*a]").1.contains("alias-loop"));
}

#[test]
fn a_second_document_is_refused() {
    assert!(read("a.yaml", "a: 1\n---\nb: 2\n").1.contains("several-documents"));
}

#[test]
fn pointers_lead_to_lines_and_columns() {
    let yaml = Source::new("a.yaml", "paths:\n  /a/b:\n    - x: 1\n");
    let json = Source::new("a.json", "{\"paths\":\n  {\"/a/b\": [\n    {\"x\": 1}]}}");
    for (source, expected) in [(yaml, [(2, 3), (3, 7), (3, 7)]), (json, [(2, 4), (3, 6), (3, 6)])] {
        let found = ["/paths/~1a~1b", "/paths/~1a~1b/0/x", "/paths/~1a~1b/0/x/gone"].map(|pointer| {
            let place = source.place(pointer);
            (place.line, place.column)
        });
        assert_eq!(found, expected, "{}", source.label());
    }
}

#[test]
fn yaml_text_reads_back_to_the_same_value() {
    let value = json!({"200": "yes", "n": 1.5, "big": 18446744073709551615u64, "double": 0.30000000000000004, "text": "a\nb: c\n", "empty": {}, "list": [[], null]});
    assert_eq!(yaml(&to_yaml(&value)), value);
}

#[test]
fn a_number_that_yaml_cannot_write_makes_json_text() {
    let value: Value = serde_json::from_str(r#"{"n": 0.12345678901234567890123}"#).unwrap();
    let text = to_yaml(&value);
    assert_eq!(yaml(&text), value);
}

#[test]
fn a_flow_collection_may_close_in_the_column_of_its_key() {
    let value = yaml("a:\n  example: {\n    b: [\n    1\n    ],\n    text: 'x\n  y'\n  }\n  c: 2\n");
    assert_eq!(value, json!({"a": {"example": {"b": [1], "text": "x y"}, "c": 2}}));
}

#[test]
fn a_wrong_block_indentation_is_refused_where_it_stands() {
    let (value, findings) = read("a.yaml", "a:\n    b: 1\n  c: 2\n");
    assert_eq!(value, None);
    assert!(findings.contains("a.yaml:3:"), "{findings}");
}

#[test]
fn a_tab_is_reported_where_it_stands() {
    for text in ["a:\n  b: 1\n\tc: 2\n", "a:\n\tb: 1\n  c: 2\n"] {
        let (_, findings) = read("a.yaml", text);
        let line = 1 + text.lines().position(|line| line.starts_with('\t')).unwrap();
        assert!(
            findings.contains(&format!("a.yaml:{line}:1")) && findings.contains("instead of the tab"),
            "{findings}"
        );
    }
}

#[test]
fn a_repeated_key_has_its_pointer_and_leaves_no_places() {
    for (label, text) in [
        ("a.yaml", "list:\n  - x\n  - {a: {b: 1}, a: {c: 2}}\n"),
        ("a.json", "{\"list\": [0, {\"a\": {\"b\": 1}, \"a\": {\"c\": 2}}]}"),
    ] {
        let (_, findings) = read(label, text);
        assert!(findings.contains("at /list/1/a"), "{findings}");
        let source = Source::new(label, text);
        let [first, inner, gone] =
            ["/list/1/a", "/list/1/a/b", "/list/1/a/c"].map(|pointer| source.place(pointer).column);
        assert!(inner > first && gone == first, "{label}: {first} {inner} {gone}");
    }
}
