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

/// The `name=value` pairs of a cookie parameter. Values are percent-encoded, since a cookie cannot hold spaces, semicolons
/// or letters beyond ASCII (RFC 6265 section 4.1.1); the style `cookie` sends them as they are.
///
/// # Errors
/// `invalid_arguments` where the style `cookie` would have to send what a cookie cannot hold.
pub(crate) fn cookies(parameter: &Parameter, value: &Value) -> Result<Vec<String>, ToolError> {
    let Parameter { wire, style, explode, send_as, .. } = *parameter;
    let escape = if style == Style::Cookie { Escape::None } else { Escape::Percent };
    if style == Style::Cookie {
        check_cookie(parameter.argument, &Shape::of(value, send_as), explode)?;
    }
    let pairs = pairs(wire, value, style, explode, send_as, escape);
    Ok(pairs.into_iter().map(|(name, text)| format!("{name}={text}")).collect())
}

/// Refuses texts that no cookie holds as they are: they could begin another cookie.
fn check_cookie(argument: &str, shape: &Shape, explode: bool) -> Result<(), ToolError> {
    let is_held = match shape {
        Shape::Absent => true,
        Shape::Scalar(text) => is_cookie_value(text),
        Shape::List(texts) => texts.iter().all(|text| is_cookie_value(text)),
        Shape::Object(members) => members.iter().all(|(name, text)| {
            // Exploded, a member's name is a cookie's, which is a token as headers' names are.
            let is_name = if explode { HeaderName::from_bytes(name.as_bytes()).is_ok() } else { is_cookie_value(name) };
            is_name && is_cookie_value(text)
        }),
    };
    if is_held {
        return Ok(());
    }
    Err(ToolError::invalid(format!(
        "`{argument}` is sent in a cookie as it is, without encoding: it must hold visible ASCII characters only, and none \
         of `\"`, `,`, `;` and `\\`"
    )))
}

/// `cookie-octet` of RFC 6265 section 4.1.1.
fn is_cookie_value(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b',' | b';' | b'\\'))
}
