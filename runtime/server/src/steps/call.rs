//! One step's call: its values put together, checked and sent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use toolwright_core::{Block, Code, Envelope, NoClient, Payload, ToolError, ToolSpec};
use toolwright_http::{CallContext, MASK, RawRequest, percent_value};
use toolwright_steps::{Answer, Call, Missing, Scope, Spread, render, render_path};

use crate::{App, gateway};

/// What a step calls, ready to be sent.
pub(super) enum Ready {
    Tool(&'static ToolSpec, Map<String, Value>),
    Request(RawRequest, bool),
}

impl Ready {
    /// Puts the values of a call together.
    ///
    /// # Errors
    /// Where one is missing, or a secret would be sent on that this server masks.
    pub(super) fn new(app: &App, call: &Call, scope: &Scope<'_>) -> Result<Self, ToolError> {
        match call {
            Call::Tool { name, arguments, spread } => {
                let unknown = || ToolError::new(Code::UnknownTool, format!("this server has no tool {name}"));
                let row = app.catalog.find(name).ok_or_else(unknown)?;
                let mut arguments = object(arguments, scope)?;
                if let Some(spread) = spread {
                    add_members(spread, scope, &mut arguments)?;
                }
                Ok(Ready::Tool(row, arguments))
            }
            Call::Request { method, path, query, headers, body, reads } => {
                let body = body.as_ref().map(|body| render(body, scope)).transpose().map_err(missing)?.flatten();
                body.iter().try_for_each(unmasked)?;
                let request = RawRequest {
                    method: method.clone(),
                    path: render_path(path, scope, percent_value).map_err(missing)?,
                    query: object(query, scope)?,
                    headers: texts(object(headers, scope)?),
                    body,
                    is_authored: true,
                };
                unmasked(&request.path.as_str().into())?;
                Ok(Ready::Request(request, *reads))
            }
        }
    }

    /// Whether a call that may have arrived can be made again.
    pub(super) fn can_be_repeated(&self) -> bool {
        match self {
            Ready::Tool(row, _) => row.risk.leaves_state() || row.idempotent,
            Ready::Request(request, reads) => *reads || matches!(request.method.as_str(), "PUT" | "DELETE"),
        }
    }

    /// Whether it leaves everything as it is.
    pub(super) fn leaves_state(&self) -> bool {
        match self {
            Ready::Tool(row, _) => row.risk.leaves_state(),
            Ready::Request(_, reads) => *reads,
        }
    }

    /// Sends it, after the checks of any call.
    pub(super) async fn send(self, app: &App, context: &CallContext) -> Envelope {
        match self {
            Ready::Tool(row, arguments) => {
                let accepted = match app.check(row, arguments) {
                    Ok(accepted) => accepted,
                    Err(refused) => return *refused,
                };
                let own = row.deadline_seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds.into()));
                let deadline = own.map_or(context.deadline, |own| own.min(context.deadline));
                // Only the whole tool can ask its caller: a call that is made again would do the steps before this one again.
                let context = CallContext { deadline, client: Arc::new(NoClient), ..context.clone() };
                app.single(row, accepted.arguments, &context).await
            }
            Ready::Request(request, _) => {
                let secrets = match gateway::admit_request(app, &request) {
                    Ok(secrets) => secrets,
                    Err(error) => return Envelope::failure(error),
                };
                match app.upstream(context.deadline).await {
                    Ok(upstream) => upstream.send_raw(&request, &secrets, context).await,
                    Err(error) => Envelope::failure(error),
                }
            }
        }
    }
}

/// What a result says to expressions.
pub(super) fn answer(envelope: &Envelope) -> Answer {
    let body = match &envelope.payload {
        Payload::Data(data) => data.clone(),
        Payload::Text(text) => text.as_str().into(),
        Payload::Events { data, .. } => data.clone().unwrap_or_default(),
        Payload::Messages { messages, .. } => messages.clone().into(),
        Payload::Content(blocks) => blocks.iter().map(Block::to_json).collect(),
        Payload::Empty | Payload::Binary(_) => Value::Null,
    };
    Answer { status: envelope.status_code, headers: envelope.headers.clone(), body }
}

fn object(members: &Map<String, Value>, scope: &Scope<'_>) -> Result<Map<String, Value>, ToolError> {
    let mut made = Map::new();
    for (name, value) in members {
        if let Some(value) = render(value, scope).map_err(missing)? {
            unmasked(&value)?;
            made.insert(name.clone(), value);
        }
    }
    Ok(made)
}

/// The members of one value as arguments.
fn add_members(spread: &Spread, scope: &Scope<'_>, arguments: &mut Map<String, Value>) -> Result<(), ToolError> {
    let Some(value) = render(&spread.value, scope).map_err(missing)? else { return Ok(()) };
    unmasked(&value)?;
    let Value::Object(members) = value else {
        return Err(ToolError::invalid("the body of this step is no object"));
    };
    for (name, member) in members {
        let argument = spread.members.get(&name).cloned().unwrap_or(name);
        arguments.insert(argument, member);
    }
    Ok(())
}

fn texts(members: Map<String, Value>) -> BTreeMap<String, String> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    members.into_iter().map(|(name, value)| (name, text(value))).collect()
}

fn missing(missing: Missing) -> ToolError {
    ToolError::invalid(format!("{missing}, and the step cannot be sent without it"))
}

/// A masked value is none: to send the mask in its place would be a call that nobody meant.
fn unmasked(value: &Value) -> Result<(), ToolError> {
    let is_masked = match value {
        Value::String(text) => text.contains(MASK),
        Value::Array(items) => return items.iter().try_for_each(unmasked),
        Value::Object(members) => return members.values().try_for_each(unmasked),
        _ => false,
    };
    match is_masked {
        true => Err(ToolError::new(
            Code::NotAllowed,
            "it would send on a value that is masked as a secret; a secret of one answer is no value for another call",
        )),
        false => Ok(()),
    }
}
