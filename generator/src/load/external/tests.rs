//! References to other files, each on the smallest pair of files that shows its rule.

use super::*;
use crate::load::{Document, Prose, load_document};

fn load(files: &[(&str, &str)]) -> (Document, String) {
    let mut all = Files::new();
    for (path, text) in files {
        all.insert(*path, *text);
    }
    let mut sink = Sink::new();
    let document = load_document("api/a.yaml", &all, Prose::Keep, &mut sink).unwrap();
    (document, sink.to_string())
}

fn refs(document: &Document, pointer: &str) -> Value {
    document.get(pointer).unwrap().clone()
}

#[test]
fn a_node_of_another_file_becomes_a_component_once() {
    let (document, findings) = load(&[
        (
            "api/a.yaml",
            "openapi: 3.1.0\npaths: {}\ncomponents: {schemas: {A: {properties: {x: {$ref: 'b.yaml#/B'}, y: {$ref: './b.yaml#/B'}}}}}\n",
        ),
        ("api/b.yaml", "B: {properties: {c: {$ref: '#/C'}}}\nC: {type: string}\n"),
    ]);
    assert_eq!(findings, "");
    assert_eq!(
        refs(&document, "/components/schemas"),
        json!({
            "A": {"properties": {"x": {"$ref": "#/components/schemas/B"}, "y": {"$ref": "#/components/schemas/B"}}},
            "B": {"properties": {"c": {"$ref": "#/components/schemas/C"}}},
            "C": {"type": "string"}
        })
    );
    assert_eq!(document.place("/components/schemas/C/type").to_string(), "api/b.yaml:2:5");
}

#[test]
fn path_items_take_the_place_of_their_reference() {
    let (document, findings) = load(&[
        ("api/a.yaml", "openapi: 3.1.0\npaths: {/p: {$ref: p/one.yaml}}\ncomponents: {schemas: {S: {}}}\n"),
        (
            "api/p/one.yaml",
            "parameters: [{$ref: '../q.yaml'}]\nget: {responses: {'200': {content: {application/json: {schema: {$ref: '../a.yaml#/components/schemas/S'}}}}}}\n",
        ),
        ("api/q.yaml", "{name: q, in: query, schema: {}}"),
    ]);
    assert_eq!(findings, "");
    assert_eq!(refs(&document, "/paths/~1p/parameters"), json!([{"$ref": "#/components/parameters/q"}]));
    assert_eq!(refs(&document, "/components/parameters/q/name"), "q");
    let schema = "/paths/~1p/get/responses/200/content/application~1json/schema/$ref";
    assert_eq!(refs(&document, schema), "#/components/schemas/S");
    assert_eq!(document.place("/paths/~1p/get").to_string(), "api/p/one.yaml:2:1");
}

#[test]
fn components_that_are_references_keep_their_names_even_in_a_circle() {
    let (document, findings) = load(&[
        ("api/a.yaml", "openapi: 3.1.0\npaths: {}\ncomponents: {schemas: {Foo: {$ref: x.yaml}}}\n"),
        ("api/x.yaml", "properties: {again: {$ref: 'a.yaml#/components/schemas/Foo'}, me: {$ref: x.yaml}}\n"),
    ]);
    assert_eq!(findings, "");
    let foo = json!({"$ref": "#/components/schemas/Foo"});
    assert_eq!(refs(&document, "/components/schemas"), json!({"Foo": {"properties": {"again": foo, "me": foo}}}));
}

#[test]
fn nodes_of_a_swagger_document_in_other_files_have_places_too() {
    let (document, _) = load(&[
        ("api/a.yaml", "swagger: '2.0'\npaths: {/p: {$ref: p.yaml}}\n"),
        ("api/p.yaml", "post:\n  parameters:\n    - {name: b, in: body, schema: {$ref: 's.yaml'}}\n"),
        ("api/s.yaml", "type: object\n"),
    ]);
    assert_eq!(document.place("/paths/~1p/post/requestBody").to_string(), "api/p.yaml:3:7");
    assert_eq!(document.place("/components/schemas/s/type").to_string(), "api/s.yaml:1:1");
}

#[test]
fn what_cannot_be_read_is_reported_where_the_reference_stands() {
    let (_, findings) = load(&[
        (
            "api/a.yaml",
            "openapi: 3.1.0\npaths:\n  /a: {$ref: gone.yaml}\n  /b: {$ref: 'http://h/x.yaml'}\n  /c: {$ref: ../../etc/passwd}\n  /d: {$ref: 'e.yaml#/x'}\n",
        ),
        ("api/e.yaml", "{}"),
    ]);
    for expected in [
        "there is no file api/gone.yaml\n  --> api/a.yaml:3:8",
        "http://h/x.yaml` leads outside",
        "../../etc/passwd` leads outside",
        "there is nothing at /x of api/e.yaml",
    ] {
        assert!(findings.contains(expected), "{expected}\n---\n{findings}");
    }
}

#[test]
fn what_another_file_lacks_is_not_looked_for_in_the_document() {
    let (document, findings) = load(&[
        (
            "api/a.yaml",
            "openapi: 3.1.0\npaths: {}\ncomponents: {schemas: {A: {properties: {x: {$ref: 'b.yaml#/B'}, y: {$ref: gone.yaml}, z: {$ref: gone.yaml}}}}}\n",
        ),
        ("api/b.yaml", "B: {$ref: '#/components/schemas/A'}\n"),
    ]);
    assert!(findings.contains("warning[dangling-reference]") && !findings.contains("error["), "{findings}");
    let at = |pointer: &str| refs(&document, &format!("/components/schemas/{pointer}/$ref"));
    assert_eq!(at("B"), "api/b.yaml#/components/schemas/A");
    assert_eq!((at("A/properties/y"), at("A/properties/z")), (json!("api/gone.yaml#"), json!("api/gone.yaml#")));
}

#[test]
fn a_file_that_cannot_be_read_costs_only_what_refers_to_it() {
    let (document, findings) = load(&[
        ("api/a.yaml", "openapi: 3.1.0\npaths: {/a: {$ref: b.yaml}, /c: {get: {}}}\n"),
        ("api/b.yaml", "a: [\n"),
    ]);
    assert!(findings.contains("warning[invalid-yaml]") && findings.contains("api/b.yaml:"), "{findings}");
    assert!(document.get("/paths/~1c/get").is_some());
}

#[test]
fn an_anchor_of_another_file_is_found_by_its_name() {
    let (document, findings) = load(&[
        ("api/a.yaml", "openapi: 3.1.0\npaths: {}\ncomponents: {schemas: {A: {$ref: 'b.yaml#thing'}}}\n"),
        ("api/b.yaml", "X: {properties: {t: {$anchor: thing, type: string}}}\n"),
    ]);
    assert_eq!(findings, "");
    assert_eq!(refs(&document, "/components/schemas/A/type"), "string");
    assert_eq!(document.place("/components/schemas/A/type").to_string(), "api/b.yaml:1:38");
}

#[test]
fn one_large_path_item_cannot_be_copied_to_any_number_of_paths() {
    let paths: String = (0..300).map(|path| format!("  /p{path}: {{$ref: b.yaml}}\n")).collect();
    let item = format!("x-a: [{}]\n", vec!["1"; 10_000].join(", "));
    let (_, findings) = load(&[("api/a.yaml", &format!("openapi: 3.1.0\npaths:\n{paths}")), ("api/b.yaml", &item)]);
    assert!(findings.contains("error[too-many-references]"), "{findings}");
}

#[test]
fn files_that_are_referred_to_are_found_however_the_reference_is_written() {
    let found = |text: &str| referenced_files("a.yaml", text.as_bytes());
    let none: [String; 0] = [];
    assert_eq!(found("x: {$ref: '#/a'}\ny: {\"$ref\" : \"#/b\"}\n"), none);
    for text in [
        "x: {$ref: b.yaml}",
        "x: {$ref: './b.yaml#/A'}",
        "{\"x\": {\"\\u0024ref\": \"b.yaml\"}}",
        "x:\n  $ref: >-\n    b.yaml\n",
        "x:\n  $ref: # a comment\n    b.yaml\n",
    ] {
        assert_eq!(found(text), ["b.yaml"], "{text}");
    }
}

#[test]
fn references_that_name_each_other_end() {
    let (_, findings) = load(&[
        ("api/a.yaml", "openapi: 3.1.0\npaths: {/p: {$ref: x.yaml}}\n"),
        ("api/x.yaml", "{$ref: y.yaml}"),
        ("api/y.yaml", "{$ref: x.yaml}"),
    ]);
    assert!(findings.contains("warning[reference-loop]"), "{findings}");
}

#[test]
fn what_was_fetched_from_another_address_is_brought_in_with_what_it_refers_to() {
    let (document, findings) = load(&[
        ("api/a.yaml", "openapi: 3.1.0\npaths: {}\ncomponents: {schemas: {A: {$ref: 'https://h/x/b.yaml#/B'}}}\n"),
        ("https://h/x/b.yaml", "B: {properties: {c: {$ref: '../c.yaml'}, d: {$ref: '/d.yaml'}}}\n"),
        ("https://h/c.yaml", "type: string\n"),
        ("https://h/d.yaml", "type: integer\n"),
    ]);
    assert_eq!(findings, "");
    let types = ["c", "d"].map(|name| refs(&document, &format!("/components/schemas/{name}/type")));
    assert_eq!(types, [json!("string"), json!("integer")]);
}

#[test]
fn addresses_are_named_as_they_are_fetched() {
    let found = referenced_files("https://h/x/b.yaml", b"{$ref: '../c.yaml#/C', d: {$ref: 'http://i/./d.yaml'}}");
    assert_eq!(found, ["http://i/d.yaml", "https://h/c.yaml"]);
    let found = referenced_files("a.yaml", b"x: {$ref: 'http://i/./d.yaml'}\ny: {$ref: 'ftp://i/e.yaml'}\n");
    assert_eq!(found, ["http://i/d.yaml"]);
}

#[test]
fn what_a_discriminator_maps_to_in_another_file_is_brought_in() {
    let (document, findings) = load(&[
        (
            "api/a.yaml",
            "openapi: 3.1.0\npaths: {}\ncomponents: {schemas: {Pet: {oneOf: [{$ref: 'o/p.yaml#/Cat'}], discriminator: {propertyName: kind, mapping: {meow: 'o/p.yaml#/Cat', woof: Dog}}}, Dog: {}}}\n",
        ),
        ("api/o/p.yaml", "Cat: {type: object}\n"),
    ]);
    assert_eq!(findings, "");
    let pet = refs(&document, "/components/schemas/Pet");
    assert_eq!(pet["discriminator"]["mapping"], json!({"meow": "#/components/schemas/Cat", "woof": "Dog"}));
    assert_eq!(pet["oneOf"], json!([{"$ref": "#/components/schemas/Cat"}]));
}

#[test]
fn files_of_a_mapping_are_found_and_names_are_not_files() {
    let text = "x: {discriminator: {propertyName: k, mapping: {a: b.yaml, c: 'd/e#/F', g: '#/H', i: J}}}";
    assert_eq!(referenced_files("a.yaml", text.as_bytes()), ["b.yaml", "d/e"]);
}

#[test]
fn an_address_with_credentials_is_not_read_and_not_repeated() {
    let (_, findings) = load(&[("api/a.yaml", "openapi: 3.1.0\npaths: {/b: {$ref: 'https://me:secret@h/x.yaml'}}\n")]);
    assert!(findings.contains("warning[reference-with-credentials]"), "{findings}");
    assert!(!findings.contains("secret"), "{findings}");
    let none: [String; 0] = [];
    assert_eq!(referenced_files("a.yaml", b"x: {$ref: 'https://me:secret@h/x.yaml'}"), none);
}

#[test]
fn scheme_and_host_of_an_address_have_no_case() {
    assert_eq!(referenced_files("a.yaml", b"x: {$ref: 'HTTP://H.example/X.yaml'}"), ["http://h.example/X.yaml"]);
}
