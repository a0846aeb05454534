//! One request to the upstream: attempts, redirects, and waiting for a model that loads.

mod attempt;
mod fault;
mod loading;
mod retry;
#[cfg(test)]
mod tests;

pub(crate) use attempt::{Attempt, add_headers, observe};
pub(crate) use fault::{broke_off, unreachable};
pub use fault::{innermost, no_answer};
pub(crate) use loading::details_of as loading_details;
#[cfg(feature = "fuzzing")]
pub(crate) use loading::of as loading;
pub use retry::retry_after;

use toolwright_core::ToolError;

use self::{
    fault::Fault,
    retry::{Retries, Verdict},
};
use crate::{
    answer::Reply,
    context::{CallContext, Interrupted},
};

/// Sends until there is an answer to keep.
///
/// # Errors
/// `upstream_unreachable`, `deadline` or `cancelled`. An answer with an error status is a reply, not an error.
pub(crate) async fn exchange(attempt: &Attempt<'_>, context: &CallContext) -> Result<Reply, ToolError> {
    let changes_nothing = attempt.planned.method.is_safe();
    let interrupted = |interrupted: Interrupted| interrupted.into_error(changes_nothing);
    let mut retries = Retries::new(changes_nothing, attempt.leaves_state);
    loop {
        let outcome = context.bound(attempt.send()).await.map_err(interrupted)?;
        note(attempt, &outcome);
        let mut reply = match outcome {
            Ok(reply) => reply,
            Err(fault) => match retries.after_fault(&fault, context) {
                Some(wait) => {
                    context.bound(tokio::time::sleep(wait)).await.map_err(interrupted)?;
                    continue;
                }
                None => return Err(fault.into_error(attempt.config, changes_nothing)),
            },
        };
        let loading = context.bound(loading::of(&mut reply)).await.map_err(interrupted)?;
        if loading.is_some() && !attempt.config.loading_wait {
            return Ok(reply);
        }
        let wait = match retries.after_reply(&reply, loading.as_ref(), context) {
            Verdict::Keep => return Ok(reply),
            Verdict::Wait(wait) => wait,
        };
        if let Some(loading) = loading {
            context.progress.say(&loading.message);
        }
        drop(reply);
        context.bound(tokio::time::sleep(wait)).await.map_err(interrupted)?;
    }
}

/// A line for the log. The path holds the caller's values, so that only the method and the outcome are told.
fn note(attempt: &Attempt<'_>, outcome: &Result<Reply, Fault>) {
    let method = attempt.planned.method.as_str();
    match outcome {
        Ok(reply) => tracing::debug!(method, status = reply.status.as_u16(), "the upstream answered"),
        Err(fault @ Fault::Network(error)) => {
            // The errors above the innermost name the URL.
            tracing::debug!(method, kind = fault.kind(), reason = innermost(error), "no answer");
        }
        Err(fault) => tracing::debug!(method, %fault, "no answer"),
    }
}
