//! One turn whose text is held to the schema while it is written.

use toolwright_http::CallContext;

use super::{Strategy, Structured, StructuredError, Submitted, clean};
use crate::{
    answer::{StopReason, Usage},
    model::Model,
    request::{Message, Request},
};

/// What became of the turn.
pub(super) enum Outcome {
    Fits(Submitted),
    Missed(Missed),
}

/// A turn without a value.
pub(super) struct Missed {
    pub(super) why: StructuredError,
    pub(super) usage: Usage,
}

/// Asks once. What the upstream says against the form of the request is a miss; every other error is one.
pub(super) async fn ask(model: &Model, asked: &Structured, context: &CallContext) -> Result<Outcome, StructuredError> {
    let request = Request {
        output_schema: Some(asked.schema.value().clone()),
        ..asked.request(asked.system.clone(), asked.messages.clone())
    };
    let answer = match model.complete(&request, context).await {
        Ok(answer) => answer,
        Err(error) if error.refuses_the_form() => {
            return Ok(Outcome::Missed(Missed { why: error.into(), usage: Usage::default() }));
        }
        Err(error) => return Err(error.into()),
    };
    let usage = answer.usage;
    let missed = |why: String| Ok(Outcome::Missed(Missed { why: StructuredError::Unfit(why), usage }));
    let (value, cleaned) = match clean::value_of(&answer.text) {
        Ok(found) => found,
        Err(_) if answer.stop == StopReason::Refusal => {
            return Err(StructuredError::Refusal { model: model.id().to_owned() });
        }
        Err(_) if answer.stop == StopReason::Length => return missed("it was cut at the limit of its length".into()),
        Err(unclear) => return missed(unclear.to_string()),
    };
    if let Some(faults) = asked.schema.faults(&value) {
        return missed(faults);
    }
    if !cleaned.is_nothing() {
        tracing::warn!(model = model.id(), ?cleaned, "an answer under a schema had more around it than the value");
    }
    let mut messages = asked.messages.clone();
    messages.push(Message::Assistant(answer.into_turn()));
    let (by, turns, failed_attempts) = (Strategy::Constrained, 1, 0);
    Ok(Outcome::Fits(Submitted { value, by, turns, failed_attempts, cleaned, usage, messages }))
}
