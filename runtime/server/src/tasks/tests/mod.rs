//! Tasks over the wire, in both eras. The store is the real one, in a folder of each test.

mod experimental;
mod extension;
mod restart;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright_core::{Catalog, Risk, ServerSpec, ToolSpec};

use crate::settings::{BaseUrl, SettingValue as _, Settings};
use crate::testing::{ROWS, SERVER, Upstream, Wire, settings};
use crate::{App, Program};

const ADD: ToolSpec = ToolSpec { long: true, ..ROWS[0] };
const GET: ToolSpec = ToolSpec { long: true, ..ROWS[2] };
const LIST: ToolSpec = ROWS[3];
const REPORT: ToolSpec = ToolSpec { long: true, deadline_seconds: None, ..ROWS[4] };
/// A call whose repetition does harm.
const CHANGE: ToolSpec = ToolSpec { name: "slow_change", risk: Risk::Write, ..REPORT };

static CATALOG: Catalog = Catalog::new(&[ADD, GET, LIST, CHANGE, REPORT]);

static TASKS: ServerSpec = ServerSpec { preset: &["get_item", "list_items", "slow_change", "slow_report"], ..SERVER };

/// The server in front of that API, with its tasks in `state`.
pub(crate) fn app(state: &TempDir, upstream: &Upstream, change: impl FnOnce(&mut Settings)) -> Arc<App> {
    let mut settings = settings(state);
    settings.base_url = BaseUrl::read(&upstream.url()).unwrap();
    change(&mut settings);
    Program::new(&TASKS, &CATALOG).durable_tasks().app(settings).unwrap()
}

fn declared() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

/// A request of a client that knows tasks, and its answer.
async fn ask(wire: &mut Wire, method: &str, parameters: Value) -> Value {
    wire.ask_modern_with(method, parameters, declared()).await
}

/// Begins a task and returns its id.
async fn begun(wire: &mut Wire, tool: &str, arguments: Value) -> String {
    let answer = ask(wire, "tools/call", json!({"name": tool, "arguments": arguments})).await;
    answer["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// The task once it has ended.
async fn ended(wire: &mut Wire, id: &str) -> Value {
    for _ in 0..1000 {
        let answer = ask(wire, "tasks/get", json!({"taskId": id})).await;
        if answer["result"]["status"] != "working" {
            return answer["result"].clone();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("task {id} does not end");
}

async fn until(count: &AtomicUsize, wanted: usize) {
    let reached = async {
        while count.load(Ordering::SeqCst) < wanted {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), reached).await.expect("within ten seconds");
}
