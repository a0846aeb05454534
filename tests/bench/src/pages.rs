//! Pages of a long `tools/list` a second, from a server that lists 1,000 operations.

use std::{path::Path, time::Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::{
    calls::{CONNECTIONS, client},
    process::Server,
    report::Report,
};

/// Pages that each connection asks for.
const PAGES: usize = 1_500;

/// What is slower than this makes clients that page through a list wait.
const TARGET: f64 = 2_000.0;

pub(crate) async fn measure(server: &Path, report: &mut Report) -> anyhow::Result<()> {
    let server = Server::wide(server).await?;
    let (cursors, tools, bytes) = walk(&server).await?;
    anyhow::ensure!(tools == 1_005, "1,000 operations and 5 fixed tools are expected, not {tools}");
    let (cpu, started) = (server.cpu_seconds()?, Instant::now());
    let workers: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (url, cursors) = (server.url.clone(), cursors.clone());
            tokio::spawn(async move {
                let client = client()?;
                for cursor in cursors.iter().cycle().take(PAGES) {
                    let answer = list(&client, &url, cursor.as_deref()).send().await?;
                    anyhow::ensure!(answer.status().is_success(), "tools/list: {}", answer.status());
                    answer.bytes().await?;
                }
                anyhow::Ok(())
            })
        })
        .collect();
    for worker in workers {
        worker.await??;
    }
    let pages = (CONNECTIONS * PAGES) as f64;
    let speed = pages / started.elapsed().as_secs_f64();
    let cpu = (server.cpu_seconds()? - cpu) * 1000.0 / pages;
    let measured =
        format!("{speed:.0} pages/s, {cpu:.3} ms CPU, {} pages of {} bytes", cursors.len(), bytes / cursors.len());
    report.row("tools/list, 1,000 operations", measured, ">= 2,000 pages/s", speed >= TARGET);
    Ok(())
}

/// The cursors of all pages, how many tools they hold, and their bytes: a fast error is no fast page.
async fn walk(server: &Server) -> anyhow::Result<(Vec<Option<String>>, usize, usize)> {
    let client = client()?;
    let (mut cursors, mut tools, mut bytes, mut cursor) = (Vec::new(), 0, 0, None::<String>);
    loop {
        let body = list(&client, &server.url, cursor.as_deref()).send().await?.bytes().await?;
        let page: Value = serde_json::from_slice(&body)?;
        tools += page.pointer("/result/tools").and_then(Value::as_array).context("no tools")?.len();
        bytes += body.len();
        cursors.push(cursor);
        cursor = page.pointer("/result/nextCursor").and_then(Value::as_str).map(str::to_owned);
        if cursor.is_none() {
            return Ok((cursors, tools, bytes));
        }
    }
}

fn list(client: &reqwest::Client, url: &str, cursor: Option<&str>) -> reqwest::RequestBuilder {
    let mut body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"}}}});
    if let (Some(cursor), Some(parameters)) = (cursor, body.get_mut("params").and_then(Value::as_object_mut)) {
        parameters.insert("cursor".to_owned(), cursor.into());
    }
    client
        .post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/list")
        .body(body.to_string())
}
