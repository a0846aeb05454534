//! What is run.

use crate::{Limits, SandboxError};
use serde::{Deserialize, Serialize};

/// A text for the shell that starts its own arguments as a program, with them as they are.
const START_ARGUMENTS: &str = "exec \"$@\"";

/// The longest argument that Linux hands to a program (`MAX_ARG_STRLEN`, its end included).
const ARGUMENT_BYTES: usize = 128 * 1024 - 1;

/// One command: a text for the shell, with arguments and variables that are no part of that text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    pub(crate) script: String,
    /// What `$1`, `$2`, … are.
    pub(crate) arguments: Vec<String>,
    /// Variables of the environment. The sandbox's own, such as `PATH`, are not changed by them.
    pub(crate) variables: Vec<(String, String)>,
}

impl Command {
    /// A command for `sh -c`.
    pub fn shell(script: impl Into<String>) -> Self {
        Self { script: script.into(), arguments: Vec::new(), variables: Vec::new() }
    }

    /// A program and its arguments. No character of them means anything to the shell.
    pub fn program<S: Into<String>>(words: impl IntoIterator<Item = S>) -> Self {
        Self { arguments: words.into_iter().map(Into::into).collect(), ..Self::shell(START_ARGUMENTS) }
    }

    /// The same with a variable of the environment, such as `"$name"` in a shell command stands for.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Checks what a command must be to be run at all.
    pub(crate) fn check(&self) -> Result<(), SandboxError> {
        let is_program = self.script == START_ARGUMENTS;
        let first = if is_program { self.arguments.first() } else { Some(&self.script) };
        if first.is_none_or(|text| text.trim().is_empty()) {
            return Err(SandboxError::Command("is blank"));
        }
        if self.script.chars().count() > Limits::COMMAND_CHARACTERS {
            return Err(SandboxError::Command("is longer than 16,000 characters; write a shorter one, or several"));
        }
        let variables = self.variables.iter().flat_map(|(name, value)| [name, value]);
        let mut texts = std::iter::once(&self.script).chain(&self.arguments).chain(variables);
        if texts.clone().any(|text| text.contains('\0')) {
            return Err(SandboxError::Command("contains a NUL character"));
        }
        // A variable takes its name and `=` as well.
        let longest = ARGUMENT_BYTES - self.variables.iter().map(|(name, _)| name.len() + 1).max().unwrap_or_default();
        if texts.any(|text| text.len() > longest) {
            return Err(SandboxError::Command("has a value of more than 128 KiB; give it less, or a file"));
        }
        Ok(())
    }
}

impl From<&str> for Command {
    fn from(script: &str) -> Self {
        Self::shell(script)
    }
}

impl From<&String> for Command {
    fn from(script: &String) -> Self {
        Self::shell(script)
    }
}
