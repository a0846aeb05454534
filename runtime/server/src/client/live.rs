//! 2025-11-25: questions are requests to the client, whose answers the call waits for.

use std::time::Duration;

use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{CancelledNotificationParam, ClientCapabilities, InputRequest, RequestId, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, ServiceError};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use toolwright_core::{Ability, Asked, Client, Code, Question, Reply, Severity, ToolError, cannot_answer};

use super::log::Logger;
use super::{session, words};
use crate::App;

/// A client that can be sent requests while it waits.
#[derive(Debug)]
pub(super) struct Live {
    peer: Peer<RoleServer>,
    capabilities: ClientCapabilities,
    /// False over HTTP without sessions: the answer to a question would come as a request that belongs to no call.
    is_reachable: bool,
    /// The longest wait for an answer.
    limit: Duration,
    log: Logger,
}

impl Live {
    pub(super) fn new(app: &App, context: &RequestContext<RoleServer>, log: Logger) -> Self {
        let over_http = context.extensions.get::<Parts>().is_some();
        Live {
            peer: context.peer.clone(),
            capabilities: context.client_capabilities().unwrap_or_default(),
            is_reachable: !over_http || session(context).is_some(),
            limit: app.settings.request_timeout.0,
            log,
        }
    }

    /// # Errors
    /// Why the client cannot be asked.
    fn admit(&self, ability: Ability) -> Result<(), ToolError> {
        if !self.is_reachable {
            let reason = "over HTTP without sessions none can be asked; the setting MCP_SESSIONS=true keeps sessions";
            return Err(cannot_answer(ability, reason));
        }
        match words::declares(&self.capabilities, ability) {
            true => Ok(()),
            false => Err(cannot_answer(ability, "the client did not declare that it can give one")),
        }
    }

    async fn put(&self, question: &Question) -> Result<Reply, ToolError> {
        self.admit(question.needs())?;
        let request = match words::request(question)? {
            InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
            InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
            InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
            _ => return Err(ToolError::failed("this server cannot put such a question")),
        };
        let options = PeerRequestOptions::with_timeout(self.limit);
        let sent = self.peer.send_request_with_option(request, options).await.map_err(unanswered)?;
        let open = Open { peer: self.peer.clone(), id: Some(sent.id.clone()) };
        let result = sent.await_response().await;
        open.end();
        let result = result.map_err(unanswered)?;
        let result = serde_json::to_value(result).unwrap_or_default();
        question.read(&result).ok_or_else(|| ToolError::failed("the client's answer does not fit the question"))
    }
}

/// A question that waits for its answer. Where nobody waits for that any longer, the client is told, so that it asks nobody.
struct Open {
    peer: Peer<RoleServer>,
    id: Option<RequestId>,
}

impl Open {
    fn end(mut self) {
        self.id = None;
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) else { return };
        let peer = self.peer.clone();
        let cancelled = CancelledNotificationParam::new(Some(id), Some("the call was cancelled".to_owned()));
        // A client that went away needs no word.
        runtime.spawn(async move { drop(peer.notify_cancelled(cancelled).await) });
    }
}

impl Client for Live {
    fn can(&self, ability: Ability) -> bool {
        self.admit(ability).is_ok()
    }

    fn ask(&self, questions: Vec<(String, Question)>) -> Asked<'_, Vec<Reply>> {
        Box::pin(async move {
            let mut replies = Vec::with_capacity(questions.len());
            for (_, question) in &questions {
                replies.push(self.put(question).await?);
            }
            Ok(replies)
        })
    }

    fn confirm(&self, message: String) -> Asked<'_, Reply> {
        Box::pin(async move { self.put(&confirmation(message)).await })
    }

    fn log(&self, severity: Severity, message: Value) {
        self.log.send(severity, message);
    }
}

/// A form without fields: a client shows its message, and takes yes, no or nothing.
pub(super) fn confirmation(message: String) -> Question {
    let schema = json!({"type": "object", "properties": Map::new()});
    Question::Form { message, schema }
}

fn unanswered(error: ServiceError) -> ToolError {
    match error {
        ServiceError::Timeout { timeout } => {
            let message = format!("the client gave no answer within {} s; nothing was done", timeout.as_secs());
            ToolError::new(Code::Deadline, message)
        }
        ServiceError::McpError(error) => {
            let message: String = error.message.chars().take(200).flat_map(char::escape_debug).collect();
            ToolError::failed(format!("the client refused the question: {message}"))
        }
        _ => ToolError::new(Code::Cancelled, "the client went away before it answered"),
    }
}
