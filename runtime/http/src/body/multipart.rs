//! `multipart/form-data` (RFC 7578) and multipart bodies written alike: which parts a call has.

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use toolwright_core::{Field, FieldKind, PartHeader, PartHeaderValue, Style, ToolError};

use super::form::{check_further, field_pairs, further_pairs};
use crate::{
    config::Config,
    encode::{Escape, header_value, simple},
    files::FileInput,
    plan::{Part, PartContent, PlannedBody},
};

/// The parts of a call: the declared fields, then the extra ones.
///
/// # Errors
/// As [`check_further`]; `invalid_arguments` or `file_refused` where a value cannot be sent.
pub(crate) fn plan(
    config: &Config,
    media_type: &str,
    fields: &[Field],
    headers: &[PartHeader],
    extra: Option<&Map<String, Value>>,
    arguments: &Map<String, Value>,
) -> Result<PlannedBody, ToolError> {
    check_further(fields, extra)?;
    let mut parts = Vec::new();
    for field in fields {
        let Some(value) = arguments.get(field.argument) else { continue };
        match field.kind {
            FieldKind::File => file_parts(config, field, value, &mut parts)?,
            FieldKind::Value => parts.extend(value_parts(field, value)),
        }
    }
    for (name, value) in extra.into_iter().flatten() {
        parts.extend(extra_parts(name, value));
    }
    for header in headers {
        let Some((name, value)) = part_header(header, arguments)? else { continue };
        for part in parts.iter_mut().filter(|part| part.name == header.part) {
            part.headers.push((name.clone(), value.clone()));
        }
    }
    Ok(PlannedBody::Multipart { media_type: media_type.to_owned(), parts })
}

/// A header of a field's parts; `None` where there is nothing to say.
fn part_header(
    header: &PartHeader,
    arguments: &Map<String, Value>,
) -> Result<Option<(HeaderName, HeaderValue)>, ToolError> {
    let (argument, text) = match header.value {
        PartHeaderValue::Fixed(text) => (header.wire, Some(text.to_owned())),
        PartHeaderValue::Argument { name, explode } => {
            (name, arguments.get(name).and_then(|value| simple(Style::Simple, explode, &[], value)))
        }
    };
    let Some(text) = text else { return Ok(None) };
    let name = header.wire.parse();
    let name = name.map_err(|_| ToolError::invalid(format!("{:?} cannot be the name of a header", header.wire)))?;
    Ok(Some((name, header_value(argument, &text)?)))
}

fn value_parts(field: &Field, value: &Value) -> Vec<Part> {
    let is_json = field.style == Style::Json && matches!(value, Value::Array(_) | Value::Object(_));
    let media_type = field.content_type.or(is_json.then_some("application/json"));
    let content = |text: String| match media_type {
        Some(media_type) => PartContent::Typed { text, media_type: media_type.to_owned() },
        None => PartContent::Text(text),
    };
    let parts = field_pairs(field, value, Escape::None).into_iter();
    parts.map(|(name, text)| Part::new(name, content(text))).collect()
}

fn file_parts(config: &Config, field: &Field, value: &Value, parts: &mut Vec<Part>) -> Result<(), ToolError> {
    let values = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    for value in values {
        match value {
            Value::Null => {}
            Value::String(given) => {
                let file = FileInput::parse(config, field.argument, given)?;
                let content = PartContent::File { file, media_type: field.content_type };
                parts.push(Part::new(field.wire.to_owned(), content));
            }
            _ => return Err(ToolError::invalid(format!("`{}` must be a file input, given as text", field.argument))),
        }
    }
    Ok(())
}

/// An undeclared field.
fn extra_parts(name: &str, value: &Value) -> Vec<Part> {
    let pairs = further_pairs(name, value, Escape::None).into_iter();
    pairs.map(|(name, text)| Part::new(name, PartContent::Text(text))).collect()
}
