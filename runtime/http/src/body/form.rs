//! `application/x-www-form-urlencoded`.

use bytes::Bytes;
use serde_json::{Map, Value};
use toolwright_core::{Field, Style};

use crate::{
    encode::{Escape, pairs},
    plan::PlannedBody,
};

pub(crate) fn plan(fields: &[Field], arguments: &Map<String, Value>) -> PlannedBody {
    let text = fields
        .iter()
        .filter_map(|field| Some((field, arguments.get(field.argument)?)))
        .flat_map(|(field, value)| field_pairs(field, value, Escape::Percent))
        .map(|(name, text)| format!("{name}={text}"))
        .collect::<Vec<_>>()
        .join("&");
    PlannedBody::Bytes { media_type: "application/x-www-form-urlencoded".to_owned(), bytes: Bytes::from(text) }
}

/// The pairs of a form field. Only objects and arrays are written as JSON: a text needs no quotes in a form.
pub(crate) fn field_pairs(field: &Field, value: &Value, escape: Escape) -> Vec<(String, String)> {
    let style = match (field.style, value) {
        (Style::Json, Value::Array(_) | Value::Object(_)) => Style::Json,
        (Style::Json, _) => Style::Form,
        (style, _) => style,
    };
    pairs(field.wire, value, style, field.explode, field.send_as, escape)
}
