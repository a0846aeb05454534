//! Secrets within text: JSON as a string, JSON that was cut off, streams with JSON in their lines, forms and URLs.

use std::ops::Range;

use serde_json::Value;

use super::{
    mask::{MASK, mask_members},
    secret_form, secret_names,
};

/// Masks the secrets that a text holds by name. Text that is JSON as a whole is read as such; of any other text the quoted
/// members are looked at, wherever they stand, and a form or a URL is read as such. Returns how many values were hidden.
pub(crate) fn mask(text: &mut String) -> usize {
    if !text.contains('"') {
        return secret_form::mask(text);
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

/// As [`mask`], for a text that is a whole answer: settings are written as YAML and `NAME=value` too.
pub(crate) fn mask_document(text: &mut String) -> usize {
    if parsed(text).is_some() {
        return mask(text);
    }
    match secret_form::mask(text) {
        0 => mask(text) + mask_lines(text),
        masked => masked,
    }
}

/// Masks the rest of each line that begins with the name of a secret and `:` or `=`.
fn mask_lines(text: &mut String) -> usize {
    let lines = text.split_inclusive('\n');
    let found: Vec<Range<usize>> = lines
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some(value_of_line(line).map(|range| start + range.start..start + range.end))
        })
        .flatten()
        .collect();
    replace(text, &found);
    found.len()
}

/// Where the value of a line `api_key: value` or `export API_KEY=value` stands; `None` where the name is that of no secret,
/// and for numbers, switches and what only opens a block.
fn value_of_line(line: &str) -> Option<Range<usize>> {
    let at = line.find([':', '='])?;
    let name = line.get(..at)?.trim().trim_start_matches("- ").trim_start_matches("export ").trim();
    let name = name.trim_matches(['"', '\'']);
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let rest = line.get(at + 1..)?;
    let value = rest.trim().trim_matches(['"', '\'']);
    let holds_none = matches!(value, "" | "|" | ">" | "null" | "~" | "true" | "false" | MASK)
        || value.starts_with(['{', '[', '&'])
        || value.parse::<f64>().is_ok();
    if holds_none || !is_name || !secret_names::is_secret(name) {
        return None;
    }
    let start = at + 1 + rest.find(value)?;
    Some(start..start + value.len())
}

/// An object or array.
fn parsed(text: &str) -> Option<Value> {
    text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str(text).ok()).flatten()
}

fn mask_quoted(text: &mut String) -> usize {
    let found = secret_values(text);
    replace(text, &found);
    found.len()
}

/// Puts the mask in place of each of these parts, which follow each other: one copy, however many there are.
pub(super) fn replace(text: &mut String, parts: &[Range<usize>]) {
    if parts.is_empty() {
        return;
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for part in parts {
        out.push_str(text.get(at..part.start).unwrap_or_default());
        out.push_str(MASK);
        at = part.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    *text = out;
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
    fn settings_in_lines_are_masked() {
        let mut text = "name: m\napi_key: \"S1\"\n- hf_token: S2 S3\nexport OPENAI_API_KEY=S4\r\nmax_tokens: 5\n\
            password:\nsecret: {a: 1}\nThe token: none\ntoken: 7\nuse_cookie: true\nP2P_TOKEN='안'"
            .to_owned();
        assert_eq!(super::mask_document(&mut text), 4);
        assert_eq!(
            text,
            "name: m\napi_key: \"[masked]\"\n- hf_token: [masked]\nexport OPENAI_API_KEY=[masked]\r\nmax_tokens: 5\n\
            password:\nsecret: {a: 1}\nThe token: none\ntoken: 7\nuse_cookie: true\nP2P_TOKEN='[masked]'"
        );
    }

    #[test]
    fn a_stray_quote_shifts_nothing() {
        assert_eq!(masked(r#"5" wide, "token": "S", 6" high"#).0, r#"5" wide, "token": "[masked]", 6" high"#);
    }

    #[test]
    fn a_text_of_nothing_but_secrets_takes_no_time() {
        let started = std::time::Instant::now();
        let (text, count) = masked(&"\"token\":\"S\"\n".repeat(200_000));
        assert_eq!((count, text.contains('S')), (200_000, false));
        assert!(started.elapsed() < std::time::Duration::from_secs(5));
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
