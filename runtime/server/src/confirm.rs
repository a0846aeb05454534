//! Calls that a person must agree to first, where the operator wants that (setting `confirm`).

use serde_json::{Map, Value};
use toolwright_core::{Code, Reply, Risk, ToolError};
use toolwright_http::CallContext;

use crate::App;
use crate::settings::Confirm;

/// Arguments that a message shows at most.
const MOST_ARGUMENTS: usize = 20;

/// Characters of one argument that a message shows at most.
const MOST_CHARACTERS: usize = 300;

/// A call that is about to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Intent<'a> {
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    pub(crate) risk: Risk,
    pub(crate) arguments: &'a Map<String, Value>,
}

impl App {
    /// True where a call of that risk waits for a person's yes.
    pub(crate) fn must_be_confirmed(&self, risk: Risk) -> bool {
        match self.settings.confirm {
            Confirm::Off => false,
            Confirm::Destructive => risk == Risk::Destructive,
            Confirm::Writes => !risk.leaves_state(),
        }
    }

    /// Asks a person, where the operator wants that.
    ///
    /// # Errors
    /// `not_allowed` where nobody can be asked or the person says no, `cancelled` where they say nothing; `input_required`
    /// where the client will make the call again with the answer.
    pub(crate) async fn confirm(&self, intent: Intent<'_>, context: &CallContext) -> Result<(), ToolError> {
        if !self.must_be_confirmed(intent.risk) {
            return Ok(());
        }
        let answer = tokio::select! {
            biased;
            () = context.cancel.cancelled() => {
                return Err(ToolError::new(Code::Cancelled, "the call was cancelled before a person answered"));
            }
            answer = context.client.confirm(self.question(intent)) => answer,
        };
        let name = intent.name;
        match answer {
            Ok(Reply::Filled(_)) => Ok(()),
            Ok(Reply::Declined) => {
                let message =
                    format!("the person declined the call of {name}; nothing was done. Do not try again unasked");
                Err(ToolError::new(Code::NotAllowed, message))
            }
            Ok(_) => {
                let message = format!("the person gave no answer about the call of {name}; nothing was done");
                Err(ToolError::new(Code::Cancelled, message))
            }
            Err(error) if error.code == Code::MissingCapability => Err(self.nobody_to_ask(name, &error)),
            Err(error) => Err(error),
        }
    }

    fn nobody_to_ask(&self, name: &str, error: &ToolError) -> ToolError {
        let (server, prefix, reason) = (self.server.name, self.server.env_prefix, &error.message);
        let message = format!(
            "{name} must be confirmed by a person, and nobody can be asked: {reason}. Nothing was done. A person can make the \
             call with `{server}-server call {name}`, or the operator can set {prefix}_MCP_CONFIRM=off"
        );
        ToolError::new(Code::NotAllowed, message)
    }

    /// What the person reads: the tool, what such a call does, and its arguments, as they are and without tricks of display.
    fn question(&self, intent: Intent<'_>) -> String {
        let does = match intent.risk {
            Risk::Destructive => "It changes, stops or removes what is there.",
            _ => "It changes what is there.",
        };
        let mut lines = vec![format!("Call {} ({})? {does}", intent.title, intent.name)];
        let mut shown = Value::Object(intent.arguments.clone());
        self.own.hide_secrets(&mut shown);
        let members = shown.as_object().into_iter().flatten();
        lines.extend(
            members.take(MOST_ARGUMENTS).map(|(name, value)| format!("{}: {}", plain(name), plain(&text(value)))),
        );
        let left = intent.arguments.len().saturating_sub(MOST_ARGUMENTS);
        if left > 0 {
            lines.push(format!("… and {left} more arguments"));
        }
        lines.join("\n")
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Bounded, and with every character that cannot be seen written out: what a person agrees to must be what they see.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    for character in characters.by_ref().take(MOST_CHARACTERS) {
        match character {
            '"' | '\'' | '\\' => plain.push(character),
            other => plain.extend(other.escape_debug()),
        }
    }
    match characters.count() {
        0 => plain,
        left => format!("{plain}… and {left} more characters"),
    }
}

#[cfg(test)]
mod tests;
