//! Takes the arguments out that callers never see: constants, and settings of the server.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::freeze;
use super::super::join;
use super::super::name::{MAX_ARGUMENT, cut};
use super::super::select::traits_of;
use crate::access::Setting;
use crate::diagnostic::{Diagnostic, Place, Sink};
use crate::load::extension::EXTENSION;
use crate::load::hidden::{ArgumentPlace, ArgumentRule, HiddenArgument};
use crate::load::tool_file::is_of_file;
use crate::model::Model;
use crate::model::operation::{Location, Operation, Style};
use crate::model::tool::{Argument, Hidden, HiddenValue, Role};

/// What is hidden so far, over all operations.
#[derive(Debug, Default)]
pub(super) struct Hiding {
    /// Places of the rules that picked something, by their index.
    bites: BTreeSet<usize>,
    /// By key, each with where it was first named.
    settings: BTreeMap<String, (Setting, Place)>,
}

/// What hides an argument, and where that is written.
struct Said<'s> {
    hidden: &'s HiddenArgument,
    place: Place,
}

impl Hiding {
    /// The arguments that callers give, and those that they do not see.
    pub(super) fn split(
        &mut self,
        model: &Model,
        operation: &Operation,
        arguments: Vec<Argument>,
        sink: &mut Sink,
    ) -> (Vec<Argument>, Vec<Hidden>) {
        let has_choice = arguments.iter().any(|argument| argument.role == Role::ContentType);
        let (mut shown, mut hidden) = (Vec::new(), Vec::new());
        for argument in arguments {
            let Some(said) = self.said(model, operation, &argument) else {
                shown.push(argument);
                continue;
            };
            if let Err(reason) = can_be_hidden(&argument, has_choice) {
                let message = format!("`{}` of {} cannot be hidden: {reason}", argument.wire_name, operation.route());
                let help = "hide parameters, members of a JSON body that are arguments, and plain fields of a form";
                sink.push(Diagnostic::error("cannot-be-hidden", message).at(said.place).help(help));
                shown.push(argument);
                continue;
            }
            let schema = freeze::schema_of(model, &argument.schema);
            let value = match said.hidden {
                HiddenArgument::Constant(value) => {
                    check(&argument, &schema, std::slice::from_ref(value), "constant", &said.place, sink);
                    check_sendable(&argument, value, "constant", &said.place, sink);
                    HiddenValue::Constant(value.clone())
                }
                HiddenArgument::Setting { key, default, secret, help } => {
                    if let Some(text) = default {
                        // As the server reads it: as it is, or as JSON.
                        let parsed = serde_json::from_str(text).ok();
                        let readings: Vec<Value> = std::iter::once(text.as_str().into()).chain(parsed).collect();
                        check(&argument, &schema, &readings, "default", &said.place, sink);
                        check_sendable(&argument, &text.as_str().into(), "default", &said.place, sink);
                    }
                    let help = help
                        .clone()
                        .unwrap_or_else(|| format!("Sent as `{}` with calls that take it.", argument.wire_name));
                    let default = default.clone().unwrap_or_default();
                    let setting = Setting { key: key.clone(), default, help, secret: *secret, allowed: Vec::new() };
                    // A tool file declares its settings by themselves.
                    if !is_of_file(&operation.origin) {
                        self.declare(setting, said.place, sink);
                    }
                    HiddenValue::Setting { key: key.clone(), schema }
                }
            };
            hidden.push(Hidden { argument, value });
        }
        (shown, hidden)
    }

    /// What an overlay says of the argument, else the first rule that picks it. All rules that pick it count as used.
    fn said<'m>(&mut self, model: &'m Model, operation: &'m Operation, argument: &Argument) -> Option<Said<'m>> {
        let own = operation.extension.arguments.get(&argument.wire_name).filter(|_| is_meant(operation, argument));
        let own = own.and_then(|said| said.hidden.as_ref()).map(|hidden| {
            let pointer = join(&join(&join(&operation.origin, EXTENSION), "arguments"), &argument.wire_name);
            Said { hidden, place: model.loaded.document.place(&pointer) }
        });
        let mut first = None;
        for (index, rule) in model.loaded.config.arguments.iter().enumerate() {
            if picks(rule, operation, argument) {
                self.bites.insert(index);
                first.get_or_insert(rule);
            }
        }
        let ruled =
            || first.map(|rule| Said { hidden: &rule.hidden, place: model.loaded.config_place(&rule.of.pointer) });
        own.or_else(ruled)
    }

    /// Arguments may share a setting that means the same everywhere.
    fn declare(&mut self, setting: Setting, place: Place, sink: &mut Sink) {
        let Some((known, first)) = self.settings.get_mut(&setting.key) else {
            self.settings.insert(setting.key.clone(), (setting, place));
            return;
        };
        if place == *first {
            return;
        }
        if known.default.is_empty() {
            known.default.clone_from(&setting.default);
        }
        known.secret |= setting.secret;
        if known.secret && !known.default.is_empty() {
            let message = format!("the setting `{}` is secret in one place and has a default in another", setting.key);
            let help = format!("remove `default` or `secret`; the other place is {first}");
            sink.push(Diagnostic::error("default-secret", message).at(place).help(help));
            return;
        }
        if !setting.default.is_empty() && known.default != setting.default {
            let message = format!("the setting `{}` has another default at {first}", setting.key);
            let help = "write the default in one of the two places, or use two settings";
            sink.push(Diagnostic::error("setting-default", message).at(place).help(help));
        }
    }

    /// Rules that picked nothing, and the settings that came up.
    pub(super) fn finish(self, model: &mut Model, taken: &[String], sink: &mut Sink) {
        for (index, rule) in model.loaded.config.arguments.iter().enumerate() {
            if !self.bites.contains(&index) {
                let message =
                    format!("this rule hides `{}`, and no operation that it picks has such an argument", rule.name);
                let help = "write the name as it is on the wire, and correct `in` and the globs, or remove the rule";
                let place = model.loaded.config_place(&rule.of.pointer);
                sink.push(Diagnostic::error("rule-matches-nothing", message).at(place).help(help));
            }
        }
        for (key, (setting, place)) in self.settings {
            if taken.contains(&key) {
                let message = format!("the document's credentials and servers make a setting `{key}` already");
                sink.push(Diagnostic::error("setting-name", message).at(place).help("choose another name"));
                continue;
            }
            model.hidden_settings.push(setting);
        }
    }
}

/// Whether what is said of a wire name means this argument: a parameter goes before a member of the body.
fn is_meant(operation: &Operation, argument: &Argument) -> bool {
    let is_parameter = || operation.parameters.iter().any(|parameter| parameter.wire_name == argument.wire_name);
    argument.role != Role::Member || !is_parameter()
}

fn picks(rule: &ArgumentRule, operation: &Operation, argument: &Argument) -> bool {
    let is_named = match argument.role {
        // RFC 9110 section 5.1: names of headers have no case.
        Role::Parameter { location: Location::Header, .. } => argument.wire_name.eq_ignore_ascii_case(&rule.name),
        _ => argument.wire_name == rule.name,
    };
    let is_placed = rule.place.is_none_or(|place| match argument.role {
        Role::Parameter { location, .. } => place.is(location),
        Role::Member | Role::Field { .. } => place == ArgumentPlace::Body,
        _ => false,
    });
    is_named && is_placed && rule.of.matches(traits_of(operation))
}

fn can_be_hidden(argument: &Argument, has_choice: bool) -> Result<(), &'static str> {
    match argument.role {
        Role::Parameter { .. } | Role::Member => Ok(()),
        Role::Field { file: true, .. } => Err("it is a file"),
        Role::Field { .. } if has_choice => Err("it belongs to one of several bodies to choose from"),
        Role::Field { .. } => Ok(()),
        _ => Err("it is no single value of the request"),
    }
}

/// Reports a value of which the schema takes no reading.
fn check(argument: &Argument, schema: &Value, readings: &[Value], what: &str, place: &Place, sink: &mut Sink) {
    // A schema that does not compile is reported where it is frozen.
    let Ok(validator) = jsonschema::draft202012::new(schema) else { return };
    if readings.iter().any(|value| validator.is_valid(value)) {
        return;
    }
    let reason = readings.last().and_then(|value| validator.iter_errors(value).next()).map(|error| error.to_string());
    let message =
        format!("the {what} of `{}` does not fit its schema: {}", argument.wire_name, reason.unwrap_or_default());
    let whose = if is_of_file(&argument.origin) { "" } else { " in an overlay" };
    let help = format!("write a value that the API takes, or correct the schema{whose}");
    sink.push(Diagnostic::error("wrong-value", message).at(place.clone()).help(help));
}

/// Reports a value that the runtime refuses to send, so that every call would fail.
fn check_sendable(argument: &Argument, value: &Value, what: &str, place: &Place, sink: &mut Sink) {
    let Role::Parameter { location, style, .. } = argument.role else { return };
    // As JSON, nothing is empty and control characters are escaped.
    let reason = match location {
        _ if style == Style::Json => return,
        Location::Path if is_no_segment(argument, value) => "the path needs a value with more than dots in it",
        Location::Header if holds_controls(value) => "a header holds no line breaks and no other control characters",
        Location::Cookie if style == Style::Cookie && holds_no_octets(value) => {
            "a cookie of this style holds ASCII without spaces, `\"`, `,`, `;` and `\\`"
        }
        _ => return,
    };
    let message = format!("the {what} of `{}` can never be sent: {reason}", argument.wire_name);
    let error = Diagnostic::error("wrong-value", message).at(place.clone());
    sink.push(error.help("write a value that can be sent, or let callers give the argument"));
}

/// Nothing, or dots alone, which would address another route (RFC 3986 section 5.2.4).
fn is_no_segment(argument: &Argument, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => {
            let sent = argument.send_as.iter().find(|(accepted, _)| accepted == text).map_or(text, |(_, sent)| sent);
            sent.chars().all(|c| c == '.')
        }
        Value::Array(items) => items.iter().all(|item| item.as_str() == Some("")),
        _ => false,
    }
}

/// What the style `cookie`, which encodes nothing, cannot carry (RFC 6265 section 4.1.1, `cookie-octet`).
fn holds_no_octets(value: &Value) -> bool {
    let is_refused = |text: &str| text.contains(|c: char| !c.is_ascii_graphic() || matches!(c, '"' | ',' | ';' | '\\'));
    match value {
        Value::String(text) => is_refused(text),
        Value::Array(items) => items.iter().any(holds_no_octets),
        Value::Object(members) => members.iter().any(|(name, value)| is_refused(name) || holds_no_octets(value)),
        _ => false,
    }
}

/// Whether a value has characters that no header carries (RFC 9110 section 5.5).
fn holds_controls(value: &Value) -> bool {
    let is_control = |text: &str| text.contains(|c: char| c.is_ascii_control() && c != '\t');
    match value {
        Value::String(text) => is_control(text),
        Value::Array(items) => items.iter().any(holds_controls),
        Value::Object(members) => members.iter().any(|(name, value)| is_control(name) || holds_controls(value)),
        _ => false,
    }
}

/// Names for arguments that nobody sees, which no other argument has.
pub(super) fn name(shown: &[Argument], hidden: &mut [Hidden]) {
    let mut taken: BTreeSet<String> = shown.iter().map(|argument| argument.name.clone()).collect();
    for Hidden { argument, .. } in hidden {
        let mut names = std::iter::once(argument.name.clone())
            .chain((1..).map(|number| cut(&format!("{}_hidden_{number}", argument.name), MAX_ARGUMENT)));
        if let Some(name) = names.find(|name| !taken.contains(name)) {
            taken.insert(name.clone());
            argument.name = name;
        }
    }
}
