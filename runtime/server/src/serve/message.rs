//! One JSON-RPC message as it comes, on either transport, and what a client is told of one that cannot be read.
//!
//! Models do write such messages: half of an emoji, cut in two, becomes a lone surrogate, which JSON text may hold and
//! no UTF-8 string can.

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;

/// The message of a line; `None` for a line that asks for nothing.
pub(super) fn message(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, ErrorData> {
    let line = trimmed(line);
    let error = match serde_json::from_slice(line) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    if let Some(message) = without_lone_surrogates(line).and_then(|whole| serde_json::from_slice(&whole).ok()) {
        tracing::warn!(target: "toolwright::server", "replaced half characters (lone surrogates) in a message");
        return Ok(Some(message));
    }
    match serde_json::from_slice::<Value>(line) {
        // Notifications of other protocols ask for no answer.
        Ok(value) if value.get("method").is_some() && value.get("id").is_none() => Ok(None),
        Ok(_) => Err(ErrorData::invalid_request(format!("no JSON-RPC message: {error}"), None)),
        Err(error) => Err(ErrorData::new(ErrorCode::PARSE_ERROR, format!("no JSON: {error}"), None)),
    }
}

/// The line without white space around it. RFC 8259 section 8.1 lets readers ignore a byte order mark.
pub(super) fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii()
}

/// The id of a message that cannot be read as a whole, where it stands at the beginning or the end.
pub(super) fn request_id(line: &[u8]) -> Option<RequestId> {
    if let Ok(value) = serde_json::from_slice::<Value>(line) {
        return serde_json::from_value(value.get("id")?.clone()).ok();
    }
    let text = String::from_utf8_lossy(line);
    id_at_the_beginning(text.trim()).or_else(|| id_at_the_end(text.trim()))
}

/// `{"id":1,…` or `{"jsonrpc":"2.0","id":1,…`
fn id_at_the_beginning(text: &str) -> Option<RequestId> {
    let mut rest = text.strip_prefix('{')?.trim_start();
    if rest.starts_with("\"jsonrpc\"") {
        rest = rest.split_once(',')?.1.trim_start();
    }
    let value = rest.strip_prefix("\"id\"")?.trim_start().strip_prefix(':')?;
    serde_json::from_str(value.split([',', '}']).next()?).ok()
}

/// `…,"id":1}`. Without the comma it is `{"id":1}`, an argument at the end of a message that is cut short.
fn id_at_the_end(text: &str) -> Option<RequestId> {
    let (before, rest) = text.rsplit_once("\"id\"")?;
    let value = rest.trim_start().strip_prefix(':')?.strip_suffix('}')?;
    before.trim_end().ends_with(',').then(|| serde_json::from_str(value).ok())?
}

/// The JSON text with U+FFFD in place of each escaped half of a surrogate pair; `None` where there is none.
pub(super) fn without_lone_surrogates(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    while let Some((first, tail)) = rest.split_first() {
        let (kept, taken): (&[u8], usize) = match (first, escaped_unit(rest)) {
            (b'\\', Some(unit)) if is_half(unit) => {
                let low = rest.get(6..).and_then(escaped_unit);
                match low {
                    Some(low) if unit < 0xDC00 && (0xDC00..0xE000).contains(&low) => (rest.get(..12)?, 12),
                    _ => {
                        found = true;
                        (b"\\ufffd", 6)
                    }
                }
            }
            // The character behind a backslash begins no escape of its own.
            (b'\\', _) if !tail.is_empty() => (rest.get(..2)?, 2),
            _ => (rest.get(..1)?, 1),
        };
        out.extend_from_slice(kept);
        rest = rest.get(taken..)?;
    }
    found.then_some(out)
}

/// The UTF-16 code unit of the escape `\uXXXX` with which `text` begins.
fn escaped_unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

fn is_half(unit: u16) -> bool {
    (0xD800..0xE000).contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::without_lone_surrogates;

    #[test]
    fn text_without_half_characters_is_left_alone() {
        for text in [r#""\\ud800""#, r#""\ud83d\ude00""#, r#""\u00e9""#, "\"\\"] {
            assert_eq!(without_lone_surrogates(text.as_bytes()), None, "{text}");
        }
    }
}
