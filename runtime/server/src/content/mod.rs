//! What the server offers beside its tools: prompts, resources and completions.

mod answer;
mod completions;
mod prompts;
mod resources;
mod saved;

#[cfg(test)]
mod tests;

use rmcp::model::{ErrorData, Role as SaidBy};
use serde_json::json;
use toolwright_core::content::Role;
use toolwright_core::{Code, Envelope};

use crate::App;

pub(crate) use completions::{Suggestions, complete};
pub(crate) use prompts::{get, list as prompts};
pub(crate) use resources::{Freshness, list as resources, read, templates};

impl App {
    /// Whether there is any prompt.
    pub(crate) fn has_prompts(&self) -> bool {
        !self.server.prompts.is_empty()
    }

    /// Whether there is, or may be, any resource: answers of an API may be saved.
    pub(crate) fn has_resources(&self) -> bool {
        self.has_upstream() || !self.server.resources.is_empty()
    }

    /// Whether some argument has suggestions.
    pub(crate) fn has_completions(&self) -> bool {
        let of_prompts = self.server.prompts.iter().flat_map(|prompt| prompt.arguments);
        of_prompts.into_iter().any(|argument| argument.completion.is_some())
            || self.server.resources.iter().any(|resource| !resource.completions.is_empty())
    }
}

fn said_by(role: Role) -> SaidBy {
    match role {
        Role::User => SaidBy::User,
        Role::Assistant => SaidBy::Assistant,
    }
}

/// A failed call as the error of a request that is no call. Its data says what failed, in the words of an envelope.
fn failure(envelope: &Envelope, what: &str) -> ErrorData {
    let said = envelope.error.as_ref().map_or("the upstream refused", |error| error.message.as_str());
    let message = format!("{what}: {said}");
    let data = match envelope.status_code {
        Some(status) => json!({"code": envelope.code(), "status_code": status}),
        None => json!({"code": envelope.code()}),
    };
    match envelope.code() {
        Some(Code::InvalidArguments | Code::NotAllowed) => ErrorData::invalid_params(message, Some(data)),
        _ => ErrorData::internal_error(message, Some(data)),
    }
}
