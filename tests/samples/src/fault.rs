//! Arguments with one fault each.

use serde_json::{Map, Value, json};

use crate::sample::{self, Extent, resolve, type_of};

/// Faulty arguments, and what is wrong with them.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The fault in words.
    pub what: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

/// Every fault that the schema's root and body rule out: a missing argument, a wrong type, a value outside an
/// enumeration, an unknown argument.
#[must_use]
pub fn faults(schema: &Value) -> Vec<Fault> {
    let valid = sample::arguments(schema, Extent::Full);
    let mut faults = vec![with(&valid, "an unknown argument", |arguments| {
        arguments.insert("no_such_argument_at_all".to_owned(), json!(1));
    })];
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        faults.push(with(&valid, &format!("`{name}` is missing"), |arguments| {
            arguments.shift_remove(name);
        }));
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return faults };
    for (name, property) in properties {
        let node = resolve(schema, property);
        if let Some(wrong) = wrong_value(node) {
            faults.push(with(&valid, &format!("`{name}` is {wrong}"), |arguments| {
                arguments.insert(name.clone(), wrong.clone());
            }));
        }
        for (field, inner) in node.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if let Some(wrong) = wrong_value(resolve(schema, inner)) {
                faults.push(with(&valid, &format!("`{name}.{field}` is {wrong}"), |arguments| {
                    if let Some(Value::Object(body)) = arguments.get_mut(name) {
                        body.insert(field.clone(), wrong.clone());
                    }
                }));
            }
        }
    }
    faults
}

fn with(valid: &Map<String, Value>, what: &str, change: impl FnOnce(&mut Map<String, Value>)) -> Fault {
    let mut arguments = valid.clone();
    change(&mut arguments);
    Fault { what: what.to_owned(), arguments }
}

/// A value that no coercion can read as the schema's type; none where the schema takes anything.
fn wrong_value(node: &Value) -> Option<Value> {
    if node.get("enum").is_some() || node.get("const").is_some() {
        return Some(json!("no such choice"));
    }
    if matches!(node.get("type"), Some(Value::Array(_))) || node.get("anyOf").is_some() || node.get("oneOf").is_some() {
        return None;
    }
    match type_of(node) {
        "string" => Some(json!([1])),
        "integer" | "number" => Some(json!("not a number")),
        "boolean" => Some(json!("perhaps")),
        "array" | "object" => Some(json!(7)),
        _ => None,
    }
}
