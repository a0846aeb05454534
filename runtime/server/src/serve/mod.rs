//! The two transports, and the runtime under them.

mod connections;
mod guard;
mod http;
mod lines;
mod message;
mod request_body;
mod stdio;

pub(crate) use http::serve as http;
#[cfg(test)]
pub(crate) use lines::Lines;
pub(crate) use stdio::serve as stdio;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use crate::App;
use crate::telemetry::Tracing;

/// Runs one future on a runtime of one thread.
///
/// # Errors
/// Where the operating system refuses what the runtime needs.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let value = runtime.block_on(future);
    // A read of stdin that cannot be cancelled must not keep the process.
    runtime.shutdown_timeout(Duration::from_millis(100));
    Ok(value)
}

/// Serves with traces and metrics, where a receiver is configured, and sends the last of them at the end.
async fn traced<T>(app: &App, serving: impl Future<Output = T>) -> T {
    let mut serving = pin!(serving);
    // Nobody waits for a keyring that has the key of a receiver: what is called before is not traced.
    let served = tokio::select! {
        biased;
        () = begin_traces(app) => serving.await,
        served = &mut serving => served,
    };
    let stop = async {
        match stop_signal() {
            Ok(stop) => stop.await,
            Err(_) => std::future::pending().await,
        }
    };
    app.finish_tasks(stop).await;
    if let Some(tracing) = app.tracing.get() {
        Arc::clone(tracing).finish().await;
    }
    served
}

async fn begin_traces(app: &App) {
    if let Some(tracing) = Tracing::start(app).await {
        drop(app.tracing.set(Arc::new(tracing)));
    }
}

/// Registers for the signals to stop, so that none that comes from now on is missed, and returns the wait for one.
///
/// # Errors
/// Where the operating system refuses.
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}
