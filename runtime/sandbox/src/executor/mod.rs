//! The executor `sandbox` of the tool language: a tool that runs a command.

mod outcome;
mod plan;
#[cfg(test)]
mod tests;
mod words;

use self::plan::Plan;
use crate::{Command, Sandbox, SandboxError, Support};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolwright_core::{
    Binding, Code, Context, Envelope, Examination, Executor, ExecutorCall, LinkedBinding, LinkedTool, ToolError,
    read_plan,
};

/// Carries out the tools of a server that run a command.
#[derive(Debug)]
pub struct SandboxExecutor {
    support: Support,
    /// Sandboxes by their tools: each was tried when it was made, which takes longer than most commands.
    made: Mutex<BTreeMap<&'static str, Arc<Sandbox>>>,
}

impl Default for SandboxExecutor {
    fn default() -> Self {
        Self::new()
    }
}

impl SandboxExecutor {
    /// An executor whose support process is this program: `main` begins with [`crate::run_support_if_asked`].
    #[must_use]
    pub fn new() -> Self {
        Self { support: Support::this_program(), made: Mutex::default() }
    }

    /// The same with another support process, for programs that cannot be started again themselves.
    #[must_use]
    pub fn with_support(mut self, support: Support) -> Self {
        self.support = support;
        self
    }

    async fn outcome(
        &self,
        tool: LinkedTool,
        arguments: &Map<String, Value>,
        context: &Context,
    ) -> Result<Envelope, ToolError> {
        let mut plan: Plan = read_plan(tool)?;
        plan.is_projected = matches!(tool.row.binding, Binding::Linked(LinkedBinding { project: Some(_), .. }));
        let command = plan.command(arguments)?;
        let outcome = match self.run(tool, &plan, &command, context).await {
            // What the sandbox was made for is no longer so: it is made anew, once.
            Err(Refused::Run(SandboxError::Setup(_) | SandboxError::Profile(_))) => {
                self.made.lock().await.remove(tool.row.name);
                self.run(tool, &plan, &command, context).await
            }
            other => other,
        };
        Ok(outcome::envelope(&outcome.map_err(Refused::told)?, &plan))
    }

    async fn run(
        &self,
        tool: LinkedTool,
        plan: &Plan,
        command: &Command,
        context: &Context,
    ) -> Result<crate::Outcome, Refused> {
        let sandbox = self.sandbox(tool, plan, context).await.map_err(Refused::Made)?;
        let deadline = Some(Instant::from_std(context.deadline()));
        // A call that is cancelled is dropped, which ends the command as well.
        sandbox.run(command.clone(), deadline, &CancellationToken::new()).await.map_err(Refused::Run)
    }

    async fn sandbox(&self, tool: LinkedTool, plan: &Plan, context: &Context) -> Result<Arc<Sandbox>, ToolError> {
        let mut made = self.made.lock().await;
        if let Some(sandbox) = made.get(tool.row.name) {
            return Ok(Arc::clone(sandbox));
        }
        let profile = plan.profile(context)?;
        let sandbox = Sandbox::new(profile, self.support.clone()).await.map_err(|error| not_made(error, plan))?;
        let sandbox = Arc::new(sandbox);
        made.insert(tool.row.name, Arc::clone(&sandbox));
        Ok(sandbox)
    }
}

/// Why a command was not run.
enum Refused {
    /// There is no sandbox for it.
    Made(ToolError),
    /// The sandbox did not run it.
    Run(SandboxError),
}

impl Refused {
    fn told(self) -> ToolError {
        match self {
            Self::Made(error) => error,
            Self::Run(error) => told(error),
        }
    }
}

/// A folder that cannot be used is told with the setting that it stands in.
fn not_made(error: SandboxError, plan: &Plan) -> ToolError {
    match error {
        SandboxError::Profile(fault) if fault.is_of_roots() => ToolError::failed(format!("{fault}{}", plan.whence())),
        other => told(other),
    }
}

fn told(error: SandboxError) -> ToolError {
    let code = if matches!(error, SandboxError::Command(_)) { Code::InvalidArguments } else { Code::HandlerFailed };
    ToolError::new(code, error.to_string())
}

impl Executor for SandboxExecutor {
    fn kind(&self) -> &'static str {
        "sandbox"
    }

    fn call<'a>(&'a self, tool: LinkedTool, arguments: Map<String, Value>, context: &'a Context) -> ExecutorCall<'a> {
        Box::pin(async move { self.outcome(tool, &arguments, context).await.unwrap_or_else(Envelope::failure) })
    }

    fn explain(
        &self,
        tool: LinkedTool,
        arguments: &Map<String, Value>,
        context: &Context,
    ) -> Result<String, ToolError> {
        let plan: Plan = read_plan(tool)?;
        let (command, profile) = (plan.command(arguments)?, plan.profile(context)?);
        Ok(words::explained(&command, &profile))
    }

    fn examine<'a>(&'a self, tool: LinkedTool, context: &'a Context) -> Examination<'a> {
        Box::pin(async move {
            let plan: Plan = read_plan(tool).map_err(|error| error.message)?;
            let sandbox = self.sandbox(tool, &plan, context).await.map_err(|error| error.message)?;
            let report = sandbox.report();
            let weaknesses = match report.weaknesses.as_slice() {
                [] => String::new(),
                several => format!("; {}", several.join("; ")),
            };
            Ok(format!("level {} ({}){weaknesses}", report.level, report.mechanisms.join(", ")))
        })
    }
}
