//! A destructive call waits for a person, in both eras, over both transports, with real processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ErrorData, Implementation,
};
use rmcp::service::RequestContext;
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
use serde_json::{Value, json};
use toolwright_e2e::{Http, Stage, structured};

const CONFIRM: (&str, &str) = ("LOCALAI_MCP_CONFIRM", "destructive");
const KEY: (&str, &str) = ("MCP_STATE_KEY", "0123456789abcdef0123456789abcdef");

/// A hidden tool, so that the gateway is part of the test.
fn deletion() -> Value {
    json!({"name": "execute_additional_tool", "arguments": {"tool_name": "delete_model", "arguments": {"name": "phi-2"}}})
}

/// Somebody who answers every form in one way, and keeps what they were shown.
struct Person {
    answer: ElicitationAction,
    shown: std::sync::Arc<std::sync::Mutex<Vec<String>>>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities: ClientCapabilities = serde_json::from_value(json!({"elicitation": {}})).unwrap();
        ClientConfig::new(capabilities, Implementation::new("person", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        if let ElicitRequestParams::FormElicitationParams { message, .. } = request {
            self.shown.lock().unwrap().push(message);
        }
        Ok(ElicitResult::new(self.answer.clone()).with_content(json!({})))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_stdio_a_person_is_asked_and_their_word_counts() {
    let stage = Stage::set().unwrap();
    for (answer, ok, code) in
        [(ElicitationAction::Accept, true, json!(null)), (ElicitationAction::Decline, false, json!("not_allowed"))]
    {
        let mut command = stage.command(&[CONFIRM]);
        command.arg("stdio");
        let shown = std::sync::Arc::default();
        let person = Person { answer, shown: std::sync::Arc::clone(&shown) };
        let client = person.serve(TokioChildProcess::new(command).unwrap()).await.unwrap();
        let mut call = CallToolRequestParams::new("execute_additional_tool");
        call.arguments = deletion()["arguments"].as_object().cloned();
        let result = structured(&client.call_tool(call).await.unwrap());
        assert_eq!((&result["ok"], result.get("code").unwrap_or(&json!(null))), (&json!(ok), &code), "{result}");
        let shown = shown.lock().unwrap().clone();
        assert_eq!(shown.len(), 1);
        assert!(shown[0].contains("delete_model") && shown[0].contains("name: phi-2"), "{shown:?}");
        client.cancel().await.unwrap();
    }
}

fn modern(mut parameters: Value) -> Value {
    parameters["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters})
}

async fn post(server: &Http, message: &Value) -> Value {
    let headers =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "execute_additional_tool")];
    let answer = server.post(message, &headers).await.unwrap();
    let start = answer.body.find('{').unwrap_or_else(|| panic!("{answer:?}"));
    let end = answer.body.rfind('}').unwrap();
    serde_json::from_str(&answer.body[start..=end]).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

#[tokio::test]
async fn over_http_another_process_with_the_same_key_takes_the_answer() {
    let stage = Stage::set().unwrap();
    let (one, two) =
        (Http::start(&stage, &[CONFIRM, KEY]).await.unwrap(), Http::start(&stage, &[CONFIRM, KEY]).await.unwrap());
    let stranger = Http::start(&stage, &[CONFIRM]).await.unwrap();
    let first = post(&one, &modern(deletion())).await;
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let mut call = deletion();
    call["requestState"] = first["result"]["requestState"].clone();
    call["inputResponses"] = json!({"confirm_1": {"action": "accept", "content": {}}});
    let refused = post(&stranger, &modern(call.clone())).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let made = post(&two, &modern(call)).await;
    assert_eq!(made["result"]["structuredContent"]["ok"], true, "{made}");
}

#[tokio::test]
async fn over_http_without_sessions_a_client_of_the_older_era_is_told_what_to_do() {
    let stage = Stage::set().unwrap();
    let server = Http::start(&stage, &[CONFIRM]).await.unwrap();
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": deletion()});
    let answer = server.post(&message, &[("mcp-protocol-version", "2025-11-25")]).await.unwrap();
    for hint in ["not_allowed", "MCP_SESSIONS=true", "LOCALAI_MCP_CONFIRM=off"] {
        assert!(answer.body.contains(hint), "{hint}: {answer:?}");
    }
}

#[tokio::test]
async fn the_command_line_asks_nobody() {
    let stage = Stage::set().unwrap();
    let mut command = stage.command(&[CONFIRM]);
    let output = command.args(["call", "delete_model", "--args", r#"{"name": "phi-2"}"#]).output().await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
