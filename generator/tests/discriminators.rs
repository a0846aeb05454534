//! Unions with a discriminator, as models see them (OpenAPI 3.1 section 4.8.25). One rule each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Value, json};
use support::{document, findings, generated, json as file};

/// A document with these schemas, in which the argument `pet` is the schema `Pet`.
fn with_pet(version: &str, schemas: &str) -> String {
    format!(
        "openapi: {version}
info: {{title: t, version: '1'}}
paths:
  /t:
    post:
      operationId: t
      requestBody: {{content: {{application/json: {{schema: {{type: object, properties: {{pet: {{$ref: '#/components/schemas/Pet'}}}}}}}}}}}}
      responses: {{'200': {{description: ok}}}}
components:
  schemas:
{schemas}"
    )
}

/// The schema of the argument `pet`, in a document with these schemas.
fn pet(version: &str, schemas: &str) -> Value {
    let (generated, _) = generated(&document(&with_pet(version, schemas)));
    file(&generated, "schemas/t.json")["properties"]["pet"].clone()
}

const CAT_AND_DOG: &str = "    Cat: {type: object, required: [kind], properties: {kind: {type: string}, lives: {type: integer}}}
    Dog: {type: object, properties: {kind: {type: string, description: What it is.}, tricks: {type: array, items: {type: string}}}}
";

#[test]
fn mapped_values_are_fixed_and_required_and_fields_are_kept() {
    let union = "    Pet:
      oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]
      discriminator: {propertyName: kind, mapping: {meows: '#/components/schemas/Cat', barks: Dog, growls: Dog}}
";
    let pet = pet("3.0.3", &format!("{union}{CAT_AND_DOG}"));
    let (cat, dog) = (&pet["anyOf"][0], &pet["anyOf"][1]);
    assert_eq!(cat["properties"]["kind"], json!({"type": "string", "const": "meows"}));
    assert_eq!(cat["properties"]["lives"], json!({"type": "integer"}));
    let kind = json!({"type": "string", "description": "What it is.", "enum": ["barks", "growls"]});
    assert_eq!(dog["properties"]["kind"], kind);
    assert_eq!((&cat["required"], &dog["required"]), (&json!(["kind"]), &json!(["kind"])));
    assert_eq!(pet["description"], "`kind` says which form it has: `meows`, `barks`, `growls`.");
}

#[test]
fn without_a_mapping_the_value_is_the_name_of_the_schema() {
    let union = "    Pet:
      description: The pet.
      oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]
      discriminator: {propertyName: kind}
";
    let pet = pet("3.1.0", &format!("{union}{CAT_AND_DOG}"));
    assert_eq!(pet["anyOf"][0]["properties"]["kind"]["const"], "Cat");
    assert_eq!(pet["description"], "The pet. `kind` says which form it has: `Cat`, `Dog`.");
}

#[test]
fn a_value_that_a_schema_fixes_itself_stays() {
    let pet = pet(
        "3.1.0",
        "    Pet:
      anyOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]
      discriminator: {propertyName: kind}
    Cat: {type: object, required: [kind], properties: {kind: {enum: [cat]}}}
    Dog: {type: object, required: [kind], properties: {kind: {const: dog}}}
",
    );
    assert_eq!(
        pet["anyOf"][0],
        json!({"type": "object", "properties": {"kind": {"enum": ["cat"]}}, "required": ["kind"]})
    );
    assert_eq!(pet["description"], "`kind` says which form it has: `cat`, `dog`.");
}

#[test]
fn alternatives_keep_what_they_inherit() {
    let pet = pet(
        "3.0.3",
        "    Pet:
      oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]
      discriminator: {propertyName: kind, mapping: {cat: Cat, dog: Dog}}
    Animal: {type: object, required: [kind], properties: {kind: {type: string}, name: {type: string}}}
    Cat: {allOf: [{$ref: '#/components/schemas/Animal'}, {type: object, properties: {lives: {type: integer}}}]}
    Dog: {allOf: [{$ref: '#/components/schemas/Animal'}, {type: object, properties: {tricks: {type: integer}}}]}
",
    );
    let cat = pet["anyOf"][0].to_string();
    for part in ["\"name\"", "\"lives\"", "\"const\":\"cat\""] {
        assert!(cat.contains(part), "{part} in {cat}");
    }
    assert!(!cat.contains("tricks"), "{cat}");
}

/// OpenAPI 3.0's own example: nothing but `allOf` of the parent says that there are subtypes.
#[test]
fn a_parent_stands_for_the_types_that_extend_it() {
    let pet = pet(
        "3.0.3",
        "    Pet: {type: object, discriminator: {propertyName: kind, mapping: {dog: Dog}}, required: [kind], properties: {kind: {type: string}, name: {type: string}}}
    Cat: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, properties: {lives: {type: integer}}}]}
    Dog: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, properties: {tricks: {type: integer}}}]}
",
    );
    assert_eq!(pet["description"], "`kind` says which form it has: `dog`, `Cat`.");
    let alternatives = pet["anyOf"].as_array().unwrap();
    assert_eq!(alternatives.len(), 2);
    let (dog, cat) = (alternatives[0].to_string(), alternatives[1].to_string());
    assert!(dog.contains("tricks") && dog.contains("name") && dog.contains("\"const\":\"dog\""), "{dog}");
    assert!(cat.contains("lives") && cat.contains("name") && cat.contains("\"const\":\"Cat\""), "{cat}");
}

#[test]
fn values_that_no_subtype_has_are_objects_of_the_parent() {
    let pet = pet(
        "3.0.3",
        "    Pet: {type: object, discriminator: {propertyName: kind, mapping: {dog: Dog}}, properties: {kind: {type: string, enum: [dog, fish]}}}
    Dog: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, properties: {tricks: {type: integer}}}]}
",
    );
    assert_eq!(
        pet["anyOf"][1],
        json!({"type": "object", "properties": {"kind": {"type": "string", "const": "fish"}}, "required": ["kind"]})
    );
}

#[test]
fn a_tag_has_values_of_its_declared_type() {
    let pet = pet(
        "3.1.0",
        "    Pet:
      oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]
      discriminator: {propertyName: v, mapping: {'1': Cat, '2': Dog}}
    Cat: {type: object, required: [v], properties: {v: {type: integer}, lives: {type: integer}}}
    Dog: {type: object, required: [v], properties: {v: {type: integer, enum: [2, 3]}, tricks: {type: integer}}}
",
    );
    assert_eq!(pet["anyOf"][0]["properties"]["v"], json!({"type": "integer", "const": 1}));
    assert_eq!(pet["anyOf"][1]["properties"]["v"]["const"], 2);
}

#[test]
fn a_tag_without_values_of_its_type_stays_open_and_is_reported() {
    let schemas = "    Pet:
      oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]
      discriminator: {propertyName: v}
    Cat: {type: object, required: [v], properties: {v: {type: integer}, lives: {type: integer}}}
    Dog: {type: object, required: [v], properties: {v: {type: integer}, tricks: {type: integer}}}
";
    assert_eq!(pet("3.1.0", schemas)["anyOf"][0]["properties"]["v"], json!({"type": "integer"}));
    let found = findings(&document(&with_pet("3.1.0", schemas)));
    assert!(found.contains("warning[discriminator-type]"), "{found}");
}

#[test]
fn a_mapping_to_no_schema_is_reported_where_it_stands() {
    let schemas = "    Pet:
      oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]
      discriminator: {propertyName: kind, mapping: {cat: Cat, cow: Cow}}
";
    let found = findings(&document(&with_pet("3.1.0", &format!("{schemas}{CAT_AND_DOG}"))));
    assert!(found.contains("warning[dangling-mapping]: the discriminator maps `cow` to \"Cow\""), "{found}");
    assert!(found.contains("discriminator/mapping/cow"), "{found}");
}
