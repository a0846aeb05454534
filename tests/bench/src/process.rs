//! A server under test as a child process, and what the kernel says of it.

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::Context as _;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// A running HTTP server.
pub(crate) struct Server {
    child: tokio::process::Child,
    pub(crate) url: String,
    _state: tempfile::TempDir,
}

impl Server {
    /// Starts the yardstick, which prints its address.
    pub(crate) async fn echo(binary: &Path) -> anyhow::Result<Self> {
        let mut child = command(binary).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().context("no stdout")?;
        let url = BufReader::new(stdout).lines().next_line().await?.context("echo-server printed no address")?;
        Ok(Server { child, url, _state: tempfile::tempdir()? })
    }

    /// Starts the server under test on a free port, with one worker.
    pub(crate) async fn localai(binary: &Path, upstream: &str) -> anyhow::Result<Self> {
        Server::start(binary, &[("LOCALAI_BASE_URL", upstream)]).await
    }

    /// Starts the server of 1,000 operations with all of them listed.
    pub(crate) async fn wide(binary: &Path) -> anyhow::Result<Self> {
        Server::start(binary, &[("WIDE_MCP_EXPOSED_TOOLS", "*")]).await
    }

    async fn start(binary: &Path, settings: &[(&str, &str)]) -> anyhow::Result<Self> {
        let state = tempfile::tempdir()?;
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let child = command(binary)
            .arg("http")
            .envs(settings.iter().copied())
            .env("MCP_PORT", port.to_string())
            .env("MCP_WORKERS", "1")
            .env("XDG_STATE_HOME", state.path())
            .env("XDG_CONFIG_HOME", state.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        for _ in 0..200 {
            if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return Ok(Server { child, url: format!("http://127.0.0.1:{port}/mcp"), _state: state });
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        anyhow::bail!("the server did not listen within 4 seconds")
    }

    /// Processor time used so far, in seconds: user and system (proc(5), fields 14 and 15).
    pub(crate) fn cpu_seconds(&self) -> anyhow::Result<f64> {
        let pid = self.child.id().context("the server has ended")?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let (_, fields) = stat.rsplit_once(')').context("unreadable stat")?;
        let ticks: f64 = fields.split_whitespace().skip(11).take(2).filter_map(|text| text.parse::<f64>().ok()).sum();
        Ok(ticks / 100.0)
    }

    /// A field of /proc/PID/status in KiB, such as `VmRSS` or `VmHWM`.
    pub(crate) fn memory_kib(&self, field: &str) -> anyhow::Result<f64> {
        memory_kib(self.child.id().context("the server has ended")?, field)
    }
}

/// As [`Server::memory_kib`], of any process.
pub(crate) fn memory_kib(pid: u32, field: &str) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find(|line| line.starts_with(field)).context("no such field")?;
    line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).context("unreadable status")
}

fn command(binary: &Path) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(binary);
    command.kill_on_drop(true).stdin(Stdio::null());
    command
}
