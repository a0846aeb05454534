//! Passes a call's progress, and messages for its log, on to its client.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use toolwright_http::{Progress, ProgressUpdate};

use crate::App;
use crate::client::{LogLine, Logger, wanted_level};

/// Updates that may wait for a slow client before further ones are left out.
const WAITING: usize = 64;

/// Forwards updates while a call runs.
pub(crate) struct Relay {
    task: Option<JoinHandle<()>>,
}

impl Relay {
    /// Starts forwarding, where the client asked for progress.
    pub(crate) fn start(context: &RequestContext<RoleServer>) -> (Progress, Relay) {
        let Some(token) = context.meta.get_progress_token() else {
            return (Progress::none(), Relay { task: None });
        };
        let (sender, receiver) = mpsc::channel(WAITING);
        let task = tokio::spawn(forward(context.peer.clone(), token, receiver));
        (Progress::to(sender), Relay { task: Some(task) })
    }

    /// Starts forwarding messages for the client's log, where it asked for them.
    pub(crate) fn of_log(app: &App, context: &RequestContext<RoleServer>) -> (Logger, Relay) {
        let Some(level) = wanted_level(app, context) else { return (Logger::default(), Relay { task: None }) };
        let (sender, receiver) = mpsc::channel(WAITING);
        let task = tokio::spawn(forward_log(context.peer.clone(), app.server.name, receiver));
        (Logger::to(sender, level), Relay { task: Some(task) })
    }

    /// Waits until what was said is sent, so that no update comes after the result. Every [`Progress`] and [`Logger`] of the
    /// call must have been dropped.
    pub(crate) async fn finish(self) {
        if let Some(task) = self.task {
            // Where the connection is going down, updates wait for nobody; the result must not wait for them.
            let _ = tokio::time::timeout(Duration::from_secs(1), task).await;
        }
    }
}

#[allow(deprecated)] // 2026-07-28 deprecates these messages, and both eras still have them.
async fn forward_log(peer: Peer<RoleServer>, logger: &str, mut lines: mpsc::Receiver<LogLine>) {
    while let Some((level, message)) = lines.recv().await {
        let parameters = rmcp::model::LoggingMessageNotificationParam::new(level, message).with_logger(logger);
        if peer.notify_logging_message(parameters).await.is_err() {
            return;
        }
    }
}

async fn forward(peer: Peer<RoleServer>, token: ProgressToken, mut updates: mpsc::Receiver<ProgressUpdate>) {
    let mut last = f64::NEG_INFINITY;
    while let Some(update) = updates.recv().await {
        // MCP: progress must increase with each notification.
        if update.progress <= last {
            continue;
        }
        last = update.progress;
        let mut parameters = ProgressNotificationParam::new(token.clone(), update.progress);
        if let Some(total) = update.total {
            parameters = parameters.with_total(total);
        }
        if !update.message.is_empty() {
            parameters = parameters.with_message(update.message);
        }
        if peer.notify_progress(parameters).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tempfile::tempdir;
    use toolwright_core::{Binding, Catalog, HttpBinding, StreamDialect, ToolSpec};

    use crate::App;
    use crate::settings::{BaseUrl, Exposed, SettingValue as _};
    use crate::testing::{ROWS, SERVER, Upstream, Wire, settings};

    const STREAM: ToolSpec = ToolSpec {
        name: "stream_words",
        binding: Binding::Http(HttpBinding {
            path: "/stream",
            produces: &["text/event-stream"],
            stream: Some(StreamDialect::OpenAi),
            ..HttpBinding::PLAIN
        }),
        ..ROWS[3]
    };
    static STREAMING: Catalog = Catalog::new(&[STREAM]);

    #[tokio::test]
    async fn a_stream_is_followed_by_growing_progress_before_its_result() {
        let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
        let mut settings = settings(&state);
        settings.base_url = BaseUrl::read(&upstream.url()).unwrap();
        settings.exposed_tools = Exposed::Everything;
        let app = App::new(&SERVER, &STREAMING, settings).unwrap();
        let mut wire = Wire::initialized(&app).await;
        let call = json!({"name": "stream_words", "arguments": {}, "_meta": {"progressToken": "p"}});
        let mut message = wire.ask("tools/call", call).await;
        let mut said = Vec::new();
        let mut last = f64::NEG_INFINITY;
        while message.get("method").is_some() {
            assert_eq!(message["method"], "notifications/progress");
            assert_eq!(message["params"]["progressToken"], "p");
            let progress = message["params"]["progress"].as_f64().unwrap();
            assert!(progress > last, "{progress} after {last}");
            last = progress;
            said.push(message["params"]["message"].as_str().unwrap_or_default().to_owned());
            message = wire.receive().await;
        }
        assert!(said.concat().contains("Hello"), "{said:?}");
        let data = &message["result"]["structuredContent"]["data"];
        assert_eq!(data["choices"][0]["message"]["content"], "Hello world", "{message}");
    }
}
