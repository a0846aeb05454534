//! A real MCP client that keeps the progress it is told of.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use rmcp::{
    ClientHandler, Peer, RoleClient, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResult, ProgressNotificationParam, ReadResourceRequestParams,
        ReadResourceResult, Tool,
    },
    service::{NotificationContext, RunningService},
    transport::TokioChildProcess,
};
use serde_json::Value;

/// A connected client.
pub struct Session {
    running: RunningService<RoleClient, Recorder>,
    progress: Progress,
}

type Progress = Arc<Mutex<Vec<ProgressNotificationParam>>>;

#[derive(Clone, Default)]
struct Recorder {
    progress: Progress,
}

impl ClientHandler for Recorder {
    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).push(params);
    }
}

impl Session {
    /// Starts a server as a child process and connects over its stdio.
    ///
    /// # Errors
    /// When the process cannot be started or does not speak MCP.
    pub async fn over_stdio(command: tokio::process::Command) -> anyhow::Result<Self> {
        let transport = TokioChildProcess::new(command).context("the server cannot be started")?;
        let recorder = Recorder::default();
        let progress = Arc::clone(&recorder.progress);
        let running = recorder.serve(transport).await.context("the server does not answer as MCP")?;
        Ok(Session { running, progress })
    }

    /// Every listed tool.
    ///
    /// # Errors
    /// What the server answers.
    pub async fn list(&self) -> anyhow::Result<Vec<Tool>> {
        Ok(self.running.list_all_tools().await?)
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// Protocol errors; a failed call is a result.
    pub async fn call(&self, name: &str, arguments: Value) -> anyhow::Result<CallToolResult> {
        let mut params = CallToolRequestParams::new(name.to_owned());
        params.arguments = arguments.as_object().cloned();
        Ok(self.running.call_tool(params).await?)
    }

    /// Calls a tool as a part of the trace that this `traceparent` names.
    ///
    /// # Errors
    /// When the server answers with a protocol error, or not at all.
    pub async fn call_within(&self, traceparent: &str, name: &str, arguments: Value) -> anyhow::Result<CallToolResult> {
        let mut params = CallToolRequestParams::new(name.to_owned());
        params.arguments = arguments.as_object().cloned();
        params.meta.get_or_insert_default().0.set_traceparent(traceparent);
        Ok(self.running.call_tool(params).await?)
    }

    /// Calls a hidden tool through the gateway.
    ///
    /// # Errors
    /// As [`Session::call`].
    pub async fn execute(&self, name: &str, arguments: Value) -> anyhow::Result<CallToolResult> {
        self.call("execute_additional_tool", serde_json::json!({"tool_name": name, "arguments": arguments})).await
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// What the server answers.
    pub async fn read(&self, uri: &str) -> anyhow::Result<ReadResourceResult> {
        Ok(self.running.read_resource(ReadResourceRequestParams::new(uri)).await?)
    }

    /// The client itself, for what is asked less often.
    #[must_use]
    pub fn peer(&self) -> &Peer<RoleClient> {
        self.running.peer()
    }

    /// The progress told so far.
    #[must_use]
    pub fn progress(&self) -> Vec<ProgressNotificationParam> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Closes the connection and waits for the server to end.
    ///
    /// # Errors
    /// When the connection's task failed.
    pub async fn close(self) -> anyhow::Result<()> {
        self.running.cancel().await?;
        Ok(())
    }
}

/// The structured content of a result.
#[must_use]
pub fn structured(result: &CallToolResult) -> Value {
    result.structured_content.clone().unwrap_or(Value::Null)
}

/// The first text block of a result.
#[must_use]
pub fn text(result: &CallToolResult) -> String {
    result.content.iter().find_map(|block| block.as_text()).map(|text| text.text.clone()).unwrap_or_default()
}
