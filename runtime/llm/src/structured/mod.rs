//! Values that fit a schema, from models that may or may not follow it.

mod clean;
mod constrained;
mod schema;
mod submit;
#[cfg(test)]
mod tests;

use std::{fmt, num::NonZeroU32};

use serde_json::Value;
use toolwright_http::CallContext;

use self::constrained::Outcome;
pub use self::{
    clean::{Cleaned, Unclear, without_reasoning},
    schema::{OutputSchema, SchemaError},
    submit::Tools,
};
use crate::{
    answer::Usage,
    error::ModelError,
    model::Model,
    request::{Effort, Message, Request},
};

/// What is asked for, and how long.
#[derive(Debug, Clone)]
pub struct Structured {
    /// What the value must be.
    pub schema: OutputSchema,
    /// The system prompt.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The name of the tool by which the model submits.
    pub tool_name: String,
    /// What that tool does.
    pub tool_description: String,
    /// How often the model may fail to submit by the tool. That it was asked under the schema before does not count.
    pub max_attempts: NonZeroU32,
    /// How often it is asked in all, calls of other tools included.
    pub max_turns: NonZeroU32,
    /// How it is asked.
    pub strategy: Strategy,
    /// The most tokens of each answer.
    pub max_output_tokens: Option<NonZeroU32>,
    /// How long the model thinks before each.
    pub reasoning_effort: Option<Effort>,
}

/// How a model is asked for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Held to the schema where the deployment can do that and no other tools are there; by the tool where that fails.
    #[default]
    Auto,
    /// Held to the schema, once.
    Constrained,
    /// By the tool: an ordinary one that nobody forces, which is what all deployments have in common.
    SubmitTool,
}

const FIVE: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);
const HUNDRED: NonZeroU32 = NonZeroU32::MIN.saturating_add(99);

impl Structured {
    /// A question with the defaults: the tool `submit_result`, 5 attempts, 100 turns.
    #[must_use]
    pub fn new(schema: OutputSchema, system: impl Into<String>, messages: Vec<Message>) -> Self {
        Structured {
            schema,
            system: system.into(),
            messages,
            tool_name: "submit_result".to_owned(),
            tool_description: "Hands in the final structured result. Call it exactly once, as the last thing you do."
                .to_owned(),
            max_attempts: FIVE,
            max_turns: HUNDRED,
            strategy: Strategy::Auto,
            max_output_tokens: None,
            reasoning_effort: None,
        }
    }

    fn request(&self, system: String, messages: Vec<Message>) -> Request {
        Request {
            system,
            messages,
            max_output_tokens: self.max_output_tokens,
            reasoning_effort: self.reasoning_effort,
            ..Request::default()
        }
    }
}

/// A value that fits the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Submitted {
    /// The value, every digit kept.
    pub value: Value,
    /// How it came: [`Strategy::Constrained`] or [`Strategy::SubmitTool`].
    pub by: Strategy,
    /// How often the model was asked.
    pub turns: u32,
    /// How often it failed before.
    pub failed_attempts: u32,
    /// What stood around the value in a text. Much of that is a sign of a badly configured model.
    pub cleaned: Cleaned,
    /// What all turns cost.
    pub usage: Usage,
    /// The conversation, with everything that was added.
    pub messages: Vec<Message>,
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StructuredError {
    /// The model could not be asked.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model did not submit anything that fits.
    #[error("{0}")]
    NotSubmitted(Box<NotSubmitted>),
    /// The model went on calling tools.
    #[error("the model was asked {turns} times and is still calling tools without submitting by {tool_name:?}")]
    TooManyTurns {
        /// The tool.
        tool_name: String,
        /// The limit.
        turns: u32,
    },
    /// The model, or a filter before it, refused: it would not submit either.
    #[error("the model {model:?} refused to answer; ask in other words")]
    Refusal {
        /// The model.
        model: String,
    },
    /// What was written under the schema does not fit it.
    #[error("the answer was asked for under a schema and does not fit it: {0}")]
    Unfit(String),
}

/// Every attempt has failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub struct NotSubmitted {
    /// The tool.
    pub tool_name: String,
    /// How many attempts by the tool there were.
    pub attempts: u32,
    /// Whether the model was asked under the schema before, once.
    pub was_held: bool,
    /// What was wrong with the last attempt.
    pub last_fault: String,
}

impl fmt::Display for NotSubmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotSubmitted { tool_name, attempts, last_fault, .. } = self;
        let before = if self.was_held { ", after one under the schema" } else { "" };
        write!(
            f,
            "the model did not submit a valid result by {tool_name:?} within {attempts} attempts{before}; \
             the last one: {last_fault}"
        )
    }
}

/// Asks for a value, without other tools. The model's retries stay below: each turn is repeated by itself.
///
/// # Errors
/// Why there is none.
pub async fn submit_structured(
    model: &Model,
    asked: &Structured,
    context: &CallContext,
) -> Result<Submitted, StructuredError> {
    let is_constrained = match asked.strategy {
        Strategy::Auto => model.spec().constrained_output,
        Strategy::Constrained => true,
        Strategy::SubmitTool => false,
    };
    if !is_constrained {
        return submit::ask(model, asked, None, context).await;
    }
    let missed = match constrained::ask(model, asked, context).await? {
        Outcome::Fits(submitted) => return Ok(submitted),
        Outcome::Missed(missed) if asked.strategy == Strategy::Constrained => return Err(missed.why),
        Outcome::Missed(missed) => missed,
    };
    tracing::info!(model = model.id(), why = %missed.why, "an answer under a schema did not fit; asking by a tool");
    let mut submitted = submit::ask(model, asked, None, context).await.map_err(after_a_miss)?;
    submitted.turns += 1;
    submitted.failed_attempts += 1;
    submitted.usage.add(missed.usage);
    Ok(submitted)
}

/// The failure of a model that was asked under the schema before.
fn after_a_miss(error: StructuredError) -> StructuredError {
    match error {
        StructuredError::NotSubmitted(mut failure) => {
            failure.was_held = true;
            StructuredError::NotSubmitted(failure)
        }
        other => other,
    }
}

/// Asks for a value, with tools that the model may use on its way.
///
/// # Errors
/// Why there is none.
pub async fn submit_with_tools(
    model: &Model,
    asked: &Structured,
    tools: &dyn Tools,
    context: &CallContext,
) -> Result<Submitted, StructuredError> {
    submit::ask(model, asked, Some(tools), context).await
}
