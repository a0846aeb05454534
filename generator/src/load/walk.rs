//! Tells keywords from names in an API document of any dialect.
//!
//! `description` is a keyword of an operation, but a name inside `properties`. The two alternate: the
//! value of a keyword such as `properties` maps names to nodes, and a node has keywords.

use serde_json::Value;

use crate::source::push_token;

/// Keywords whose object value maps names to nodes.
const NAMING: &[&str] = &[
    "paths",
    "webhooks",
    "pathItems",
    "callbacks",
    "additionalOperations",
    "definitions",
    "$defs",
    "schemas",
    "properties",
    "patternProperties",
    "dependentSchemas",
    "parameters",
    "requestBodies",
    "responses",
    "headers",
    "links",
    "content",
    "encoding",
    "securityDefinitions",
    "securitySchemes",
    "variables",
    "scopes",
    "mapping",
    "mediaTypes",
];

/// Keywords whose value is data, in which nothing is a keyword.
const DATA: &[&str] = &["enum", "const", "default", "example", "examples", "required", "security", "dependentRequired"];

/// Whether the value of this keyword maps names to nodes.
pub(super) fn is_naming(keyword: &str, value: &Value) -> bool {
    NAMING.contains(&keyword) && value.is_object()
}

/// Whether the value of this keyword is data or belongs to an extension.
pub(super) fn is_data(keyword: &str) -> bool {
    DATA.contains(&keyword) || keyword.starts_with("x-")
}

/// Calls `visit` for every node that has keywords, parents first, with its pointer. `visit` may change
/// the node; what it puts there is walked next.
pub(super) fn for_each_node(root: &mut Value, visit: &mut dyn FnMut(&mut Value, &str)) {
    walk_node(root, &mut String::new(), visit);
}

/// As [`for_each_node`], for a node that stands at `pointer` of its document.
pub(super) fn for_each_node_below(node: &mut Value, pointer: &str, visit: &mut dyn FnMut(&mut Value, &str)) {
    walk_node(node, &mut pointer.to_owned(), visit);
}

fn walk_node(node: &mut Value, pointer: &mut String, visit: &mut dyn FnMut(&mut Value, &str)) {
    if node.is_object() {
        visit(node, pointer);
    }
    match node {
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                step(pointer, &index.to_string(), |pointer| walk_node(item, pointer, visit));
            }
        }
        Value::Object(members) => {
            for (keyword, value) in members {
                if is_data(keyword) {
                    continue;
                }
                let naming = is_naming(keyword, value);
                step(pointer, keyword, |pointer| {
                    if naming {
                        walk_names(value, pointer, visit);
                    } else {
                        walk_node(value, pointer, visit);
                    }
                });
            }
        }
        _ => {}
    }
}

fn walk_names(names: &mut Value, pointer: &mut String, visit: &mut dyn FnMut(&mut Value, &str)) {
    for (name, value) in names.as_object_mut().into_iter().flatten() {
        step(pointer, name, |pointer| walk_node(value, pointer, visit));
    }
}

fn step(pointer: &mut String, token: &str, inside: impl FnOnce(&mut String)) {
    let parent = pointer.len();
    push_token(pointer, token);
    inside(pointer);
    pointer.truncate(parent);
}
