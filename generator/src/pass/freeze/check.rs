//! The last look at each schema: what clients refuse must not get past this point.

use serde_json::Value;

use super::Schemas;
use super::listed::hides_members;
use super::render::FORMATS;
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::tool_file::is_of_file;
use crate::model::Model;
use crate::model::tool::Tool;

/// Keywords of JSON Schema 2020-12 that schemas may hold.
const KEYWORDS: [&str; 47] = [
    "$ref",
    "$defs",
    "type",
    "description",
    "format",
    "const",
    "enum",
    "default",
    "properties",
    "patternProperties",
    "required",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "contains",
    "unevaluatedItems",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "contentEncoding",
    "contentMediaType",
    "dependentRequired",
    "dependentSchemas",
    "title",
    "readOnly",
    "writeOnly",
];

pub(super) fn check(model: &Model, tool: &Tool, schemas: &Schemas, sink: &mut Sink) {
    let mut faults = Vec::new();
    for (root, is_closed) in [(Some(&schemas.input), true), (schemas.listed.as_ref(), !hides_members(tool))] {
        let Some(root) = root else { continue };
        root_object(root, is_closed, &mut faults);
        schema(root, root, &mut faults);
    }
    if let Some(result) = &schemas.result {
        schema(result, result, &mut faults);
    }
    faults.sort();
    faults.dedup();
    for fault in faults {
        let message = format!("the schema of `{}` {fault}", tool.name);
        let help = match is_of_file(&tool.origin) {
            true => "correct the schema in the tool's file",
            false => "correct the schema in an overlay",
        };
        sink.push(Diagnostic::error("bad-schema", message).at(model.loaded.document.place(&tool.origin)).help(help));
    }
}

/// MCP: the root of an input schema is a plain object. It is closed, unless a list shows less than what is accepted.
fn root_object(root: &Value, is_closed: bool, faults: &mut Vec<String>) {
    let is_object = root.get("type").and_then(Value::as_str) == Some("object");
    let is_closed = !is_closed || root.get("additionalProperties") == Some(&Value::Bool(false));
    let is_plain = ["anyOf", "oneOf", "allOf", "not", "enum"].iter().all(|keyword| root.get(keyword).is_none());
    if !is_object || !is_closed || !is_plain || !root.get("properties").is_some_and(Value::is_object) {
        faults.push("is not a plain, closed object at its root".to_owned());
    }
}

fn schema(value: &Value, root: &Value, faults: &mut Vec<String>) {
    let Value::Object(keywords) = value else { return };
    for (keyword, value) in keywords {
        match keyword.as_str() {
            "properties" | "patternProperties" | "$defs" => {
                value
                    .as_object()
                    .into_iter()
                    .flat_map(|map| map.values())
                    .for_each(|inner| schema(inner, root, faults));
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                value.as_array().into_iter().flatten().for_each(|inner| schema(inner, root, faults));
            }
            "$ref" => {
                let target = value.as_str().and_then(|reference| reference.strip_prefix('#'));
                if target.and_then(|target| root.pointer(target)).is_none() {
                    faults.push(format!("refers to {value}, which it does not hold"));
                }
            }
            "format" if !value.as_str().is_some_and(|format| FORMATS.contains(&format)) => {
                faults.push(format!("has the format {value}, which JSON Schema does not define"));
            }
            "exclusiveMinimum" | "exclusiveMaximum" | "minimum" | "maximum" if !value.is_number() => {
                faults.push(format!("has a {keyword} that is no number"));
            }
            "default" | "const" | "enum" | "dependentRequired" => {}
            known if KEYWORDS.contains(&known) => schema(value, root, faults),
            unknown => faults.push(format!("has the keyword `{unknown}`, which JSON Schema does not define")),
        }
    }
}
