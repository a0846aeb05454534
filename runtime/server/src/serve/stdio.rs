//! Over stdin and stdout: one client, one thread. Stdout carries the protocol and nothing else.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::stdio_pipes;

use super::lines::Lines;
use super::{block_on, stop_signal, traced};
use crate::App;
use crate::telemetry::Chain;

/// Serves until the client closes stdin, which is a quiet end with code 0 at any time, or a signal comes.
pub(crate) fn serve(app: &Arc<App>) -> ExitCode {
    let served = block_on(traced(app, async {
        tokio::select! {
            code = session(app) => Ok(code),
            stopped = drained(app) => stopped.map(|()| ExitCode::SUCCESS),
        }
    }));
    served.and_then(|code| code).unwrap_or_else(|error| {
        eprintln!("{}-server: the runtime cannot start: {error}", app.server.name);
        ExitCode::FAILURE
    })
}

async fn session(app: &Arc<App>) -> ExitCode {
    let longest = usize::try_from(app.settings.max_request_bytes.0).unwrap_or(usize::MAX);
    let lines = Lines::new(stdio_pipes(), longest, app.task_meta());
    let running = match Arc::clone(app).serve(lines).await {
        Ok(running) => running,
        // Clients probe with a process that they close again before the first message.
        Err(ServerInitializeError::ConnectionClosed(_)) => return ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(target: "toolwright::server", error = %Chain(&error), "the session could not begin");
            return ExitCode::FAILURE;
        }
    };
    match running.waiting().await {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(target: "toolwright::server", error = %Chain(&error), "the session broke off");
            ExitCode::FAILURE
        }
    }
}

/// Waits for a signal to stop, then for the calls in flight, as long as the settings allow.
async fn drained(app: &App) -> std::io::Result<()> {
    stop_signal()?.await;
    // A second signal ends the wait.
    let idle = async {
        while app.metrics.running() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let again = stop_signal()?;
    tokio::select! {
        () = idle => {}
        () = tokio::time::sleep(app.settings.shutdown_grace.0) => {}
        () = again => {}
    }
    // Tasks have had their time with them.
    app.cut_off.cancel();
    Ok(())
}
