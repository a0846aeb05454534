//! Tasks from 2026-07-28 on: the extension `io.modelcontextprotocol/tasks` (SEP-2663). A client that declares it gets a task
//! for each call of a long tool.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CreateTaskResult, DetailedTask, ErrorCode, ErrorData, GetTaskResult, JsonObject, MetaObject,
    ServerResult, Task, TaskPayload, TaskStatus,
};
use rmcp::service::{RequestContext, TxJsonRpcMessage};
use serde_json::{Map, Value, json};

use super::{Caller, Owner, POLL_INTERVAL_MS, Record, State, Store};
use crate::App;

/// The task that a call became. `None` where it is to be an ordinary call.
pub(crate) async fn begin(
    app: &App,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<CreateTaskResult> {
    app.tasks.as_ref()?;
    let none = Map::new();
    let call = app.called(&request.name, request.arguments.as_ref().unwrap_or(&none))?;
    if !app.can_be_task(call.0) || !context.client_capabilities().is_some_and(|client| client.supports_tasks()) {
        return None;
    }
    // What is refused needs no task.
    app.check(call.0, call.1.clone()).ok()?;
    let caller = Caller::of(app, context);
    match app.begin_task(call, None, caller).await {
        Ok(record) => Some(CreateTaskResult::new(task(&record)).with_meta(app.result_meta())),
        // The call is worth more than its task.
        Err(error) => {
            tracing::error!(target: "toolwright::tasks", %error, tool = call.0.name, "a call could not become a task");
            None
        }
    }
}

/// `tasks/get`.
pub(crate) async fn get(app: &App, id: &str, context: &RequestContext<RoleServer>) -> Result<GetTaskResult, ErrorData> {
    let record = store(app).await?.get(id, &Owner::of(context)).await?;
    let mut result = GetTaskResult::new(detailed(&record));
    result.meta = Some(app.result_meta());
    Ok(result)
}

/// `tasks/update`. No task of this server asks anything, so that there is nothing to take from an answer.
pub(crate) async fn update(app: &App, id: &str, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    store(app).await?.get(id, &Owner::of(context)).await?;
    Ok(())
}

/// `tasks/cancel`.
pub(crate) async fn cancel(app: &App, id: &str, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    store(app).await?.cancel(id, &Owner::of(context)).await?;
    Ok(())
}

/// Names the server in the answer to `tasks/update` or `tasks/cancel`, to which rmcp lets a handler add nothing.
pub(crate) fn acknowledged(
    mut message: TxJsonRpcMessage<RoleServer>,
    meta: &MetaObject,
) -> TxJsonRpcMessage<RoleServer> {
    if let TxJsonRpcMessage::<RoleServer>::Response(response) = &mut message
        && let ServerResult::TaskAckResult(result) = &mut response.result
    {
        result.meta = Some(meta.clone());
    }
    message
}

/// The store of a server that has tasks.
pub(super) async fn store(app: &App) -> Result<&dyn Store, ErrorData> {
    match &app.tasks {
        Some(tasks) => Ok(tasks.store().await?),
        None => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "this server has no tasks", None)),
    }
}

fn task(record: &Record) -> Task {
    let status = match record.state {
        State::Working => TaskStatus::Working,
        State::Completed => TaskStatus::Completed,
        State::Failed => TaskStatus::Failed,
        State::Cancelled => TaskStatus::Cancelled,
    };
    let mut task = Task::new(record.id.clone(), status, record.created(), record.updated())
        .with_poll_interval_ms(POLL_INTERVAL_MS);
    task.ttl_ms = record.ttl_ms();
    task.status_message = record.message.clone();
    task
}

fn detailed(record: &Record) -> DetailedTask {
    let object = |value: Value| match value {
        Value::Object(members) => members,
        _ => JsonObject::new(),
    };
    let payload = match record.state {
        State::Working => TaskPayload::Working,
        State::Cancelled => TaskPayload::Cancelled,
        State::Completed => TaskPayload::Completed { result: object(record.result.clone().unwrap_or_default()) },
        State::Failed => {
            let message = record.error.clone().unwrap_or_default();
            TaskPayload::Failed { error: object(json!({"code": ErrorCode::INTERNAL_ERROR.0, "message": message})) }
        }
    };
    DetailedTask::new(task(record), payload)
}
