//! Whoever made a request, to be asked back while it is answered.
//!
//! In 2025-11-25 a question is a request to the client ([`live`]). From 2026-07-28 on it is the result of the request, which
//! the client makes again with the answers and a state that this server sealed ([`rounds`], [`seal`]).

#![allow(deprecated)] // 2026-07-28 deprecates some of what can be asked, and both eras still have it.

mod live;
mod log;
mod rounds;
mod seal;
#[cfg(test)]
pub(crate) mod tests;
mod words;

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, InputRequiredResult, InputResponses, JsonObject, LoggingLevel};
use rmcp::service::RequestContext;
use toolwright_core::{Client, Code};

use crate::App;
use live::Live;
pub(crate) use log::{LogLine, Logger};
use rounds::Rounds;
pub(crate) use seal::{SHORTEST_KEY, Sealer, too_short};

/// A request that may ask back.
pub(crate) struct Asking<'r> {
    /// Its method.
    pub(crate) method: &'static str,
    /// The tool or prompt that it names.
    pub(crate) name: &'r str,
    /// Its arguments, as they came.
    pub(crate) arguments: Option<&'r JsonObject>,
    /// Answers to the questions of an earlier round.
    pub(crate) responses: Option<InputResponses>,
    /// The state that came with those questions.
    pub(crate) state: Option<String>,
}

/// Whoever made a request.
pub(crate) struct Caller {
    client: Arc<dyn Client>,
    rounds: Option<Arc<Rounds>>,
}

impl Caller {
    /// The caller of this request. `log` takes messages for its log.
    ///
    /// # Errors
    /// A state that this server did not seal for this request, or that is too old. Which of these it was is not told.
    pub(crate) fn open(
        app: &App,
        context: &RequestContext<RoleServer>,
        asking: Asking<'_>,
        log: Logger,
    ) -> Result<Self, ErrorData> {
        if super::handler::is_modern(context) {
            let rounds = Arc::new(Rounds::open(app, context, asking, log)?);
            let client = Arc::clone(&rounds) as Arc<dyn Client>;
            return Ok(Caller { client, rounds: Some(rounds) });
        }
        Ok(Caller { client: Arc::new(Live::new(app, context, log)), rounds: None })
    }

    /// Whom calls ask.
    pub(crate) fn client(&self) -> Arc<dyn Client> {
        Arc::clone(&self.client)
    }

    /// What is sent in place of a failure with that code: the questions that the client is to answer, or the error that says
    /// what it would have to be able to do.
    pub(crate) fn instead(&self, code: Option<Code>) -> Option<Result<InputRequiredResult, ErrorData>> {
        let rounds = self.rounds.as_ref()?;
        match code? {
            Code::InputRequired => rounds.questions().map(Ok),
            Code::MissingCapability => rounds.missing().map(Err),
            _ => None,
        }
    }
}

/// How serious a message must be for the client to want it: what this request says, or, in 2025-11-25, what its session
/// last asked for.
pub(crate) fn wanted_level(app: &App, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
    if super::handler::is_modern(context) {
        return context.meta.log_level();
    }
    app.sessions.level(&session(context)?)
}

/// The session of a request of 2025-11-25: the one of its process over stdio, or the one that its header names. `None` where
/// HTTP keeps none.
pub(crate) fn session(context: &RequestContext<RoleServer>) -> Option<String> {
    match context.extensions.get::<Parts>() {
        None => Some("stdio".to_owned()),
        Some(parts) => parts.headers.get("mcp-session-id")?.to_str().ok().map(str::to_owned),
    }
}
