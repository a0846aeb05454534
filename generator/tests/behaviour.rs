//! What the generator makes of documents that others stumble over. One point each, on the smallest document.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Value, json};
use support::{arguments, document, file_names, files, findings, generated, json as file, text, tools};

/// A document of one GET, with these further lines in the operation.
fn get(operation: &str) -> String {
    format!(
        "openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths:\n  /t:\n    get:\n      operationId: t\n{operation}"
    )
}

const BOXES: &str = "
openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /boxes:
    post:
      operationId: store
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Box'}}}}
      responses: {'200': {description: ok}}
components:
  schemas:
    Box:
      type: object
      required: [name]
      properties:
        name: {type: string}
        inner: {type: array, items: {$ref: '#/components/schemas/Box'}}
        twin: {$ref: '#/components/schemas/Box'}
        label: {$ref: '#/components/schemas/Label'}
    Label:
      type: object
      properties:
        owner: {anyOf: [{$ref: '#/components/schemas/Box'}, {type: 'null'}]}
        others: {type: object, additionalProperties: {$ref: '#/components/schemas/Label'}}
";

#[test]
fn recursion_stays_as_references_into_own_definitions() {
    let (generated, _) = generated(&document(BOXES));
    let schema = file(&generated, "schemas/store.json");
    assert_eq!(schema["properties"]["request"]["$ref"], "#/$defs/Box");
    let definitions: Vec<&String> = schema["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(definitions, ["Box", "Label"]);
    assert!(!schema.to_string().contains("#/components/"));
}

#[test]
fn recursion_is_boxed_where_a_type_would_hold_itself() {
    let (generated, _) = generated(&document(BOXES));
    let code = text(&generated, "src/general.rs");
    assert!(code.contains("pub inner: Option<Vec<BoxType>>"), "{code}");
    assert!(code.contains("pub twin: Option<Box<BoxType>>"), "{code}");
    assert!(code.contains("pub owner: Option<Box<Option<BoxType>>>"), "{code}");
    assert!(code.contains("pub others: Option<indexmap::IndexMap<String, Label>>"), "{code}");
}

#[test]
fn finite_types_are_written_in_place() {
    let (generated, _) = generated(&document(
        "
openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /t:
    post:
      operationId: t
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}
components:
  schemas:
    A: {type: object, properties: {b: {$ref: '#/components/schemas/B'}}}
    B: {type: object, properties: {c: {type: string}}}
",
    ));
    let schema = file(&generated, "schemas/t.json");
    let b = json!({"type": "object", "properties": {"c": {"type": "string"}}});
    assert_eq!(schema["properties"], json!({"b": b}));
    assert_eq!(schema.get("$defs"), None);
}

#[test]
fn a_body_that_would_double_in_place_shares_definitions() {
    let fields: String = (0..8).map(|n| format!("f{n}: {{$ref: '#/components/schemas/B'}}, ")).collect();
    let members: String = (0..9).map(|n| format!("member_number_{n}: {{type: string}}, ")).collect();
    let (generated, _) = generated(&document(&format!(
        "
openapi: 3.1.0
info: {{title: t, version: '1'}}
paths:
  /t: {{post: {{operationId: t, requestBody: {{content: {{application/json: {{schema: {{$ref: '#/components/schemas/A'}}}}}}}}}}}}
components:
  schemas:
    A: {{type: object, properties: {{{fields}}}}}
    B: {{type: object, properties: {{{members}}}}}
"
    )));
    let schema = file(&generated, "schemas/t.json");
    assert_eq!(schema["properties"]["f0"], json!({"$ref": "#/$defs/B"}));
}

#[test]
fn equal_names_in_path_query_and_form_get_their_place_appended() {
    let (generated, _) = generated(&document(
        "
openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /things/{id}:
    put:
      operationId: move
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: id, in: query, schema: {type: integer}}
        - {name: place, in: query, schema: {type: string}}
      requestBody:
        content: {application/x-www-form-urlencoded: {schema: {type: object, required: [id], properties: {id: {type: string}}}}}
",
    ));
    let arguments = arguments(&generated, "move");
    let names: Vec<&String> = arguments.as_object().unwrap().keys().collect();
    assert_eq!(names, ["id_path", "id_query", "place", "id_field"]);
    assert_eq!(arguments["id_query"]["wire"], "id");
    assert_eq!(file(&generated, "schemas/move.json")["required"], json!(["id_path", "id_field"]));
}

#[test]
fn a_parameter_called_request_and_the_body_stay_apart() {
    let (generated, _) = generated(&document(
        "
openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /t:
    post:
      operationId: t
      parameters: [{name: request, in: header, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object}}}}
",
    ));
    let arguments = arguments(&generated, "t");
    assert_eq!(arguments.as_object().unwrap().keys().collect::<Vec<_>>(), ["request_header", "request_body"]);
}

#[test]
fn names_that_rust_reserves_keep_their_wire_form() {
    let (generated, sink) = generated(&document(&get("      parameters:
        - {name: self, in: query, schema: {type: string}}
        - {name: Self, in: query, schema: {type: string}}
        - {name: crate, in: query, schema: {type: string}}
        - {name: type, in: query, schema: {type: string}}
        - {name: 2nd, in: query, schema: {type: string}}
        - {name: $top, in: query, schema: {type: integer}}
        - {name: '', in: query, schema: {type: string}}
      responses:
        '200': {description: ok, content: {application/json: {schema: {type: object, properties: {'+1': {type: integer}, '-1': {type: integer}, async: {type: boolean}}}}}}
")));
    let code = text(&generated, "src/general.rs");
    for expected in [
        "#[query(wire = \"self\")]",
        "#[query(wire = \"Self\")]",
        "pub self_query: Option<String>",
        "pub self_query_2: Option<String>",
        "rename = \"crate\"",
        "pub crate_: Option<String>",
        "pub r#type: Option<String>",
        "#[query(wire = \"2nd\")]",
        "pub two_nd: Option<String>",
        "#[query(wire = \"$top\")]",
        "rename = \"+1\"",
        "pub plus_1: Option<i64>",
        "pub minus_1: Option<i64>",
        "pub r#async: Option<bool>",
    ] {
        assert!(code.contains(expected), "{expected} is missing in\n{code}");
    }
    assert!(sink.to_string().contains("warning[empty-name]"));
}

const CLASHING: [&str; 4] = [
    "  /a: {get: {operationId: jobs/list}}\n",
    "  /b: {get: {operationId: jobsList}}\n",
    "  /c: {get: {operationId: ジョブ一覧}}\n",
    "  /g/{name}/: {get: {parameters: [{name: name, in: path, required: true, schema: {type: string}}]}}\n",
];

fn clashing(order: [usize; 4]) -> Vec<String> {
    let paths: String = order.iter().map(|index| CLASHING[*index]).collect();
    let (generated, _) =
        generated(&document(&format!("openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths:\n{paths}")));
    tools(&generated)
}

#[test]
fn every_operation_gets_a_tool_with_a_legal_name_of_its_own() {
    let names = clashing([0, 1, 2, 3]);
    assert_eq!(names, ["get_g_name", "jiyobu_yi_lan", "jobs_list_db789e7b", "jobs_list_f302dfbc"]);
}

#[test]
fn names_do_not_depend_on_the_order_of_paths() {
    assert_eq!(clashing([3, 2, 1, 0]), clashing([0, 1, 2, 3]));
}

#[test]
fn openapi_words_do_not_reach_tool_schemas() {
    let (generated, _) = generated(&document(
        "
openapi: 3.0.3
info: {title: t, version: '1'}
paths:
  /none: {get: {operationId: none}}
  /some:
    post:
      operationId: some
      requestBody:
        content:
          application/json:
            schema:
              type: object
              xml: {name: r}
              externalDocs: {url: 'http://127.0.0.1/'}
              properties:
                note: {type: string, nullable: true, example: hi, x-order: 3}
                mode: {type: string, nullable: true, enum: [a, b, null]}
                count: {type: integer, format: int64}
                when: {type: string, format: date-time, deprecated: true}
                len: {type: number, minimum: 0, exclusiveMinimum: true}
                id: {type: string, readOnly: true}
",
    ));
    let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
    assert_eq!(file(&generated, "schemas/none.json"), none);
    let expected = json!({
        "type": "object",
        "properties": {
            "note": {"type": ["string", "null"]},
            "mode": {"type": ["string", "null"], "enum": ["a", "b", null]},
            "count": {"type": "integer"},
            "when": {"type": "string", "format": "date-time"},
            "len": {"type": "number", "exclusiveMinimum": 0},
        },
        "additionalProperties": false,
    });
    assert_eq!(file(&generated, "schemas/some.json"), expected);
}

fn bounds(version: &str, schema: &str) -> (Value, String) {
    let text =
        get(&format!("      parameters: [{{name: n, in: query, schema: {schema}}}]\n")).replace("3.1.0", version);
    let (generated, sink) = generated(&document(&text));
    (file(&generated, "schemas/t.json")["properties"]["n"].clone(), sink.to_string())
}

#[test]
fn exclusive_bounds_are_read_in_the_form_of_either_version() {
    let (old, _) = bounds("3.0.3", "{type: number, minimum: 0, exclusiveMinimum: true, maximum: 10}");
    assert_eq!(old, json!({"type": "number", "exclusiveMinimum": 0, "maximum": 10}));
    let (new, _) = bounds("3.1.0", "{type: number, exclusiveMinimum: 0}");
    assert_eq!(new, json!({"type": "number", "exclusiveMinimum": 0}));
}

#[test]
fn the_old_form_in_a_new_document_is_read_as_meant_with_a_warning() {
    let (schema, findings) = bounds("3.1.0", "{type: number, minimum: 0, exclusiveMinimum: true}");
    assert_eq!(schema, json!({"type": "number", "exclusiveMinimum": 0}));
    assert!(findings.contains("warning["), "{findings}");
    assert!(findings.contains("/paths/~1t/get/parameters/0/schema"), "{findings}");
}

#[test]
fn several_types_and_successes_are_all_declared() {
    let (generated, _) = generated(&document(&get("      responses:
        '200':
          description: ok
          content:
            application/json: {schema: {type: object, properties: {a: {type: integer}}}}
            application/vnd.x+json; charset=utf-8: {schema: {type: object}}
            text/plain: {schema: {type: string}}
        '202': {description: later, content: {application/json: {schema: {type: object}}}}
        '204': {description: nothing}
        4XX: {description: bad, content: {application/problem+json: {schema: {type: object}}}}
        default: {description: other, content: {text/html: {schema: {type: string}}}}
")));
    let catalog = file(&generated, "catalog.json");
    let produces = json!(["application/json", "application/vnd.x+json; charset=utf-8", "text/plain"]);
    assert_eq!(catalog["tools"][0]["binding"]["http"]["produces"], produces);
    assert_eq!(file(&generated, "schemas/t.result.json")["properties"]["a"], json!({"type": "integer"}));
}

#[test]
fn text_of_a_document_is_neither_a_doctest_nor_a_link() {
    let description = "      description: |
        Call it like this, see [T] and <T>:

            curl -X GET http://127.0.0.1/d | jq .

        ```
        let x = not rust at all;
        ```

        # no heading
        * no list
";
    let (generated, _) = generated(&document(&get(description)));
    let code = text(&generated, "src/general.rs");
    let documentation: Vec<&str> = code.lines().filter_map(|line| line.strip_prefix("/// ")).collect();
    assert_eq!(documentation[0], "Call it like this, see \\[T\\] and \\<T\\>:");
    assert!(documentation.contains(&"curl -X GET <http://127.0.0.1/d> \\| jq ."), "{documentation:?}");
    assert!(documentation.contains(&"\\`\\`\\`"), "{documentation:?}");
    assert!(documentation.contains(&"\\# no heading"), "{documentation:?}");
    assert!(documentation.contains(&"\\* no list"), "{documentation:?}");
}

#[test]
fn the_description_that_clients_see_keeps_its_line_breaks() {
    let (generated, _) = generated(&document(&get("      description: |\n        One.\n\n            two\n")));
    let catalog = file(&generated, "catalog.json");
    let expected = "One.\n\n    two\nInputs: none.\nReturns: nothing but the status.";
    assert_eq!(catalog["tools"][0]["description"], expected);
    assert!(text(&generated, "src/general.rs").contains("description = \"One.\\n\\n    two\\n"));
}

#[test]
fn text_cannot_break_out_of_code_or_manifests() {
    let settings = "description: \"a\\\" ]\\n[x] */ { {{ 1 }}\"\n";
    let title = "      summary: \"*/ \\\"#]} {{ 7 * 7 }}\"\n";
    let (generated, _) = generated(&files(&get(title), settings, None));
    let manifest = text(&generated, "Cargo.toml");
    assert!(manifest.contains(r#"description = "a\" ]\n[x] */ { {{ 1 }}""#), "{manifest}");
    assert!(text(&generated, "TOOLS.md").contains("{{ 7 \\* 7 }}"));
}

const FORMS: &str = "
swagger: '2.0'
info: {title: t, version: '1'}
consumes: [application/json]
parameters:
  shared: {name: trace, in: header, type: string}
paths:
  /audio:
    parameters: [{$ref: '#/parameters/shared'}]
    post:
      operationId: transcribe
      parameters:
        - {name: file, in: formData, type: file, required: true}
        - {name: tags, in: formData, type: array, items: {type: string}, collectionFormat: multi}
        - {name: langs, in: query, type: array, items: {type: string}, collectionFormat: pipes}
        - {name: ids, in: query, type: array, items: {type: integer}}
  /login:
    post:
      operationId: login
      parameters: [{name: user, in: formData, type: string, required: true}]
  /mix:
    post:
      operationId: mix
      parameters:
        - {name: b, in: body, schema: {type: object}}
        - {name: f, in: formData, type: string}
";

#[test]
fn a_file_makes_a_form_multipart_whatever_the_document_consumes() {
    let (generated, _) = generated(&document(FORMS));
    let arguments = arguments(&generated, "transcribe");
    assert_eq!(arguments["file"]["in"], "file");
    assert_eq!(arguments["tags"], json!({"in": "form", "style": "form", "explode": true}));
    assert_eq!(arguments["langs"], json!({"in": "query", "style": "pipes", "explode": false}));
    assert_eq!(arguments["ids"], json!({"in": "query", "style": "form", "explode": false}));
    assert_eq!(arguments["trace"]["in"], "header");
    let code = text(&generated, "src/general.rs");
    assert!(code.contains("#[file]\n    pub file: String"), "{code}");
}

#[test]
fn a_form_without_a_file_is_urlencoded() {
    let (generated, _) = generated(&document(FORMS));
    let catalog = file(&generated, "catalog.json");
    assert_eq!(catalog["tools"][0]["binding"]["http"]["form"], "application/x-www-form-urlencoded");
}

#[test]
fn body_and_form_together_are_refused_and_the_rest_still_works() {
    let (generated, sink) = generated(&document(FORMS));
    assert_eq!(tools(&generated), ["login", "transcribe"]);
    assert!(sink.to_string().contains("/paths/~1mix/post"), "{sink}");
}

#[test]
fn what_is_not_advertised_is_still_accepted() {
    let body = "
openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /t:
    post:
      operationId: t
      requestBody: {content: {application/json: {schema: {type: object, properties: {a: {type: string}, b: {type: string}}}}}}
";
    let actions = "  - target: $.paths['/t'].post\n    update: {x-toolwright: {advertise: [b]}}\n";
    let (generated, _) = generated(&files(body, "body: wrapped\n", Some(actions)));
    let listed = file(&generated, "schemas/t.listed.json");
    assert_eq!(listed["properties"]["request"]["properties"], json!({"b": {"type": "string"}}));
    assert_eq!(listed["properties"]["request"].get("additionalProperties"), None);
    let full = file(&generated, "schemas/t.json");
    assert_eq!(full["properties"]["request"]["properties"].as_object().unwrap().len(), 2);
}

#[test]
fn a_dangling_reference_costs_only_itself() {
    let text = get("      parameters: [{name: a, in: query, schema: {$ref: '#/components/schemas/Gone'}}]\n");
    let findings = findings(&document(&text));
    assert!(findings.contains("warning[dangling-reference]"), "{findings}");
    assert_eq!(tools(&generated(&document(&text)).0), ["t"]);
}

#[test]
fn an_undeclared_path_parameter_becomes_an_argument_with_a_warning() {
    let text = "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths:\n  /jobs/{uuid}: {get: {operationId: job}}\n";
    let (generated, sink) = generated(&document(text));
    assert_eq!(file(&generated, "schemas/job.json")["required"], json!(["uuid"]));
    assert!(sink.to_string().contains("warning[undeclared-path-parameter]"), "{sink}");
}

#[test]
fn a_long_chain_of_types_neither_overflows_nor_nests_beyond_what_parsers_take() {
    let mut text = String::from(
        "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths: {/t: {post: {operationId: t, requestBody: \
         {content: {application/json: {schema: {$ref: '#/components/schemas/T0'}}}}}}}\ncomponents:\n  schemas:\n",
    );
    for number in 0..3000 {
        text += &format!(
            "    T{number}: {{type: object, properties: {{n: {{$ref: '#/components/schemas/T{}'}}}}}}\n",
            number + 1
        );
    }
    text += "    T3000: {type: string}\n";
    let (generated, _) = generated(&document(&text));
    // serde_json parses 128 levels.
    let schema = file(&generated, "schemas/t.json");
    assert!(schema["$defs"].as_object().unwrap().len() > 100);
}

#[test]
fn nothing_of_paths_is_left_out_unsaid() {
    let text = findings(&document(
        "openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  items: {get: {}}
  /list: []
  /text: {get: hello}
  /null: {get: }
  /misspelt: {gett: {}}
  /parameters: {get: {operationId: p, parameters: {a: 1}}}
  /twice: {get: {operationId: w, parameters: [{name: a, in: query, schema: {}}, {name: a, in: query, schema: {}}]}}
  /status: {get: {operationId: s, responses: {banana: {description: d}}}}
  /bounds: {get: {operationId: b, parameters: [{name: a, in: query, schema: {minimum: low, pattern: '(?<x'}}]}}
",
    ));
    for expected in [
        "`items` is no path",
        "the path item `/list` is no mapping",
        "the operation GET /text is no mapping",
        "the operation GET /null is no mapping",
        "`gett` is neither a method",
        "did you mean `get`?",
        "parameters are a list",
        "the query parameter `a` is declared twice",
        "`banana` is no status",
        "`minimum` must be a number, not \"low\"",
        "`pattern` must be a regular expression",
    ] {
        assert!(text.contains(expected), "{expected}\n---\n{text}");
    }
    assert!(!text.contains("error["), "one bad operation takes no other down:\n{text}");
    assert!(!text.contains("unaccounted"), "{text}");
}

#[test]
fn a_path_item_that_is_a_reference_is_followed() {
    let text = "openapi: 3.1.0
info: {title: t, version: '1'}
paths: {/t: {$ref: '#/components/pathItems/T'}}
components: {pathItems: {T: {get: {operationId: read_t}}}}
";
    assert_eq!(tools(&generated(&document(text)).0), ["read_t"]);
}

#[test]
fn tags_that_are_no_modules_become_modules() {
    let mut text = String::from("openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths:\n");
    for (number, tag) in ["crate", "self", "type", "serde", "types", "한국어"].iter().enumerate() {
        text += &format!("  /t{number}: {{get: {{operationId: t{number}, tags: ['{tag}']}}}}\n");
    }
    let (generated, _) = generated(&document(&text));
    let root = file_names(&generated);
    for module in ["crate_area", "self_area", "type_area", "serde_area", "types_area", "han_gug_eo"] {
        assert!(root.contains(&format!("generated/t-tools/src/{module}.rs")), "{module}: {root:?}");
    }
}

#[test]
fn names_of_types_and_fields_compile_whatever_letters_they_have() {
    let text = "openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /t: {post: {operationId: t, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/1'}}}}}}
components:
  schemas:
    '1': {type: object, properties: {gen: {type: string}, a: {$ref: '#/components/schemas/한글'}, b: {$ref: '#/components/schemas/가나'}}}
    한글: {type: object, properties: {x: {type: string, description: \"a\\u202eb\"}}}
    가나: {type: object, properties: {x: {type: string}}}
";
    let code = self::text(&generated(&files(text, "body: wrapped\n", None)).0, "src/general.rs");
    for expected in ["pub r#gen: ", "pub struct X1 {", "pub struct X {", "pub struct XType {", "/// ab\n"] {
        assert!(code.contains(expected), "{expected}\n{code}");
    }
}

#[test]
fn a_title_is_one_line() {
    let page = "openapi: 3.1.0
info: {title: t, version: '1'}
paths: {/t: {get: {operationId: t, summary: \"\\nGet one.\\n\\nAnd more.\\n\"}}}
";
    assert!(text(&generated(&document(page)).0, "src/general.rs").contains("title = \"Get one.\""));
}

#[test]
fn a_body_is_described_by_the_nearest_text_there_is() {
    let described = |body: &str, schema: &str| {
        let (generated, _) = generated(&document(&format!(
            "
openapi: 3.1.0
info: {{title: t, version: '1'}}
paths:
  /t: {{post: {{operationId: t, requestBody: {{{body}content: {{application/json: {{schema: {{$ref: '#/components/schemas/A'}}}}}}}}}}}}
components:
  schemas:
    A: {{type: object, {schema}}}
"
        )));
        file(&generated, "schemas/t.json")["properties"]["request"]["description"].clone()
    };
    assert_eq!(described("", ""), "JSON body of the request.");
    assert_eq!(described("", "description: An A."), "An A.");
    assert_eq!(described("description: What to store., ", "description: An A."), "What to store.");
}

#[test]
fn a_generic_output_stays_on_one_line() {
    let (generated, _) = generated(&document(&get(
        "      responses: {'200': {description: ok, content: {application/json: {schema: {type: object, additionalProperties: {type: object}}}}}}\n",
    )));
    let code = text(&generated, "src/general.rs");
    assert!(code.contains("output = \"indexmap::IndexMap<String, Map<String, Value>>\""), "{code}");
    assert!(code.contains("use serde_json::{Map, Value};"), "{code}");
}

#[test]
fn a_document_is_looked_over_by_itself() {
    let mut files = toolwright_generator::load::Files::new();
    files.insert(
        "a.yaml",
        "
openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  pets: {get: {}}
  /t:
    fetch: {}
    get:
      parameters: [{name: a, in: quary, schema: {type: string}}]
      responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/None'}}}}}
",
    );
    let mut sink = toolwright_generator::diagnostic::Sink::new();
    toolwright_generator::look_over("a.yaml", &files, toolwright_generator::load::Prose::Keep, &mut sink);
    let codes: Vec<&str> = sink.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["bad-path", "unknown-method", "bad-parameter", "dangling-reference"], "{sink}");
    assert!(!sink.has_errors());
}
