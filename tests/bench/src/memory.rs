//! What a large answer costs in memory.

use std::path::Path;

use serde_json::json;

use crate::{process::Server, report::Report, upstream};

pub(crate) async fn large_answer(server: &Path, report: &mut Report) -> anyhow::Result<()> {
    let upstream = upstream::start().await?;
    let server = Server::localai(server, &upstream).await?;
    let client = reqwest::Client::new();
    let call = |name: &'static str, arguments: serde_json::Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name,
            "arguments": arguments, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}}}});
        client
            .post(&server.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", name)
            .body(body.to_string())
    };
    call("get_system_info", json!({})).send().await?.bytes().await?;
    let before = server.memory_kib("VmRSS")?;
    let arguments = json!({"request": {"model": "m", "input": "x"}});
    let answer = call("text_to_speech", arguments).send().await?.text().await?;
    anyhow::ensure!(answer.contains(&upstream::LARGE.to_string()), "the large answer did not arrive: {answer}");
    let grown = (server.memory_kib("VmHWM")? - before) / 1024.0;
    report.row("64 MiB binary answer", format!("resident memory grows by {grown:.1} MiB"), "< 8 MiB", grown < 8.0);
    Ok(())
}
