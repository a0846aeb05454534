//! Calls over HTTP: processor time a call and throughput, against the yardstick in the same run.

use std::{path::Path, time::Instant};

use serde_json::{Value, json};

use crate::{
    process::Server,
    report::{Report, median},
    upstream,
};

/// Connections at a time.
pub(crate) const CONNECTIONS: usize = 8;
/// Calls on each connection in a round.
const CALLS: usize = 500;
/// Rounds of all kinds in turn. A cost is held against the yardstick's of the same round, so that a machine whose speed
/// changes from second to second changes both, and the median of the rounds counts.
const ROUNDS: usize = 15;

/// What one run cost.
struct Cost {
    calls_per_second: f64,
    cpu_ms_per_call: f64,
}

pub(crate) async fn measure(server: &Path, echo: &Path, report: &mut Report) -> anyhow::Result<()> {
    let upstream = upstream::start().await?;
    let echo = Server::echo(echo).await?;
    let localai = Server::localai(server, &upstream).await?;
    let arguments = json!({"request": {"model": "m", "tokens": [1, 42, 9001]}});
    let hidden = json!({"tool_name": "detokenize", "arguments": arguments});

    let mut kinds: [Vec<Cost>; 4] = Default::default();
    for round in 0..=ROUNDS {
        let costs = [
            run(&echo, "echo", &arguments).await?,
            run(&localai, "get_system_info", &json!({})).await?,
            run(&localai, "execute_additional_tool", &hidden).await?,
            run(&localai, "schema_audit", &json!({})).await?,
        ];
        // The first one warms up.
        if round > 0 {
            kinds.iter_mut().zip(costs).for_each(|(kind, cost)| kind.push(cost));
        }
    }
    let [bare, direct, gateway, local] = &kinds;
    report.row("bare rmcp echo", show(bare), "the yardstick", true);
    for (what, costs) in [("a call through to a fast upstream", direct), ("the same through the gateway", gateway)] {
        let cpu = against(bare, costs, |cost| cost.cpu_ms_per_call);
        let throughput = against(bare, costs, |cost| cost.calls_per_second);
        let measured = format!("{}, CPU {cpu:.2} x, throughput {throughput:.2} x", show(costs));
        report.row(what, measured, "CPU <= 3 x, throughput >= 0.35 x", cpu <= 3.0 && throughput >= 0.35);
    }
    let throughput = against(bare, local, |cost| cost.calls_per_second);
    let measured = format!("{}, throughput {throughput:.2} x", show(local));
    report.row("a tool without upstream", measured, "throughput >= 0.8 x", throughput >= 0.8);
    Ok(())
}

/// The median of the rounds' ratios to the yardstick.
fn against(bare: &[Cost], costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    median(costs.iter().zip(bare).map(|(cost, bare)| of(cost) / of(bare)).collect())
}

fn show(costs: &[Cost]) -> String {
    let of = |part: fn(&Cost) -> f64| median(costs.iter().map(part).collect());
    format!("{:.0}/s, {:.3} ms CPU", of(|cost| cost.calls_per_second), of(|cost| cost.cpu_ms_per_call))
}

async fn run(server: &Server, tool: &'static str, arguments: &Value) -> anyhow::Result<Cost> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"}}}})
    .to_string();
    check_one(server, tool, &body).await?;
    let (cpu, started) = (server.cpu_seconds()?, Instant::now());
    let workers: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (url, body) = (server.url.clone(), body.clone());
            tokio::spawn(async move {
                let client = client()?;
                for _ in 0..CALLS {
                    let answer = request(&client, &url, tool, &body).send().await?;
                    anyhow::ensure!(answer.status().is_success(), "{tool}: {}", answer.status());
                    answer.bytes().await?;
                }
                anyhow::Ok(())
            })
        })
        .collect();
    for worker in workers {
        worker.await??;
    }
    let seconds = started.elapsed().as_secs_f64();
    let calls = (CONNECTIONS * CALLS) as f64;
    Ok(Cost { calls_per_second: calls / seconds, cpu_ms_per_call: (server.cpu_seconds()? - cpu) * 1000.0 / calls })
}

/// One call whose answer is looked at: a fast error is not a fast answer.
async fn check_one(server: &Server, tool: &str, body: &str) -> anyhow::Result<()> {
    let text = request(&client()?, &server.url, tool, body).send().await?.text().await?;
    anyhow::ensure!(text.contains(r#""ok":true"#), "{tool} answered: {text}");
    Ok(())
}

pub(crate) fn client() -> anyhow::Result<reqwest::Client> {
    Ok(reqwest::Client::builder().tcp_nodelay(true).pool_max_idle_per_host(1).build()?)
}

fn request(client: &reqwest::Client, url: &str, tool: &str, body: &str) -> reqwest::RequestBuilder {
    client
        .post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .body(body.to_owned())
}
