//! Arguments that callers never see, added to those that they gave.

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use reqwest::Url;
use serde_json::{Map, Value};
use toolwright_core::{
    Binding, Body, Code, Hidden, HiddenValue, Location, Parameter, Setting, ToolError, ToolSpec, read_setting,
};

use crate::{auth, config::Config, encode, plan::Planned};

/// Values by argument.
type Values = Arc<[(&'static str, Value)]>;

/// The values of each tool's hidden arguments. Settings do not change while a server runs, so that they are read once a
/// tool.
#[derive(Debug, Default)]
pub(crate) struct HiddenValues(Mutex<BTreeMap<&'static str, Values>>);

impl HiddenValues {
    /// Adds the hidden arguments of a call.
    ///
    /// # Errors
    /// `not_allowed` where a setting is missing or does not fit.
    pub(crate) fn add(
        &self,
        config: &Config,
        spec: &ToolSpec,
        arguments: &mut Map<String, Value>,
    ) -> Result<(), ToolError> {
        if spec.binding.hidden().is_empty() {
            return Ok(());
        }
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(spec.name).cloned();
        let values = match known {
            Some(values) => values,
            None => {
                let values: Values = values(config, spec, value)?.into();
                self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(spec.name, Arc::clone(&values));
                values
            }
        };
        merge(spec, arguments, &values);
        Ok(())
    }
}

/// Adds the hidden arguments of a request that is only shown: the name of its variable stands for a secret.
///
/// # Errors
/// As [`HiddenValues::add`].
pub(crate) fn add_shown(config: &Config, spec: &ToolSpec, arguments: &mut Map<String, Value>) -> Result<(), ToolError> {
    let shown = |config: &Config, spec: &ToolSpec, hidden: &Hidden| match secret(config, hidden) {
        Some(setting) => Ok(setting.env.into()),
        None => value(config, spec, hidden),
    };
    merge(spec, arguments, &values(config, spec, shown)?);
    Ok(())
}

/// Shows the headers that are secrets as shell that fills their variables in.
pub(crate) fn show_headers(config: &Config, spec: &ToolSpec, planned: &mut Planned) {
    for parameter in parameters(spec).iter().filter(|parameter| parameter.location == Location::Header) {
        let hidden = spec.binding.hidden().iter().find(|hidden| hidden.argument == parameter.argument);
        let Some(setting) = hidden.and_then(|hidden| secret(config, hidden)) else { continue };
        if planned.headers.remove(parameter.wire).is_some() {
            let name = parameter.wire.to_ascii_lowercase();
            planned.credentials.push(auth::header_placeholder(&name, setting.env));
        }
    }
}

fn parameters(spec: &ToolSpec) -> &'static [Parameter] {
    match spec.binding {
        Binding::Http(http) => http.parameters,
        Binding::WebSocket(websocket) => websocket.parameters,
        _ => &[],
    }
}

/// Why the value of a hidden argument cannot be sent where it belongs; `None` where it can, and for what is in the body.
#[must_use]
pub fn why_not_sendable(spec: &ToolSpec, argument: &str, value: &Value) -> Option<String> {
    let parameter = parameters(spec).iter().find(|parameter| parameter.argument == argument)?;
    let path = match spec.binding {
        Binding::Http(http) => http.path,
        Binding::WebSocket(websocket) => websocket.path,
        _ => "",
    };
    let placeholder = format!("{{{}}}", parameter.wire);
    let template = match parameter.location {
        // Beside other characters, dots are no segment of dots.
        Location::Path if path.split('/').any(|segment| segment == placeholder) => format!("/{placeholder}"),
        Location::Path => format!("/x{placeholder}"),
        _ => "/".to_owned(),
    };
    let base = Url::parse("http://localhost/").ok()?;
    let arguments = Map::from_iter([(argument.to_owned(), value.clone())]);
    encode::target(&base, &template, std::slice::from_ref(parameter), &arguments).err().map(|error| error.message)
}

fn values(
    config: &Config,
    spec: &ToolSpec,
    value: impl Fn(&Config, &ToolSpec, &Hidden) -> Result<Value, ToolError>,
) -> Result<Vec<(&'static str, Value)>, ToolError> {
    spec.binding.hidden().iter().map(|hidden| Ok((hidden.argument, value(config, spec, hidden)?))).collect()
}

fn value(config: &Config, spec: &ToolSpec, hidden: &Hidden) -> Result<Value, ToolError> {
    match hidden.value {
        HiddenValue::Constant(text) => serde_json::from_str(text)
            .map_err(|_| not_allowed(format!("the constant of the hidden argument `{}` is no JSON", hidden.argument))),
        HiddenValue::Setting { key, schema } => {
            let declared = declared(config, key);
            let named = match declared {
                Some(setting) => format!("`{key}` (environment variable {})", setting.env),
                None => format!("`{key}`"),
            };
            let default = declared.map(|setting| setting.default).filter(|text| !text.is_empty());
            let text = config.setting(key).or(default).ok_or_else(|| {
                not_allowed(format!(
                    "this call needs the setting {named} of the server, which is not set; its operator has to set it"
                ))
            })?;
            let value = read_setting(schema, text).map_err(|error| {
                not_allowed(format!(
                    "the setting {named} of the server must be {error}; its operator has to correct it"
                ))
            })?;
            match why_not_sendable(spec, hidden.argument, &value) {
                None => Ok(value),
                Some(reason) => Err(not_allowed(format!(
                    "the setting {named} of the server cannot be sent, and its operator has to correct it: {reason}"
                ))),
            }
        }
    }
}

fn not_allowed(message: String) -> ToolError {
    ToolError::new(Code::NotAllowed, message)
}

fn declared(config: &Config, key: &str) -> Option<&'static Setting> {
    config.access.settings.iter().find(|setting| setting.key == key)
}

/// The setting of a hidden argument whose value must not be shown.
fn secret(config: &Config, hidden: &Hidden) -> Option<&'static Setting> {
    match hidden.value {
        HiddenValue::Constant(_) => None,
        HiddenValue::Setting { key, .. } => declared(config, key).filter(|setting| setting.secret),
    }
}

/// Whether a hidden argument holds a secret, which goes to the upstream's own origin alone.
pub(crate) fn holds_secret(config: &Config, hidden: &[Hidden]) -> bool {
    hidden.iter().any(|hidden| secret(config, hidden).is_some())
}

/// An optional body that needs more than its hidden members is not made by them.
fn merge(spec: &ToolSpec, arguments: &mut Map<String, Value>, values: &[(&'static str, Value)]) {
    let body = match &spec.binding {
        Binding::Http(http) => &http.body,
        _ => &Body::None,
    };
    let is_hidden = |name: &str| values.iter().any(|(argument, _)| *argument == name);
    let asked = body.optional_members().iter().filter(|member| !is_hidden(member.argument));
    let is_needed = asked.clone().any(|member| member.required);
    let is_given = asked.clone().any(|member| arguments.contains_key(member.argument));
    let left_out = if is_needed && !is_given { body.optional_members() } else { &[] };
    for (argument, value) in values {
        if !left_out.iter().any(|member| member.argument == *argument) {
            arguments.insert((*argument).to_owned(), value.clone());
        }
    }
}
