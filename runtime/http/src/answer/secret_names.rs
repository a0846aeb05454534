//! Which members hold secrets, by their names: `api_key`, `p2p_token`, `Set-Cookie`, and not `max_tokens`.
//!
//! A name counts by its last whole word, in snake, kebab or camel case. The rule is plain comparison without any
//! allocation, since every member of an answer is looked at.

use serde_json::{Map, Value};

/// Names that end in one of these words hold a secret.
const WORDS: [&str; 20] = [
    "apikey",
    "apikeys",
    "authtoken",
    "accesstoken",
    "refreshtoken",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "secret",
    "secrets",
    "clientsecret",
    "authorization",
    "proxyauthorization",
    "cookie",
    "cookies",
    "setcookie",
    "privatekey",
    "secretkey",
    "accesskey",
];

/// A key is secret after one of these words: `api_key`, and neither `key` nor `primary_key`.
const BEFORE_KEY: [&str; 4] = ["api", "private", "secret", "access"];

/// Tokens that are no secrets: the marks of a model's vocabulary, and places in a list.
const BEFORE_OTHER_TOKEN: [&str; 13] =
    ["bos", "eos", "pad", "unk", "sep", "cls", "mask", "stop", "start", "end", "special", "page", "continuation"];

/// True where a member or a header of that name holds a secret.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    // Paths are the names of a document's operations.
    if name.contains('/') {
        return false;
    }
    // `api_key_2` is one of several.
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || is_separator(c));
    if let Some(before) = before_word(name, "token") {
        return !ends_in(before, &BEFORE_OTHER_TOKEN);
    }
    let key = before_word(name, "key").or_else(|| before_word(name, "keys"));
    key.is_some_and(|before| ends_in(before, &BEFORE_KEY)) || ends_in(name, &WORDS)
}

/// The name of a pair such as `{"name": "OPENAI_API_KEY", "value": "…"}`, where it is that of a secret.
pub(super) fn is_secret_pair(members: &Map<String, Value>) -> bool {
    members.contains_key("value")
        && ["name", "key", "header"].iter().any(|key| members.get(*key).and_then(Value::as_str).is_some_and(is_secret))
}

/// True where an object under a secret name holds no secret: a JSON Schema or parameter describes one, and a `token` with
/// a `logprob` is a piece of text.
pub(super) fn holds_no_secret(members: &Map<String, Value>) -> bool {
    const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];
    let typed = members.get("type").and_then(Value::as_str).is_some_and(|name| TYPES.contains(&name));
    let described = typed || ["$ref", "properties", "in", "logprob"].iter().any(|name| members.contains_key(*name));
    described && !members.contains_key("value")
}

fn ends_in(name: &str, words: &[&str]) -> bool {
    words.iter().any(|word| before_word(name, word).is_some())
}

/// What stands before `word` where the name ends in it as a whole word, in any letter case.
fn before_word<'a>(name: &'a str, word: &str) -> Option<&'a str> {
    let at = name.len().checked_sub(word.len())?;
    let (before, end) = (name.get(..at)?, name.get(at..)?);
    let begins_here = || before.ends_with(is_separator) || is_hump(before, end);
    (end.eq_ignore_ascii_case(word) && (before.is_empty() || begins_here()))
        .then(|| before.trim_end_matches(is_separator))
}

fn is_separator(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_alphanumeric()
}

/// A word that begins with a capital: after a small letter or a digit (`apiKey`), or before one (`APIKey`).
fn is_hump(before: &str, word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && (!before.ends_with(char::is_uppercase) || letters.next().is_some_and(char::is_lowercase))
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn names_of_secrets_end_in_a_word_for_one() {
        for name in [
            "api_key",
            "api_keys",
            "apikey",
            "apiKey",
            "APIKey",
            "X-Api-Key",
            "xi-api-key",
            "OPENAI_API_KEY",
            "api_key_2",
            "token",
            "p2p_token",
            "hfToken",
            "HFToken",
            "access-token",
            "password",
            "db.passwd",
            "secret",
            "client_secret",
            "clientSecret",
            "Authorization",
            "Proxy-Authorization",
            "cookie",
            "Set-Cookie",
            "private_key",
            "aws_secret_access_key",
        ] {
            assert!(is_secret(name), "{name}");
        }
    }

    #[test]
    fn other_names_do_not() {
        for name in [
            "",
            "tokens",
            "max_tokens",
            "prompt_tokens",
            "completion_tokens_details",
            "tokenizer",
            "token_type",
            "eos_token",
            "next_page_token",
            "key",
            "primary_key",
            "monkey",
            "keyboard",
            "api_key_env",
            "secretary",
            "password_hint",
            "authorization_url",
            "cookie_policy",
            "broken",
            "/api/p2p/token",
            "토큰",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
