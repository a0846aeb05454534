//! The server over HTTP, spoken to byte by byte: so that a test can send what no client would.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    process::Child,
};

use crate::Stage;

/// A server that listens on a loopback port.
pub struct Http {
    /// The process.
    pub child: Child,
    /// The port on 127.0.0.1.
    pub port: u16,
}

/// An HTTP answer.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Everything before the body.
    pub head: String,
    /// The body as text, still chunked where the server chunked it.
    pub body: String,
}

impl Http {
    /// Starts the server of a stage on a free port and waits until it listens.
    ///
    /// # Errors
    /// When it does not listen within five seconds.
    pub async fn start(stage: &Stage, environment: &[(&str, &str)]) -> anyhow::Result<Self> {
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let mut command = stage.command(environment);
        let child =
            command.arg("http").env("MCP_PORT", port.to_string()).stderr(std::process::Stdio::null()).spawn()?;
        for _ in 0..250 {
            if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return Ok(Http { child, port });
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        anyhow::bail!("the server did not listen within five seconds")
    }

    /// POSTs a JSON-RPC message to the MCP endpoint. Headers given here replace the usual ones.
    ///
    /// # Errors
    /// When the connection fails.
    pub async fn post(&self, message: &Value, headers: &[(&str, &str)]) -> anyhow::Result<Answer> {
        let body = message.to_string();
        let length = body.len().to_string();
        let usual = [
            ("host", "127.0.0.1"),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("content-length", length.as_str()),
        ];
        let kept = usual.iter().filter(|(name, _)| !headers.iter().any(|(given, _)| given == name));
        let mut head = "POST /mcp HTTP/1.1\r\nconnection: close\r\n".to_owned();
        for (name, value) in kept.chain(headers) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        self.exchange(format!("{head}\r\n{body}")).await
    }

    /// GETs a path.
    ///
    /// # Errors
    /// When the connection fails.
    pub async fn get(&self, path: &str) -> anyhow::Result<Answer> {
        self.exchange(format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")).await
    }

    async fn exchange(&self, request: String) -> anyhow::Result<Answer> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut bytes = Vec::new();
        tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes)).await??;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").context("no HTTP answer")?;
        let status = head.split_whitespace().nth(1).and_then(|code| code.parse().ok()).context("no status")?;
        Ok(Answer { status, head: head.to_owned(), body: body.to_owned() })
    }
}
