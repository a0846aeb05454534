//! The sandbox as a tool that a model calls: its text, its input, and a call within a budget.

use crate::{Access, CancellationToken, Limits, ModelOutput, Sandbox};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Display;
use tokio::time::Instant;

/// The tool's name. Models know tools of this name.
pub const TOOL_NAME: &str = "Bash";

/// The tool's description: the roots and tools that the profile really grants here.
pub fn describe(sandbox: &Sandbox) -> String {
    let mut text = String::from("Runs a command with `sh -c` in a sandbox and returns its exit code and output.\n");
    text.push_str(&format!("Working folder: {}\n", sandbox.layout().working_folder.display()));
    for (path, access) in sandbox.layout().roots() {
        let access = match access {
            Access::ReadOnly => "read only",
            Access::ReadWrite => "read and write",
        };
        text.push_str(&format!("Folder: {} ({access})\n", path.display()));
    }
    match sandbox.tools() {
        [] => text.push_str("Programs: none; only the shell's own commands run.\n"),
        tools => text
            .push_str(&format!("Programs: {}. No others exist, besides the shell's own commands.\n", tools.join(", "))),
    }
    let profile = sandbox.profile();
    text.push_str(if profile.network { "The network can be used.\n" } else { "There is no network.\n" });
    if profile.writes() {
        text.push_str("Temporary files go to $TMPDIR and are gone after the command.\n");
    }
    let limits = &profile.limits;
    text.push_str(&format!(
        "Each command is stopped after {} seconds, with everything that it started. Long output is cut in the middle: select \
         what you need.\nThe command gets no credentials and nothing of the caller's environment.",
        limits.timeout_seconds
    ));
    text
}

/// The tool's input as JSON Schema.
pub fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": {
                "type": "string",
                "description": "The shell command.",
                "minLength": 1,
                "maxLength": Limits::COMMAND_CHARACTERS,
            },
        },
        "required": ["command"],
        "additionalProperties": false,
    })
}

/// The answer of one call. It has a result or an error, never both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolReply {
    /// What the command gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ModelOutput>,
    /// Why it was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How many calls are left. None where that is not known.
    pub tool_budget: Option<u64>,
}

/// Claims one call from a budget and runs the command. Whatever goes wrong is said in the answer.
///
/// `claim` takes one call from the budget and says how many are left after it, or None if there was none left. At most
/// `bytes` bytes of each output stream are shown.
pub async fn answer<E: Display>(
    sandbox: &Sandbox,
    command: &str,
    bytes: usize,
    deadline: Option<Instant>,
    cancel: &CancellationToken,
    claim: impl AsyncFnOnce() -> Result<Option<u64>, E>,
) -> ToolReply {
    let failed = |error: String, left| ToolReply { result: None, error: Some(error), tool_budget: left };
    match claim().await {
        Err(error) => failed(format!("the budget of tool calls cannot be read: {error}"), None),
        Ok(None) => {
            failed("the budget of tool calls is used up; give the final structured result now".to_owned(), Some(0))
        }
        Ok(Some(left)) => match sandbox.run(command, deadline, cancel).await {
            Ok(outcome) => ToolReply { result: Some(outcome.for_model(bytes)), error: None, tool_budget: Some(left) },
            Err(error) => failed(error.to_string(), Some(left)),
        },
    }
}
