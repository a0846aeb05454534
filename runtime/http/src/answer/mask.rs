//! Masking of secret fields.

use serde_json::Value;
use toolwright_core::{Envelope, Payload};

use crate::{auth, config::Config};

/// What stands in place of a secret.
pub(crate) const MASK: &str = "[masked]";
/// A key shorter than this would turn up by chance.
const SHORTEST_KEY: usize = 6;

/// What to hide in a result.
pub(crate) struct Masks<'a> {
    pointers: &'a [&'a str],
    credentials: Vec<String>,
}

impl<'a> Masks<'a> {
    /// The tool's secret fields, unless they may be shown, and the credentials, which never may.
    pub(crate) fn new(config: &Config, pointers: &'a [&'a str], tokens: Vec<String>) -> Self {
        let pointers = if config.reveal_secrets { &[] } else { pointers };
        let mut credentials = auth::secrets(config);
        credentials.extend(tokens);
        credentials.retain(|secret| secret.len() >= SHORTEST_KEY);
        // A secret that holds another goes first, or a part of it would stay.
        credentials.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Masks { pointers, credentials }
    }

    /// Hides them.
    pub(crate) fn apply(self, envelope: &mut Envelope) {
        let masked = envelope.ok && self.mask_fields(&mut envelope.payload);
        if masked {
            envelope.warnings.push(
                "secret values are masked; the server's operator can show them (setting REVEAL_SECRETS)".to_owned(),
            );
        }
        for secret in &self.credentials {
            scrub(envelope, secret);
        }
    }

    fn mask_fields(&self, payload: &mut Payload) -> bool {
        if self.pointers.is_empty() {
            return false;
        }
        match payload {
            Payload::Data(data) => mask_all(self.pointers, data),
            // The pointers say nothing about text, so that none of it is safe.
            Payload::Text(text) => {
                *text = MASK.to_owned();
                true
            }
            Payload::Events { data, events, truncated } => {
                *truncated |= !events.is_empty();
                events.clear();
                data.as_mut().is_some_and(|data| mask_all(self.pointers, data))
            }
            Payload::Empty | Payload::Messages { .. } | Payload::Binary(_) => false,
        }
    }
}

fn mask_all(pointers: &[&str], data: &mut Value) -> bool {
    let mut masked = false;
    for pointer in pointers {
        let tokens: Vec<String> =
            pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect();
        masked |= mask(data, &tokens);
    }
    masked
}

/// Masks what a pointer (RFC 6901) leads to; `*` stands for any element or member. True where something was hidden.
fn mask(value: &mut Value, tokens: &[String]) -> bool {
    let Some((token, rest)) = tokens.split_first() else { return hide(value) };
    match value {
        Value::Array(items) if token == "*" => items.iter_mut().fold(false, |masked, item| mask(item, rest) | masked),
        Value::Object(members) if token == "*" => {
            members.values_mut().fold(false, |masked, member| mask(member, rest) | masked)
        }
        Value::Array(items) => {
            token.parse().ok().and_then(|index: usize| items.get_mut(index)).is_some_and(|item| mask(item, rest))
        }
        Value::Object(members) => members.get_mut(token).is_some_and(|member| mask(member, rest)),
        _ => false,
    }
}

fn hide(value: &mut Value) -> bool {
    let holds_something = !matches!(value, Value::Null) && value.as_str() != Some("");
    if holds_something {
        *value = MASK.into();
    }
    holds_something
}

/// Takes a credential out wherever the upstream repeated it.
fn scrub(envelope: &mut Envelope, key: &str) {
    match &mut envelope.payload {
        Payload::Data(data) => scrub_value(data, key),
        Payload::Text(text) => scrub_text(text, key),
        Payload::Events { data, events, .. } => {
            data.iter_mut().chain(events).for_each(|value| scrub_value(value, key));
        }
        Payload::Messages { messages, .. } => messages.iter_mut().for_each(|value| scrub_value(value, key)),
        Payload::Empty | Payload::Binary(_) => {}
    }
    envelope.headers.iter_mut().for_each(|(_, value)| scrub_text(value, key));
    envelope.extra.values_mut().for_each(|value| scrub_value(value, key));
    envelope.warnings.iter_mut().for_each(|text| scrub_text(text, key));
    if let Some(error) = &mut envelope.error {
        scrub_text(&mut error.message, key);
    }
}

fn scrub_value(value: &mut Value, key: &str) {
    match value {
        Value::String(text) => scrub_text(text, key),
        Value::Array(items) => items.iter_mut().for_each(|item| scrub_value(item, key)),
        Value::Object(members) => members.values_mut().for_each(|member| scrub_value(member, key)),
        _ => {}
    }
}

fn scrub_text(text: &mut String, key: &str) {
    if text.contains(key) {
        *text = text.replace(key, MASK);
    }
}
