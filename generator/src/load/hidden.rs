//! Arguments that callers never see: constants, and settings of the server.

use serde_json::Value;

use super::extension::is_snake_case;
use super::language::{ARGUMENT_RULE, names};
use super::select::{self, Selector};
use super::strict::{Fields, Places};
use crate::access;
use crate::diagnostic::{Diagnostic, Sink};
use crate::model::operation::Location;

/// Where the value of a hidden argument comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum HiddenArgument {
    /// Always the same.
    Constant(Value),
    /// A setting of the server.
    Setting {
        /// Its key.
        key: String,
        /// What it is where nothing is set, as its text.
        default: Option<String>,
        /// Whether its value is never shown.
        secret: bool,
        /// What it is for, in one sentence.
        help: Option<String>,
    },
}

/// A rule of `server.yaml` that hides an argument of every operation that it picks.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentRule {
    /// Which operations.
    pub of: Selector,
    /// The argument's name on the wire.
    pub name: String,
    /// Where it stands; anywhere, where nothing is said.
    pub place: Option<ArgumentPlace>,
    /// What is sent.
    pub hidden: HiddenArgument,
}

/// Where an argument stands in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentPlace {
    /// In the path.
    Path,
    /// In the query string.
    Query,
    /// In a header.
    Header,
    /// In a cookie.
    Cookie,
    /// In the body: a member of a JSON object, or a field of a form.
    Body,
}

const PLACES: [(&str, ArgumentPlace); 5] = [
    ("path", ArgumentPlace::Path),
    ("query", ArgumentPlace::Query),
    ("header", ArgumentPlace::Header),
    ("cookie", ArgumentPlace::Cookie),
    ("body", ArgumentPlace::Body),
];

impl ArgumentPlace {
    /// Whether a parameter stands there.
    pub(crate) fn is(self, location: Location) -> bool {
        matches!(
            (self, location),
            (Self::Path, Location::Path)
                | (Self::Query, Location::Query)
                | (Self::Header, Location::Header)
                | (Self::Cookie, Location::Cookie)
        )
    }
}

/// Reads the list under `arguments` of `server.yaml`.
pub(super) fn rules(fields: &Fields<'_>, places: Places<'_>, sink: &mut Sink) -> Vec<ArgumentRule> {
    let known = names(ARGUMENT_RULE);
    let mut rules = Vec::new();
    for (pointer, value) in fields.elements("arguments", select::RULES, sink) {
        let Some(rule) = Fields::open(value, &pointer, &known, places, sink) else { continue };
        rule.require("name", "<the argument's name on the wire>", sink);
        if ["constant", "setting"].iter().all(|key| rule.get(key).is_none()) {
            let error = Diagnostic::error("missing-key", "this rule does not say what is sent").at(places(&pointer));
            sink.push(error.help("add `constant: <value>` or `setting: <name of a setting>`"));
        }
        let of = select::of_operations(&rule, pointer.clone(), places, sink);
        let place = rule.choice("in", &PLACES, sink);
        let (Some(name), Some(hidden)) = (rule.string("name", sink), read(&rule, sink)) else { continue };
        rules.push(ArgumentRule { of, name, place, hidden });
    }
    rules
}

/// What the keys of an argument say; nothing where callers see it.
pub(super) fn read(fields: &Fields<'_>, sink: &mut Sink) -> Option<HiddenArgument> {
    let (constant, setting) = (fields.get("constant"), fields.get("setting"));
    if setting.is_none() {
        for key in ["default", "secret"].into_iter().filter(|key| fields.get(key).is_some()) {
            let error = Diagnostic::error("missing-key", format!("`{key}` speaks of a setting, and none is named"));
            sink.push(error.at(fields.place(key)).help("add `setting: <name>`, or remove it"));
        }
    }
    if constant.is_some() && setting.is_some() {
        let error = Diagnostic::error("wrong-value", "an argument is a constant or a setting, not both");
        sink.push(error.at(fields.place("setting")).help("remove one of the two"));
        return None;
    }
    no_default_secret(fields, sink);
    match constant {
        Some(value) => Some(HiddenArgument::Constant(value.clone())),
        None => Some(HiddenArgument::Setting {
            key: setting_key(fields, sink)?,
            default: default(fields, sink),
            secret: fields.boolean("secret", sink).unwrap_or(false),
            help: fields.get("description").and_then(Value::as_str).map(str::to_owned),
        }),
    }
}

/// A secret that stands in a file that is checked in, and in every binary, is none.
pub(super) fn no_default_secret(fields: &Fields<'_>, sink: &mut Sink) {
    if fields.get("secret") == Some(&Value::Bool(true)) && fields.get("default").is_some() {
        let error = Diagnostic::error("default-secret", "a secret has no default: everybody who has the server has it");
        let help = "remove `default`, and let the operator set the value; or remove `secret` where it is none";
        sink.push(error.at(fields.place("default")).help(help));
    }
}

/// The key of a setting: part of the name of an environment variable and of a flag.
fn setting_key(fields: &Fields<'_>, sink: &mut Sink) -> Option<String> {
    const MOST: usize = 48;
    let key = fields.string("setting", sink)?;
    let (message, help) = if !is_snake_case(&key, MOST) {
        let help = format!("snake_case: small letters, digits and `_`, first a letter, at most {MOST} characters");
        (format!("`{}` is no name of a setting", key.escape_debug()), help)
    } else if access::is_taken(&key) {
        (
            format!("`{key}` is taken by a setting, or a variable, that every server has"),
            "choose another name".to_owned(),
        )
    } else {
        return Some(key);
    };
    sink.push(Diagnostic::error("setting-name", message).at(fields.place("setting")).help(help));
    None
}

/// A default as the text that an operator would write.
fn default(fields: &Fields<'_>, sink: &mut Sink) -> Option<String> {
    match fields.get("default")? {
        Value::String(text) if !text.is_empty() && !text.contains(char::is_control) => Some(text.clone()),
        Value::Null | Value::String(_) => {
            let error = Diagnostic::error("wrong-value", "a default is one line of text that says something");
            sink.push(error.at(fields.place("default")).help("write a value, or remove `default`"));
            None
        }
        other => Some(other.to_string()),
    }
}
