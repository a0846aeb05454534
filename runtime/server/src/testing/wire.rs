//! The server's end of a connection, message by message.

use std::sync::Arc;

use rmcp::ServiceExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use crate::App;
use crate::serve::Lines;

/// A connection to a server in this process, as stdio carries it.
pub(crate) struct Wire {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl Wire {
    /// A connection on which nothing has been said.
    pub(crate) fn open(app: &Arc<App>) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let app = Arc::clone(app);
        tokio::spawn(async move {
            let lines = Lines::new(tokio::io::split(theirs), 1 << 20, app.task_meta());
            if let Ok(running) = app.serve(lines).await {
                let _ = running.waiting().await;
            }
        });
        let (reader, writer) = tokio::io::split(ours);
        Wire { reader: BufReader::new(reader), writer }
    }

    /// A connection after the handshake of 2025-11-25.
    pub(crate) async fn initialized(app: &Arc<App>) -> Self {
        Wire::initialized_with(app, json!({})).await
    }

    /// The same, of a client that can do this.
    pub(crate) async fn initialized_with(app: &Arc<App>, capabilities: Value) -> Self {
        let mut wire = Wire::open(app);
        let parameters = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        wire.ask("initialize", parameters).await;
        wire.tell("notifications/initialized", json!({})).await;
        wire
    }

    /// Sends one message.
    pub(crate) async fn send(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// Sends a notification.
    pub(crate) async fn tell(&mut self, method: &str, parameters: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": parameters})).await;
    }

    /// The next message from the server.
    pub(crate) async fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Sends a request and returns the next message.
    pub(crate) async fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})).await;
        self.receive().await
    }

    /// Sends a request as 2026-07-28 has it, and returns the next message.
    pub(crate) async fn ask_modern(&mut self, method: &str, parameters: Value) -> Value {
        self.ask_modern_with(method, parameters, json!({})).await
    }

    /// The same, of a client that can do this.
    pub(crate) async fn ask_modern_with(&mut self, method: &str, mut parameters: Value, can: Value) -> Value {
        parameters["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
        parameters["_meta"]["io.modelcontextprotocol/clientCapabilities"] = can;
        self.ask(method, parameters).await
    }

    /// Answers the server's own request.
    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    /// Calls a tool and returns the result of the call.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        answer["result"].take()
    }
}
