//! Each rule of the upgrade, on the smallest document that shows it.

use serde_json::{Value, json};

use crate::diagnostic::Sink;
use crate::load::{Document, Files, Prose, load_document};
use crate::source::Source;

fn files(text: &str) -> Files {
    let mut files = Files::new();
    files.insert("a.yaml", text);
    files
}

fn load(text: &str) -> (Document, String) {
    let mut sink = Sink::new();
    let document = load_document("a.yaml", &files(text), Prose::Keep, &mut sink).unwrap();
    (document, sink.to_string())
}

fn upgraded(text: &str) -> Document {
    let (document, findings) = load(text);
    assert_eq!(findings, "");
    document
}

fn yaml(text: &str) -> Value {
    Source::new("expected.yaml", text).read(&mut Sink::new()).unwrap()
}

/// The operation `POST /t` of a Swagger 2.0 document, after the upgrade.
fn operation(root: &str, operation: &str) -> Value {
    let text = format!("swagger: '2.0'\n{root}\npaths:\n  /t:\n    post: {operation}\n");
    upgraded(&text).get("/paths/~1t/post").unwrap().clone()
}

/// A schema of a document, after the upgrade.
fn schema(version: &str, schema: &str) -> (Value, String) {
    let (document, findings) =
        load(&format!("openapi: {version}\npaths: {{}}\ncomponents: {{schemas: {{B: {{}}, A: {schema}}}}}\n"));
    let schema = document.get("/components/schemas/A").unwrap().clone();
    (schema, findings)
}

#[track_caller]
fn schema_30(before: &str, after: &str) {
    let (schema, findings) = schema("3.0.3", before);
    assert_eq!((schema, findings.as_str()), (yaml(after), ""));
}

#[test]
fn host_base_path_and_schemes_are_servers() {
    let servers = |head: &str| upgraded(&format!("swagger: '2.0'\n{head}\npaths: {{}}\n")).value["servers"].clone();
    assert_eq!(
        servers("host: h:1\nbasePath: /v1\nschemes: [http, https]"),
        json!([{"url": "http://h:1/v1"}, {"url": "https://h:1/v1"}])
    );
    assert_eq!(servers("basePath: /v1"), json!([{"url": "/v1"}]));
    assert_eq!(servers(""), Value::Null);
}

#[test]
fn a_body_keeps_the_name_that_its_parameter_had() {
    assert_eq!(
        operation(
            "consumes: [application/json]",
            "{parameters: [{name: request, in: body, required: true, schema: {$ref: '#/definitions/A'}}]}"
        ),
        yaml(
            "{requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}, x-toolwright: {argument: request}}}"
        )
    );
}

#[test]
fn a_raw_body_has_the_media_type_that_the_operation_consumes() {
    let body = operation(
        "consumes: [application/json]",
        "{consumes: [application/octet-stream], parameters: [{name: b, in: body, schema: {type: string, format: binary}}]}",
    );
    assert_eq!(
        body["requestBody"]["content"],
        yaml("{application/octet-stream: {schema: {type: string, contentMediaType: application/octet-stream}}}")
    );
}

#[test]
fn a_file_makes_a_multipart_form_whatever_consumes_says() {
    let body = operation(
        "consumes: [application/json]",
        "{parameters: [{name: model, in: formData, type: string, required: true, description: d}, {name: file, in: formData, type: file}]}",
    );
    assert_eq!(
        body["requestBody"],
        yaml(
            "{required: true, content: {multipart/form-data: {schema: {type: object, required: [model], properties: {
              model: {type: string, description: d}, file: {type: string, contentMediaType: application/octet-stream}}}}}}"
        )
    );
}

#[test]
fn a_form_without_files_is_urlencoded_unless_it_consumes_multipart() {
    let media = |consumes: &str| {
        let body = operation(consumes, "{parameters: [{name: a, in: formData, type: string}]}");
        let content = body["requestBody"]["content"].as_object().unwrap().clone();
        content.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(media("consumes: [application/json]"), ["application/x-www-form-urlencoded"]);
    assert_eq!(media("consumes: [multipart/form-data]"), ["multipart/form-data"]);
}

#[test]
fn collection_formats_are_styles() {
    for (location, format, expected) in [
        ("query", "", "{style: form, explode: false}"),
        ("query", "multi", "{style: form, explode: true}"),
        ("query", "ssv", "{style: spaceDelimited, explode: false}"),
        ("query", "pipes", "{style: pipeDelimited, explode: false}"),
        ("query", "tsv", "{style: form, explode: false, x-toolwright: {collection_format: tsv}}"),
        ("header", "csv", "{style: simple, explode: false}"),
        ("path", "pipes", "{style: simple, explode: false, x-toolwright: {collection_format: pipes}}"),
    ] {
        let format = if format.is_empty() { String::new() } else { format!(", collectionFormat: {format}") };
        let parameter =
            format!("{{parameters: [{{name: a, in: {location}, type: array, items: {{type: string}}{format}}}]}}");
        let mut found = operation("", &parameter)["parameters"][0].clone();
        for key in ["name", "in", "schema"] {
            found.as_object_mut().unwrap().shift_remove(key);
        }
        assert_eq!(found, yaml(expected), "{location} {format}");
    }
}

#[test]
fn arrays_in_forms_keep_their_format_as_encoding() {
    let body = operation(
        "",
        "{parameters: [{name: a, in: formData, type: array, items: {type: string}, collectionFormat: multi}, {name: b, in: formData, type: array, items: {type: string}, collectionFormat: tsv}]}",
    );
    assert_eq!(
        body["requestBody"]["content"]["application/x-www-form-urlencoded"]["encoding"],
        yaml(
            "{a: {style: form, explode: true}, b: {style: form, explode: false, x-toolwright: {collection_format: tsv}}}"
        )
    );
}

#[test]
fn parameters_of_a_path_are_inherited_and_forms_go_into_each_operation() {
    let document = upgraded(
        "swagger: '2.0'
parameters: {trace: {name: trace, in: header, type: string}}
paths:
  /t:
    parameters: [{$ref: '#/parameters/trace'}, {name: a, in: formData, type: string}, {name: b, in: formData, type: string}]
    post: {parameters: [{name: b, in: formData, type: integer}]}
",
    );
    assert_eq!(document.get("/paths/~1t/parameters"), Some(&json!([{"$ref": "#/components/parameters/trace"}])));
    assert_eq!(
        document.get("/components/parameters/trace"),
        Some(&json!({"name": "trace", "in": "header", "schema": {"type": "string"}}))
    );
    let form = "/paths/~1t/post/requestBody/content/application~1x-www-form-urlencoded/schema/properties";
    assert_eq!(document.get(form), Some(&json!({"b": {"type": "integer"}, "a": {"type": "string"}})));
}

#[test]
fn shared_bodies_are_followed_to_their_operations() {
    let document = upgraded(
        "swagger: '2.0'
parameters: {body: {name: thing, in: body, schema: {type: object}}}
paths: {/t: {post: {parameters: [{$ref: '#/parameters/body'}]}}}
",
    );
    assert_eq!(document.value["paths"]["/t"]["post"]["requestBody"]["x-toolwright"]["argument"], "thing");
    assert_eq!(document.value["components"]["requestBodies"]["body"]["x-toolwright"]["argument"], "thing");
}

#[test]
fn body_and_form_at_once_leave_out_one_operation_only() {
    let (document, findings) = load(
        "swagger: '2.0'
paths:
  /a: {post: {parameters: [{name: b, in: body, schema: {}}, {name: f, in: formData, type: string}]}}
  /b: {get: {responses: {}}}
",
    );
    assert!(findings.starts_with("warning[contradictory-body]"), "{findings}");
    assert!(findings.contains("a.yaml:3:15"), "{findings}");
    assert_eq!(
        super::super::extension::operation(&document, "/paths/~1a/post").refused.as_deref(),
        Some("it has a body and form fields at once")
    );
    assert!(document.get("/paths/~1b/get").is_some());
}

#[test]
fn answers_have_the_media_types_that_the_operation_produces() {
    let responses = operation(
        "produces: [application/json]",
        "{produces: [audio/x-wav], responses: {200: {description: ok, schema: {type: string}}, 204: {description: none}}}",
    );
    assert_eq!(
        responses["responses"],
        yaml("{200: {description: ok, content: {audio/x-wav: {schema: {type: string}}}}, 204: {description: none}}")
    );
}

#[test]
fn a_file_answer_is_bytes_of_the_produced_type() {
    let content = |produces: &str| {
        operation("", &format!("{{{produces}responses: {{200: {{schema: {{type: file}}}}}}}}"))["responses"]["200"]["content"].clone()
    };
    let bytes = "schema: {type: string, contentMediaType: application/octet-stream}";
    assert_eq!(content("produces: [model/gltf-binary], "), yaml(&format!("{{model/gltf-binary: {{{bytes}}}}}")));
    assert_eq!(content("produces: [application/json], "), yaml(&format!("{{application/octet-stream: {{{bytes}}}}}")));
}

#[test]
fn an_image_without_a_schema_keeps_its_media_type() {
    let found = operation("", "{produces: [image/png, application/json], responses: {200: {description: ok}}}");
    assert_eq!(found["responses"]["200"]["content"], json!({"image/png": {}}));
}

#[test]
fn headers_and_examples_of_answers_are_kept() {
    let found = operation(
        "produces: [application/json]",
        "{responses: {200: {headers: {X-Total: {type: integer, description: d}}, schema: {}, examples: {application/json: {a: 1}}}}}",
    );
    assert_eq!(
        found["responses"]["200"],
        yaml(
            "{headers: {X-Total: {description: d, schema: {type: integer}}}, content: {application/json: {schema: {}, example: {a: 1}}}}"
        )
    );
}

#[test]
fn security_definitions_are_security_schemes() {
    let document = upgraded(
        "swagger: '2.0'
paths: {}
securityDefinitions:
  b: {type: basic}
  k: {type: apiKey, in: header, name: X}
  o: {type: oauth2, flow: accessCode, authorizationUrl: a, tokenUrl: t, scopes: {r: read}}
",
    );
    assert_eq!(
        document.value["components"]["securitySchemes"],
        yaml(
            "{b: {type: http, scheme: basic}, k: {type: apiKey, in: header, name: X},
             o: {type: oauth2, flows: {authorizationCode: {authorizationUrl: a, tokenUrl: t, scopes: {r: read}}}}}"
        )
    );
}

#[test]
fn nullable_allows_null_by_means_of_json_schema() {
    schema_30("{type: string, nullable: true}", "{type: [string, 'null']}");
    schema_30("{type: string, nullable: false}", "{type: string}");
    schema_30("{type: string, nullable: true, enum: [a, null]}", "{type: [string, 'null'], enum: [a, null]}");
    schema_30("{type: string, nullable: true, enum: [a]}", "{type: [string, 'null'], enum: [a, null]}");
    schema_30(
        "{$ref: '#/components/schemas/B', nullable: true, description: d}",
        "{description: d, anyOf: [{$ref: '#/components/schemas/B'}, {type: 'null'}]}",
    );
    schema_30("{anyOf: [{type: string}], nullable: true}", "{anyOf: [{type: string}, {type: 'null'}]}");
    schema_30("{anyOf: [{type: string}, {nullable: true}]}", "{anyOf: [{type: string}, {type: 'null'}]}");
    schema_30("{oneOf: [{type: string}], nullable: true}", "{anyOf: [{oneOf: [{type: string}]}, {type: 'null'}]}");
}

#[test]
fn boolean_exclusive_bounds_are_numbers() {
    schema_30(
        "{minimum: 0, exclusiveMinimum: true, maximum: 10, exclusiveMaximum: false}",
        "{maximum: 10, exclusiveMinimum: 0}",
    );
}

#[test]
fn an_old_bound_in_a_new_document_is_read_as_meant_and_reported() {
    let (found, findings) = schema("3.1.0", "{type: number, minimum: 0, exclusiveMinimum: true}");
    assert_eq!(found, json!({"type": "number", "exclusiveMinimum": 0}));
    assert!(findings.starts_with("warning[old-word]: a boolean `exclusiveMinimum` is not a word of OpenAPI 3.1"));
    assert!(findings.contains("at /components/schemas/A/exclusiveMinimum"), "{findings}");
}

#[test]
fn words_of_a_new_document_stay() {
    let (found, findings) = schema("3.1.0", "{type: [number, 'null'], exclusiveMinimum: 0, const: 1}");
    assert_eq!(found, json!({"type": ["number", "null"], "exclusiveMinimum": 0, "const": 1}));
    assert_eq!(findings, "");
}

#[test]
fn contents_of_strings_and_examples_have_their_new_words() {
    schema_30("{type: string, format: byte}", "{type: string, contentEncoding: base64}");
    schema_30("{type: string, example: a}", "{type: string, examples: [a]}");
}

#[test]
fn names_that_look_like_keywords_and_data_are_left_alone() {
    schema_30(
        "{properties: {nullable: {type: string}, example: {type: string}}, default: {nullable: true}}",
        "{properties: {nullable: {type: string}, example: {type: string}}, default: {nullable: true}}",
    );
}

#[test]
fn a_discriminator_of_swagger_is_an_object() {
    let document = upgraded(
        "swagger: '2.0'\npaths: {}\ndefinitions: {A: {discriminator: kind, x-nullable: true, type: object}}\n",
    );
    assert_eq!(
        document.value["components"]["schemas"]["A"],
        json!({"discriminator": {"propertyName": "kind"}, "type": ["object", "null"]})
    );
}

#[test]
fn a_text_as_discriminator_of_a_new_document_is_read_as_meant_and_reported() {
    let (found, findings) = schema("3.0.3", "{discriminator: kind, type: object}");
    assert_eq!(found, json!({"discriminator": {"propertyName": "kind"}, "type": "object"}));
    assert!(findings.starts_with("warning[old-word]: a text as `discriminator` is not a word of"), "{findings}");
    assert!(findings.contains("at /components/schemas/A/discriminator"), "{findings}");
}

#[test]
fn required_on_a_property_requires_it() {
    let (found, findings) = schema("3.0.0", "{properties: {a: {type: string, required: true}, b: {required: false}}}");
    assert_eq!(found, json!({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}));
    assert!(findings.contains("(and in one more place)"), "{findings}");
}

#[test]
fn moved_nodes_lead_back_to_where_they_are_written() {
    let document = upgraded(
        "swagger: '2.0'
paths:
  /t:
    post:
      parameters:
        - {name: q, in: query, type: string}
        - name: file
          in: formData
          type: file
          collectionFormat: csv
      responses:
        '200':
          schema:
            type: string
definitions:
  A: {type: object}
",
    );
    for (pointer, line) in [
        ("/components/schemas/A", 16),
        ("/paths/~1t/post/parameters/0/schema/type", 6),
        ("/paths/~1t/post/requestBody/content/multipart~1form-data/schema/properties/file/contentMediaType", 7),
        ("/paths/~1t/post/responses/200/content/application~1json/schema/type", 14),
    ] {
        assert_eq!(document.place(pointer).line, line, "{pointer}");
    }
}

#[test]
fn facts_are_those_of_the_published_document() {
    let (document, _) = load(
        "swagger: 2.0\ninfo: {title: T, version: 1.0}\npaths: {/a: {get: {}, post: {}}, /b: {}, x-c: {}}\ndefinitions: {A: {}}\n",
    );
    let facts = document.facts;
    assert_eq!((facts.dialect.name(), facts.title.as_str(), facts.version.as_str()), ("Swagger 2.0", "T", "1.0"));
    assert_eq!((facts.paths, facts.operations, facts.definitions), (2, 2, 1));
    assert_eq!(facts.sha256.len(), 64);
}

#[test]
fn other_documents_are_refused_with_what_they_must_say() {
    let mut sink = Sink::new();
    assert!(load_document("a.yaml", &files("openapi: 4.0.0\n"), Prose::Keep, &mut sink).is_none());
    let findings = sink.to_string();
    assert!(findings.contains("openapi 4.0.0 is not supported") && findings.contains("a.yaml:1:1"), "{findings}");
}
