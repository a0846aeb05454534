//! What users of other generators met and ours must not have. One rule each, on the smallest document.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use support::{document, file_names, generated, json as file, text, tools};

const HEAD: &str = "openapi: 3.1.0\ninfo: {title: t, version: '1'}\n";

/// A document with these paths, in YAML.
fn openapi(paths: &str) -> String {
    format!("{HEAD}paths:\n{paths}")
}

/// A document of one POST that takes and answers with the schema `A`.
fn of_schemas(schemas: &str) -> String {
    openapi(&format!(
        "  /t:
    post:
      operationId: t
      requestBody: {{required: true, content: {{application/json: {{schema: {{$ref: '#/components/schemas/A'}}}}}}}}
      responses: {{'200': {{description: ok, content: {{application/json: {{schema: {{$ref: '#/components/schemas/A'}}}}}}}}}}
components:
  schemas:
{schemas}"
    ))
}

/// The same in Swagger 2.0.
fn of_definitions(schemas: &str) -> String {
    let schemas = schemas.replace("#/components/schemas/", "#/definitions/");
    format!(
        "swagger: '2.0'
info: {{title: t, version: '1'}}
paths:
  /t:
    post:
      operationId: t
      parameters: [{{name: thing, in: body, required: true, schema: {{$ref: '#/definitions/A'}}}}]
      responses: {{'200': {{description: ok, schema: {{$ref: '#/definitions/A'}}}}}}
definitions:
{schemas}"
    )
}

/// Targets of every `$ref` inside a value.
fn references(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Object(members) => {
            let own = members.get("$ref").and_then(Value::as_str).map(str::to_owned);
            members.values().flat_map(references).chain(own).collect()
        }
        _ => BTreeSet::new(),
    }
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn what_is_only_sent_is_not_in_answers_nor_required_there() {
    let (generated, _) = generated(&document(&of_schemas(
        "    A:
      type: object
      required: [id, name, password, pin]
      properties:
        id: {type: string, readOnly: true}
        name: {type: string}
        password: {type: string, writeOnly: true}
        pin: {allOf: [{$ref: '#/components/schemas/Pin'}], writeOnly: true}
    Pin: {type: string, minLength: 4}
",
    )));
    let result = file(&generated, "schemas/t.result.json");
    assert_eq!(keys(&result["properties"]), ["id", "name"]);
    assert_eq!(result["required"], json!(["id", "name"]));
    let input = file(&generated, "schemas/t.json");
    assert_eq!(keys(&input["properties"]), ["name", "password", "pin"]);
    assert_eq!(input["required"], json!(["name", "password", "pin"]));
}

#[test]
fn long_names_that_are_equal_when_cut_stay_apart_in_any_order() {
    let start = "a".repeat(60);
    let mut ids: Vec<String> = ["b", "c", "d"].iter().map(|end| format!("{start}{}", end.repeat(10))).collect();
    let paths = |ids: &[String]| {
        let path = |(number, id): (usize, &String)| format!("  /p{number}: {{get: {{operationId: {id}}}}}\n");
        ids.iter().enumerate().map(path).collect::<Vec<_>>()
    };
    let (first, _) = generated(&document(&openapi(&paths(&ids).concat())));
    // One more whose own name is what another becomes.
    ids.push(tools(&first)[0].clone());
    let mut paths = paths(&ids);
    let forth: BTreeSet<String> = tools(&generated(&document(&openapi(&paths.concat()))).0).into_iter().collect();
    paths.reverse();
    let back: BTreeSet<String> = tools(&generated(&document(&openapi(&paths.concat()))).0).into_iter().collect();
    assert_eq!(forth.len(), 4, "{forth:?}");
    assert_eq!(forth, back);
    assert!(forth.iter().all(|name| name.len() <= 48 && name.starts_with('a')), "{forth:?}");
}

#[test]
fn names_begin_with_a_letter_whatever_the_operation_is_called() {
    let ids = ["3d_model", "_9x", "'404'", "'9'", "'9'"];
    let path = |(number, id): (usize, &&str)| format!("  /p{number}: {{get: {{operationId: {id}}}}}\n");
    let (generated, _) = generated(&document(&openapi(&ids.iter().enumerate().map(path).collect::<String>())));
    let names: BTreeSet<String> = tools(&generated).into_iter().collect();
    assert_eq!(names.len(), ids.len(), "{names:?}");
    for name in names {
        assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{name}");
    }
}

#[test]
fn a_reference_may_point_at_any_schema_of_the_document() {
    let inside = of_schemas(
        "    A:
      type: object
      properties:
        nodes: {type: array, items: {type: integer, minimum: 7}}
        one: {$ref: '#/components/schemas/A/properties/nodes/items'}
",
    );
    let (made, sink) = generated(&document(&inside));
    assert!(!sink.to_string().contains("dangling-reference"), "{sink}");
    assert_eq!(file(&made, "schemas/t.json")["properties"]["one"], json!({"type": "integer", "minimum": 7}));

    let body = "{type: integer, minimum: 7}";
    let of_another = openapi(&format!(
        "  /t: {{post: {{operationId: t, requestBody: {{content: {{application/json: {{schema: {body}}}}}}}}}}}
  /u: {{get: {{operationId: u, parameters: [{{name: p, in: query, schema: {{$ref: '#/paths/~1t/post/requestBody/content/application~1json/schema'}}}}]}}}}
"
    ));
    let (made, sink) = generated(&document(&of_another));
    assert!(!sink.to_string().contains("dangling-reference"), "{sink}");
    assert_eq!(file(&made, "schemas/u.json")["properties"]["p"], json!({"type": "integer", "minimum": 7}));
}

#[test]
fn a_loop_of_any_shape_ends_in_own_definitions() {
    const A: &str = "{$ref: '#/components/schemas/A'}";
    let own = |member: &str| format!("    A: {{type: object, properties: {{a: {member}}}}}\n");
    let shapes = [
        own(A),
        own(&format!("{{type: array, items: {A}}}")),
        own(&format!("{{type: object, additionalProperties: {A}}}")),
        own(&format!("{{allOf: [{A}, {{type: object, properties: {{x: {{type: string}}}}}}]}}")),
        own(&format!("{{oneOf: [{A}, {{type: string}}]}}")),
        format!("{}    B: {{type: object, properties: {{b: {A}}}}}\n", own("{$ref: '#/components/schemas/B'}")),
    ];
    for shape in shapes {
        for text in [of_schemas(&shape), of_definitions(&shape)] {
            let (made, sink) = generated(&document(&text));
            assert!(!sink.has_errors(), "{sink}\n{text}");
            for path in ["schemas/t.json", "schemas/t.result.json"] {
                let schema = file(&made, path);
                let targets = references(&schema);
                assert!(!targets.is_empty(), "{schema}\n{text}");
                for target in targets {
                    assert!(target.starts_with("#/$defs/"), "{target}\n{text}");
                    assert!(schema.pointer(&target[1..]).is_some(), "{target} in {schema}\n{text}");
                }
            }
        }
    }
}

/// Targets that are reached from the root, through definitions.
fn reached(schema: &Value) -> BTreeSet<String> {
    let mut root = schema.clone();
    root.as_object_mut().unwrap().shift_remove("$defs");
    let mut open: Vec<String> = references(&root).into_iter().collect();
    let mut found = BTreeSet::new();
    while let Some(target) = open.pop() {
        if found.insert(target.clone()) {
            open.extend(references(schema.pointer(&target[1..]).unwrap()));
        }
    }
    found
}

#[test]
fn definitions_are_those_that_are_reached() {
    let node = |name: &str| {
        format!("    {name}: {{type: object, properties: {{next: {{$ref: '#/components/schemas/{name}'}}}}}}\n")
    };
    let thing = "    A:
      type: object
      properties:
        name: {type: string}
        tree: {$ref: '#/components/schemas/Node'}
        other: {$ref: '#/components/schemas/Loop'}
";
    let text = of_schemas(&format!("{thing}{}{}{}", node("Node"), node("Loop"), node("Spare")));
    for own in ["{advertise: [name, tree]}", "{advertise: [name, tree], body: wrapped}"] {
        let text = text.replace("operationId: t\n", &format!("operationId: t\n      x-toolwright: {own}\n"));
        let (made, _) = generated(&document(&text));
        for (path, expected) in [("schemas/t.json", vec!["Loop", "Node"]), ("schemas/t.listed.json", vec!["Node"])] {
            let schema = file(&made, path);
            let definitions: BTreeSet<&str> = keys(&schema["$defs"]).into_iter().collect();
            let expected: BTreeSet<&str> = expected.into_iter().collect();
            assert_eq!(definitions, expected, "{own} {path}: {schema}");
            let targets: BTreeSet<String> = definitions.iter().map(|key| format!("#/$defs/{key}")).collect();
            assert_eq!(reached(&schema), targets, "{own} {path}: {schema}");
        }
    }
}

#[test]
fn no_type_is_added_beside_alternatives() {
    for version in ["3.0.3", "3.1.0"] {
        for word in ["anyOf", "oneOf"] {
            let parameter =
                format!("{{name: p, in: query, schema: {{{word}: [{{type: string}}, {{type: integer}}]}}}}");
            let text = openapi(&format!("  /t: {{get: {{operationId: t, parameters: [{parameter}]}}}}\n"));
            let (made, _) = generated(&document(&text.replace("3.1.0", version)));
            let schema = &file(&made, "schemas/t.json")["properties"]["p"];
            assert_eq!(schema["anyOf"], json!([{"type": "string"}, {"type": "integer"}]), "{version} {word}");
            assert_eq!(schema.get("type"), None, "{version} {word}");
        }
    }
}

#[test]
fn a_value_of_an_enum_is_listed_once_and_as_it_is_written() {
    let parameter = "{name: p, in: query, schema: {type: string, enum: [a, A, a, b]}}";
    let text = openapi(&format!("  /t: {{get: {{operationId: t, parameters: [{parameter}]}}}}\n"));
    let (made, _) = generated(&document(&text));
    assert_eq!(file(&made, "schemas/t.json")["properties"]["p"]["enum"], json!(["a", "A", "b"]));
}

#[test]
fn the_root_of_every_input_is_a_plain_object() {
    let bodies = [
        "{oneOf: [{type: string}, {type: integer}]}",
        "{anyOf: [{type: object, properties: {a: {}}}, {type: object, properties: {b: {}}}]}",
        "{allOf: [{type: object, properties: {a: {}}}, {type: object, properties: {b: {}}}]}",
        "{not: {type: string}}",
        "{enum: [1, 2]}",
        "{type: array, items: {type: string}}",
        "{type: object, additionalProperties: {type: string}}",
        "{type: string}",
        "{}",
    ];
    let post = |(number, schema): (usize, &&str)| {
        let body = format!("{{required: true, content: {{application/json: {{schema: {schema}}}}}}}");
        format!("  /p{number}: {{post: {{operationId: made{number}, requestBody: {body}}}}}\n")
    };
    let paths: String = bodies.iter().enumerate().map(post).collect();
    let (made, _) = generated(&document(&openapi(&format!("{paths}  /bare: {{get: {{operationId: bare}}}}\n"))));
    let all = file_names(&made);
    let inputs = all.iter().filter_map(|path| path.strip_prefix("generated/t-tools/"));
    let inputs: Vec<&str> =
        inputs.filter(|path| path.starts_with("schemas/") && !path.ends_with(".result.json")).collect();
    assert!(inputs.len() > bodies.len(), "{inputs:?}");
    for path in inputs {
        let schema = file(&made, path);
        assert_eq!(schema["type"], "object", "{path}: {schema}");
        assert!(schema["properties"].is_object(), "{path}: {schema}");
        for word in ["anyOf", "oneOf", "allOf", "not", "enum"] {
            assert_eq!(schema.get(word), None, "{path}: {schema}");
        }
    }
}

#[test]
fn a_secret_never_has_a_value_of_the_document() {
    let told = "default: hunter2, example: hunter2, x-default: hunter2, x-example: hunter2";
    let flow = "tokenUrl: 'https://a.example/t', scopes: {}";
    let oauth = format!("type: oauth2, flows: {{clientCredentials: {{{flow}, {told}}}}}");
    let schemes = [
        "type: apiKey, in: header, name: X-Key",
        "type: apiKey, in: query, name: key",
        "type: apiKey, in: cookie, name: sid",
        "type: http, scheme: basic",
        "type: http, scheme: bearer",
        oauth.as_str(),
        "type: openIdConnect, openIdConnectUrl: 'https://a.example/o'",
    ];
    let scheme = |(number, scheme): (usize, &&str)| format!("    s{number}: {{{scheme}, {told}}}\n");
    let schemes: String = schemes.iter().enumerate().map(scheme).collect();
    let paths = openapi("  /t: {get: {operationId: t}}\n");
    let (made, _) = generated(&document(&format!("{paths}components:\n  securitySchemes:\n{schemes}")));
    for path in file_names(&made) {
        let content = String::from_utf8(made.files.get(&path).unwrap().to_vec()).unwrap();
        assert!(!content.contains("hunter2"), "{path}");
    }
    let root = text(&made, "src/lib.rs");
    let settings = root.split("Setting {").skip(1).filter(|setting| {
        let secret = setting.find("secret: ").unwrap();
        setting[secret..].starts_with("secret: true")
    });
    let secrets: Vec<&str> = settings.collect();
    assert!(secrets.len() >= 6, "{root}");
    for secret in secrets {
        let default = secret.split("default: ").nth(1).unwrap();
        assert!(default.starts_with("\"\","), "{secret}");
    }
}
