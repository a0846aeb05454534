//! What the document that an API serves says of the inputs of its operations, for the audit alone.
//!
//! This is no reader of OpenAPI: it knows names, places, and what is required, of parameters and of the members of bodies that
//! are objects. Types, styles and texts stay unread. `cargo xtask diff <server> <URL>` compares everything, by generating.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolwright_core::{Binding, Body, Field, Location, Parameter, ToolSpec};
use toolwright_http::is_reserved_header;

/// Inputs by place and name, such as `query limit`, and whether a call needs them. Those of the path are in the path itself.
pub(super) type Inputs = BTreeMap<String, bool>;

/// References and parts nest no deeper in documents that people write.
const MAX_DEPTH: usize = 16;

/// Schemas that are looked at for one operation: the document is the upstream's, and may repeat a part without end.
const MAX_SCHEMAS: usize = 2_000;

/// The inputs of every operation of a document, by method and path.
pub(super) fn operations(document: &Value) -> BTreeMap<String, Inputs> {
    const METHODS: [&str; 9] = ["get", "put", "post", "delete", "patch", "head", "options", "trace", "query"];
    let mut found = BTreeMap::new();
    for (path, item) in document.get("paths").and_then(Value::as_object).into_iter().flatten() {
        let item = followed(document, item);
        let fixed = METHODS.iter().filter_map(|method| Some((method.to_ascii_uppercase(), item.get(*method)?)));
        let more = item.get("additionalOperations").and_then(Value::as_object);
        let more = more.into_iter().flatten().map(|(method, operation)| (method.clone(), operation));
        for (method, operation) in fixed.chain(more) {
            found.insert(format!("{method} {path}"), inputs(document, item, operation));
        }
    }
    found
}

fn inputs(document: &Value, item: &Value, operation: &Value) -> Inputs {
    let mut found = Inputs::new();
    let mut budget = MAX_SCHEMAS;
    // The operation's own parameters go last: they take the place of those that it inherits.
    for owner in [item, operation] {
        for parameter in owner.get("parameters").and_then(Value::as_array).into_iter().flatten() {
            let parameter = followed(document, parameter);
            let text = |key: &str| parameter.get(key).and_then(Value::as_str).unwrap_or_default();
            let required = parameter.get("required") == Some(&Value::Bool(true));
            match (text("in"), text("name")) {
                ("query", name) => drop(found.insert(format!("query {name}"), required)),
                ("cookie", name) => drop(found.insert(format!("cookie {name}"), required)),
                ("formData", name) => drop(found.insert(format!("body {name}"), required)),
                ("header", name) if !is_reserved_header(name) => {
                    found.insert(format!("header {}", name.to_ascii_lowercase()), required);
                }
                ("body", _) => members(document, parameter.get("schema"), MAX_DEPTH, &mut budget, &mut found),
                _ => {}
            }
        }
    }
    let body = operation.get("requestBody").map(|body| followed(document, body));
    for media in body.and_then(|body| body.get("content")?.as_object()).into_iter().flat_map(|content| content.values())
    {
        members(document, media.get("schema"), MAX_DEPTH, &mut budget, &mut found);
    }
    found
}

/// Adds the members of an object schema, those of its parts and references among them.
fn members(document: &Value, schema: Option<&Value>, depth: usize, budget: &mut usize, found: &mut Inputs) {
    let (Some(schema), Some(deeper), Some(left)) = (schema, depth.checked_sub(1), budget.checked_sub(1)) else {
        return;
    };
    *budget = left;
    let schema = followed(document, schema);
    let required = schema.get("required").and_then(Value::as_array);
    let required: BTreeSet<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if property.get("readOnly") != Some(&Value::Bool(true)) {
            *found.entry(format!("body {name}")).or_default() |= required.contains(name.as_str());
        }
    }
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        members(document, Some(part), deeper, budget, found);
    }
}

/// The node behind references within the document; a reference to anywhere else leads nowhere.
fn followed<'d>(document: &'d Value, mut node: &'d Value) -> &'d Value {
    for _ in 0..MAX_DEPTH {
        let target = node.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        match target.and_then(|pointer| document.pointer(pointer)) {
            Some(next) => node = next,
            None => break,
        }
    }
    node
}

/// The same inputs as this server has them; `None` where they cannot be told: an operation without a route, and one whose body
/// the caller chooses among several.
pub(super) fn of_row(row: &ToolSpec) -> Option<Inputs> {
    let schema: Value = serde_json::from_str(row.input_schema).ok()?;
    let needed = |argument: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|name| name == argument))
    };
    let (parameters, body): (&[Parameter], Body) = match row.binding {
        Binding::Http(http) => (http.parameters, http.body),
        Binding::WebSocket(socket) => (socket.parameters, Body::None),
        _ => return None,
    };
    let named = parameters.iter().filter_map(|parameter| {
        let name = match parameter.location {
            Location::Path => return None,
            Location::Query => format!("query {}", parameter.wire),
            Location::Header => format!("header {}", parameter.wire.to_ascii_lowercase()),
            Location::Cookie => format!("cookie {}", parameter.wire),
        };
        Some((name, needed(parameter.argument)))
    });
    let mut found: Inputs = named.collect();
    let of_fields = |fields: &[Field]| -> Inputs {
        fields.iter().map(|field| (format!("body {}", field.wire), needed(field.argument))).collect()
    };
    match body {
        Body::None | Body::Raw { .. } => {}
        Body::Choice { .. } => return None,
        Body::Json { argument, .. } => {
            let own = schema.get("properties").and_then(|properties| properties.get(argument));
            members(&schema, own, MAX_DEPTH, &mut MAX_SCHEMAS.clone(), &mut found);
        }
        Body::Object { members, .. } => {
            found.extend(members.iter().map(|member| (format!("body {}", member.wire), member.required)));
        }
        Body::Form { fields, .. } | Body::Multipart { fields, .. } => found.extend(of_fields(fields)),
    }
    Some(found)
}

/// What is different between the inputs that a server was made with and those that are served now, in words that take no side:
/// a difference may be the document's change or the server's own correction of it.
pub(super) fn differences(made: &Inputs, served: &Inputs) -> Vec<String> {
    let words = |required: bool| if required { "required" } else { "optional" };
    let mut found: Vec<String> = Vec::new();
    for (name, required) in served {
        match made.get(name) {
            None => found.push(format!("{name}: only in the live document, {}", words(*required))),
            Some(was) if was != required => {
                found.push(format!("{name}: {} in the live document, {} here", words(*required), words(*was)));
            }
            Some(_) => {}
        }
    }
    found.extend(made.keys().filter(|name| !served.contains_key(*name)).map(|name| format!("{name}: only here")));
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Inputs, differences, of_row, operations};
    use crate::testing::ROWS;

    fn of(document: &Value) -> Inputs {
        operations(document).remove("POST /t").unwrap()
    }

    fn list(inputs: &Inputs) -> Vec<(&str, bool)> {
        inputs.iter().map(|(name, required)| (name.as_str(), *required)).collect()
    }

    #[test]
    fn parameters_and_members_are_read_through_references() {
        let document = json!({
            "paths": {"/t": {
                "parameters": [{"in": "query", "name": "a"}, {"in": "path", "name": "id", "required": true}],
                "post": {
                    "parameters": [{"in": "query", "name": "a", "required": true}, {"$ref": "#/p/H"}, {"in": "header", "name": "Accept"}],
                    "requestBody": {"content": {"application/json": {"schema": {"allOf": [{"$ref": "#/s/T"}, {"properties": {"c": {}}}]}}}},
                },
            }},
            "p": {"H": {"in": "header", "name": "X-H"}},
            "s": {"T": {"required": ["b"], "properties": {"b": {}, "id": {"readOnly": true}}}},
        });
        assert_eq!(
            list(&of(&document)),
            [("body b", true), ("body c", false), ("header x-h", false), ("query a", true)]
        );
    }

    #[test]
    fn swagger_bodies_and_forms_are_members_too() {
        let body = json!({"in": "body", "name": "x", "schema": {"properties": {"a": {}}}});
        let field = json!({"in": "formData", "name": "f", "required": true});
        let document = json!({"swagger": "2.0", "paths": {"/t": {"post": {"parameters": [body, field]}}}});
        assert_eq!(list(&of(&document)), [("body a", false), ("body f", true)]);
    }

    #[test]
    fn a_document_that_repeats_itself_ends() {
        let parts: Vec<Value> = vec![json!({"$ref": "#/s/T"}); 50];
        let body = json!({"content": {"application/json": {"schema": {"$ref": "#/s/T"}}}});
        let document = json!({"paths": {"/t": {"post": {"requestBody": body}}}, "s": {"T": {"allOf": parts}}});
        assert_eq!(of(&document).len(), 0);
    }

    #[test]
    fn a_row_has_the_inputs_of_its_document() {
        let row = ROWS.iter().find(|row| row.name == "add_item").unwrap();
        assert_eq!(list(&of_row(row).unwrap()), [("body name", true)]);
    }

    #[test]
    fn differences_say_what_callers_have_to_know() {
        let made = Inputs::from([("query a".into(), false), ("query b".into(), false), ("query c".into(), true)]);
        let served = Inputs::from([("query a".into(), true), ("query c".into(), true), ("query d".into(), false)]);
        let wanted = [
            "query a: required in the live document, optional here",
            "query d: only in the live document, optional",
            "query b: only here",
        ];
        assert_eq!(differences(&made, &served), wanted);
    }
}
