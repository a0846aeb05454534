//! `call`: one tool, once.

use std::io::Read as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use toolwright_core::{
    Ability, Asked, Binding, Client, Code, Envelope, NoClient, Question, Reply, Severity, ToolError, ToolSpec,
};
use toolwright_http::{CallContext, Progress, ProgressUpdate};

use crate::{App, gateway, serve};

/// Calls a tool and prints its envelope; 0 where it succeeded.
pub(super) fn run(app: &App, chosen: &ArgMatches) -> ExitCode {
    let text = |name: &str| chosen.get_one::<String>(name).map(String::as_str).unwrap_or_default();
    let arguments = match arguments(text("args")) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("--args: {message}");
            return ExitCode::from(super::FAULTY);
        }
    };
    let envelope = if chosen.get_flag("dry-run") {
        match serve::block_on(dry_run(app, text("tool"), arguments)) {
            Ok(Ok(command)) => return super::print(&format!("{command}\n")),
            Ok(Err(envelope)) => Ok(*envelope),
            Err(error) => Err(error),
        }
    } else {
        serve::block_on(call(app, text("tool"), arguments))
    };
    let envelope = match envelope {
        Ok(envelope) => envelope,
        Err(error) => {
            eprintln!("the runtime cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let printed = super::print(&format!("{:#}\n", Value::Object(envelope.to_json())));
    if envelope.ok { printed } else { ExitCode::FAILURE }
}

const FORM: &str = r#"such as --args '{"name": "value"}'; `tools TOOL` shows what a tool takes"#;

fn arguments(text: &str) -> Result<Map<String, Value>, String> {
    let text = match text.strip_prefix('@') {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string())?;
            text
        }
        Some(path) => std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?,
        None => text.to_owned(),
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(format!("must be a JSON object, {FORM}")),
        Err(error) => Err(format!("is not JSON ({error}); write an object, {FORM}")),
    }
}

/// The person who typed the call: they have decided, and are not asked again whether they want it.
#[derive(Debug)]
struct Operator;

impl Client for Operator {
    fn can(&self, ability: Ability) -> bool {
        NoClient.can(ability)
    }

    fn ask(&self, questions: Vec<(String, Question)>) -> Asked<'_, Vec<Reply>> {
        NoClient.ask(questions)
    }

    fn confirm(&self, _message: String) -> Asked<'_, Reply> {
        Box::pin(std::future::ready(Ok(Reply::Filled(Map::new()))))
    }

    fn log(&self, _severity: Severity, message: Value) {
        eprintln!("{message}");
    }
}

async fn call(app: &App, name: &str, arguments: Map<String, Value>) -> Envelope {
    let (sender, updates) = mpsc::channel(64);
    let watcher = tokio::spawn(show(updates));
    let context = CallContext {
        progress: Progress::to(sender),
        client: Arc::new(Operator),
        ..CallContext::within(app.settings.request_timeout.0)
    };
    let envelope = if let Some(row) = app.catalog.find(name) {
        app.operation(row, arguments, &context).await
    } else if gateway::is_fixed(name) {
        gateway::call(app, name, arguments, &context).await
    } else if gateway::EXTRA_TOOLS.contains(&name) {
        let request =
            Map::from_iter([("tool_name".to_owned(), name.into()), ("arguments".to_owned(), Value::Object(arguments))]);
        gateway::call(app, "execute_additional_tool", request, &context).await
    } else {
        unknown(app, name)
    };
    drop(context);
    // The watcher ends with the last sender; it cannot fail.
    let _ = watcher.await;
    envelope
}

/// Progress goes to stderr, since stdout is the result.
async fn show(mut updates: mpsc::Receiver<ProgressUpdate>) {
    while let Some(update) = updates.recv().await {
        eprintln!("… {}", update.message);
    }
}

async fn dry_run(app: &App, name: &str, mut arguments: Map<String, Value>) -> Result<String, Box<Envelope>> {
    match app.catalog.find(name) {
        Some(row) => plan(app, row, arguments).await,
        None if name == "execute_additional_tool" => {
            let inner = arguments.get("tool_name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let given = arguments.remove("arguments").and_then(|given| given.as_object().cloned());
            // Once: it cannot execute itself.
            match inner == name {
                true => Err(Box::new(unknown(app, &inner))),
                false => Box::pin(dry_run(app, &inner, given.unwrap_or_default())).await,
            }
        }
        None if name == "raw_request" => {
            let failed = |error| Box::new(crate::call::named_failure(name, error));
            let request = gateway::raw_request(app, arguments)?;
            let upstream = app.upstream(app.deadline(None)).await.map_err(failed)?;
            Ok(upstream.plan_raw(&request).map_err(failed)?.to_curl())
        }
        None if gateway::is_fixed(name) || gateway::EXTRA_TOOLS.contains(&name) => {
            let message = format!("{name} is no single request of the API, so that there is nothing to print");
            Err(Box::new(crate::call::named_failure(name, ToolError::new(Code::NotAllowed, message))))
        }
        None => Err(Box::new(unknown(app, name))),
    }
}

async fn plan(app: &App, row: &'static ToolSpec, arguments: Map<String, Value>) -> Result<String, Box<Envelope>> {
    let failed = |error| Box::new(crate::call::named_failure(row.name, error));
    if let Binding::Linked(linked) = row.binding {
        let accepted = app.check(row, arguments)?;
        let context = CallContext::within(app.settings.request_timeout.0);
        return app.executors.explain(row, linked, &accepted.arguments, &context).map_err(failed);
    }
    if row.binding.is_own() {
        let what = match row.binding {
            Binding::Steps(_) => "several calls, each of which depends on those before it",
            Binding::Expression(_) => "a filter that this server runs",
            _ => "code of this server",
        };
        let message = format!("{} is {what}: there is no request to print", row.name);
        return Err(failed(ToolError::new(Code::NotAllowed, message)));
    }
    let accepted = app.check(row, arguments)?;
    let upstream = app.upstream(app.deadline(None)).await.map_err(failed)?;
    let planned = upstream.plan(row, &accepted.arguments).map_err(failed)?;
    Ok(planned.to_curl())
}

fn unknown(app: &App, name: &str) -> Envelope {
    Envelope::failure(ToolError::new(Code::UnknownTool, super::unknown_tool(app, name)))
}
