//! Operations whose body may have one of several media types that differ.

use serde_json::{Map, Value};
use toolwright_core::{Alternative, Body, ToolError};

use super::{form, multipart};
use crate::{config::Config, plan::PlannedBody};

/// The body that the caller chose: by its media type, else the first alternative whose arguments are given, else the
/// first.
///
/// # Errors
/// `invalid_arguments` where the media type is none of the alternatives, or where an argument of it is missing.
pub(crate) fn plan(
    config: &Config,
    argument: &str,
    alternatives: &'static [Alternative],
    arguments: &Map<String, Value>,
) -> Result<PlannedBody, ToolError> {
    let Some(chosen) = chosen(argument, alternatives, arguments)? else { return Ok(PlannedBody::None) };
    if let Some(missing) = chosen.required.iter().find(|name| !arguments.contains_key(**name)) {
        let message = format!("`{missing}` is required where the body is sent as {}", chosen.media_type);
        return Err(ToolError::invalid(message));
    }
    match chosen.inside {
        None => super::plan(config, &chosen.body, arguments),
        Some(name) => match arguments.get(name) {
            Some(Value::Object(fields)) => whole_form(config, &chosen.body, fields),
            Some(_) => Err(ToolError::invalid(format!("`{name}` must be an object of form fields"))),
            None => Ok(PlannedBody::None),
        },
    }
}

/// A form that is one argument. Its members are named as on the wire, and those that no field declares are further fields.
fn whole_form(config: &Config, body: &Body, given: &Map<String, Value>) -> Result<PlannedBody, ToolError> {
    let (Body::Form { fields, .. } | Body::Multipart { fields, .. }) = body else {
        return super::plan(config, body, given);
    };
    let is_declared = |name: &str| fields.iter().any(|field| field.argument == name);
    let further = given.iter().filter(|(name, _)| !is_declared(name));
    let further: Map<String, Value> = further.map(|(name, value)| (name.clone(), value.clone())).collect();
    match body {
        Body::Multipart { media_type, fields, headers, .. } => {
            multipart::plan(config, media_type, fields, headers, Some(&further), given)
        }
        _ => form::plan(fields, Some(&further), given),
    }
}

fn chosen(
    argument: &str,
    alternatives: &'static [Alternative],
    arguments: &Map<String, Value>,
) -> Result<Option<&'static Alternative>, ToolError> {
    let Some(wanted) = arguments.get(argument).and_then(Value::as_str) else {
        let given = |it: &&Alternative| {
            !it.required.is_empty() && it.required.iter().all(|name| arguments.contains_key(*name))
                || it.inside.is_some_and(|name| arguments.contains_key(name))
        };
        return Ok(alternatives.iter().find(given).or(alternatives.first()));
    };
    let found = alternatives.iter().find(|it| it.media_type.eq_ignore_ascii_case(wanted));
    match found {
        Some(found) => Ok(Some(found)),
        None => {
            let known: Vec<&str> = alternatives.iter().map(|it| it.media_type).collect();
            Err(ToolError::invalid(format!("`{argument}` must be one of {}", known.join(", "))))
        }
    }
}
