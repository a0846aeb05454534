//! Long calls as tasks of the real server: what is left of them when its process is killed, and who may see them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use toolwright_e2e::{Http, Stage};
use toolwright_mock::Fault;

/// A server over stdio whose client declares tasks, request by request.
struct Process {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

fn request(method: &str, mut parameters: Value) -> Value {
    parameters["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})
}

impl Process {
    fn start(stage: &Stage) -> Self {
        let mut command = stage.command(&[]);
        let mut child = command.arg("stdio").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Process { child, input, output: BufReader::new(output).lines() }
    }

    async fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.input.write_all(format!("{}\n", request(method, parameters)).as_bytes()).await.unwrap();
        serde_json::from_str(&self.output.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn begin(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.ask("tools/call", call(tool, arguments)).await;
        answer["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// The task when it has ended. A dead process loses its task after some 15 seconds.
    async fn ended(&mut self, id: &str) -> Value {
        for _ in 0..600 {
            let answer = self.ask("tasks/get", json!({"taskId": id})).await;
            if answer["result"]["status"] != "working" {
                return answer["result"].clone();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("task {id} does not end");
    }

    /// SIGKILL.
    async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}

/// A call of a tool, through the gateway where it is hidden.
fn call(tool: &str, arguments: Value) -> Value {
    match localai_tools::SERVER.preset.contains(&tool) {
        true => json!({"name": tool, "arguments": arguments}),
        false => json!({"name": "execute_additional_tool", "arguments": {"tool_name": tool, "arguments": arguments}}),
    }
}

async fn requested(stage: &Stage, count: usize) {
    for _ in 0..200 {
        if stage.mock.requests().len() >= count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{:?}", stage.mock.requests());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_is_there_after_the_server_was_killed() {
    let stage = Stage::set().unwrap();
    let mut first = Process::start(&stage);
    let id = first.begin("generate_image", json!({"request": {"model": "paint", "prompt": "a lighthouse"}})).await;
    let before = first.ended(&id).await;
    assert_eq!(before["result"]["structuredContent"]["ok"], true, "{before}");
    first.kill().await;
    let mut second = Process::start(&stage);
    assert_eq!(second.ended(&id).await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_the_tasks_of_a_killed_server_only_those_that_do_no_harm_are_repeated() {
    let stage = Stage::set().unwrap();
    for operation in ["POST /v1/images/generations", "POST /models/apply"] {
        stage.mock.fault(operation, Fault::Delay(120_000), 1);
    }
    let mut first = Process::start(&stage);
    let image = first.begin("generate_image", json!({"request": {"model": "paint", "prompt": "a lighthouse"}})).await;
    let install = first.begin("install_model", json!({"request": {"id": "gallery@tiny"}})).await;
    requested(&stage, 2).await;
    first.kill().await;
    let mut second = Process::start(&stage);
    let image = second.ended(&image).await;
    assert_eq!(image["result"]["structuredContent"]["ok"], true, "{image}");
    let install = second.ended(&install).await;
    assert_eq!(install["status"], "failed", "{install}");
    let message = install["error"]["message"].as_str().unwrap();
    assert!(message.contains("may have been applied: read the state"), "{message}");
    let installs = stage.mock.requests().iter().filter(|request| request.path == "/models/apply").count();
    assert_eq!(installs, 1);
}

/// The answer to a request about a task, by a caller with these credentials.
async fn ask(http: &Http, credentials: &str, method: &str, parameters: Value) -> Value {
    let name = parameters["taskId"].as_str().or(parameters["name"].as_str()).unwrap().to_owned();
    let headers = [
        ("authorization", credentials),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
        ("mcp-name", &name),
    ];
    let answer = http.post(&request(method, parameters), &headers).await.unwrap();
    let body = answer.body.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{answer:?}"));
    serde_json::from_str(body).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_a_task_belongs_to_the_credentials_that_began_it_and_outlives_its_connection() {
    let stage = Stage::set().unwrap();
    stage.mock.fault("POST /v1/images/generations", Fault::Delay(120_000), 1);
    let http = Http::start(&stage, &[]).await.unwrap();
    let (ada, bob) = ("Bearer ada", "Bearer bob");
    let begun = ask(
        &http,
        ada,
        "tools/call",
        call("generate_image", json!({"request": {"model": "paint", "prompt": "a lighthouse"}})),
    )
    .await;
    let id = json!({"taskId": begun["result"]["taskId"]});
    requested(&stage, 1).await;
    for method in ["tasks/get", "tasks/cancel"] {
        let answer = ask(&http, bob, method, id.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let answer = ask(&http, ada, "tasks/get", id.clone()).await;
    assert_eq!(answer["result"]["status"], "working", "{answer}");
    ask(&http, ada, "tasks/cancel", id.clone()).await;
    let answer = ask(&http, ada, "tasks/get", id).await;
    assert_eq!(answer["result"]["status"], "cancelled", "{answer}");
}
