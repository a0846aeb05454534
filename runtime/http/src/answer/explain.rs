//! One sentence from an answer that reports an error.

use std::time::SystemTime;

use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;

use crate::send;

/// Longest text taken over from an upstream, in bytes.
const LONGEST_MESSAGE: usize = 600;

/// The sentence for an error status, and for 429 and 503 what the answer says of another try: how far the loading of a
/// model is, and when to come again.
pub(crate) fn refusal(status: StatusCode, headers: &HeaderMap, body: Option<&Value>, message: Option<&str>) -> String {
    let told = sentence(status, message);
    if !matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        return told;
    }
    let mut told = told.trim_end_matches('.').to_owned();
    if let Some(loading) = body.and_then(send::loading_details).filter(|details| !details.is_empty()) {
        told.push_str(&format!(" ({})", one_line(&loading)));
    }
    match send::retry_after(headers, SystemTime::now()).map(|wait| wait.as_secs_f64().ceil()) {
        Some(0.0) => told.push_str("; try again now"),
        Some(seconds) => told.push_str(&format!("; try again in {seconds} s")),
        None => {}
    }
    told
}

fn sentence(status: StatusCode, message: Option<&str>) -> String {
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
#[must_use]
pub fn message_of(body: &Value) -> Option<String> {
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
