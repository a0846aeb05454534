//! The inputs of a call in the arguments of a command. None of them is ever a part of a text that a shell reads.

use super::plan::Word;
use crate::{Access, Command, Profile};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::convert::Infallible;
use toolwright_core::ToolError;
use toolwright_steps::{Scope, render, render_text};

/// Behind this argument, programs take nothing for an option.
const END_OF_OPTIONS: &str = "--";

/// The arguments with their inputs. What has an input without a value is left out.
///
/// # Errors
/// `invalid_arguments` where a text of the caller's begins an argument with `-`, and would pass for an option.
pub(super) fn written(command: &[Word], inputs: &Map<String, Value>) -> Result<Vec<String>, ToolError> {
    let mut made: Vec<String> = Vec::new();
    for word in command {
        let group = match word {
            Word::One(text) => std::slice::from_ref(text),
            Word::Together(texts) => texts.as_slice(),
        };
        let ends = made.iter().any(|word| word == END_OF_OPTIONS);
        let found: Option<Vec<Vec<String>>> = group
            .iter()
            .map(|text| argument(text, inputs, ends).transpose())
            .collect::<Option<Result<_, _>>>()
            .transpose()?;
        made.extend(found.into_iter().flatten().flatten());
    }
    Ok(made)
}

/// One argument, or several where it is a list of the caller's; `None` where an input has no value.
fn argument(text: &str, inputs: &Map<String, Value>, ends: bool) -> Result<Option<Vec<String>>, ToolError> {
    let scope = Scope { inputs, steps: &BTreeMap::new(), answer: None };
    let whole = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).filter(|inner| is_one_input(inner));
    if let Ok(Some(Value::Array(items))) = render(&whole.unwrap_or(text).into(), &scope) {
        let items: Vec<String> = items.iter().map(self::text).collect();
        items.iter().try_for_each(|item| no_option(text, item, ends))?;
        return Ok(Some(items));
    }
    let (mut is_missing, mut is_text) = (false, false);
    let begins = text.starts_with('$') || text.starts_with("{$");
    let made = render_text(text, &scope, |_, value| {
        is_missing |= value.as_ref().is_none_or(Value::is_null);
        is_text |= value.as_ref().is_some_and(Value::is_string);
        Ok::<_, Infallible>(value.as_ref().map(self::text).unwrap_or_default())
    });
    let made = made.unwrap_or_else(|never| match never {});
    if is_missing {
        return Ok(None);
    }
    if begins && is_text {
        no_option(text, &made, ends)?;
    }
    Ok(Some(vec![made]))
}

fn is_one_input(inner: &str) -> bool {
    inner.starts_with("$inputs.") && !inner.contains(['{', '}'])
}

/// A value as an argument: a text as it is, anything else as JSON.
pub(super) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A caller must not choose what a program does. The author says where arguments are no options any more.
fn no_option(argument: &str, value: &str, ends: bool) -> Result<(), ToolError> {
    if ends || !value.starts_with('-') {
        return Ok(());
    }
    let name = argument.trim_matches(['{', '}']).trim_start_matches("$inputs.");
    let message =
        format!("`{name}` begins with `-`, which the command would take for an option; write it in another way");
    Err(ToolError::invalid(message))
}

/// The command and what it may reach, for people.
pub(super) fn explained(command: &Command, profile: &Profile) -> String {
    let mut lines = match command.arguments.as_slice() {
        [] => vec![format!("sh -c {}", quoted(&command.script))],
        words => vec![words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")],
    };
    lines.extend(command.variables.iter().map(|(name, value)| format!("  {name}={}", quoted(value))));
    lines.extend(profile.roots.iter().map(|root| {
        let access = if root.access == Access::ReadWrite { "read and write" } else { "read only" };
        format!("folder {} ({access})", root.path.display())
    }));
    lines.extend(profile.denied_paths.iter().map(|path| format!("never {}", path.display())));
    lines.push(format!("programs {}", profile.tools.join(", ")));
    lines.push(if profile.network { "with the network".to_owned() } else { "without a network".to_owned() });
    lines.push(format!("at most {} s", profile.limits.timeout_seconds));
    lines.join("\n")
}

/// As a shell would read it back.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}
