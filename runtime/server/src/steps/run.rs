//! One run of a plan.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::{Instant, sleep_until};
use toolwright_core::{Code, Envelope, Payload, ToolError};
use toolwright_http::CallContext;
use toolwright_steps::{
    Answer, Condition, Criterion, CriterionKind, Expression, MAX_CALLS, Next, Plan, Scope, Step, render,
};

use super::call::{Ready, answer};
use crate::App;

/// The longest wait that a `Retry-After` can ask for; more is a failure that the caller should know of.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

pub(super) struct Run<'r> {
    app: &'r App,
    plan: &'r Plan,
    inputs: Map<String, Value>,
    context: CallContext,
    /// Outputs of the steps so far.
    outputs: BTreeMap<String, Map<String, Value>>,
    /// Steps that succeeded, in order, and whether each may have changed something.
    done: Vec<(&'r str, bool)>,
    /// Repetitions so far, by step and action.
    repeated: BTreeMap<(&'r str, usize), u64>,
    warnings: Vec<String>,
}

/// One step's call and what came of it.
struct Called {
    envelope: Envelope,
    answer: Answer,
    can_be_repeated: bool,
    leaves_state: bool,
}

/// Where the run goes on.
enum Then {
    At(usize),
    End,
    Fail,
}

impl<'r> Run<'r> {
    pub(super) fn new(app: &'r App, plan: &'r Plan, arguments: Map<String, Value>, context: CallContext) -> Self {
        // Inputs are named as the plan has them.
        let mut inputs = arguments;
        for (input, argument) in &plan.inputs {
            if let Some(value) = inputs.remove(argument) {
                inputs.insert(input.clone(), value);
            }
        }
        Run {
            app,
            plan,
            inputs,
            context,
            outputs: BTreeMap::new(),
            done: Vec::new(),
            repeated: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    pub(super) async fn run(mut self) -> Envelope {
        let mut at = 0;
        for number in 1..=MAX_CALLS {
            let Some(step) = self.plan.steps.get(at) else { return self.finish().await };
            self.tell(step, number, at);
            let called = self.call(step).await;
            let reason = match self.succeeded(step, &called).await {
                Ok(()) => {
                    self.note(step, &called);
                    None
                }
                Err(reason) => Some(reason),
            };
            let then = match self.then(step, at, &called, reason.is_some()).await {
                Ok(then) => then,
                Err(interrupted) => {
                    // The call's own words say more: whether it may have been applied.
                    let own = called.envelope.error.clone().filter(|error| error.code == interrupted.code);
                    return self.failed(step, called.envelope, own.unwrap_or(interrupted));
                }
            };
            match (then, reason) {
                (Then::At(next), _) => at = next,
                (Then::End, None) => return self.finish().await,
                (Then::Fail | Then::End, reason) => {
                    let reason = reason.unwrap_or_else(|| ToolError::failed("no action fits"));
                    return self.failed(step, called.envelope, reason);
                }
            }
        }
        let message = format!("the tool made {MAX_CALLS} calls and came to no end");
        let Some(step) = self.plan.steps.get(at) else { return self.finish().await };
        self.failed(step, Envelope::default(), ToolError::failed(message))
    }

    fn tell(&self, step: &Step, number: usize, at: usize) {
        let place = format!("step {} of {}", at + 1, self.plan.steps.len());
        tracing::debug!(step = step.id, number, "{place}");
        self.context.progress.say(&format!("{}: {place}", step.id));
    }

    fn scope<'s>(&'s self, answer: Option<&'s Answer>) -> Scope<'s> {
        Scope { inputs: &self.inputs, steps: &self.outputs, answer }
    }

    async fn call(&mut self, step: &Step) -> Called {
        let ready = Ready::new(self.app, &step.call, &self.scope(None));
        let (envelope, can_be_repeated, leaves_state) = match ready {
            Ok(ready) => {
                let (can_be_repeated, leaves_state) = (ready.can_be_repeated(), ready.leaves_state());
                let context = self.context.part(&format!("step {}", step.id));
                let envelope = ready.send(self.app, &context).await;
                if let Some(code) = envelope.code() {
                    context.observed.failed(code.name());
                }
                (envelope, can_be_repeated, leaves_state)
            }
            Err(error) => (Envelope::failure(error), false, true),
        };
        self.warnings.extend(envelope.warnings.iter().map(|warning| format!("{}: {warning}", step.id)));
        Called { answer: answer(&envelope), envelope, can_be_repeated, leaves_state }
    }

    /// Whether the step did what it was meant to. Without an answer nothing did.
    async fn succeeded(&self, step: &Step, called: &Called) -> Result<(), ToolError> {
        let error = || called.envelope.error.clone().unwrap_or_else(|| ToolError::failed("the call failed"));
        if !called.envelope.ok && (step.success.is_empty() || called.envelope.status_code.is_none()) {
            return Err(error());
        }
        for criterion in &step.success {
            if !self.holds(criterion, &called.answer).await {
                let message = format!("`{}` does not hold of its answer", criterion.condition);
                return Err(match called.envelope.ok {
                    true => ToolError::new(Code::UpstreamError, message),
                    false => error(),
                });
            }
        }
        Ok(())
    }

    async fn all_hold(&self, criteria: &[Criterion], answer: &Answer) -> bool {
        for criterion in criteria {
            if !self.holds(criterion, answer).await {
                return false;
            }
        }
        true
    }

    async fn holds(&self, criterion: &Criterion, answer: &Answer) -> bool {
        let scope = self.scope(Some(answer));
        if criterion.kind == CriterionKind::Simple {
            return Condition::parse(&criterion.condition).is_ok_and(|condition| condition.holds(&scope));
        }
        let context = criterion.context.as_deref().and_then(|context| Expression::parse(context).ok());
        let value = context.and_then(|expression| expression.evaluate(&scope)).unwrap_or_default();
        let most = self.app.settings.max_response_bytes.0;
        let outcome = self.app.filters.run(&criterion.condition, Arc::new(value), most, &self.context).await;
        !matches!(outcome, Ok(Value::Null | Value::Bool(false)) | Err(_))
    }

    /// Keeps what later steps and the result can use.
    fn note(&mut self, step: &'r Step, called: &Called) {
        let scope = self.scope(Some(&called.answer));
        let mut outputs = Map::new();
        for (name, value) in &step.outputs {
            // What has no value is no output; what needs it says so.
            if let Ok(Some(value)) = render(value, &scope) {
                outputs.insert(name.clone(), value);
            }
        }
        self.outputs.insert(step.id.clone(), outputs);
        self.done.push((&step.id, !called.leaves_state));
    }

    /// The first action whose criteria hold and that is not used up; else the next step, or the end of it.
    async fn then(&mut self, step: &'r Step, at: usize, called: &Called, is_failure: bool) -> Result<Then, ToolError> {
        if let Some(interrupted) = self.interrupted() {
            return Err(interrupted);
        }
        let actions = if is_failure { &step.on_failure } else { &step.on_success };
        for (index, action) in actions.iter().enumerate() {
            if !self.all_hold(&action.criteria, &called.answer).await {
                continue;
            }
            match &action.next {
                Next::End => return Ok(Then::End),
                Next::Goto(id) => {
                    let place = self.plan.steps.iter().position(|step| step.id == *id);
                    return Ok(place.map_or(Then::Fail, Then::At));
                }
                Next::Retry { after, limit } => {
                    let used = self.repeated.entry((&step.id, index)).or_default();
                    // What was never answered may have happened.
                    let is_known = called.envelope.status_code.is_some() || called.can_be_repeated;
                    if *used >= *limit || !is_known {
                        continue;
                    }
                    *used += 1;
                    self.wait(*after, &called.answer).await?;
                    return Ok(Then::At(at));
                }
            }
        }
        Ok(if is_failure { Then::Fail } else { Then::At(at + 1) })
    }

    /// Waits before a repetition: as long as the answer asks for (RFC 9110 section 10.2.3), else as the plan says.
    async fn wait(&self, after: f64, answer: &Answer) -> Result<(), ToolError> {
        let header = answer.headers.iter().find(|(name, _)| name == "retry-after");
        let asked = header.and_then(|(_, seconds)| seconds.trim().parse().ok()).map(Duration::from_secs);
        let planned = Duration::try_from_secs_f64(after).unwrap_or(LONGEST_WAIT);
        let until = Instant::now() + asked.unwrap_or(planned).min(LONGEST_WAIT);
        tokio::select! {
            biased;
            () = self.context.cancel.cancelled() => {}
            () = sleep_until(until.min(self.context.deadline)) => {}
        }
        self.interrupted().map_or(Ok(()), Err)
    }

    fn interrupted(&self) -> Option<ToolError> {
        if self.context.cancel.is_cancelled() {
            return Some(ToolError::new(Code::Cancelled, "the call was cancelled"));
        }
        let is_over = Instant::now() >= self.context.deadline;
        is_over.then(|| ToolError::new(Code::Deadline, "the deadline of the whole call passed"))
    }

    /// The result of a run that came to its end.
    async fn finish(mut self) -> Envelope {
        let all = |outputs: &BTreeMap<String, Map<String, Value>>| {
            outputs.iter().map(|(step, outputs)| (step.clone(), Value::Object(outputs.clone()))).collect::<Map<_, _>>()
        };
        let mut made = Map::new();
        if self.plan.outputs.is_empty() {
            made = all(&self.outputs);
        }
        let mut left_out = Vec::new();
        for (name, value) in &self.plan.outputs {
            match render(value, &self.scope(None)) {
                Ok(Some(value)) => drop(made.insert(name.clone(), value)),
                Ok(None) => {}
                Err(missing) => left_out.push(format!("the output `{name}` was left out: {missing}")),
            }
        }
        self.warnings.extend(left_out);
        let data = self.projected(Value::Object(made)).await;
        Envelope { warnings: self.warnings, ..Envelope::success(data) }
    }

    async fn projected(&mut self, data: Value) -> Value {
        let Some(filter) = &self.plan.project else { return data };
        let data = Arc::new(data);
        let most = self.app.settings.max_response_bytes.0;
        match self.app.filters.run(filter, Arc::clone(&data), most, &self.context).await {
            Ok(projected) => projected,
            Err(fault) => {
                self.warnings.push(format!("the outputs are given whole, since their projection failed: {fault}"));
                Arc::unwrap_or_clone(data)
            }
        }
    }

    /// The result of a run that failed at a step: its answer, what failed, and what had been done.
    fn failed(self, step: &Step, envelope: Envelope, error: ToolError) -> Envelope {
        let names: Vec<&str> = self.done.iter().map(|(step, _)| *step).collect();
        let has_changed = self.done.iter().any(|(_, changes)| *changes);
        let before = match (names.is_empty(), has_changed) {
            (true, _) => "nothing was done before it".to_owned(),
            (false, false) => format!("done before it: {}", names.join(", ")),
            (false, true) => format!("done before it and not undone: {}", names.join(", ")),
        };
        let message = format!("the step {} failed: {}; {before}", step.id, error.message.trim_end_matches('.'));
        let mut extra = envelope.extra;
        // The result names the tool that was called; the step names the other.
        extra.shift_remove("tool_name");
        extra.insert("failed_step".to_owned(), step.id.as_str().into());
        extra.insert("steps_done".to_owned(), names.into());
        let payload = match envelope.payload {
            // A file that was saved says nothing about the failure.
            Payload::Binary(_) => Payload::Empty,
            payload => payload,
        };
        Envelope {
            ok: false,
            error: Some(ToolError::new(error.code, message)),
            warnings: self.warnings,
            extra,
            payload,
            attachments: Vec::new(),
            ..envelope
        }
    }
}
