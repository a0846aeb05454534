//! The two transports, and the runtime under them.

mod guard;
mod http;
mod stdio;

pub(crate) use http::serve as http;
pub(crate) use stdio::serve as stdio;

use std::time::Duration;

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

/// Waits for a signal to stop.
async fn stop_signal() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = interrupt => {}
                    _ = terminate.recv() => {}
                }
            }
            // Without a handler the signal's default action stops the process.
            Err(_) => drop(interrupt.await),
        }
    }
    #[cfg(not(unix))]
    drop(interrupt.await);
}
