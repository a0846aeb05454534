//! Parameters of Swagger 2.0: the plain ones (path, query, header) and those that make up a body.

use serde_json::{Map, Value, json};

use super::Context;
use crate::load::document::Dialect;
use crate::load::upgrade::take;
use crate::source::child_pointer;

/// Members of a parameter that do not belong to its schema.
const OWN: &[&str] = &["name", "in", "description", "required", "allowEmptyValue", "deprecated"];

/// A parameter, and where it is written.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) members: Map<String, Value>,
    pub(super) pointer: String,
}

impl Parameter {
    fn text(&self, key: &str) -> &str {
        self.members.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn name(&self) -> &str {
        self.text("name")
    }

    pub(super) fn location(&self) -> &str {
        self.text("in")
    }

    pub(super) fn is_body(&self) -> bool {
        matches!(self.location(), "body" | "formData")
    }

    /// Whether it is written as in OpenAPI 3, or stands elsewhere. In Swagger 2.0 a `schema` alone is a slip.
    fn is_new(&self, dialect: Dialect) -> bool {
        let has = |key: &str| self.members.contains_key(key);
        let says_form = dialect != Dialect::Swagger2 || has("style") || has("explode");
        has("$ref") || has("content") || has("schema") && says_form
    }

    pub(super) fn is_required(&self) -> bool {
        self.members.get("required").is_some_and(|required| required == true || required == "true")
    }
}

/// Reads a `parameters` list. Body and form parameters that stand under the root are followed, because
/// their place in OpenAPI 3 is the operation; other references stay references.
pub(super) fn read_all(list: Option<Value>, parent: &str, context: &Context<'_>) -> Vec<Parameter> {
    let Some(Value::Array(items)) = list else {
        return Vec::new();
    };
    let parent = format!("{parent}/parameters");
    items
        .into_iter()
        .enumerate()
        .filter_map(|(index, item)| {
            let Value::Object(members) = item else {
                return None;
            };
            let pointer = child_pointer(&parent, &index.to_string());
            Some(follow(Parameter { members, pointer }, context))
        })
        .collect()
}

fn follow(parameter: Parameter, context: &Context<'_>) -> Parameter {
    let shared = parameter
        .text("$ref")
        .strip_prefix("#/parameters/")
        .or_else(|| parameter.text("$ref").strip_prefix("#/components/parameters/"))
        .and_then(|name| Some((name, context.shared.get(name)?.as_object()?)));
    match shared {
        Some((name, members)) => {
            let target = Parameter { members: members.clone(), pointer: context.shared_pointer(name) };
            if target.is_body() { target } else { parameter }
        }
        None => parameter,
    }
}

/// The `parameters` list of an operation or path item at `parent`.
pub(super) fn plain_parameters(parameters: Vec<Parameter>, parent: &str, context: &mut Context<'_>) -> Value {
    let list = format!("{parent}/parameters");
    parameters
        .into_iter()
        .enumerate()
        .map(|(index, parameter)| plain(parameter, &child_pointer(&list, &index.to_string()), context))
        .collect()
}

fn plain(parameter: Parameter, pointer: &str, context: &mut Context<'_>) -> Value {
    context.origins.moved(pointer, parameter.pointer.as_str());
    if parameter.is_new(context.dialect) {
        return Value::Object(parameter.members);
    }
    context.origins.moved(format!("{pointer}/schema"), parameter.pointer.as_str());
    let location = parameter.location().to_owned();
    let (mut upgraded, mut schema) = split(parameter.members);
    let format = take_collection_format(&mut schema);
    nested_formats(&mut schema, pointer, context);
    if schema.get("type").is_some_and(|kind| kind == "array") {
        let (style, explode, exact) = serialization(&location, &format);
        upgraded.insert("style".into(), style.into());
        upgraded.insert("explode".into(), explode.into());
        if !exact {
            upgraded.insert("x-toolwright".into(), json!({"collection_format": format}));
        }
    }
    upgraded.insert("schema".into(), Value::Object(schema));
    Value::Object(upgraded)
}

/// A parameter's own members, and those of its schema.
pub(super) fn split(members: Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
    let (own, mut schema): (Map<_, _>, Map<_, _>) = members
        .into_iter()
        .partition(|(key, _)| OWN.contains(&key.as_str()) || (key.starts_with("x-") && key != "x-nullable"));
    // Some documents write `schema` on parameters that are no body. What they mean is plain.
    if let Some(Value::Object(inner)) = take(&mut schema, "schema") {
        schema.extend(inner);
    }
    (own, schema)
}

/// `collectionFormat`, which is csv when not given.
pub(super) fn take_collection_format(schema: &mut Map<String, Value>) -> String {
    take(schema, "collectionFormat")
        .and_then(|format| format.as_str().map(str::to_owned))
        .unwrap_or_else(|| "csv".into())
}

/// Style and explode of an array, and whether they say all that the collection format says.
fn serialization(location: &str, format: &str) -> (&'static str, bool, bool) {
    match (location, format) {
        ("query", "multi") => ("form", true, true),
        ("query", "ssv") => ("spaceDelimited", false, true),
        ("query", "pipes") => ("pipeDelimited", false, true),
        ("query", "tsv") => ("form", false, false),
        ("query", _) => ("form", false, true),
        (_, "ssv" | "pipes" | "tsv") => ("simple", false, false),
        _ => ("simple", false, true),
    }
}

/// Encoding of an array in a form (OpenAPI 3.1 section 4.8.15).
pub(super) fn form_encoding(format: &str) -> Value {
    let (style, explode, exact) = serialization("query", format);
    let mut encoding = json!({"style": style, "explode": explode});
    if !exact {
        super::super::set(&mut encoding, "x-toolwright", json!({"collection_format": format}));
    }
    encoding
}

/// OpenAPI 3 has no collection formats for arrays inside arrays.
pub(super) fn nested_formats(schema: &mut Map<String, Value>, pointer: &str, context: &mut Context<'_>) {
    let Some(items) = schema.get_mut("items").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(format) = take(items, "collectionFormat")
        && items.get("type").is_some_and(|kind| kind == "array")
    {
        context.warn(
            "nested-collection-format",
            format!("the collection format {format} of an array inside an array cannot be said in OpenAPI 3"),
            pointer,
            "the inner values are joined by commas",
        );
    }
    nested_formats(items, pointer, context);
}

/// The parameters under `components`, none of which is a body.
pub(super) fn component_parameters(given: Map<String, Value>, context: &mut Context<'_>) -> Map<String, Value> {
    given
        .into_iter()
        .map(|(name, value)| match value {
            Value::Object(members) => {
                let pointer = child_pointer("/components/parameters", &name);
                (name, plain(Parameter { members, pointer: pointer.clone() }, &pointer, context))
            }
            other => (name, other),
        })
        .collect()
}

/// The plain ones of the parameters under the root.
pub(super) fn shared_parameters(context: &mut Context<'_>) -> Map<String, Value> {
    shared(context, |parameter| !parameter.is_body())
        .into_iter()
        .map(|(name, parameter)| {
            let pointer = child_pointer("/components/parameters", &name);
            (name, plain(parameter, &pointer, context))
        })
        .collect()
}

/// The bodies among the parameters under the root.
pub(super) fn shared_bodies(context: &mut Context<'_>) -> Map<String, Value> {
    let consumes = context.consumes.clone();
    shared(context, |parameter| parameter.location() == "body")
        .into_iter()
        .map(|(name, parameter)| {
            let pointer = child_pointer("/components/requestBodies", &name);
            (name, super::operation::body(parameter, &pointer, &consumes, context))
        })
        .collect()
}

fn shared(context: &Context<'_>, wanted: impl Fn(&Parameter) -> bool) -> Vec<(String, Parameter)> {
    let named = context.shared.iter().filter_map(|(name, value)| {
        let parameter = Parameter { members: value.as_object()?.clone(), pointer: context.shared_pointer(name) };
        Some((name.clone(), parameter))
    });
    named.filter(|(_, parameter)| wanted(parameter)).collect()
}
