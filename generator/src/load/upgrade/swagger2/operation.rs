//! Operations of Swagger 2.0: where parameters end and the request body begins.

use serde_json::{Map, Value, json};

use super::parameter::{self, Parameter};
use super::{Context, response, texts};
use crate::load::extension::REFUSED;
use crate::load::upgrade::{set, take};
use crate::source::child_pointer;

const MULTIPART: &str = "multipart/form-data";
const URLENCODED: &str = "application/x-www-form-urlencoded";

/// Rearranges one operation. `inherited` are the body and form parameters of its path.
pub(super) fn upgrade(
    mut operation: Map<String, Value>,
    pointer: &str,
    inherited: &[Parameter],
    context: &mut Context<'_>,
) -> Map<String, Value> {
    let consumes = own_or(&mut operation, "consumes", &context.consumes);
    let declares_produces = operation.contains_key("produces");
    let produces = own_or(&mut operation, "produces", &context.produces);
    let servers = servers(&mut operation, context);
    let own = parameter::read_all(take(&mut operation, "parameters"), pointer, context);
    let (plain, mut bodies): (Vec<_>, Vec<_>) = own.into_iter().partition(|p| !p.is_body());
    for outer in inherited {
        let overridden = |p: &Parameter| p.name() == outer.name() && p.location() == outer.location();
        if !bodies.iter().any(overridden) {
            bodies.push(outer.clone());
        }
    }
    let responses = take(&mut operation, "responses");
    let mut upgraded = operation;
    if !plain.is_empty() {
        let list = parameter::plain_parameters(plain, pointer, context);
        upgraded.insert("parameters".into(), list);
    }
    if upgraded.contains_key("requestBody") {
        if !bodies.is_empty() {
            context.warn(
                "contradictory-body",
                "the operation has a `requestBody`, and its body and form parameters are left out".to_owned(),
                &format!("{pointer}/requestBody"),
                "write its body in one of the two ways",
            );
        }
        bodies.clear();
    }
    match request_body(bodies, pointer, &consumes, context) {
        Ok(Some(body)) => {
            upgraded.insert("requestBody".into(), body);
        }
        Ok(None) => {}
        Err(reason) => {
            upgraded.insert(REFUSED.into(), reason.into());
        }
    }
    if let Some(responses) = responses {
        let pointer = format!("{pointer}/responses");
        let media = response::Media { produces: &produces, declared: declares_produces };
        upgraded.insert("responses".into(), response::all(responses, &pointer, &media, context));
    }
    if let Some(servers) = servers {
        upgraded.entry("servers").or_insert(servers);
    }
    upgraded
}

/// The operation's own list, even when empty, before the document's.
fn own_or(operation: &mut Map<String, Value>, key: &str, global: &[String]) -> Vec<String> {
    match take(operation, key) {
        Some(own) => texts(Some(own)),
        None => global.to_vec(),
    }
}

fn servers(operation: &mut Map<String, Value>, context: &Context<'_>) -> Option<Value> {
    let schemes = texts(take(operation, "schemes"));
    (context.host.is_some() && !schemes.is_empty()).then(|| super::servers(context, &schemes))?
}

/// The body of an operation, or the reason why it cannot have one.
fn request_body(
    mut parts: Vec<Parameter>,
    operation: &str,
    consumes: &[String],
    context: &mut Context<'_>,
) -> Result<Option<Value>, &'static str> {
    let bodies = parts.iter().filter(|part| part.location() == "body").count();
    let reason = match (bodies, parts.len() - bodies) {
        (0, 0) => return Ok(None),
        (0, _) => {
            let pointer = format!("{operation}/requestBody");
            context.origins.moved(pointer.as_str(), format!("{operation}/parameters"));
            return Ok(Some(form(parts, &pointer, consumes, context)));
        }
        (1, 0) => {
            let pointer = format!("{operation}/requestBody");
            return Ok(parts.pop().map(|part| body(part, &pointer, consumes, context)));
        }
        (1, _) => "it has a body and form fields at once",
        (_, _) => "it has more than one body",
    };
    context.warn(
        "contradictory-body",
        format!("the operation is left out: {reason}"),
        &format!("{operation}/parameters"),
        "Swagger 2.0 allows one `in: body` parameter, or `in: formData` parameters",
    );
    Err(reason)
}

/// A body parameter as a request body at `pointer`.
pub(super) fn body(part: Parameter, pointer: &str, consumes: &[String], context: &mut Context<'_>) -> Value {
    context.origins.moved(pointer, part.pointer.as_str());
    let name = part.name().to_owned();
    let mut members = part.members;
    let schema = take(&mut members, "schema").unwrap_or_else(|| json!({}));
    let mut types: Vec<&str> = consumes.iter().map(String::as_str).filter(|media| !is_form(media)).collect();
    if types.is_empty() {
        types.push("application/json");
    }
    let content = format!("{pointer}/content");
    let mut media_types = Map::new();
    for media in types {
        let schema_pointer = format!("{}/schema", child_pointer(&content, media));
        context.origins.moved(schema_pointer, format!("{}/schema", part.pointer));
        media_types.insert(media.to_owned(), json!({"schema": schema.clone()}));
    }
    members.retain(|key, _| matches!(key.as_str(), "description" | "required") || key.starts_with("x-"));
    members.insert("content".into(), Value::Object(media_types));
    if !name.is_empty() {
        members.insert("x-toolwright".into(), json!({"argument": name}));
    }
    Value::Object(members)
}

fn is_form(media: &str) -> bool {
    matches!(essence(media), MULTIPART | URLENCODED)
}

/// A media type without its parameters.
fn essence(media: &str) -> &str {
    media.split(';').next().unwrap_or(media).trim()
}

/// Form parameters as a request body at `pointer`.
fn form(parts: Vec<Parameter>, pointer: &str, consumes: &[String], context: &mut Context<'_>) -> Value {
    let media = form_media_type(&parts, consumes);
    let content = child_pointer(&format!("{pointer}/content"), media);
    let (mut properties, mut encoding, mut required) = (Map::new(), Map::new(), Vec::new());
    for part in parts {
        let name = part.name().to_owned();
        if part.is_required() {
            required.push(Value::String(name.clone()));
        }
        for parent in ["schema/properties", "encoding"] {
            let moved = child_pointer(&format!("{content}/{parent}"), &name);
            context.origins.moved(moved, part.pointer.as_str());
        }
        let (schema, array_encoding) = form_field(part, context);
        if let Some(array_encoding) = array_encoding {
            encoding.insert(name.clone(), array_encoding);
        }
        properties.insert(name, schema);
    }
    let mut schema = json!({"type": "object", "properties": properties});
    let is_required = !required.is_empty();
    if is_required {
        set(&mut schema, "required", Value::Array(required));
    }
    let mut media_type = json!({"schema": schema});
    if !encoding.is_empty() {
        set(&mut media_type, "encoding", Value::Object(encoding));
    }
    let mut body = json!({"content": {media: media_type}});
    if is_required {
        set(&mut body, "required", Value::Bool(true));
    }
    body
}

/// A file forces multipart (Swagger 2.0, Parameter Object); else what `consumes` says.
fn form_media_type(parts: &[Parameter], consumes: &[String]) -> &'static str {
    let has_file = parts.iter().any(|part| part.members.get("type") == Some(&json!("file")));
    let says_multipart = consumes.iter().any(|media| essence(media) == MULTIPART);
    if has_file || says_multipart { MULTIPART } else { URLENCODED }
}

fn form_field(part: Parameter, context: &mut Context<'_>) -> (Value, Option<Value>) {
    let pointer = part.pointer;
    let (own, mut schema) = parameter::split(part.members);
    let format = parameter::take_collection_format(&mut schema);
    parameter::nested_formats(&mut schema, &pointer, context);
    for (key, value) in own {
        if matches!(key.as_str(), "description" | "deprecated") || key.starts_with("x-") {
            schema.insert(key, value);
        }
    }
    let is_array = schema.get("type").is_some_and(|kind| kind == "array");
    let encoding = is_array.then(|| parameter::form_encoding(&format));
    (Value::Object(schema), encoding)
}
