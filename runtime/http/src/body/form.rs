//! `application/x-www-form-urlencoded`.

use bytes::Bytes;
use serde_json::{Map, Value};
use toolwright_core::{Field, Style};

use crate::{
    encode::{Escape, pairs},
    plan::PlannedBody,
};

pub(crate) fn plan(
    fields: &[Field],
    further: Option<&Map<String, Value>>,
    arguments: &Map<String, Value>,
) -> PlannedBody {
    let further = further.into_iter().flatten().flat_map(|(name, value)| further_pairs(name, value, Escape::Percent));
    let text = fields
        .iter()
        .filter_map(|field| Some((field, arguments.get(field.argument)?)))
        .flat_map(|(field, value)| field_pairs(field, value, Escape::Percent))
        .chain(further)
        .map(|(name, text)| format!("{name}={text}"))
        .collect::<Vec<_>>()
        .join("&");
    PlannedBody::Bytes { media_type: "application/x-www-form-urlencoded".to_owned(), bytes: Bytes::from(text) }
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
