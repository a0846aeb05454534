//! Secrets within forms as text (`application/x-www-form-urlencoded`) and in the queries of URLs.

use std::ops::Range;

use percent_encoding::percent_decode_str;

use super::{mask::MASK, secret_names, secret_text::replace};

/// Masks the values with the name of a secret, where the text is a form or a URL as a whole. Other text with `&` and `=` in
/// it is prose or code, of which this says nothing. Returns how many values were hidden.
pub(super) fn mask(text: &mut String) -> usize {
    let found = secret_values(text);
    replace(text, &found);
    found.len()
}

fn secret_values(text: &str) -> Vec<Range<usize>> {
    let Some(form) = form_of(text) else { return Vec::new() };
    let mut found = Vec::new();
    let mut at = form.start;
    for pair in text.get(form).unwrap_or_default().split('&') {
        // Without a `=` in each pair it is no form; an empty pair is a stray separator (WHATWG URL section 5.1).
        let Some(equals) = pair.find('=').or((pair.is_empty()).then_some(0)) else { return Vec::new() };
        let (name, value) = pair.split_at(equals);
        let start = at + equals + 1;
        at += pair.len() + 1;
        let value = value.get(1..).unwrap_or_default();
        let holds_something = !matches!(value, "" | "true" | "false" | "null" | MASK);
        if holds_something && is_secret(name) {
            found.push(start..start + value.len());
        }
    }
    found
}

/// Where the pairs stand: the query of a URL, else the whole text. White space ends every form and URL.
fn form_of(text: &str) -> Option<Range<usize>> {
    if !text.contains('=') {
        return None;
    }
    let text = text.trim_end();
    let is_scheme = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+');
    let start = match text.find("://") {
        Some(at) if is_scheme(text.get(..at)?) => at + text.get(at..)?.find('?')? + 1,
        _ => 0,
    };
    let end = text.get(start..)?.find('#').map_or(text.len(), |fragment| start + fragment);
    let is_form = !text.contains(char::is_whitespace);
    is_form.then_some(start..end)
}

/// Names such as `user[password]` count by their last part.
fn is_secret(name: &str) -> bool {
    let name = percent_decode_str(name).decode_utf8_lossy();
    let name = name.trim_end_matches(']');
    secret_names::is_secret(name.rsplit('[').next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    fn masked(text: &str) -> (String, usize) {
        let mut text = text.to_owned();
        let count = super::mask(&mut text);
        (text, count)
    }

    #[test]
    fn values_of_a_form_are_masked_by_name() {
        let form = "grant_type=password&password=12345&api%5Fkey=S%26T&user[token]=U&max_tokens=5\n";
        let wanted = "grant_type=password&password=[masked]&api%5Fkey=[masked]&user[token]=[masked]&max_tokens=5\n";
        assert_eq!(masked(form), (wanted.to_owned(), 3));
    }

    #[test]
    fn the_query_of_a_url_is_a_form() {
        assert_eq!(
            masked("redirect_uri=https://h/&client_secret=S").0,
            "redirect_uri=https://h/&client_secret=[masked]"
        );
        assert_eq!(masked("https://h/p?a=1&access_token=S#token=x").0, "https://h/p?a=1&access_token=[masked]#token=x");
    }

    #[test]
    fn a_form_without_secrets_and_text_that_is_no_form_stay_as_they_are() {
        for text in
            ["a=1&b=2", "token=", "use_cookie=true", "if token=S & x", "a&token=S", "https://h/token=S", "=", ""]
        {
            assert_eq!(masked(text), (text.to_owned(), 0));
        }
    }
}
