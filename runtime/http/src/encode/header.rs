//! Header and cookie parameters.

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;
use toolwright_core::{Parameter, Style, ToolError};

use super::{
    pairs::{Escape, pairs},
    shape::{SendAs, Shape},
};

/// Headers that no argument may set: they carry credentials, route or frame the message (OpenAPI 3.1 section 4.8.12.1
/// reserves the first three).
const RESERVED: [&str; 14] = [
    "accept",
    "content-type",
    "authorization",
    "proxy-authorization",
    "cookie",
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
    "keep-alive",
    "expect",
];

/// Whether no argument may set a header of that name, in any letter case.
#[must_use]
pub fn is_reserved_header(name: &str) -> bool {
    RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name))
}

/// A header parameter in `simple` style; `None` where there is nothing to send. Header values are not percent-encoded.
pub(crate) fn header(parameter: &Parameter, value: &Value) -> Result<Option<(HeaderName, HeaderValue)>, ToolError> {
    let Some(text) = simple(parameter.style, parameter.explode, parameter.send_as, value) else { return Ok(None) };
    let argument = parameter.argument;
    let name: HeaderName = parameter
        .wire
        .parse()
        .map_err(|_| ToolError::invalid(format!("{:?} cannot be the name of a header", parameter.wire)))?;
    if is_reserved_header(name.as_str()) {
        return Err(ToolError::invalid(format!("`{argument}` must not set the header {name}")));
    }
    Ok(Some((name, header_value(argument, &text)?)))
}

/// Text as a header value: no control characters, so that no value can begin a header of its own.
pub(crate) fn header_value(argument: &str, text: &str) -> Result<HeaderValue, ToolError> {
    HeaderValue::from_bytes(text.as_bytes()).map_err(|_| {
        ToolError::invalid(format!(
            "`{argument}` is sent as a header and must not hold line breaks or control characters"
        ))
    })
}

/// A value as one line, arrays and objects joined; `None` where there is nothing to send.
pub(crate) fn simple(style: Style, explode: bool, send_as: SendAs<'_>, value: &Value) -> Option<String> {
    if style == Style::Json {
        return (!value.is_null()).then(|| value.to_string());
    }
    let separator = match style {
        Style::Spaces => " ",
        Style::Pipes => "|",
        Style::Tabs => "\t",
        _ => ",",
    };
    let equals = if explode { "=" } else { separator };
    match Shape::of(value, send_as) {
        Shape::Absent => None,
        Shape::Scalar(text) => Some(text),
        Shape::List(texts) => Some(texts.join(separator)),
        Shape::Object(members) => {
            let members: Vec<String> = members.iter().map(|(key, text)| format!("{key}{equals}{text}")).collect();
            Some(members.join(separator))
        }
    }
}

/// The `name=value` pairs of a cookie parameter. Values are percent-encoded: a cookie cannot hold spaces, semicolons or
/// letters beyond ASCII (RFC 6265 section 4.1.1).
pub(crate) fn cookies(parameter: &Parameter, value: &Value) -> Vec<String> {
    pairs(parameter.wire, value, parameter.style, parameter.explode, parameter.send_as, Escape::Percent)
        .into_iter()
        .map(|(name, text)| format!("{name}={text}"))
        .collect()
}
