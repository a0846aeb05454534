//! Tasks of 2025-11-25, where they are an experiment: a client asks for one by `task` in `tools/call`, and reads it by
//! `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel`.
//!
//! rmcp has no types for any of this. So requests of that era that are about tasks are passed to it under methods of our own,
//! as requests that it does not know, and answers that it cannot say all of are completed afterwards.

use std::borrow::Cow;
use std::time::Duration;

use rmcp::model::{
    CustomRequest, CustomResult, ErrorCode, ErrorData, InitializeResult, PaginatedRequestParams, ServerResult,
};
use rmcp::service::{RequestContext, TxJsonRpcMessage};
use rmcp::{RoleServer, ServerHandler as _};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value, json};

use super::extension::store;
use super::{Caller, Owner, POLL_INTERVAL_MS, Record, State};
use crate::handler::{is_modern, malformed};
use crate::{App, gateway};

/// In front of the methods of requests that rmcp shall not read.
const OURS: &str = "toolwright/2025-11-25/";

/// A method of later eras, which rmcp would answer in their words.
const UPDATE: &str = "tasks/update";

/// Tasks on a page of their list.
const PAGE: u32 = 50;

/// What of a message says what it is.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(default)]
    params: Option<HeadParams>,
}

#[derive(Deserialize)]
struct HeadParams {
    task: Option<IgnoredAny>,
    #[serde(rename = "_meta")]
    meta: Option<HeadMeta>,
}

#[derive(Deserialize)]
struct HeadMeta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<IgnoredAny>,
}

/// What a message is to the tasks of this era.
pub(crate) enum Sort {
    /// It opens a session, whose answer [`declare`] completes.
    Handshake,
    /// It is about tasks: the message under a method of our own.
    Task(Vec<u8>),
    /// Anything else, such as what is of another era.
    Other,
}

impl Sort {
    /// Reads the head of a message, once.
    pub(crate) fn of(message: &[u8]) -> Self {
        match serde_json::from_slice::<Head<'_>>(message) {
            Ok(head) if head.method == "initialize" => Sort::Handshake,
            Ok(head) => claimed(&head, message).map_or(Sort::Other, Sort::Task),
            Err(_) => Sort::Other,
        }
    }
}

fn claimed(head: &Head<'_>, message: &[u8]) -> Option<Vec<u8>> {
    let params = head.params.as_ref();
    // Only requests of the newer era name their version themselves.
    if params.and_then(|params| params.meta.as_ref()).is_some_and(|meta| meta.version.is_some()) {
        return None;
    }
    let is_claimed = match head.method.as_ref() {
        "tools/call" => params.is_some_and(|params| params.task.is_some()),
        "tools/list" | "tasks/get" | "tasks/result" | "tasks/list" | "tasks/cancel" | UPDATE => true,
        _ => false,
    };
    if !is_claimed {
        return None;
    }
    let mut message: Value = serde_json::from_slice(message).ok()?;
    *message.get_mut("method")? = format!("{OURS}{}", head.method).into();
    serde_json::to_vec(&message).ok()
}

/// Adds what the server can do with tasks to the answer of a handshake.
pub(crate) fn declare(answer: &mut Value, may_list: bool) {
    let mut tasks = json!({"cancel": {}, "requests": {"tools": {"call": {}}}});
    if may_list {
        set(&mut tasks, "list", json!({}));
    }
    if let Some(capabilities) = answer.get_mut("capabilities") {
        set(capabilities, "tasks", tasks);
    }
}

/// Sets a member of what is an object.
pub(crate) fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

/// The same for an answer that is about to be sent.
pub(crate) fn declared(mut message: TxJsonRpcMessage<RoleServer>) -> TxJsonRpcMessage<RoleServer> {
    if let TxJsonRpcMessage::<RoleServer>::Response(response) = &mut message
        && let ServerResult::InitializeResult(result) = &response.result
        && let Some(result) = with_tasks(result)
    {
        response.result = ServerResult::CustomResult(CustomResult::new(result));
    }
    message
}

fn with_tasks(result: &InitializeResult) -> Option<Value> {
    let mut result = serde_json::to_value(result).ok()?;
    declare(&mut result, true);
    Some(result)
}

/// Answers a request that was [`claimed`]; `None` for any other.
pub(crate) async fn answer(
    app: &App,
    request: &CustomRequest,
    context: RequestContext<RoleServer>,
) -> Option<Result<CustomResult, ErrorData>> {
    let is_older = app.tasks.is_some() && !is_modern(&context);
    let method = request.method.strip_prefix(OURS).filter(|_| is_older)?;
    let params = request.params.clone().unwrap_or_default();
    let answer = match method {
        "tools/list" => list_tools(app, params, context).await,
        "tools/call" => call(app, params, &context).await,
        "tasks/get" => get(app, params, &context).await,
        "tasks/result" => result(app, params, &context).await,
        "tasks/list" => list(app, params, &context).await,
        "tasks/cancel" => cancel(app, params, &context).await,
        UPDATE => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, UPDATE, None)),
        _ => return None,
    };
    Some(answer.map(CustomResult::new))
}

fn read<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, ErrorData> {
    serde_json::from_value(params).map_err(|_| malformed(method))
}

/// The list of tools, with what can be a task.
async fn list_tools(app: &App, params: Value, context: RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let params: Option<PaginatedRequestParams> = read("tools/list", params)?;
    let result = app.list_tools(params, context).await?;
    let mut result = serde_json::to_value(result).map_err(unwritable)?;
    if let Some(result) = result.as_object_mut() {
        result.shift_remove("resultType");
    }
    for tool in result.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        if supports_tasks(app, name) {
            set(tool, "execution", json!({"taskSupport": "optional"}));
        }
    }
    Ok(result)
}

/// Whether calls of a listed tool can be tasks: of one that is long, and of the gateway where it can reach such a tool.
fn supports_tasks(app: &App, name: &str) -> bool {
    match app.exposure.find_listed(name) {
        Some(row) => app.can_be_task(row),
        None => name == "execute_additional_tool" && app.exposure.hidden().any(|row| app.can_be_task(row)),
    }
}

fn unwritable(error: serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("the answer cannot be written: {error}"), None)
}

#[derive(Deserialize)]
struct CallParams {
    name: String,
    arguments: Option<Map<String, Value>>,
    task: TaskParams,
}

#[derive(Deserialize)]
struct TaskParams {
    /// How long the client wants the task kept, in milliseconds.
    ttl: Option<u64>,
}

/// `tools/call` with `task`.
async fn call(app: &App, params: Value, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let CallParams { name, arguments, task } = read("tools/call", params)?;
    let arguments = arguments.unwrap_or_default();
    let Some(called) = app.called(&name, &arguments).filter(|(row, _)| app.can_be_task(row)) else {
        return Err(no_task(app, &name));
    };
    let caller = Caller::of(app, context);
    let record = app.begin_task(called, task.ttl.map(Duration::from_millis), caller).await?;
    Ok(json!({"task": shown(&record)}))
}

fn no_task(app: &App, name: &str) -> ErrorData {
    if app.exposure.find_listed(name).is_none() && !gateway::is_fixed(name) {
        return app.unknown_tool(name);
    }
    let message = format!("this call of {name} does not run as a task: leave out `task`");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IdParams {
    task_id: String,
}

async fn get(app: &App, params: Value, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let IdParams { task_id } = read("tasks/get", params)?;
    Ok(shown(&store(app).await?.get(&task_id, &Owner::of(context)).await?))
}

/// Waits for the end of the task. What the call answered is the answer.
async fn result(app: &App, params: Value, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let IdParams { task_id } = read("tasks/result", params)?;
    let (owner, store) = (Owner::of(context), store(app).await?);
    let record = tokio::select! {
        biased;
        () = context.ct.cancelled() => return Err(ErrorData::internal_error("the request was cancelled", None)),
        () = app.cut_off.cancelled() => return Err(ErrorData::internal_error("the server is stopping", None)),
        record = store.wait(&task_id, &owner) => record?,
    };
    match record.result {
        Some(mut result) => {
            set(&mut result, "_meta", json!({"io.modelcontextprotocol/related-task": {"taskId": record.id}}));
            Ok(result)
        }
        None if record.state == State::Cancelled => Err(ErrorData::internal_error("the task was cancelled", None)),
        None => Err(ErrorData::internal_error(record.error.unwrap_or_default(), None)),
    }
}

async fn list(app: &App, params: Value, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let params: Option<PaginatedRequestParams> = read("tasks/list", params)?;
    let owner = Owner::of(context);
    if !owner.may_list() {
        let message = "tasks/list needs to know who asks: set the server's auth_token";
        return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
    }
    let cursor = params.and_then(|params| params.cursor);
    let before = cursor.as_deref().map(before).transpose()?;
    let page = store(app).await?.list(&owner, before, PAGE).await?;
    let mut result = json!({"tasks": page.iter().map(shown).collect::<Vec<_>>()});
    if let Some(last) = page.last().filter(|_| page.len() == PAGE as usize) {
        set(&mut result, "nextCursor", format!("{}-{}", last.created_at, last.id).into());
    }
    Ok(result)
}

/// The task that a cursor names.
fn before(cursor: &str) -> Result<(i64, &str), ErrorData> {
    let parts = cursor.split_once('-').and_then(|(time, id)| Some((time.parse().ok()?, id)));
    parts.ok_or_else(|| ErrorData::invalid_params("Unknown cursor: begin again without one", None))
}

async fn cancel(app: &App, params: Value, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let IdParams { task_id } = read("tasks/cancel", params)?;
    let (owner, store) = (Owner::of(context), store(app).await?);
    let record = store.get(&task_id, &owner).await?;
    if record.state != State::Working {
        return Err(ErrorData::invalid_params(format!("the task has ended already: {}", status(&record)), None));
    }
    Ok(shown(&store.cancel(&task_id, &owner).await?))
}

/// In this era an error of the tool is one of the task.
fn status(record: &Record) -> &'static str {
    match record.state {
        State::Working => "working",
        State::Completed if record.is_error => "failed",
        State::Completed => "completed",
        State::Failed => "failed",
        State::Cancelled => "cancelled",
    }
}

fn shown(record: &Record) -> Value {
    let mut task = json!({
        "taskId": record.id,
        "status": status(record),
        "createdAt": record.created(),
        "lastUpdatedAt": record.updated(),
        "ttl": record.ttl_ms(),
        "pollInterval": POLL_INTERVAL_MS,
    });
    if let Some(message) = record.message.as_ref().or(record.error.as_ref()) {
        set(&mut task, "statusMessage", message.as_str().into());
    }
    task
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(message: &Value) -> Option<String> {
        let Sort::Task(claimed) = Sort::of(message.to_string().as_bytes()) else { return None };
        Some(serde_json::from_slice::<Value>(&claimed).unwrap()["method"].as_str().unwrap().to_owned())
    }

    #[test]
    fn only_requests_of_the_older_era_that_are_about_tasks_are_claimed() {
        let call = json!({"method": "tools/call", "params": {"name": "x", "task": {}}});
        assert_eq!(method(&call).as_deref(), Some("toolwright/2025-11-25/tools/call"));
        for name in ["tasks/result", "tasks/update"] {
            assert!(method(&json!({"id": 1, "method": name, "params": {"taskId": "t"}})).is_some(), "{name}");
        }
        let version = "io.modelcontextprotocol/protocolVersion";
        for other in [
            json!({"method": "tools/call", "params": {"name": "x", "arguments": {"task": 1}}}),
            json!({"method": "tasks/get", "params": {"taskId": "t", "_meta": {version: "2026-07-28"}}}),
            json!({"method": "resources/list"}),
            json!({"id": 1, "result": {}}),
            json!([1]),
        ] {
            assert_eq!(method(&other), None, "{other}");
        }
    }
}
