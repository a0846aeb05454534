//! Names of servers and secrets in the configuration file.

/// What an identifier is, after "must be".
pub(super) const IDENTIFIER: &str =
    "1 to 128 letters, digits, `.`, `_` and `-`, with a letter or digit at both ends and no `..`";

/// Whether a text can name a server or a secret: it also names keyring entries and folders.
pub(super) fn is_identifier(text: &str) -> bool {
    let is_end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let ends_fit = is_end(text.bytes().next()) && is_end(text.bytes().next_back());
    ends_fit && text.len() <= 128 && text.bytes().all(is_inner) && !text.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_digits_and_inner_signs_make_an_identifier() {
        for text in ["a", "7", "llm_api_key", "gpt-5.6", "A.b_c-9", &"a".repeat(128)] {
            assert!(is_identifier(text), "{text}");
        }
        for text in ["", "-leading", "trailing-", "two..dots", "a b", "a/b", "schlüssel", &"a".repeat(129)] {
            assert!(!is_identifier(text), "{text}");
        }
    }
}
