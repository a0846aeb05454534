//! From the table to the settings, with a fault for everything that is wrong.

use std::{collections::BTreeMap, num::NonZeroU32, time::Duration};

use serde_json::{Map, Value};
use toolwright_http::{ConfigError, Secret, Url, parse_base_url};

use super::{Backend, ConfigFaults, Fault, LlmConfig, Overlay, Verify};
use crate::{
    catalogue::{Provider, Temperature},
    dialect::Dialect,
    request::Effort,
};

const FIELDS: [&str; 8] = [
    "backend",
    "base_url",
    "default_headers",
    "keepalive_expiry",
    "models",
    "response_timeout",
    "stream_usage",
    "verify",
];

const MODEL_FIELDS: [&str; 7] = [
    "constrained_output",
    "default_reasoning_effort",
    "dialect",
    "max_output_tokens",
    "native_provider",
    "supports_reasoning_effort",
    "temperature",
];

pub(super) const TEMPERATURES: [(&str, Temperature); 2] = [("zero", Temperature::Zero), ("omit", Temperature::Omit)];
pub(super) const DIALECTS: [(&str, Dialect); 3] =
    [("anthropic", Dialect::Anthropic), ("ollama", Dialect::Ollama), ("openai", Dialect::OpenAi)];
pub(super) const PROVIDERS: [(&str, Option<Provider>); 4] = [
    ("anthropic", Some(Provider::Anthropic)),
    ("ollama", Some(Provider::Ollama)),
    ("openai", Some(Provider::OpenAi)),
    ("none", None),
];

pub(super) fn read(table: &Value) -> Result<LlmConfig, ConfigFaults> {
    let Some(members) = table.as_object() else {
        return Err(ConfigFaults(vec![Fault { field: "llm".into(), message: must_be("a table", table) }]));
    };
    let mut reader = Reader { faults: Vec::new() };
    reader.unknown("llm", members, &FIELDS);
    let at = Table { path: "llm".to_owned(), members };
    let backend = reader.backend(&at);
    let mut config = LlmConfig::new(backend.unwrap_or(Backend::Native));
    config.default_headers = reader.headers(&at);
    config.verify = reader.verify(&at).unwrap_or(config.verify);
    config.keepalive_expiry = reader.seconds(&at, "keepalive_expiry", true).unwrap_or(config.keepalive_expiry);
    config.response_timeout = reader.seconds(&at, "response_timeout", false).unwrap_or(config.response_timeout);
    config.stream_usage = reader.boolean(&at, "stream_usage").unwrap_or(config.stream_usage);
    config.models = reader.models(&at);
    match reader.faults.is_empty() {
        true => Ok(config),
        false => Err(ConfigFaults(reader.faults)),
    }
}

/// A table and its name.
struct Table<'a> {
    path: String,
    members: &'a Map<String, Value>,
}

impl Table<'_> {
    fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }
}

/// Reads fields and collects what is wrong with them.
struct Reader {
    faults: Vec<Fault>,
}

impl Reader {
    fn fault(&mut self, field: String, message: impl Into<String>) {
        self.faults.push(Fault { field, message: message.into() });
    }

    fn unknown(&mut self, path: &str, members: &Map<String, Value>, known: &[&str]) {
        let mut unknown: Vec<&str> = members.keys().map(String::as_str).filter(|name| !known.contains(name)).collect();
        unknown.sort_unstable();
        if !unknown.is_empty() {
            let message = format!("unsupported fields: {}; supported are {}", unknown.join(", "), known.join(", "));
            self.fault(path.to_owned(), message);
        }
    }

    fn text<'a>(&mut self, table: &Table<'a>, name: &str) -> Option<&'a str> {
        let value = table.members.get(name)?;
        if value.as_str().is_none() {
            self.fault(table.field(name), must_be("a string", value));
        }
        value.as_str()
    }

    fn boolean(&mut self, table: &Table<'_>, name: &str) -> Option<bool> {
        let value = table.members.get(name)?;
        if value.as_bool().is_none() {
            self.fault(table.field(name), must_be("true or false", value));
        }
        value.as_bool()
    }

    fn one_of<T: Copy>(&mut self, table: &Table<'_>, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let given = self.text(table, name)?;
        let found = choices.iter().find(|(choice, _)| *choice == given).map(|(_, value)| *value);
        if found.is_none() {
            let names: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
            self.fault(
                table.field(name),
                format!("unsupported value {}: it must be one of {}", quoted(given), names.join(", ")),
            );
        }
        found
    }

    fn backend(&mut self, table: &Table<'_>) -> Option<Backend> {
        let Some(_) = table.members.get("backend") else {
            self.fault(table.field("backend"), "is missing: write \"openai_compatible\" or \"native\"");
            return None;
        };
        let is_gateway = self.one_of(table, "backend", &[("openai_compatible", true), ("native", false)])?;
        let given = table.members.contains_key("base_url");
        match (is_gateway, given) {
            (true, true) => self.base_url(table).map(|base_url| Backend::OpenAiCompatible { base_url }),
            (true, false) => {
                self.fault(
                    table.field("base_url"),
                    "is missing: the backend \"openai_compatible\" needs the gateway's address",
                );
                None
            }
            (false, true) => {
                self.fault(
                    table.field("base_url"),
                    "is not accepted with the backend \"native\": every provider has its own address",
                );
                None
            }
            (false, false) => Some(Backend::Native),
        }
    }

    fn base_url(&mut self, table: &Table<'_>) -> Option<Url> {
        let text = self.text(table, "base_url")?;
        match parse_base_url(text) {
            Ok(url) => Some(url),
            Err(error) => {
                let message = match error {
                    // Their words repeat what was given.
                    ConfigError::BaseUrl(_) | ConfigError::BaseScheme(_) => {
                        "must be an http or https URL, such as \"http://127.0.0.1:8080/v1\"".to_owned()
                    }
                    error => error.to_string(),
                };
                self.fault(table.field("base_url"), message);
                None
            }
        }
    }

    /// Values are not repeated in faults: they may hold credentials.
    fn headers(&mut self, table: &Table<'_>) -> BTreeMap<String, Secret> {
        let mut headers = BTreeMap::new();
        let Some(value) = table.members.get("default_headers") else { return headers };
        let Some(members) = value.as_object() else {
            self.fault(table.field("default_headers"), "must be a table of strings");
            return headers;
        };
        for (name, value) in members {
            let field = format!("{}.{name}", table.field("default_headers"));
            match value.as_str() {
                _ if reqwest::header::HeaderName::from_bytes(name.as_bytes()).is_err() => {
                    self.fault(field, "is not the name of a header");
                }
                Some(text) if reqwest::header::HeaderValue::from_str(text).is_err() => {
                    self.fault(field, "has characters that a header cannot hold, such as a line break");
                }
                Some(text) => {
                    headers.insert(name.clone(), Secret::new(text));
                }
                None => self.fault(field, "must be a string"),
            }
        }
        headers
    }

    fn verify(&mut self, table: &Table<'_>) -> Option<Verify> {
        match table.members.get("verify")? {
            Value::Bool(true) => Some(Verify::Public),
            Value::Bool(false) => Some(Verify::Nothing),
            Value::String(path) if !path.trim().is_empty() => Some(Verify::Authorities(path.into())),
            other => {
                self.fault(table.field("verify"), must_be("true, false, or the path of a PEM file", other));
                None
            }
        }
    }

    fn seconds(&mut self, table: &Table<'_>, name: &str, may_be_zero: bool) -> Option<Duration> {
        let value = table.members.get(name)?;
        let field = table.field(name);
        let Some(seconds) = value.as_number().and_then(serde_json::Number::as_f64) else {
            self.fault(field, must_be("a number of seconds", value));
            return None;
        };
        if may_be_zero && seconds < 0.0 {
            self.fault(field, format!("must not be negative, and is {value}"));
            return None;
        }
        if !may_be_zero && seconds <= 0.0 {
            self.fault(field, format!("must be a finite number of seconds above 0, and is {value}"));
            return None;
        }
        let read = Duration::try_from_secs_f64(seconds).ok();
        if read.is_none() {
            self.fault(field, format!("must be a finite number of seconds, and is {value}"));
        }
        read
    }

    fn models(&mut self, table: &Table<'_>) -> BTreeMap<String, Overlay> {
        let mut models = BTreeMap::new();
        let Some(value) = table.members.get("models") else { return models };
        let Some(members) = value.as_object() else {
            self.fault(table.field("models"), must_be("a table of tables", value));
            return models;
        };
        for (id, value) in members {
            let path = format!("{}.{id:?}", table.field("models"));
            match value.as_object() {
                Some(members) => {
                    let overlay = self.overlay(id, &Table { path, members });
                    models.insert(id.clone(), overlay);
                }
                None => self.fault(path, must_be("a table", value)),
            }
        }
        models
    }

    fn overlay(&mut self, id: &str, table: &Table<'_>) -> Overlay {
        self.unknown(&table.path, table.members, &MODEL_FIELDS);
        let efforts: Vec<(&str, Effort)> = Effort::ALL.iter().map(|effort| (effort.name(), *effort)).collect();
        let overlay = Overlay {
            temperature: self.one_of(table, "temperature", &TEMPERATURES),
            supports_reasoning_effort: self.boolean(table, "supports_reasoning_effort"),
            default_reasoning_effort: self.one_of(table, "default_reasoning_effort", &efforts),
            native_provider: self.one_of(table, "native_provider", &PROVIDERS),
            dialect: self.one_of(table, "dialect", &DIALECTS),
            max_output_tokens: self.tokens(table, "max_output_tokens"),
            constrained_output: self.boolean(table, "constrained_output"),
        };
        let known = crate::catalogue::known(id).unwrap_or_else(|| crate::catalogue::inferred(id));
        let spec = overlay.over(known);
        if spec.default_reasoning_effort.is_some() && !spec.supports_reasoning_effort {
            let message = "needs supports_reasoning_effort = true: this model takes no effort";
            self.fault(table.field("default_reasoning_effort"), message);
        }
        overlay
    }

    fn tokens(&mut self, table: &Table<'_>, name: &str) -> Option<NonZeroU32> {
        let value = table.members.get(name)?;
        let read = value.as_u64().and_then(|count| u32::try_from(count).ok()).and_then(NonZeroU32::new);
        if read.is_none() {
            self.fault(table.field(name), must_be("a whole number of tokens above 0", value));
        }
        read
    }
}

/// A text as a fault may repeat it: a key in the wrong field is told by its length alone.
fn quoted(given: &str) -> String {
    const LONGEST_WORD: usize = 32;
    let is_word = given.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    match is_word && (1..=LONGEST_WORD).contains(&given.len()) {
        true => format!("{given:?}"),
        false => format!("(a string of {} characters)", given.chars().count()),
    }
}

fn must_be(what: &str, given: &Value) -> String {
    let kind = match given {
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) | Value::Number(_) => given.to_string(),
        Value::String(text) if text.trim().is_empty() => "an empty string".to_owned(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "a table".to_owned(),
    };
    format!("must be {what}, and is {kind}")
}
