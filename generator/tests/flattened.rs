//! Which JSON bodies become an argument for each member, what those are called, and what stays one argument.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Value, json};
use support::{arguments, document, files, findings, generated, json as file, text};
use toolwright_generator::Generated;

/// A document of one POST with this body, in flow YAML, and a type `Thing`.
fn post(body: &str) -> String {
    format!(
        "openapi: 3.1.0
info: {{title: t, version: '1'}}
paths:
  /t:
    post:
      operationId: t
      requestBody: {body}
      responses: {{'200': {{description: ok}}}}
components:
  schemas:
    Thing:
      type: object
      description: What is stored.
      required: [name, id]
      properties:
        id: {{type: string, readOnly: true}}
        name: {{type: string, description: What it is called.}}
        pageSize: {{type: integer, default: 10}}
    Box: {{type: object, properties: {{name: {{type: string}}, inner: {{$ref: '#/components/schemas/Box'}}}}}}
    Way: {{oneOf: [{{type: string, enum: [Left]}}, {{type: string, enum: [Right]}}]}}
    Part: {{type: object, required: [b], properties: {{b: {{type: string}}}}}}
"
    )
}

fn body(schema: &str) -> String {
    post(&format!("{{required: true, content: {{application/json: {{schema: {schema}}}}}}}"))
}

const THING: &str = "{$ref: '#/components/schemas/Thing'}";

/// Names of the arguments, in order.
fn names(document: &str) -> Vec<String> {
    let arguments = arguments(&generated(&support::document(document)).0, "t");
    arguments.as_object().unwrap().keys().cloned().collect()
}

fn input(generated: &Generated) -> Value {
    file(generated, "schemas/t.json")
}

#[test]
fn each_member_of_a_plain_object_is_an_argument() {
    let (generated, _) = generated(&document(&body(THING)));
    let expected = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "What it is called."},
            "page_size": {"type": "integer", "default": 10},
        },
        "required": ["name"],
        "additionalProperties": false,
    });
    assert_eq!(input(&generated), expected);
    let expected =
        json!({"name": {"in": "member", "required": true}, "page_size": {"in": "member", "wire": "pageSize"}});
    assert_eq!(arguments(&generated, "t"), expected);
    let binding = &file(&generated, "catalog.json")["tools"][0]["binding"]["http"];
    assert_eq!(binding["body"], json!({"media_type": "application/json", "required": true}));
}

#[test]
fn the_struct_has_a_field_for_each_member_and_no_type_for_the_body() {
    let (generated, _) = generated(&document(&body(THING)));
    let code = text(&generated, "src/general.rs");
    assert!(code.contains("    /// What it is called.\n    #[member(required)]\n    pub name: String,"), "{code}");
    assert!(code.contains("#[member(wire = \"pageSize\")]"), "{code}");
    assert!(!code.contains("struct Thing"), "{code}");
}

#[test]
fn members_of_parts_that_agree_are_those_of_one_object() {
    let schema = format!("{{allOf: [{THING}, {{$ref: '#/components/schemas/Part'}}, {{properties: {{c: {{}}}}}}]}}");
    let (generated, _) = generated(&document(&body(&schema)));
    let names: Vec<String> = input(&generated)["properties"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["name", "page_size", "b", "c"]);
    assert_eq!(input(&generated)["required"], json!(["name", "b"]));
}

#[test]
fn what_is_more_than_a_plain_object_stays_one_argument() {
    for schema in [
        "{type: object}",
        "{type: object, properties: {}}",
        "{type: array, items: {type: object}}",
        "{type: string}",
        "{type: [object, 'null'], properties: {a: {}}}",
        "{type: object, properties: {a: {}}, additionalProperties: true}",
        "{type: object, properties: {a: {}}, additionalProperties: {}}",
        "{type: object, properties: {a: {}}, additionalProperties: {type: string}}",
        "{type: object, properties: {a: {}}, patternProperties: {'^x': {type: string}}}",
        "{type: object, properties: {a: {}}, oneOf: [{required: [a]}, {properties: {b: {}}}]}",
        "{anyOf: [{$ref: '#/components/schemas/Thing'}, {$ref: '#/components/schemas/Part'}]}",
        "{type: object, properties: {a: {}}, minProperties: 1}",
        "{type: object, properties: {a: {}}, required: [b]}",
        "{type: object, properties: {a: {type: string, readOnly: true}}}",
        "{$ref: '#/components/schemas/Box'}",
        "{allOf: [{$ref: '#/components/schemas/Part'}, {properties: {b: {type: integer}}}]}",
        "{allOf: [{$ref: '#/components/schemas/Part'}, {properties: {c: {}}, additionalProperties: false}]}",
    ] {
        assert_eq!(names(&body(schema)), ["request"], "{schema}");
    }
}

#[test]
fn a_closed_object_is_plain() {
    assert_eq!(names(&body("{type: object, properties: {a: {}}, additionalProperties: false}")), ["a"]);
}

#[test]
fn several_media_types_keep_an_argument_each() {
    let content = format!("{{application/json: {{schema: {THING}}}, text/plain: {{schema: {{type: string}}}}}}");
    assert_eq!(names(&post(&format!("{{content: {content}}}"))), ["request", "text", "content_type"]);
}

#[test]
fn what_an_optional_body_needs_is_not_required_of_the_call() {
    let (generated, _) =
        generated(&document(&post(&format!("{{content: {{application/json: {{schema: {THING}}}}}}}"))));
    assert_eq!(input(&generated).get("required"), None);
    let name = &input(&generated)["properties"]["name"]["description"];
    assert_eq!(name, "What it is called. Required where any other field of the body is given.");
    let code = text(&generated, "src/general.rs");
    assert!(code.contains("#[http(post = \"/t\", optional_body)]"), "{code}");
    assert!(code.contains("#[member(required)]"), "{code}");
    assert!(code.contains("pub name: Option<String>"), "{code}");
}

/// The document of the known fault: one name in path, query and body.
const SAME_NAMES: &str = "
openapi: 3.0.3
info: {title: things, version: '1'}
paths:
  /things/{id}:
    put:
      operationId: move_thing
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}, description: The thing to move.}
        - {name: id, in: query, schema: {type: integer}, description: Revision to expect.}
      requestBody:
        required: true
        content:
          application/json:
            schema: {type: object, required: [id, place], properties: {id: {type: string, description: The new id.}, place: {type: string}}}
      responses: {'204': {description: done}}
";

#[test]
fn equal_names_in_path_query_and_body_get_their_place_appended() {
    let (generated, _) = generated(&files(SAME_NAMES, "structs: []\n", None));
    let schema = file(&generated, "schemas/move_thing.json");
    let described = |name: &str| schema["properties"][name]["description"].clone();
    assert_eq!(described("id_path"), "The thing to move.");
    assert_eq!(described("id_query"), "Revision to expect.");
    assert_eq!(described("id_body"), "The new id.");
    assert_eq!(schema["required"], json!(["id_path", "id_body", "place"]));
    let row = text(&generated, "src/general.rs").split_whitespace().collect::<Vec<_>>().join(" ");
    let member = r#"Member { argument: "id_body", wire: "id", required: true, }"#;
    assert!(row.contains(member), "{row}");
}

#[test]
fn names_do_not_depend_on_the_order_of_members() {
    let named = |properties: &str| {
        let arguments =
            arguments(&generated(&document(&body(&format!("{{type: object, properties: {{{properties}}}}}")))).0, "t");
        let wire = |(name, value): (&String, &Value)| (value["wire"].as_str().unwrap_or(name).to_owned(), name.clone());
        arguments.as_object().unwrap().iter().map(wire).collect::<std::collections::BTreeMap<String, String>>()
    };
    let one = named("fooBar: {}, foo_bar: {}, foo_bar_body: {}");
    assert_eq!(one, named("foo_bar_body: {}, foo_bar: {}, fooBar: {}"));
    assert_eq!(one["foo_bar_body"], "foo_bar_body", "{one:?}");
}

#[test]
fn wrapped_is_said_for_all_bodies_or_for_one() {
    let (all, _) = generated(&files(&body(THING), "body: wrapped\n", None));
    assert_eq!(arguments(&all, "t")["request"]["in"], "body");
    let one = |mode: &str| format!("  - target: $.paths['/t'].post\n    update: {{x-toolwright: {{body: {mode}}}}}\n");
    let (wrapped, _) = generated(&files(&body(THING), "", Some(&one("wrapped"))));
    assert_eq!(arguments(&wrapped, "t")["request"]["in"], "body");
    let (flattened, _) = generated(&files(&body(THING), "body: wrapped\n", Some(&one("flattened"))));
    assert_eq!(arguments(&flattened, "t")["name"]["in"], "member");
    assert!(findings(&files(&body(THING), "body: wraped\n", None)).contains("did you mean `wrapped`?"));
}

/// What is found where an overlay says this of the operation.
fn said(schema: &str, extension: &str) -> String {
    let actions = format!("  - target: $.paths['/t'].post\n    update: {{x-toolwright: {extension}}}\n");
    findings(&files(&body(schema), "", Some(&actions)))
}

#[test]
fn a_key_that_cannot_hold_is_an_error() {
    let union = "{oneOf: [{$ref: '#/components/schemas/Thing'}, {$ref: '#/components/schemas/Part'}]}";
    for (schema, extension, expected) in [
        (THING, "{argument: thing}", "`argument` speaks of a body that is one argument"),
        (THING, "{body_description: Thing.}", "`body_description` speaks of a body that is one argument"),
        (THING, "{arguments: {id: Text.}}", "`id` is read-only and never asked for"),
        (THING, "{arguments: {name: {send_as: {a: b}}}}", "`name` is a member of a JSON body"),
        (THING, "{advertise: [pageSize]}", "leaves out `name`, which is required"),
        (union, "{body: flattened}", "stays one argument: it is one of several shapes"),
        (union, "{arguments: {name: Text.}}", "`name` is a field of the body, which is one argument"),
    ] {
        let found = said(schema, extension);
        assert!(found.contains(expected), "{extension}\n{found}");
    }
    assert!(!said(THING, "{fields: {name: A name.}, arguments: {pageSize: {name: size}}}").contains("error["));
}

#[test]
fn texts_and_names_of_overlays_hold_for_members() {
    let said = "{fields: {name: A name.}, arguments: {pageSize: {name: size, description: How many.}}}";
    let actions = format!("  - target: $.paths['/t'].post\n    update: {{x-toolwright: {said}}}\n");
    let (generated, _) = generated(&files(&body(THING), "", Some(&actions)));
    let properties = &input(&generated)["properties"];
    assert_eq!(properties["name"]["description"], "A name.");
    assert_eq!(properties["size"]["description"], "How many.");
    assert_eq!(arguments(&generated, "t")["size"]["wire"], "pageSize");
}

#[test]
fn members_that_are_not_advertised_are_accepted_and_not_shown() {
    let actions = "  - target: $.paths['/t'].post\n    update: {x-toolwright: {advertise: [name]}}\n";
    let (generated, _) = generated(&files(&body(THING), "", Some(actions)));
    let listed = file(&generated, "schemas/t.listed.json");
    assert_eq!(listed["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["name"]);
    assert_eq!(listed.get("additionalProperties"), None, "what is shown is open, so that clients send the rest");
    assert_eq!(input(&generated)["properties"].as_object().unwrap().len(), 2);
    assert_eq!(input(&generated)["additionalProperties"], json!(false));
}

#[test]
fn a_default_that_the_member_refuses_is_not_sent() {
    let schema = "{type: object, properties: {a: {type: string, default: 5}, b: {type: string, default: null}, \
                  c: {allOf: [{$ref: '#/components/schemas/Way'}], default: right}, d: {type: integer, default: 1}}}";
    let (generated, _) = generated(&document(&body(schema)));
    let defaults = input(&generated)["properties"].clone();
    let told = |name: &str| defaults[name].get("default").cloned();
    assert_eq!((told("a"), told("b"), told("c"), told("d")), (None, None, None, Some(json!(1))));
}

#[test]
fn the_ledger_counts_what_became_arguments() {
    let (generated, _) = generated(&document(&body(THING)));
    let ledger = file(&generated, "ledger.json");
    let left_out = ledger["left_out"].as_array().unwrap();
    let of_thing: Vec<&Value> =
        left_out.iter().filter(|entry| entry["at"].as_str().unwrap().contains("schemas/Thing")).collect();
    assert_eq!(of_thing.len(), 1, "{of_thing:?}");
    assert_eq!(of_thing[0]["rule"], "read-only");
}

#[test]
fn the_description_names_the_most_telling_members() {
    let many: String = (0..9).map(|n| format!("f{n}: {{}}, ")).collect();
    let schema = format!("{{type: object, required: [f8], properties: {{{many}}}}}");
    let (generated, _) = generated(&document(&body(&schema)));
    let description = file(&generated, "catalog.json")["tools"][0]["description"].as_str().unwrap().to_owned();
    assert!(description.contains("Inputs: `f8`, `f0`, `f1`, `f2`, `f3`, `f4` and more.\n"), "{description}");
}
