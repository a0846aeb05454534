//! Secrets within text: JSON as a string, JSON that was cut off, and streams with JSON in their lines.

use std::ops::Range;

use serde_json::Value;

use super::{
    mask::{MASK, mask_members},
    secret_names,
};

/// Masks the secrets that a text holds by name. Text that is JSON as a whole is read as such; of any other text the quoted
/// members are looked at, wherever they stand. Returns how many values were hidden.
pub(crate) fn mask(text: &mut String) -> usize {
    if !text.contains('"') {
        return 0;
    }
    match parsed(text) {
        Some(mut value) => {
            let masked = mask_members(&mut value);
            if masked > 0 {
                *text = value.to_string();
            }
            masked
        }
        None => mask_quoted(text),
    }
}

/// An object or array.
fn parsed(text: &str) -> Option<Value> {
    text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str(text).ok()).flatten()
}

fn mask_quoted(text: &mut String) -> usize {
    let found = secret_values(text);
    for range in found.iter().rev() {
        text.replace_range(range.clone(), MASK);
    }
    found.len()
}

/// Where the strings stand that follow `"<name of a secret>":`, without their quotes. A string that was cut off ends with
/// the text.
fn secret_values(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(name) = quoted(text, at) {
        // The closing quote is tried as an opening one next: a stray quote must not shift all that follow.
        at = name.end;
        let Some(rest) = text.get(at + 1..) else { break };
        let Some(value) = rest.trim_start().strip_prefix(':').map(str::trim_start) else { continue };
        if !value.starts_with('"') || !text.get(name).is_some_and(secret_names::is_secret) {
            continue;
        }
        let Some(range) = quoted(text, text.len() - value.len()) else { break };
        at = range.end;
        if !range.is_empty() && text.get(range.clone()) != Some(MASK) {
            found.push(range);
        }
    }
    found
}

/// The inside of the next string in double quotes (RFC 8259 section 7).
fn quoted(text: &str, from: usize) -> Option<Range<usize>> {
    let start = from + text.get(from..)?.find('"')? + 1;
    let mut escaped = false;
    for (offset, byte) in text.get(start..)?.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(start..start + offset),
            _ => {}
        }
    }
    Some(start..text.len())
}

#[cfg(test)]
mod tests {
    fn masked(text: &str) -> (String, usize) {
        let mut text = text.to_owned();
        let count = super::mask(&mut text);
        (text, count)
    }

    #[test]
    fn json_as_text_is_masked_within() {
        assert_eq!(masked(r#" {"api_key":"S","n":1.50}"#), (r#"{"api_key":"[masked]","n":1.50}"#.to_owned(), 1));
        assert_eq!(masked(r#"[{"a":"{\"token\":\"S\"}"}]"#).0, r#"[{"a":"{\"token\":\"[masked]\"}"}]"#);
    }

    #[test]
    fn text_without_secrets_stays_as_it_is() {
        for text in [r#"{ "max_tokens" : 5 }"#, "the token is \"x\"", "", "{", "\"", r#"{"token":"#, r#"{"token":""#] {
            assert_eq!(masked(text), (text.to_owned(), 0));
        }
    }

    #[test]
    fn json_that_was_cut_off_and_lines_of_json_are_masked() {
        assert_eq!(masked(r#"{"password": "S\"S", "x": "y"#), (r#"{"password": "[masked]", "x": "y"#.to_owned(), 1));
        assert_eq!(masked(r#"{"x":1,"password":"half of i"#).0, r#"{"x":1,"password":"[masked]"#);
        assert_eq!(
            masked("data: {\"token\":\"안\"}\n\ndata: {\"secret\":\"T\"}"),
            ("data: {\"token\":\"[masked]\"}\n\ndata: {\"secret\":\"[masked]\"}".to_owned(), 2)
        );
    }
}
