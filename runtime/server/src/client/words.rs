//! Questions in the words of MCP.

use rmcp::model::{ClientCapabilities, InputRequest};
use serde_json::{Value, json};
use toolwright_core::{Ability, Question, ToolError};

/// The request that a question becomes.
///
/// # Errors
/// `handler_failed` where a handler's form is none that MCP has, such as one with an object in an object.
pub(super) fn request(question: &Question) -> Result<InputRequest, ToolError> {
    let request = match question {
        Question::Form { message, schema } => {
            json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
        }
        Question::Sample(parameters) => json!({"method": "sampling/createMessage", "params": parameters}),
        Question::Roots => json!({"method": "roots/list"}),
    };
    let read = match question {
        Question::Form { .. } => serde_json::from_value(request).map(InputRequest::Elicitation),
        Question::Sample(_) => serde_json::from_value(request).map(InputRequest::CreateMessage),
        Question::Roots => serde_json::from_value(request).map(InputRequest::ListRoots),
    };
    read.map_err(|error| ToolError::failed(format!("the handler's question is none that MCP has: {error}")))
}

/// Whether a client declared what such questions need.
pub(super) fn declares(capabilities: &ClientCapabilities, ability: Ability) -> bool {
    match ability {
        // An empty object stands for forms, which were there first (MCP 2025-11-25, Elicitation: Capabilities).
        Ability::Form => capabilities.elicitation.as_ref().is_some_and(|it| it.form.is_some() || it.url.is_none()),
        Ability::Sample => capabilities.sampling.is_some(),
        Ability::Roots => capabilities.roots.is_some(),
    }
}

/// The capabilities that a client would have to declare.
pub(super) fn required(ability: Ability) -> ClientCapabilities {
    let object: Value = json!({ability.capability(): {}});
    serde_json::from_value(object).unwrap_or_default()
}
