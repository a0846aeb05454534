//! Broken and hostile documents: a broken part costs only itself and is told where it stands; what asks for too much ends.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{arguments, document, file_names, findings, generated, json as file, text, tools};

fn openapi(rest: &str) -> String {
    format!("openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\n{rest}")
}

/// A document with a POST of each of these schemas, which are components as well.
fn schemas(posted: &[&str], schemas: &str) -> String {
    let post = |name: &&str| {
        format!(
            "  /{name}: {{post: {{operationId: {name}, requestBody: {{required: true, content: {{application/json: {{schema: {{$ref: '#/components/schemas/{name}'}}}}}}}}}}}}\n"
        )
    };
    openapi(&format!("paths:\n{}components:\n  schemas:\n{schemas}", posted.iter().map(post).collect::<String>()))
}

/// Whether a check of the schema of a tool comes to an end: no `$ref` leads to itself without a step into the value.
fn assert_ends(schema: &Value) {
    fn follow(node: &Value, root: &Value, open: &mut Vec<String>) {
        if let Some(reference) = node["$ref"].as_str() {
            assert!(!open.contains(&reference.to_owned()), "{reference} in {root}");
            open.push(reference.to_owned());
            follow(root.pointer(&reference[1..]).unwrap(), root, open);
            open.pop();
        }
        let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|list| node[list].as_array()).flatten();
        lists.for_each(|inner| follow(inner, root, open));
    }
    for definition in schema["$defs"].as_object().into_iter().flatten().map(|(_, schema)| schema).chain([schema]) {
        follow(definition, schema, &mut Vec::new());
    }
}

#[test]
fn switches_that_are_texts_are_read_as_what_they_say() {
    let said = "openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths: {/t: {get: {operationId: t, parameters: [\
                {name: a, in: query, required: 'true', schema: {type: string}}, {name: b, in: query, required: 1, schema: {type: string}}]}}}\n";
    let (generated, sink) = generated(&document(said));
    let given = arguments(&generated, "t");
    assert_eq!((&given["a"]["required"], given["b"].get("required")), (&serde_json::json!(true), None), "{given}");
    let told = sink.to_string();
    assert!(
        told.contains("warning[no-boolean]: `required` must be true or false, not \"true\", and was read as true"),
        "{told}"
    );
    assert!(told.contains("`required` must be true or false, not 1, and was left out"), "{told}");
}

#[test]
fn a_file_that_is_not_there_costs_only_what_refers_to_it() {
    let files = document(&openapi(
        "paths:\n  /a: {$ref: gone.yaml}\n  /b: {get: {operationId: b, parameters: [{name: x, in: query, schema: {$ref: 'gone.yaml#/X'}}]}}\n",
    ));
    let (generated, sink) = generated(&files);
    assert_eq!(tools(&generated), ["b"]);
    assert_eq!(arguments(&generated, "b")["x"]["in"], "query");
    let codes: Vec<&str> = sink.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["missing-file"], "one fault is told once: {sink}");
}

#[test]
fn small_faults_of_the_text_cost_only_themselves() {
    let (generated, sink) = generated(&document(&openapi(
        "paths:
  /a:
    get:
      operationId: a
      operationId: other
      summary: \"Half \\ud83d\"
      parameters:
        - {name: x, in: query, schema: {type: number, maximum: .inf, minimum: 1}}
        - {name: y, in: query, schema: {<<: 3, type: integer}}
",
    )));
    assert_eq!(tools(&generated), ["a"]);
    let schema = file(&generated, "schemas/a.json");
    assert_eq!(schema["properties"]["x"], json!({"type": "number", "minimum": 1}));
    assert_eq!(schema["properties"]["y"]["type"], "integer");
    let text = sink.to_string();
    for code in ["duplicate-key", "lone-surrogate", "not-finite", "invalid-merge"] {
        assert!(text.contains(&format!("warning[{code}]")), "{code}\n{text}");
    }
}

#[test]
fn what_is_nested_too_deeply_costs_only_itself() {
    let deep = format!("{}{{type: string}}{}", "{not: ".repeat(150), "}".repeat(150));
    let files = document(&schemas(
        &["A"],
        &format!("    A: {{type: object, properties: {{x: {deep}, y: {{type: string}}}}}}\n"),
    ));
    let (generated, sink) = generated(&files);
    assert_eq!(arguments(&generated, "a")["y"]["in"], "member");
    assert!(sink.to_string().contains("nested deeper than 127 levels"), "{sink}");
}

#[test]
fn a_schema_that_contains_itself_is_any_value() {
    let text = schemas(
        &["A"],
        "    A: {allOf: [{$ref: '#/components/schemas/A'}, {type: object, properties: {x: {type: string}}}]}\n",
    );
    let (generated, sink) = generated(&document(&text));
    assert_ends(&file(&generated, "schemas/a.json"));
    let text = sink.to_string();
    assert!(text.contains("warning[endless-reference]: the reference to `A`"), "{text}");
    assert!(text.contains("at /components/schemas/A/allOf/0/$ref"), "{text}");
}

#[test]
fn a_variant_that_contains_its_base_has_the_members_of_the_base() {
    let (generated, sink) = generated(&document(&schemas(
        &["Animal", "Cat"],
        "    Animal: {type: object, required: [name], properties: {name: {type: string}}, oneOf: [{$ref: '#/components/schemas/Cat'}]}
    Cat: {allOf: [{$ref: '#/components/schemas/Animal'}, {type: object, properties: {lives: {type: integer}}}]}
",
    )));
    for tool in ["animal", "cat"] {
        assert_ends(&file(&generated, &format!("schemas/{tool}.json")));
    }
    let cat = file(&generated, "schemas/cat.json").to_string();
    assert!(cat.contains("\"name\"") && cat.contains("\"lives\""), "{cat}");
    let text = sink.to_string();
    assert!(text.contains("its own members were written in its place"), "{text}");
    assert_eq!(text.matches("endless-reference").count(), 1, "{text}");
}

#[test]
fn a_circle_of_references_is_any_value() {
    let text = schemas(&["A"], "    A: {$ref: '#/components/schemas/B'}\n    B: {$ref: '#/components/schemas/A'}\n");
    let (generated, sink) = generated(&document(&text));
    assert_ends(&file(&generated, "schemas/a.json"));
    assert!(sink.to_string().contains("warning[endless-reference]"), "{sink}");
}

#[test]
fn a_step_into_the_value_is_no_circle() {
    let text = schemas(&["A"], "    A: {type: object, properties: {again: {$ref: '#/components/schemas/A'}}}\n");
    assert!(!findings(&document(&text)).contains("endless-reference"));
}

#[test]
fn anchors_are_found_by_their_names() {
    for (anchor, reference) in [("$anchor", "$ref"), ("$dynamicAnchor", "$ref"), ("$dynamicAnchor", "$dynamicRef")] {
        let text = schemas(
            &["A"],
            &format!(
                "    A: {{type: object, properties: {{x: {{{reference}: '#thing'}}}}}}\n    B: {{properties: {{t: {{{anchor}: thing, type: integer}}}}}}\n"
            ),
        );
        let (generated, sink) = generated(&document(&text));
        assert!(sink.is_empty(), "{sink}");
        assert!(file(&generated, "schemas/a.json").to_string().contains("\"integer\""));
    }
}

#[test]
fn of_several_anchors_that_of_the_same_schema_is_meant() {
    let text = schemas(
        &["B"],
        "    A: {$defs: {n: {$anchor: n, type: boolean}}}\n    B: {type: object, properties: {x: {$ref: '#n'}}, $defs: {n: {$anchor: n, type: integer}}}\n",
    );
    assert!(file(&generated(&document(&text)).0, "schemas/b.json").to_string().contains("\"integer\""));
}

#[test]
fn an_anchor_that_is_nowhere_leads_nowhere() {
    let text = schemas(&["A"], "    A: {type: object, properties: {x: {$ref: '#gone'}}}\n");
    assert!(findings(&document(&text)).contains("`#gone` leads nowhere"));
}

#[test]
fn a_reference_to_the_whole_document_means_the_schema_around() {
    let text = schemas(&["A"], "    A: {type: object, properties: {again: {$ref: '#'}}}\n");
    let (generated, sink) = generated(&document(&text));
    assert!(sink.to_string().contains("warning[reference-to-document]"), "{sink}");
    assert!(file(&generated, "schemas/a.json").to_string().contains("#/$defs/A"));
}

/// How long a document takes to be read, and what is reported.
fn timed(text: &str) -> (Duration, String) {
    let files = document(text);
    let start = Instant::now();
    let found = findings(&files);
    (start.elapsed(), found)
}

/// Four times as much may take four times as long, and not sixteen times.
fn assert_linear(text: impl Fn(usize) -> String) {
    let (small, large) = (timed(&text(2_000)).0, timed(&text(8_000)).0);
    assert!(large < small * 10 || large < Duration::from_secs(4), "{small:?}, then {large:?}");
}

fn chain(links: usize) -> String {
    let link = |link: usize| {
        let next = link + 1;
        format!("    N{link}: {{type: object, properties: {{n: {{$ref: '#/components/schemas/N{next}'}}}}}}\n")
    };
    let all: String = (0..links).map(link).collect();
    schemas(&["N0"], &format!("{all}    N{links}: {{type: string}}\n"))
}

/// Each variant has a fault, so that as many places are looked up.
fn union(variants: usize) -> String {
    let names = (0..variants).map(|variant| format!("{{$ref: '#/components/schemas/V{variant}'}}"));
    let listed = names.collect::<Vec<_>>().join(", ");
    let variant =
        |variant: usize| format!("    V{variant}: {{type: object, properties: {{v{variant}: {{type: strin}}}}}}\n");
    schemas(&["U"], &format!("    U: {{oneOf: [{listed}]}}\n{}", (0..variants).map(variant).collect::<String>()))
}

#[test]
fn a_long_chain_of_references_takes_linear_time() {
    assert_linear(chain);
}

#[test]
fn a_large_union_takes_linear_time() {
    assert_linear(union);
}

#[test]
fn aliases_of_aliases_are_an_error_with_a_place() {
    let mut text = String::from("x0: &x0 {type: object}\n");
    for level in 1..12 {
        let below = level - 1;
        text.push_str(&format!(
            "x{level}: &x{level} {{a: *x{below}, b: *x{below}, c: *x{below}, d: *x{below}, e: *x{below}}}\n"
        ));
    }
    let (_, found) = timed(&openapi(&format!("{text}paths: {{}}\n")));
    assert!(found.contains("error[alias-bomb]") && found.contains("--> specs/t/openapi.yaml:1"), "{found}");
}

#[test]
fn characters_that_nobody_sees_reach_no_generated_text() {
    let hidden = ["\u{202e}", "\u{200b}", "\u{2066}", "\u{1b}", "\u{e0041}"];
    let yaml = "\\u202e\\u200b\\u2066\\u001b\\U000E0041";
    let (generated, _) = generated(&document(&openapi(&format!(
        "paths:
  /a:
    get:
      operationId: a
      summary: \"Show{yaml} it\"
      description: \"Show{yaml} all.\"
      tags: [\"area{yaml}\"]
      parameters:
        - {{name: \"x{yaml}\", in: query, description: \"Which{yaml} one.\", schema: {{enum: [\"v{yaml}\"]}}}}
"
    ))));
    for path in file_names(&generated) {
        let content = String::from_utf8(generated.files.get(&path).unwrap().to_vec()).unwrap();
        let found: Vec<_> = hidden.iter().filter(|c| content.contains(**c)).collect();
        assert!(found.is_empty(), "{path}: {found:?}");
    }
    let schema = file(&generated, "schemas/a.json");
    let parameter = schema["properties"].as_object().unwrap().values().next().unwrap();
    assert_eq!(parameter["enum"], json!(["v\u{202e}\u{200b}\u{2066}\u{1b}\u{e0041}"]), "values stay as they are");
    assert_eq!(parameter["description"], "Which one.");
    assert!(!text(&generated, "TOOLS.md").contains("\\u"));
    let catalog = file(&generated, "catalog.json");
    for key in ["title", "description", "tags"] {
        let told = catalog["tools"][0][key].to_string();
        assert!(!hidden.iter().any(|c| told.contains(*c)), "{told}");
    }
}
