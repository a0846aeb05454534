//! What a client waits for and reads before the first call: the start, the memory, the size of the list.

use std::{path::Path, process::Stdio, time::Instant};

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::Command,
};
use toolwright_e2e::repository;

use crate::{
    process::memory_kib,
    report::{Report, median},
};

/// How often the start is timed.
const STARTS: usize = 21;

/// Tokens (o200k) of `tools/list` for each surface.
pub(crate) async fn listing(server: &Path, report: &mut Report) -> anyhow::Result<()> {
    let surfaces: [(&'static str, &str, &'static str, usize); 3] = [
        ("tools/list, default", "", "25 tools, <= 5,000 tokens", 5_000),
        ("tools/list, none", "none", "5 tools, <= 600 tokens", 600),
        ("tools/list, *", "*", "128 tools, <= 24,000 tokens", 24_000),
    ];
    for (what, exposed, target, limit) in surfaces {
        let mut command = Command::new(server);
        if !exposed.is_empty() {
            command.env("LOCALAI_MCP_EXPOSED_TOOLS", exposed);
        }
        let (list, _, _) = first_list(command).await?;
        let tools = list.pointer("/result/tools").and_then(Value::as_array).context("no tools")?;
        let tokens = bpe_openai::o200k_base().count(&serde_json::to_string(tools)?);
        report.row(what, format!("{} tools, {tokens} tokens", tools.len()), target, tokens <= limit);
    }
    Ok(())
}

/// From the start of the process to the first `tools/list` over stdio, and the memory then.
pub(crate) async fn start(server: &Path, report: &mut Report) -> anyhow::Result<()> {
    let (time, memory) = time_start(server).await?;
    report.row("start to first tools/list, stdio", format!("{time:.1} ms"), "<= 10 ms", time <= 10.0);
    report.row("resident memory then", format!("{memory:.1} MiB"), "<= 15 MiB", memory <= 15.0);
    Ok(())
}

/// The same of a server that links every executor: models, the sandbox and durable work beside the rest.
pub(crate) async fn start_of_all(server: &Path, report: &mut Report) -> anyhow::Result<()> {
    let (time, _) = time_start(server).await?;
    report.row("the same with every executor", format!("{time:.1} ms"), "<= 12 ms", time <= 12.0);
    Ok(())
}

/// The median of the milliseconds, and the resident MiB of the last start.
async fn time_start(server: &Path) -> anyhow::Result<(f64, f64)> {
    let (mut times, mut memory) = (Vec::new(), 0.0);
    for _ in 0..STARTS {
        let (_, milliseconds, kib) = first_list(Command::new(server)).await?;
        times.push(milliseconds);
        memory = kib / 1024.0;
    }
    Ok((median(times), memory))
}

/// The first list, the milliseconds it took from the start, and the resident KiB.
async fn first_list(mut command: Command) -> anyhow::Result<(Value, f64, f64)> {
    let state = tempfile::tempdir()?;
    command.arg("stdio").env("XDG_STATE_HOME", state.path()).env("XDG_CONFIG_HOME", state.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let started = Instant::now();
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().context("no stdin")?;
    let mut lines = BufReader::new(child.stdout.take().context("no stdout")?).lines();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}});
    stdin.write_all(format!("{initialize}\n").as_bytes()).await?;
    lines.next_line().await?.context("no answer to initialize")?;
    let rest = [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    for message in rest {
        stdin.write_all(format!("{message}\n").as_bytes()).await?;
    }
    let answer = lines.next_line().await?.context("no answer to tools/list")?;
    let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
    let kib = memory_kib(child.id().context("the server has ended")?, "VmRSS")?;
    Ok((serde_json::from_str(&answer)?, milliseconds, kib))
}

/// `cargo xtask regenerate --check`, after the build.
pub(crate) fn regenerate(report: &mut Report) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut times = Vec::new();
    for _ in 0..4 {
        let started = Instant::now();
        let mut command = std::process::Command::new(&cargo);
        command.current_dir(repository()).args(["xtask", "regenerate", "--check"]).stdout(Stdio::null());
        anyhow::ensure!(command.status()?.success(), "regenerate --check failed");
        times.push(started.elapsed().as_secs_f64());
    }
    let seconds = median(times.split_off(1));
    report.row("regenerate --check, cargo included", format!("{seconds:.2} s"), "<= 1 s", seconds <= 1.0);
    Ok(())
}
