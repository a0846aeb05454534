//! What a tool's file says of its command, as the generator writes it.

use super::words;
use crate::{Access, Command, INSPECTION_TOOLS, Level, Limits, Profile, Root};
use serde::Deserialize;
use serde_json::{Map, Value};
use toolwright_core::{Context, ToolError};

/// How much of each output stream is shown, where the file does not say it.
const SHOWN_BYTES: usize = 16 * 1024;

/// The plan of a tool that runs a command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    command: Option<Vec<Word>>,
    shell: Option<String>,
    tools: Option<Vec<String>>,
    #[serde(default)]
    optional_tools: Vec<String>,
    roots: Vec<PlannedRoot>,
    /// Absolute, or relative to the first root.
    #[serde(default)]
    denied_paths: Vec<String>,
    #[serde(default)]
    network: bool,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    minimum_level: Level,
    exit_codes: Option<Vec<i32>>,
    /// Whether standard output is JSON.
    #[serde(default)]
    pub(super) json: bool,
    shown_bytes: Option<usize>,
    /// Whether a filter of the server's makes `data`. It stands in the tool's row, beside this plan.
    #[serde(skip)]
    pub(super) is_projected: bool,
}

/// An element of a command.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Word {
    /// One argument, or as many as the list that an input is.
    One(String),
    /// Arguments that are left out together.
    Together(Vec<String>),
}

/// A folder, by its path or by the setting that holds it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlannedRoot {
    path: Option<String>,
    setting: Option<String>,
    access: Access,
}

impl Plan {
    /// The command with the inputs of a call in it.
    ///
    /// # Errors
    /// `invalid_arguments` where an input would pass for an option.
    pub(super) fn command(&self, inputs: &Map<String, Value>) -> Result<Command, ToolError> {
        match (&self.command, &self.shell) {
            (Some(command), _) => Ok(Command::program(words::written(command, inputs)?)),
            (None, Some(shell)) => {
                let variables = inputs.iter().filter(|(_, value)| !value.is_null());
                let command = Command::shell(shell.as_str());
                Ok(variables.fold(command, |command, (name, value)| command.with_variable(name, words::text(value))))
            }
            (None, None) => Err(ToolError::failed("the plan has no command; generate the server again")),
        }
    }

    /// What the command may reach.
    ///
    /// # Errors
    /// Where a setting that holds a folder has no value.
    pub(super) fn profile(&self, context: &Context) -> Result<Profile, ToolError> {
        let roots = self.roots.iter().map(|root| root.resolved(context)).collect::<Result<Vec<_>, _>>()?;
        let first = roots.first().map(|root| root.path.clone()).unwrap_or_default();
        Ok(Profile {
            denied_paths: self.denied_paths.iter().map(|path| first.join(path)).collect(),
            network: self.network,
            tools: self.tools(),
            optional_tools: self.optional_tools.clone(),
            limits: self.limits,
            minimum_level: self.minimum_level,
            ..Profile::new(roots)
        })
    }

    /// Which settings name the folders, for whoever has to correct one; empty where none does.
    pub(super) fn whence(&self) -> String {
        let names = self.roots.iter().filter_map(|root| root.setting.as_deref());
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        match names.is_empty() {
            true => String::new(),
            false => format!(" (see the setting {})", names.join(", ")),
        }
    }

    /// The program of the command and what is listed; for a shell, what only looks at files where nothing is listed.
    fn tools(&self) -> Vec<String> {
        let program = match self.command.as_deref() {
            Some([Word::One(program), ..]) => Some(program.clone()),
            _ => None,
        };
        let listed = match (&self.tools, &program) {
            (Some(tools), _) => tools.clone(),
            (None, Some(_)) => Vec::new(),
            (None, None) => INSPECTION_TOOLS.map(str::to_owned).to_vec(),
        };
        let mut tools: Vec<String> = program.into_iter().chain(listed).collect();
        tools.sort();
        tools.dedup();
        tools
    }

    /// Whether an exit code is one of a success.
    pub(super) fn is_success(&self, code: i32) -> bool {
        self.exit_codes.as_deref().unwrap_or(&[0]).contains(&code)
    }

    /// How much of each output stream is shown.
    pub(super) fn shown_bytes(&self) -> usize {
        self.shown_bytes.unwrap_or(SHOWN_BYTES)
    }

    /// How long the command may run, in seconds.
    pub(super) fn seconds(&self) -> u64 {
        self.limits.timeout_seconds
    }
}

impl PlannedRoot {
    fn resolved(&self, context: &Context) -> Result<Root, ToolError> {
        let path = match (&self.path, &self.setting) {
            (Some(path), _) => path.as_str(),
            (None, Some(setting)) => context.required_setting(setting)?,
            (None, None) => {
                return Err(ToolError::failed("a folder of the plan has no path; generate the server again"));
            }
        };
        Ok(Root { path: path.into(), access: self.access })
    }
}
