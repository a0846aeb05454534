//! One sentence from an answer that reports an error.

use reqwest::StatusCode;
use serde_json::Value;

/// Longest text taken over from an upstream, in bytes.
const LONGEST_MESSAGE: usize = 600;

/// The sentence for an error status.
pub(crate) fn sentence(status: StatusCode, message: Option<&str>) -> String {
    let reason = status.canonical_reason().unwrap_or("an unregistered status");
    let number = status.as_u16();
    let told = match message {
        Some(message) => format!("the upstream answered {number} ({reason}): {message}"),
        None => format!("the upstream answered {number} ({reason}) without saying why"),
    };
    match status.as_u16() {
        401 | 403 => format!("{}; check the API key of the upstream", told.trim_end_matches('.')),
        _ => told,
    }
}

/// The message within an error body: `{error: {message}}`, `{error: "…"}`, problem details (RFC 9457 section 3.1),
/// `{message}`, `{detail}` or a list of such.
pub(crate) fn message_of(body: &Value) -> Option<String> {
    let found = match body {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => items.first().and_then(message_of),
        Value::Object(members) => {
            ["error", "message", "detail", "title", "error_description", "error_message", "errors"]
                .iter()
                .filter_map(|name| members.get(*name))
                .find_map(message_of)
        }
        _ => None,
    };
    found.map(|text| one_line(&text)).filter(|text| !text.is_empty())
}

/// White space folded, and cut.
pub(crate) fn one_line(text: &str) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST_MESSAGE)
}

/// The beginning of a text, never within a character, with an ellipsis where it was cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", text.get(..end).unwrap_or_default())
}
