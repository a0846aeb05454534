//! What became of a command, as the result of its tool.

use super::plan::Plan;
use crate::{End, ModelOutput, Outcome};
use serde_json::{Value, json};
use toolwright_core::{Code, Envelope, Payload, ToolError};

/// The result: what was written, and a failure where the command did not end as it should.
pub(super) fn envelope(outcome: &Outcome, plan: &Plan) -> Envelope {
    let shown = outcome.for_model(plan.shown_bytes());
    if let Some(error) = failure(outcome, plan) {
        return Envelope { payload: data(&shown), ..Envelope::failure(error) };
    }
    match plan.json.then(|| serde_json::from_slice::<Value>(&outcome.stdout)) {
        // A filter would take the head and tail of a stream for all of it. What it makes is bounded as an answer is.
        None if plan.is_projected => {
            Envelope { ok: true, payload: data(&outcome.for_model(usize::MAX)), ..Envelope::default() }
        }
        None => Envelope { ok: true, payload: data(&shown), ..Envelope::default() },
        Some(Ok(value)) => beside(Envelope::success(value), &shown),
        Some(Err(error)) => {
            let message = format!("standard output of the command is no JSON: {error}");
            Envelope { payload: data(&shown), ..Envelope::failure(ToolError::failed(message)) }
        }
    }
}

fn failure(outcome: &Outcome, plan: &Plan) -> Option<ToolError> {
    let (code, what) = match outcome.end {
        End::Exited(code) if plan.is_success(code) => return None,
        End::Exited(code) => (Code::HandlerFailed, format!("the command ended with exit code {code}; see `stderr`")),
        End::TimedOut => {
            let most = plan.seconds();
            (
                Code::Deadline,
                format!("the command was stopped: it may take {most} s, and no longer than the call; ask for less"),
            )
        }
        End::Cancelled => (Code::Cancelled, "the command was cancelled".to_owned()),
        End::OutputLimit => {
            (Code::TooLarge, "the command was stopped: it wrote more than it may; ask for less".to_owned())
        }
        End::MemoryLimit => {
            (Code::TooLarge, "the command was stopped: it took more memory than it may; ask for less".to_owned())
        }
        End::ProcessLimit => {
            (Code::HandlerFailed, "the command was stopped: it started more processes than it may".to_owned())
        }
    };
    Some(ToolError::new(code, what))
}

fn data(shown: &ModelOutput) -> Payload {
    Payload::Data(json!({
        "exit_code": shown.exit_code,
        "stdout": shown.stdout,
        "stderr": shown.stderr,
        "truncated": shown.truncated,
    }))
}

/// What there is to say beside the JSON that the command wrote.
fn beside(mut envelope: Envelope, shown: &ModelOutput) -> Envelope {
    envelope.extra.insert("exit_code".to_owned(), shown.exit_code.into());
    if !shown.stderr.is_empty() {
        envelope.extra.insert("stderr".to_owned(), shown.stderr.as_str().into());
    }
    envelope
}
