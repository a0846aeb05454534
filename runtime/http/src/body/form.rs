//! `application/x-www-form-urlencoded`.

use bytes::Bytes;
use serde_json::{Map, Value};
use toolwright_core::{Field, Style, ToolError};

use crate::{
    encode::{Escape, pairs},
    plan::PlannedBody,
};

/// The declared fields, then the further ones.
///
/// # Errors
/// As [`check_further`].
pub(crate) fn plan(
    fields: &[Field],
    further: Option<&Map<String, Value>>,
    arguments: &Map<String, Value>,
) -> Result<PlannedBody, ToolError> {
    check_further(fields, further)?;
    let further = further.into_iter().flatten().flat_map(|(name, value)| further_pairs(name, value, Escape::Percent));
    let text = fields
        .iter()
        .filter_map(|field| Some((field, arguments.get(field.argument)?)))
        .flat_map(|(field, value)| field_pairs(field, value, Escape::Percent))
        .chain(further)
        .map(|(name, text)| format!("{name}={text}"))
        .collect::<Vec<_>>()
        .join("&");
    Ok(PlannedBody::Bytes { media_type: "application/x-www-form-urlencoded".to_owned(), bytes: Bytes::from(text) })
}

/// Further fields never stand for those of the binding: these are checked by their schemas, and the hidden ones among them
/// are not the caller's to say.
///
/// # Errors
/// `invalid_arguments`, naming the field, where a further field has the name of one of the form's own.
pub(crate) fn check_further(fields: &[Field], further: Option<&Map<String, Value>>) -> Result<(), ToolError> {
    let taken = further.into_iter().flatten().find(|(name, _)| fields.iter().any(|field| is_named(field, name)));
    match taken {
        None => Ok(()),
        Some((name, _)) => Err(ToolError::invalid(format!(
            "`{name}` is a field of the form itself and cannot be one of its further fields; leave it out there"
        ))),
    }
}

/// Whether a name on the wire belongs to a field. The members of a `deepObject` are written as `field[member]`.
fn is_named(field: &Field, name: &str) -> bool {
    let is_member = |rest: &str| rest.is_empty() || field.style == Style::Deep && rest.starts_with('[');
    name.strip_prefix(field.wire).is_some_and(is_member)
}

/// An undeclared field: texts as they are, arrays as repeated fields, objects as JSON.
pub(crate) fn further_pairs(name: &str, value: &Value, escape: Escape) -> Vec<(String, String)> {
    let nested = |value: &Value| matches!(value, Value::Array(_) | Value::Object(_));
    let style = match value {
        Value::Array(items) if items.iter().any(nested) => Style::Json,
        Value::Object(_) => Style::Json,
        _ => Style::Form,
    };
    pairs(name, value, style, true, &[], escape)
}

/// The pairs of a form field. Only objects and arrays are written as JSON: a text needs no quotes in a form.
pub(crate) fn field_pairs(field: &Field, value: &Value, escape: Escape) -> Vec<(String, String)> {
    let style = match (field.style, value) {
        (Style::Json, Value::Array(_) | Value::Object(_)) => Style::Json,
        (Style::Json, _) => Style::Form,
        (style, _) => style,
    };
    pairs(field.wire, value, style, field.explode, field.send_as, escape.allowing(field.reserved))
}
