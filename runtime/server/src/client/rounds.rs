//! From 2026-07-28 on: questions are the result of a request, which the client makes again with the answers.
//!
//! Nothing is kept in between. What earlier rounds brought travels in the sealed state, together with what was asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientCapabilities, ErrorData, InputRequests, InputRequiredResult};
use rmcp::service::RequestContext;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright_core::{Ability, Asked, Client, Code, Question, Reply, Severity, ToolError, cannot_answer};

use super::live::confirmation;
use super::log::Logger;
use super::seal::{Sealer, bound_to};
use super::{Asking, words};
use crate::App;

/// What a state says. It is sealed and not hidden: all of it came from the client, or was shown to it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct State {
    /// Which of all states it is.
    id: String,
    /// Answers of earlier rounds.
    #[serde(default)]
    answers: BTreeMap<String, Value>,
    /// Confirmations that were asked for, by key, with the message that was shown.
    #[serde(default)]
    confirmations: BTreeMap<String, String>,
}

/// A client that answers by making its request again.
#[derive(Debug)]
pub(super) struct Rounds {
    capabilities: ClientCapabilities,
    responses: BTreeMap<String, Value>,
    /// What the state of the round before said.
    before: Option<State>,
    sealer: Arc<Sealer>,
    /// What a state must be bound to: who calls, and what for.
    binding: Vec<u8>,
    now: Mutex<Now>,
    log: Logger,
}

/// What became of the questions of this round.
#[derive(Debug, Default)]
struct Now {
    answers: BTreeMap<String, Value>,
    confirmations: BTreeMap<String, String>,
    questions: InputRequests,
    missing: Option<Ability>,
    /// How many confirmations were asked for, answered ones too.
    confirmed: usize,
    is_spent: bool,
}

impl Rounds {
    pub(super) fn open(
        app: &App,
        context: &RequestContext<RoleServer>,
        asking: Asking<'_>,
        log: Logger,
    ) -> Result<Self, ErrorData> {
        let binding = bound_to(context, &app.settings.forward_headers.0, &asking);
        let before = asking.state.map(|state| app.sealer.open::<State>(&state, &binding)).transpose()?;
        Ok(Rounds {
            capabilities: context.client_capabilities().unwrap_or_default(),
            responses: asking.responses.unwrap_or_default(),
            now: Mutex::new(Now {
                answers: before.as_ref().map(|state| state.answers.clone()).unwrap_or_default(),
                ..Now::default()
            }),
            before,
            sealer: Arc::clone(&app.sealer),
            binding,
            log,
        })
    }

    /// The questions of this round, with the state that the answers must bring back.
    pub(super) fn questions(&self) -> Option<InputRequiredResult> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if now.questions.is_empty() {
            return None;
        }
        let state = State {
            id: Sealer::fresh_id(),
            answers: std::mem::take(&mut now.answers),
            confirmations: std::mem::take(&mut now.confirmations),
        };
        let sealed = self.sealer.seal(&state, &self.binding);
        Some(InputRequiredResult::new(Some(std::mem::take(&mut now.questions)), sealed))
    }

    /// The error for a client that cannot answer.
    pub(super) fn missing(&self) -> Option<ErrorData> {
        let missing = self.now.lock().unwrap_or_else(PoisonError::into_inner).missing?;
        Some(ErrorData::missing_required_client_capability(words::required(missing)))
    }

    /// # Errors
    /// Where the client did not declare what it takes.
    fn admit(&self, ability: Ability) -> Result<(), ToolError> {
        if words::declares(&self.capabilities, ability) {
            return Ok(());
        }
        self.now.lock().unwrap_or_else(PoisonError::into_inner).missing = Some(ability);
        Err(cannot_answer(ability, "the client did not declare that it can give one"))
    }

    fn put(&self, questions: Vec<(String, Question)>) -> Result<Vec<Reply>, ToolError> {
        questions.iter().try_for_each(|(_, question)| self.admit(question.needs()))?;
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let mut replies = Vec::with_capacity(questions.len());
        for (key, question) in questions {
            let given = self.responses.get(&key).or_else(|| self.before.as_ref()?.answers.get(&key));
            // What does not fit the question is asked for again.
            match given.and_then(|given| Some((given, question.read(given)?))) {
                Some((given, reply)) => {
                    now.answers.insert(key, given.clone());
                    replies.push(reply);
                }
                None => drop(now.questions.insert(key, words::request(&question)?)),
            }
        }
        if now.questions.is_empty() { Ok(replies) } else { Err(asked()) }
    }

    fn confirmed(&self, message: String) -> Result<Reply, ToolError> {
        self.admit(Ability::Form)?;
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.confirmed += 1;
        let key = format!("confirm_{}", now.confirmed);
        let was_asked = |state: &&State| state.confirmations.get(&key) == Some(&message);
        let question = confirmation(message.clone());
        let before = self.before.as_ref().filter(was_asked);
        let given = before.and_then(|state| self.responses.get(&key).or_else(|| state.answers.get(&key)));
        let reply = given.and_then(|given| question.read(given));
        now.confirmations.insert(key.clone(), message);
        let (Some(reply), Some(given), Some(state)) = (reply, given, before) else {
            now.questions.insert(key, words::request(&question)?);
            return Err(asked());
        };
        if matches!(reply, Reply::Filled(_)) && !now.is_spent {
            if !self.sealer.spend(&state.id) {
                let message = "this confirmation was used already; make the call without it, to be asked again";
                return Err(ToolError::new(Code::NotAllowed, message));
            }
            now.is_spent = true;
        }
        if matches!(reply, Reply::Declined) {
            // A no stands: nobody makes a yes of it later.
            self.sealer.spend(&state.id);
        }
        now.answers.insert(key, given.clone());
        Ok(reply)
    }
}

impl Client for Rounds {
    fn can(&self, ability: Ability) -> bool {
        words::declares(&self.capabilities, ability)
    }

    fn ask(&self, questions: Vec<(String, Question)>) -> Asked<'_, Vec<Reply>> {
        Box::pin(std::future::ready(self.put(questions)))
    }

    fn confirm(&self, message: String) -> Asked<'_, Reply> {
        Box::pin(std::future::ready(self.confirmed(message)))
    }

    fn log(&self, severity: Severity, message: Value) {
        self.log.send(severity, message);
    }
}

fn asked() -> ToolError {
    ToolError::new(Code::InputRequired, "the call waits for an answer of its client, which makes it again")
}
