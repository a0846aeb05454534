//! Credentials that were pasted into examples, defaults or texts: models would be shown them.

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Sink};
use crate::model::Model;
use crate::pass::join;

/// Prefixes of credentials that are issued with one, and the fewest characters that follow.
const ISSUED: [(&str, usize); 16] = [
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("github_pat_", 30),
    ("glpat-", 18),
    ("hf_", 30),
    ("npm_", 30),
    ("sk-", 32),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("eyJ", 60),
];

pub(super) fn report(model: &Model, sink: &mut Sink) {
    let mut found = Vec::new();
    walk(&model.loaded.document.value, String::new(), &mut found);
    for (pointer, kind) in found {
        let message = format!("this text looks like {kind}");
        let help = "if it is real, revoke it; put a plain placeholder such as `YOUR_API_KEY` in its place";
        sink.push(Diagnostic::warning("secret", message).at(model.loaded.document.place(&pointer)).help(help));
    }
}

fn walk(value: &Value, pointer: String, found: &mut Vec<(String, &'static str)>) {
    match value {
        Value::String(text) => found.extend(credential(text).map(|kind| (pointer, kind))),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| walk(item, format!("{pointer}/{index}"), found));
        }
        Value::Object(members) => members.iter().for_each(|(key, member)| walk(member, join(&pointer, key), found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What kind of credential a text holds.
fn credential(text: &str) -> Option<&'static str> {
    if text.contains("-----BEGIN") && text.contains("PRIVATE KEY-----") {
        return Some("a private key");
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.split(|c: char| !is_part(c)).find_map(|word| {
        let (prefix, _) = ISSUED.iter().find(|(prefix, least)| {
            word.strip_prefix(prefix).is_some_and(|rest| rest.len() >= *least && is_random(rest))
        })?;
        let is_token = *prefix != "eyJ" || word.matches('.').count() == 2;
        is_token.then_some(if *prefix == "eyJ" { "a signed token" } else { "an API key" })
    })
}

/// Placeholders repeat letters; keys hold many different ones, digits among them.
fn is_random(text: &str) -> bool {
    let mut different: Vec<char> = text.chars().collect();
    different.sort_unstable();
    different.dedup();
    different.len() >= 10 && text.chars().any(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::credential;

    #[test]
    fn issued_keys_are_found_and_placeholders_are_not() {
        let key = format!("Use {}{} here", "AKIA", "Q3EGTUVW5X2YZ7AB");
        assert_eq!(credential(&key), Some("an API key"));
        for harmless in ["sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "AKIAXXXXXXXXXXXXXXXX", "sk-proj", "eyJhbGciOi"]
        {
            assert_eq!(credential(harmless), None, "{harmless}");
        }
    }

    #[test]
    fn private_keys_are_found() {
        let key = ["-----BEGIN RSA", "PRIVATE KEY-----\nabc"].join(" ");
        assert_eq!(credential(&key), Some("a private key"));
    }
}
