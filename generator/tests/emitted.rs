//! What is written for a tiny document with one operation of each kind of body: every emitter, as people read it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use support::{document, file_names, generated};

const DOCUMENT: &str = "
openapi: 3.1.0
info: {title: Box API, version: '1'}
paths:
  /boxes:
    get:
      operationId: list boxes
      summary: List boxes
      description: List the boxes that are stored.
      parameters: [{name: max-size, in: query, description: Largest size., schema: {type: integer, minimum: 1}}]
      responses: {'200': {description: ok, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Box'}}}}}}
    post:
      operationId: store box
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Box'}}}}
      responses: {'200': {description: ok, content: {application/json: {schema: {type: object, additionalProperties: {type: string}}}}}}
  /boxes/{id}/picture:
    put:
      operationId: set picture
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody:
        content: {multipart/form-data: {schema: {type: object, required: [file], properties: {file: {type: string, format: binary}, note: {type: string}}}}}
      responses: {'204': {description: done}}
  /login:
    post:
      operationId: login
      requestBody:
        content: {application/x-www-form-urlencoded: {schema: {type: object, required: [user], properties: {user: {type: string}}}}}
      responses: {'200': {description: ok, content: {text/plain: {schema: {type: string}}}}}
components:
  schemas:
    Box:
      type: object
      description: What is stored.
      required: [name]
      properties:
        name: {type: string, description: What it is called.}
        kind: {type: string, enum: [small, large]}
        inner: {type: array, items: {$ref: '#/components/schemas/Box'}}
";

#[test]
fn every_file_of_a_tiny_document() {
    let (generated, sink) = generated(&document(DOCUMENT));
    assert!(!sink.has_errors(), "{sink}");
    let mut all = String::new();
    // The catalog, the ledger and the manifests hold what these files hold, and hashes.
    let is_shown =
        |name: &&String| [".rs", ".toml", ".md", "schemas/store_box.json"].iter().any(|end| name.ends_with(end));
    for name in file_names(&generated).iter().filter(is_shown) {
        let content = String::from_utf8(generated.files.get(name).unwrap().to_vec()).unwrap();
        all.push_str(&format!("=== {name}\n{content}\n"));
    }
    insta::assert_snapshot!(without_hashes(&all));
}

/// Hashes stand in quotes, and change with every byte.
fn without_hashes(text: &str) -> String {
    let is_hash = |part: &str| part.len() == 64 && part.bytes().all(|b| b.is_ascii_hexdigit());
    let parts = text.split('"').map(|part| if is_hash(part) { "SHA-256" } else { part });
    parts.collect::<Vec<_>>().join("\"")
}
