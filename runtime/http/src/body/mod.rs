//! Request bodies: JSON, forms, multipart, and files as they are.

mod choice;
mod form;
mod multipart;
mod object;
#[cfg(test)]
mod object_tests;
mod payload;
#[cfg(test)]
mod tests;

pub(crate) use payload::Payload;

use bytes::Bytes;
use serde_json::{Map, Value};
use toolwright_core::{Body, ToolError};

use crate::{config::Config, encode::text, files::FileInput, media::MediaType, plan::PlannedBody};

/// Plans the body of a request. An absent optional argument means no body; an explicit null is sent as null.
pub(crate) fn plan(config: &Config, body: &Body, arguments: &Map<String, Value>) -> Result<PlannedBody, ToolError> {
    match body {
        Body::None => Ok(PlannedBody::None),
        Body::Json { argument, media_type } => match arguments.get(*argument) {
            Some(value) => whole(config, argument, media_type, value),
            None => Ok(PlannedBody::None),
        },
        Body::Raw { argument, media_type } => match arguments.get(*argument) {
            Some(value) => whole(config, argument, media_type, value),
            None => Ok(PlannedBody::None),
        },
        Body::Object { media_type, required, members } => object::plan(media_type, *required, members, arguments),
        Body::Choice { argument, alternatives } => choice::plan(config, argument, alternatives, arguments),
        Body::Form { fields, extra } => form::plan(fields, further(*extra, arguments), arguments),
        Body::Multipart { media_type, fields, headers, extra } => {
            multipart::plan(config, media_type, fields, headers, further(*extra, arguments), arguments)
        }
    }
}

/// The fields that the document does not name, where an argument holds them.
fn further<'a>(extra: Option<&str>, arguments: &'a Map<String, Value>) -> Option<&'a Map<String, Value>> {
    arguments.get(extra?)?.as_object()
}

/// One argument as the whole body, in the declared media type.
pub(crate) fn whole(
    config: &Config,
    argument: &str,
    media_type: &str,
    value: &Value,
) -> Result<PlannedBody, ToolError> {
    let kind = MediaType::of(media_type);
    let bytes = match value {
        _ if kind.is_json() => value.to_string(),
        Value::Array(items) if kind.is_json_lines() => {
            let lead = kind.record_separator();
            items.iter().map(|item| format!("{lead}{item}\n")).collect()
        }
        Value::String(given) if !kind.is_text() => {
            let file = FileInput::parse(config, argument, given)?;
            return Ok(PlannedBody::File { media_type: media_type.to_owned(), file });
        }
        other => text(other, &[]),
    };
    Ok(PlannedBody::Bytes { media_type: media_type.to_owned(), bytes: Bytes::from(bytes) })
}
