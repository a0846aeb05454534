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
fn what_is_nested_too_deeply_is_empty_and_told_in_both_formats() {
    let text = format!("{}{}", "[".repeat(128), "]".repeat(128));
    for (label, text) in [("a.json", format!("{{\"a\": {text}, \"b\": 1}}")), ("a.yaml", format!("a: {text}\nb: 1\n"))]
    {
        let (value, findings) = read(label, &text);
        assert!(findings.contains("error[too-deep]") && findings.contains(&format!("{label}:1:")), "{findings}");
        assert!(findings.contains("at /a/0/0") && value.unwrap()["b"] == 1);
    }
    for label in ["a.json", "a.yaml"] {
        let (value, findings) = read(label, &"[".repeat(100_000));
        assert_eq!(value, None);
        assert!(!findings.is_empty() && !findings.contains("invalid-yaml"), "{findings}");
    }
}

/// What is read of a published document, and what is reported.
fn published(label: &str, text: &str) -> (Value, String) {
    let mut sink = Sink::new();
    let value = Source::new(label, text).read_published(&mut sink);
    assert!(!sink.has_errors(), "{sink}");
    (value.unwrap(), sink.to_string())
}

#[test]
fn of_keys_that_are_there_twice_the_first_counts_in_both_formats() {
    for label in ["a.yaml", "a.json"] {
        let (value, findings) =
            published(label, "{\"a\": {\"x\": 1},\n \"é\": 1, \"a\": {\"x\": 2, \"x\": 3}, \"b\": 4}");
        assert_eq!(value, json!({"a": {"x": 1}, "é": 1, "b": 4}));
        assert!(findings.contains(&format!("{label}:2:10")) && findings.contains("the first one counts"), "{findings}");
    }
}

#[test]
fn half_a_surrogate_pair_is_replaced_where_it_stands() {
    for (label, text) in
        [("a.json", r#"{"a": "x\ud83d", "b": "\ud83d\ude00"}"#), ("a.yaml", "a: \"x\\ud83d\"\nb: \"\\ud83d\\ude00\"\n")]
    {
        let (value, findings) = published(label, text);
        assert_eq!(value, json!({"a": "x\u{fffd}", "b": "\u{1F600}"}));
        assert_eq!(findings.matches("warning[lone-surrogate]").count(), 1, "{findings}");
        assert!(findings.contains(&format!("{label}:1:")), "{findings}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_left_out() {
    let (value, findings) = published("a.yaml", "a: .inf\nb: [1, .nan, 2]\nc: '.inf'\nd: &d -.INF\ne: *d\n");
    assert_eq!(value, json!({"b": [1, 2], "c": ".inf"}));
    assert!(findings.contains("a.yaml:1:4\n  at /a\n") && findings.contains("at /b/1"), "{findings}");
    let (value, findings) = published("a.json", "{\"a\": Infinity, \"b\": [1, NaN],\n \"c\": \"NaN\"}");
    assert_eq!(value, json!({"b": [1, null], "c": "NaN"}));
    assert!(findings.contains("`Infinity` is no JSON value") && findings.contains("at /b/1"), "{findings}");
}

#[test]
fn a_merge_of_no_mapping_is_left_out() {
    let (value, findings) = published("a.yaml", "a: {<<: 3, b: 1}\n");
    assert_eq!(value, json!({"a": {"b": 1}}));
    assert!(findings.contains("warning[invalid-merge]") && findings.contains("a.yaml:1:5"), "{findings}");
}

#[test]
fn a_fault_in_a_file_of_our_own_is_an_error() {
    for text in ["a: 1\na: 2\n", "a: .nan\n", "a: {<<: 3}\n", "a: \"\\ud83d\"\n"] {
        assert!(read("server.yaml", text).1.starts_with("error["), "{text}");
    }
}

#[test]
fn many_faults_are_counted_and_not_listed() {
    let members: String = (0..500).map(|_| "\"a\": 1, ").collect();
    for label in ["a.json", "a.yaml"] {
        let (_, findings) = published(label, &format!("{{{members}\"b\": 2}}"));
        assert_eq!(findings.matches("duplicate-key").count(), 100);
        assert!(findings.contains("399 more faults"), "{findings}");
    }
}

#[test]
fn files_that_are_no_documents_are_named_for_what_they_are() {
    for (bytes, expected) in [
        (&b""[..], "error[empty-file]: this file is empty"),
        (b" \n", "error[empty-file]"),
        (b"\x1f\x8b\x08\0\0", "this file is packed with gzip"),
        (b"PK\x03\x04\x14\0", "this file is a ZIP archive"),
        (b"\n<!DOCTYPE html><html>", "this file is a web page"),
        (b"<HTML lang=en>", "this file is a web page"),
        (b"<?xml version=\"1.0\"?>", "this file is XML"),
        (b"a: \xff", "this byte is not UTF-8\n  --> a.yaml:1:4"),
        (b"\xff\xfe\0\0a\0\0\0", "this file is UTF-32"),
        (b"\xff\xfea", "this file is broken UTF-16"),
    ] {
        let mut sink = Sink::new();
        assert!(Source::from_bytes("a.yaml", bytes, &mut sink).is_none());
        let text = sink.to_string();
        assert!(text.contains(expected) && text.contains("\n  help: "), "{text}");
    }
}

#[test]
fn utf_16_is_read_with_and_without_a_mark() {
    let text = "a: \u{1F600}é\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let marked = |mark: [u8; 2], bytes: &[u8]| [&mark, bytes].concat();
    for bytes in [marked([0xff, 0xfe], &little), marked([0xfe, 0xff], &big), little, big] {
        let mut sink = Sink::new();
        assert_eq!(Source::from_bytes("a.yaml", &bytes, &mut sink).unwrap().text(), text, "{sink}");
    }
}

#[test]
fn comments_in_json_are_told_where_they_begin() {
    for label in ["a.json", "document"] {
        let (value, findings) = read(label, "{\n  // a comment\n  \"a\": 1\n}");
        assert_eq!(value, None);
        assert!(findings.contains("this is a comment, and JSON has none"), "{findings}");
        assert!(findings.contains(&format!("{label}:2:3")), "{findings}");
    }
}

#[test]
fn small_aliases_may_be_many() {
    let text = format!("base: &b {{x: 1}}\nuses: [{}]\n", vec!["*b"; 10_000].join(", "));
    assert_eq!(published("a.yaml", &text).0["uses"].as_array().unwrap().len(), 10_000);
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
fn places_in_wide_nodes_are_right() {
    let members: String = (0..200).map(|n| format!("k{n}: {n}\n")).collect();
    let source = Source::new("a.yaml", format!("{members}list:\n{}", "  - x\n".repeat(100)));
    let line = |pointer: &str| source.place(pointer).line;
    assert_eq!([line("/k0"), line("/k19"), line("/k199"), line("/gone")], [1, 20, 200, 1]);
    assert_eq!([line("/list/0"), line("/list/99"), line("/list/100")], [202, 301, 201]);
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
