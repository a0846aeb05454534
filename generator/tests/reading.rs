//! How documents are read: faults that other generators have, each on an input of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use support::{arguments, document, files, findings, generated, json as file, text};
use toolwright_generator::diagnostic::Sink;
use toolwright_generator::generate_after;

fn openapi(paths: &str) -> String {
    format!("openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths:\n{paths}")
}

#[test]
fn of_several_answers_json_is_asked_for_first() {
    let (generated, _) = generated(&document(&openapi(
        "  /pets:
    get:
      operationId: pets
      responses:
        '200':
          description: ok
          content:
            application/xml: {schema: {type: object}}
            text/csv: {}
            application/hal+json: {schema: {type: object}}
            application/json: {schema: {type: object}}
",
    )));
    let produces = &file(&generated, "catalog.json")["tools"][0]["binding"]["http"]["produces"];
    assert_eq!(*produces, json!(["application/hal+json", "application/json", "application/xml", "text/csv"]));
}

const FILTER: &str = "  /search:
    post:
      operationId: search
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Filter'}}}}
components:
  schemas:
    Filter:
      type: object
      ANCHOR
      properties:
        key: {type: string}
        all: {type: array, items: {$recursiveRef: '#'}}
";

#[test]
fn a_recursive_reference_means_the_nearest_anchor_or_the_whole_schema() {
    for anchor in ["$recursiveAnchor: true", "description: A filter."] {
        let (generated, sink) = generated(&document(&openapi(&FILTER.replace("ANCHOR", anchor))));
        assert!(sink.is_empty(), "{sink}");
        let schema = file(&generated, "schemas/search.json");
        assert_eq!(schema["properties"]["request"]["$ref"], "#/$defs/Filter");
        let items = &schema["$defs"]["Filter"]["properties"]["all"]["items"];
        assert_eq!(*items, json!({"$ref": "#/$defs/Filter"}));
    }
}

#[test]
fn an_anchor_inside_a_schema_is_nearer_than_its_root() {
    let (generated, sink) = generated(&document(&openapi(
        "  /tree:
    post:
      operationId: grow
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                root:
                  type: object
                  $recursiveAnchor: true
                  properties: {leaf: {type: string}, child: {$recursiveRef: '#'}}
",
    )));
    assert!(sink.is_empty(), "{sink}");
    let schema = file(&generated, "schemas/grow.json");
    let child = &schema["properties"]["root"]["properties"]["child"];
    let key = child["$ref"].as_str().unwrap().strip_prefix("#/$defs/").unwrap();
    assert!(schema["$defs"][key]["properties"]["leaf"].is_object(), "{schema}");
}

#[test]
fn any_other_recursive_reference_is_told() {
    let text = findings(&document(&openapi(&FILTER.replace("ANCHOR", "x-a: 1").replace("'#'", "'#/x'"))));
    assert!(text.contains("$recursiveRef"), "{text}");
}

/// Kind of fault: path, query and body share one slot.
#[test]
fn a_name_in_three_places_is_three_arguments_with_texts_of_their_own() {
    let (generated, _) = generated(&document(&openapi(
        "  /shelves/{code}:
    patch:
      operationId: relabel
      parameters:
        - {name: code, in: path, required: true, schema: {type: string}, description: Which shelf.}
        - {name: code, in: query, schema: {type: integer}, description: Check digit.}
        - {name: code, in: header, schema: {type: string}, description: Trace.}
",
    )));
    let names = arguments(&generated, "relabel");
    let places: Vec<(&str, &str)> =
        names.as_object().unwrap().iter().map(|(name, a)| (name.as_str(), a["in"].as_str().unwrap())).collect();
    assert_eq!(places, [("code_path", "path"), ("code_query", "query"), ("code_header", "header")]);
    let schema = file(&generated, "schemas/relabel.json");
    let text = |name: &str| schema["properties"][name]["description"].clone();
    assert_eq!(["code_path", "code_query", "code_header"].map(text), ["Which shelf.", "Check digit.", "Trace."]);
    assert_eq!(schema["required"], json!(["code_path"]));
}

fn style(parameter: &str) -> (Value, Value) {
    let path = format!("  /t/{{p}}:\n    get:\n      operationId: t\n      parameters: [{parameter}]\n");
    let (generated, _) = generated(&document(&openapi(&path)));
    let arguments = arguments(&generated, "t");
    let (_, argument) = arguments.as_object().unwrap().iter().find(|(name, _)| *name == "v").unwrap();
    (argument["style"].clone(), argument["explode"].clone())
}

/// Kind of fault: arrays are repeated keys whatever the style says. Only `form` explodes by itself.
#[test]
fn explode_is_true_by_default_for_form_alone() {
    for (parameter, expected) in [
        ("in: query", ("form", true)),
        ("in: query, explode: false", ("form", false)),
        ("in: query, style: pipeDelimited", ("pipes", false)),
        ("in: query, style: spaceDelimited", ("spaces", false)),
        ("in: header", ("simple", false)),
        ("in: cookie", ("form", true)),
    ] {
        let node = format!("{{name: v, {parameter}, schema: {{type: array, items: {{type: string}}}}}}");
        let (style, explode) = style(&node);
        assert_eq!((style, explode), (json!(expected.0), json!(expected.1)), "{parameter}");
    }
}

/// Kind of fault: slashes double, or the base path is lost.
#[test]
fn host_base_path_and_scheme_make_one_address() {
    for (parts, expected) in [
        ("host: api.example\nbasePath: /v2/\nschemes: [https]\n", "https://api.example/v2"),
        ("host: api.example:81\nschemes: [http]\n", "http://api.example:81"),
        ("host: api.example\nbasePath: /\nschemes: [wss, https, http]\n", "https://api.example"),
    ] {
        let swagger =
            format!("swagger: '2.0'\ninfo: {{title: t, version: '1'}}\n{parts}paths: {{/t: {{get: {{}}}}}}\n");
        let root = text(&generated(&document(&swagger)).0, "src/lib.rs");
        let address = root.lines().find(|line| line.contains("default_base_url")).unwrap();
        assert!(address.contains(&format!("\"{expected}\"")), "{parts}: {address}");
    }
}

/// Kind of fault: words of OpenAPI alone reach the schemas of tools.
#[test]
fn a_discriminator_does_not_reach_the_schema_of_a_tool() {
    let (generated, _) = generated(&document(&openapi(
        "  /shapes:
    post:
      operationId: draw
      requestBody: {content: {application/json: {schema: {type: object, properties: {shape: {$ref: '#/components/schemas/Shape'}}}}}}
components:
  schemas:
    Shape:
      discriminator: {propertyName: kind, mapping: {round: '#/components/schemas/Round'}}
      oneOf: [{$ref: '#/components/schemas/Round'}, {$ref: '#/components/schemas/Square'}]
    Round: {type: object, required: [kind], properties: {kind: {const: round}, r: {type: number, nullable: true}}}
    Square: {type: object, required: [kind], properties: {kind: {const: square}}}
",
    )));
    let schema = file(&generated, "schemas/draw.json").to_string();
    for word in ["discriminator", "propertyName", "mapping", "nullable"] {
        assert!(!schema.contains(word), "{word} in {schema}");
    }
}

/// Kind of fault: form fields as JSON, because the whole document consumes JSON; files as text; array forms lost.
#[test]
fn forms_of_swagger_keep_files_array_forms_and_inherited_headers() {
    let (generated, _) = generated(&document(
        "swagger: '2.0'
info: {title: t, version: '1'}
consumes: [application/json]
parameters: {request_id: {name: X-Request-Id, in: header, type: string}}
paths:
  /scans:
    parameters: [{$ref: '#/parameters/request_id'}]
    post:
      operationId: scan
      parameters:
        - {name: page, in: formData, type: file, required: true}
        - {name: labels, in: formData, type: array, items: {type: string}, collectionFormat: multi}
        - {name: zones, in: query, type: array, items: {type: integer}}
        - {name: modes, in: query, type: array, items: {type: string}, collectionFormat: pipes}
  /stamp:
    put:
      operationId: stamp
      consumes: [application/octet-stream]
      parameters: [{name: bytes, in: body, required: true, schema: {type: string, format: binary}}]
",
    ));
    let scan = arguments(&generated, "scan");
    assert_eq!(scan["page"]["in"], "file");
    let form = |name: &str| (scan[name]["style"].clone(), scan[name]["explode"].clone());
    assert_eq!(form("labels"), (json!("form"), json!(true)));
    assert_eq!(form("zones"), (json!("form"), json!(false)));
    assert_eq!(form("modes"), (json!("pipes"), json!(false)));
    assert_eq!(scan["x_request_id"]["in"], "header");
    let stamp = file(&generated, "schemas/stamp.json");
    assert_eq!(stamp["properties"]["bytes"]["description"], "Path, data: URI, base64: or URL.");
    assert!(text(&generated, "src/general.rs").contains("#[body(media_type = \"application/octet-stream\")]"));
}

const TWO: &str = "  /a: {get: {operationId: first, summary: First}}\n  /b: {get: {operationId: second}}\n";

#[test]
fn a_text_that_names_a_tool_by_its_earlier_name_is_reported() {
    let actions =
        "  - target: $.paths['/a'].get\n    update: {description: Show the first. For the other use seconds.}\n";
    let files = files(&openapi(TWO), "instructions: Begin with first_of_all, then secondsight.\n", Some(actions));
    let earlier: BTreeMap<String, String> = [("first", "GET /a"), ("first_of_all", "GET /gone"), ("seconds", "GET /b")]
        .into_iter()
        .map(|(name, declared)| (name.to_owned(), declared.to_owned()))
        .collect();
    let mut sink = Sink::new();
    generate_after(&files, "specs/t", &earlier, &mut sink).unwrap();
    let text = sink.to_string();
    assert_eq!(text.matches("warning[stale-name]").count(), 2, "{text}");
    assert!(text.contains("names `seconds`") && text.contains("its name is `second` now"), "{text}");
    assert!(text.contains("names `first_of_all`") && text.contains("name another tool"), "{text}");
    assert!(text.contains("--> specs/t/o.yaml:5:14") && text.contains("--> specs/t/server.yaml:6:1"), "{text}");
}

#[test]
fn stale_names_are_looked_for_in_texts_alone_and_only_where_all_names_are_known() {
    let earlier = BTreeMap::from([("a".to_owned(), "GET /a".to_owned())]);
    let found = |action: &str| {
        let mut sink = Sink::new();
        generate_after(&files(&openapi(TWO), "", Some(action)), "specs/t", &earlier, &mut sink);
        sink.to_string()
    };
    let target = found("  - target: $.paths['/a'].get\n    update: {description: Show the first.}\n");
    assert!(!target.contains("stale-name"), "{target}");
    let broken = found("  - target: $.paths['/a'].get\n    update: {description: Show a., x-toolwright: {nmae: a}}\n");
    assert!(broken.contains("unknown-key") && !broken.contains("stale-name"), "{broken}");
}

#[test]
fn an_overlay_that_is_not_listed_is_reported_with_the_line_to_add() {
    let mut unlisted = document(&openapi(TWO));
    unlisted.insert("specs/t/overlays/texts.yaml", "overlay: 1.0.0\n");
    let text = findings(&unlisted);
    assert!(text.contains("warning[unlisted-overlay]"), "{text}");
    assert!(text.contains("add the line `overlays: [overlays/texts.yaml]`"), "{text}");
    let mut beside = files(&openapi(TWO), "", Some("  - {target: $.info, update: {title: T}}\n"));
    beside.insert("specs/t/overlays/more.yaml", "overlay: 1.0.0\n");
    let text = findings(&beside);
    assert!(text.contains("add the line `  - overlays/more.yaml` to `overlays:`"), "{text}");
}
