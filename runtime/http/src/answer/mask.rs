//! Masking of secret values: the API key, the fields that a tool declares, and members with the name of a secret.

use serde_json::Value;
use toolwright_core::{Block, Envelope, Payload};

use super::{secret_names, secret_text};
use crate::{auth, config::Config};

/// What stands in place of a secret.
pub const MASK: &str = "[masked]";
/// A key shorter than this would turn up by chance.
const SHORTEST_KEY: usize = 6;

/// Every credential that an upstream may repeat: those of the settings, and the tokens fetched with them.
pub(crate) fn credentials(config: &Config, tokens: Vec<String>) -> Vec<String> {
    let mut credentials = auth::secrets(config);
    credentials.extend(tokens);
    recognizable(credentials)
}

/// Secrets that do not turn up by chance, in the order in which they are hidden.
pub(crate) fn recognizable(mut secrets: Vec<String>) -> Vec<String> {
    secrets.retain(|secret| secret.len() >= SHORTEST_KEY);
    // A secret that holds another goes first, or a part of it would stay.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets
}

/// Hides secrets in a result that no upstream gave: what `pointers` name, unless secrets may be shown, and each of these
/// `secrets` wherever it stands.
pub fn mask_result(envelope: &mut Envelope, pointers: &[&str], reveal: bool, secrets: Vec<String>) {
    let pointers = if reveal { &[] } else { pointers };
    Masks { pointers, by_name: !pointers.is_empty() }.apply(envelope, &recognizable(secrets));
}

/// Hides secrets in arguments that a person is to see: members with the name of one, and each of these `secrets`.
pub fn mask_arguments(arguments: &mut Value, secrets: Vec<String>) {
    mask_members(arguments);
    recognizable(secrets).iter().for_each(|secret| scrub_value(arguments, secret));
}

/// What to hide in a result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Masks<'a> {
    pointers: &'a [&'a str],
    by_name: bool,
}

impl<'a> Masks<'a> {
    /// The tool's secret fields, and with them whatever else has the name of a secret, unless they may be shown.
    pub(crate) fn new(config: &Config, pointers: &'a [&'a str]) -> Self {
        let pointers = if config.reveal_secrets { &[] } else { pointers };
        Masks { pointers, by_name: !pointers.is_empty() }
    }

    /// As [`Masks::new`], for an answer that no tool describes: there names alone tell what is secret.
    pub(crate) fn undescribed(config: &Config, pointers: &'a [&'a str]) -> Self {
        Masks { by_name: !config.reveal_secrets, ..Masks::new(config, pointers) }
    }

    /// True where the content as a whole is not for files and progress: some of it is declared to be secret.
    pub(crate) fn hides_content(self) -> bool {
        !self.pointers.is_empty()
    }

    /// True where members are hidden by their names.
    pub(crate) fn by_name(self) -> bool {
        self.by_name
    }

    /// Hides them, and the credentials, which are never shown.
    pub(crate) fn apply(self, envelope: &mut Envelope, credentials: &[String]) {
        let mut masked = if envelope.ok { self.mask_fields(&mut envelope.payload) } else { 0 };
        if self.by_name {
            masked += mask_names(envelope);
        }
        if let Some(counted) = counted(masked) {
            envelope
                .warnings
                .push(format!("{counted} masked; the server's operator can show them (setting REVEAL_SECRETS)"));
        }
        for secret in credentials {
            scrub(envelope, secret);
        }
    }

    fn mask_fields(self, payload: &mut Payload) -> usize {
        if self.pointers.is_empty() {
            return 0;
        }
        match payload {
            Payload::Data(data) => mask_all(self.pointers, data),
            // The pointers say nothing about text, so that none of it is safe.
            Payload::Text(text) => {
                *text = MASK.to_owned();
                1
            }
            Payload::Events { data, events, truncated } => {
                *truncated |= !events.is_empty();
                events.clear();
                data.as_mut().map_or(0, |data| mask_all(self.pointers, data))
            }
            // As of text, in blocks.
            Payload::Content(blocks) => {
                let texts = blocks.iter_mut().flat_map(Block::texts_mut);
                texts.map(|text| *text = MASK.to_owned()).count()
            }
            Payload::Empty | Payload::Messages { .. } | Payload::Binary(_) => 0,
        }
    }
}

fn counted(masked: usize) -> Option<String> {
    match masked {
        0 => None,
        1 => Some("1 secret value is".to_owned()),
        more => Some(format!("{more} secret values are")),
    }
}

fn mask_all(pointers: &[&str], data: &mut Value) -> usize {
    let mut masked = 0;
    for pointer in pointers {
        let tokens: Vec<String> =
            pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect();
        masked += mask(data, &tokens);
    }
    masked
}

/// Masks what a pointer (RFC 6901) leads to; `*` stands for any element or member. Returns how many values were hidden.
fn mask(value: &mut Value, tokens: &[String]) -> usize {
    let Some((token, rest)) = tokens.split_first() else { return hide(value) };
    match value {
        Value::Array(items) if token == "*" => items.iter_mut().map(|item| mask(item, rest)).sum(),
        Value::Object(members) if token == "*" => members.values_mut().map(|member| mask(member, rest)).sum(),
        Value::Array(items) => {
            token.parse().ok().and_then(|index: usize| items.get_mut(index)).map_or(0, |item| mask(item, rest))
        }
        Value::Object(members) => members.get_mut(token).map_or(0, |member| mask(member, rest)),
        _ => 0,
    }
}

fn hide(value: &mut Value) -> usize {
    let holds_something = !matches!(value, Value::Null) && !matches!(value.as_str(), Some("" | MASK));
    if holds_something {
        *value = MASK.into();
    }
    usize::from(holds_something)
}

/// Masks by name wherever the upstream's words are. An error may repeat what was sent, so that its answer is no exception.
fn mask_names(envelope: &mut Envelope) -> usize {
    let of_error = envelope.error.as_mut().map_or(0, |error| secret_text::mask(&mut error.message));
    let of_payload = match &mut envelope.payload {
        Payload::Data(data) => mask_members(data),
        Payload::Text(text) => secret_text::mask_document(text),
        Payload::Events { data, events, .. } => data.iter_mut().chain(events).map(mask_members).sum(),
        Payload::Messages { messages, .. } => messages.iter_mut().map(mask_members).sum(),
        Payload::Content(blocks) => blocks.iter_mut().flat_map(Block::texts_mut).map(secret_text::mask_document).sum(),
        Payload::Empty | Payload::Binary(_) => 0,
    };
    // The message of an error is taken from its answer: what is in both is one value.
    of_error.max(of_payload)
}

/// Masks the members with the name of a secret, also within text that holds JSON. Returns how many values were hidden.
pub fn mask_members(value: &mut Value) -> usize {
    match value {
        Value::Object(members) => {
            let pair = secret_names::is_secret_pair(members);
            let logprob = members.contains_key("logprob");
            let secret = |name: &str| match name {
                "value" => pair,
                "token" => !logprob,
                name => secret_names::is_secret(name),
            };
            members
                .iter_mut()
                .map(|(name, member)| if secret(name) { hide_strings(member) } else { mask_members(member) })
                .sum()
        }
        Value::Array(items) => items.iter_mut().map(mask_members).sum(),
        Value::String(text) => secret_text::mask(text),
        _ => 0,
    }
}

/// Hides every string of a value under the name of a secret; numbers and booleans are counts and switches.
fn hide_strings(value: &mut Value) -> usize {
    match value {
        Value::String(_) => hide(value),
        Value::Array(items) => items.iter_mut().map(hide_strings).sum(),
        Value::Object(members) if secret_names::holds_no_secret(members) => mask_members(value),
        Value::Object(members) => members.values_mut().map(hide_strings).sum(),
        _ => 0,
    }
}

/// Takes credentials out of a text for people who watch: wherever they stand, and where JSON writes them with escapes.
pub(crate) fn scrub_note(text: &mut String, credentials: &[String]) {
    credentials.iter().for_each(|secret| scrub_text(text, secret));
    if credentials.is_empty() || !text.contains('\\') {
        return;
    }
    let Ok(told) = serde_json::from_str::<Value>(text) else { return };
    let mut value = told.clone();
    credentials.iter().for_each(|secret| scrub_value(&mut value, secret));
    if value != told {
        *text = value.to_string();
    }
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
        Payload::Content(blocks) => {
            blocks.iter_mut().flat_map(Block::texts_mut).for_each(|text| scrub_text(text, key));
        }
        Payload::Binary(_) | Payload::Empty => {}
    }
    envelope.headers.iter_mut().for_each(|(_, value)| scrub_text(value, key));
    envelope.extra.values_mut().for_each(|value| scrub_value(value, key));
    // Names of headers and media types, and remarks about them, are told in lower case whatever the upstream wrote.
    let lower = key.to_ascii_lowercase();
    for text in told_in_lower_case(envelope) {
        scrub_text(text, key);
        scrub_text(text, &lower);
    }
}

fn told_in_lower_case(envelope: &mut Envelope) -> impl Iterator<Item = &mut String> {
    let saved = match &mut envelope.payload {
        Payload::Binary(binary) => Some(&mut binary.mime_type),
        _ => None,
    };
    let attached = envelope.attachments.iter_mut().map(|attachment| &mut attachment.mime_type);
    let names = envelope.headers.iter_mut().map(|(name, _)| name);
    let failure = envelope.error.iter_mut().map(|error| &mut error.message);
    let told = envelope.content_type.iter_mut().chain(&mut envelope.warnings);
    saved.into_iter().chain(attached).chain(names).chain(failure).chain(told)
}

fn scrub_value(value: &mut Value, key: &str) {
    change_texts(value, &|text| text.contains(key).then(|| text.replace(key, MASK)));
}

/// Changes every text in a value, names of members included, to what `changed` makes of it; `None` leaves it.
pub(crate) fn change_texts(value: &mut Value, changed: &impl Fn(&str) -> Option<String>) {
    match value {
        Value::String(text) => {
            if let Some(changed) = changed(text) {
                *text = changed;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| change_texts(item, changed)),
        Value::Object(members) => {
            if members.keys().any(|name| changed(name).is_some()) {
                let named = std::mem::take(members).into_iter();
                *members = named.map(|(name, member)| (changed(&name).unwrap_or(name), member)).collect();
            }
            members.values_mut().for_each(|member| change_texts(member, changed));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn scrub_text(text: &mut String, key: &str) {
    if text.contains(key) {
        *text = text.replace(key, MASK);
    }
}
