use std::sync::atomic::Ordering as Atomic;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::*;
use crate::testing::{Upstream, app};

struct Site {
    address: SocketAddr,
    upstream: Upstream,
    stop: Option<oneshot::Sender<()>>,
    serving: tokio::task::JoinHandle<()>,
    _state: TempDir,
}

impl Site {
    async fn start(change: impl FnOnce(&mut Settings)) -> Self {
        Site::of(|state, upstream| app(state, upstream, change)).await
    }

    async fn of(made: impl FnOnce(&TempDir, &Upstream) -> Arc<App>) -> Self {
        let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
        let app = made(&state, &upstream);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(async move {
            run(&app, listener, async { drop(stopped.await) }).await;
        });
        Site { address, upstream, stop: Some(stop), serving, _state: state }
    }

    /// Sends one request on a connection of its own; status, head and body of the answer.
    async fn request(&self, head: &str, body: &str) -> (u16, String, String) {
        let mut connection = self.begin(head, body).await;
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_ascii_lowercase(), body.to_owned())
    }

    async fn begin(&self, head: &str, body: &str) -> TcpStream {
        let mut connection = TcpStream::connect(self.address).await.unwrap();
        let host = if head.contains("Host:") { String::new() } else { format!("Host: {}\r\n", self.address) };
        let length = body.len();
        let request = format!("{head}\r\n{host}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}");
        connection.write_all(request.as_bytes()).await.unwrap();
        connection
    }

    async fn post(&self, headers: &str, body: &Value) -> (u16, String, String) {
        self.request(&format!("{POST}{headers}"), &body.to_string()).await
    }
}

const POST: &str =
    "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream";

fn modern(method: &str, mut parameters: Value) -> Value {
    parameters["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})
}

#[tokio::test]
async fn both_eras_are_served_at_the_same_place_without_sessions() {
    let site = Site::start(|_| ()).await;
    let old = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let (status, head, body) = site.post("\r\nMCP-Protocol-Version: 2025-11-25", &old).await;
    assert_eq!((status, head.contains("mcp-session-id")), (200, false), "{head}");
    assert!(body.contains("get_item") && !body.contains("resultType"), "{body}");
    let headers = "\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list";
    let (status, _, body) = site.post(headers, &modern("tools/list", json!({}))).await;
    assert_eq!(status, 200);
    assert!(body.contains("get_item") && body.contains("resultType"), "{body}");
}

#[tokio::test]
async fn headers_that_contradict_the_body_are_refused() {
    let site = Site::start(|_| ()).await;
    let call = modern("tools/call", json!({"name": "get_item", "arguments": {"id": 1}}));
    for headers in ["Mcp-Method: tools/list\r\nMcp-Name: get_item", "Mcp-Method: tools/call\r\nMcp-Name: add_item"] {
        let (status, _, body) = site.post(&format!("\r\nMCP-Protocol-Version: 2026-07-28\r\n{headers}"), &call).await;
        assert_eq!(status, 400, "{body}");
        assert!(body.contains("-32020"), "{body}");
    }
}

#[cfg(feature = "tasks")]
#[tokio::test]
async fn a_message_of_the_new_era_without_its_version_is_no_older_one() {
    let site = Site::of(|state, upstream| crate::tasks::tests::app(state, upstream, |_| ())).await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let headers = "\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list";
    let (status, _, body) = site.post(headers, &list).await;
    assert_eq!(status, 400, "{body}");
    assert!(body.contains("-32602") && body.contains("_meta"), "{body}");
}

#[cfg(feature = "tasks")]
#[tokio::test]
async fn tasks_are_declared_with_and_without_sessions() {
    for sessions in [false, true] {
        let change = |settings: &mut Settings| settings.sessions.0 = sessions;
        let site = Site::of(|state, upstream| crate::tasks::tests::app(state, upstream, change)).await;
        let parameters = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters});
        let (_, head, body) = site.post("", &hello).await;
        assert_eq!(head.contains("mcp-session-id"), sessions, "{head}");
        assert!(body.contains(r#""tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}"#), "{body}");
    }
}

#[cfg(feature = "tasks")]
#[tokio::test]
async fn acknowledgements_about_tasks_name_the_server() {
    let site = Site::of(|state, upstream| crate::tasks::tests::app(state, upstream, |_| ())).await;
    let ask = async |method: &str, name: &str, parameters: Value| -> Value {
        let mut request = modern(method, parameters);
        request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        let version = "\r\nMCP-Protocol-Version: 2026-07-28";
        let (_, _, body) = site.post(&format!("{version}\r\nMcp-Method: {method}\r\nMcp-Name: {name}"), &request).await;
        serde_json::from_str(&body).unwrap()
    };
    let begun = ask("tools/call", "get_item", json!({"name": "get_item", "arguments": {"id": 7}})).await;
    let id = begun["result"]["taskId"].as_str().unwrap();
    for method in ["tasks/update", "tasks/cancel"] {
        let answer = ask(method, id, json!({"taskId": id, "inputResponses": {}})).await;
        let server = &answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(server["name"], "demo-server", "{answer}");
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    }
}

#[tokio::test]
async fn where_no_sessions_are_kept_a_client_has_none_whatever_it_says() {
    let site = Site::of(|state, _| crate::client::tests::desk(state)).await;
    for (method, parameters) in
        [("logging/setLevel", json!({"level": "info"})), ("resources/subscribe", json!({"uri": "demo://note"}))]
    {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
        let (_, _, body) = site.post("\r\nMcp-Session-Id: made-up", &request).await;
        assert!(body.contains("MCP_SESSIONS"), "{method}: {body}");
    }
}

#[tokio::test]
async fn an_unknown_method_is_404_in_the_new_era() {
    let site = Site::start(|_| ()).await;
    let headers = "\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: no/such";
    let (status, _, body) = site.post(headers, &modern("no/such", json!({}))).await;
    assert_eq!(status, 404, "{body}");
    assert!(body.contains("-32601"), "{body}");
}

#[tokio::test]
async fn other_hosts_and_origins_are_forbidden() {
    let site = Site::start(|_| ()).await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for header in ["Host: evil.example", "Origin: https://evil.example"] {
        assert_eq!(site.post(&format!("\r\n{header}"), &list).await.0, 403, "{header}");
    }
    assert_eq!(site.post("\r\nOrigin: http://localhost:5173", &list).await.0, 200);
    assert_eq!(site.request("GET /metrics HTTP/1.1\r\nHost: evil.example", "").await.0, 403);
}

#[tokio::test]
async fn with_a_token_everything_but_the_probes_needs_it() {
    let site = Site::start(|settings| settings.auth_token = Some(crate::settings::Secret::new("t0ken"))).await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let (status, head, _) = site.post("", &list).await;
    assert_eq!((status, head.contains("www-authenticate: bearer")), (401, true), "{head}");
    assert_eq!(site.post("\r\nAuthorization: Bearer t0ken", &list).await.0, 200);
    assert_eq!(site.request("GET /metrics HTTP/1.1", "").await.0, 401);
    assert_eq!(site.request("GET /metrics HTTP/1.1\r\nAuthorization: Bearer t0ken", "").await.0, 200);
    for probe in ["/healthz", "/readyz"] {
        assert_eq!(site.request(&format!("GET {probe} HTTP/1.1"), "").await.0, 200, "{probe}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let site = Site::start(|settings| settings.max_request_bytes.0 = 1000).await;
    let padding = "x".repeat(2000);
    let (status, _, _) = site.post("", &json!({"jsonrpc": "2.0", "id": 1, "method": padding})).await;
    assert_eq!(status, 413);
}

#[tokio::test]
async fn a_body_that_is_no_message_is_answered_as_json_rpc() {
    let site = Site::start(|_| ()).await;
    for (body, code, id) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"#, -32700, json!(7)),
        (r#"{"jsonrpc":"2.0","id":8}"#, -32600, json!(8)),
        ("[]", -32600, Value::Null),
        ("hello", -32700, Value::Null),
        ("", -32700, Value::Null),
    ] {
        let (status, _, answer) = site.request(POST, body).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((status, &answer["error"]["code"], &answer["id"]), (400, &json!(code), &id), "{body}: {answer}");
    }
}

#[tokio::test]
async fn a_body_that_stops_in_the_middle_is_given_up() {
    let site = Site::start(|settings| settings.request_timeout.0 = Duration::from_millis(50)).await;
    let mut connection = TcpStream::connect(site.address).await.unwrap();
    let head = format!("{POST}\r\nHost: {}\r\nContent-Length: 100\r\n\r\n{{", site.address);
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = tokio::time::timeout(Duration::from_secs(5), connection.read_to_string(&mut answer));
    read.await.expect("the connection is closed").unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[tokio::test]
async fn half_a_character_is_replaced_and_the_call_goes_through() {
    let site = Site::start(|_| ()).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no\ud83d","arguments":{}}}"#;
    let (status, _, answer) = site.request(POST, body).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("no\u{fffd}"), "{answer}");
}

#[tokio::test]
async fn half_of_a_request_does_not_hold_the_end_back() {
    let mut site = Site::start(|_| ()).await;
    let mut connection = TcpStream::connect(site.address).await.unwrap();
    connection.write_all(b"POST /mcp HT").await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    site.stop.take().unwrap().send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(10), site.serving).await.expect("before the grace is over").unwrap();
}

#[tokio::test]
async fn metrics_are_prometheus_text() {
    let site = Site::start(|_| ()).await;
    let (_, head, body) = site.request("GET /metrics HTTP/1.1", "").await;
    assert!(head.contains("content-type: text/plain; version=0.0.4"), "{head}");
    assert!(body.contains("toolwright_calls_running{server=\"demo\"} 0"), "{body}");
}

#[tokio::test]
async fn a_client_that_goes_away_cancels_its_call() {
    let site = Site::start(|_| ()).await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "slow_report"}});
    let connection = site.begin(POST, &call.to_string()).await;
    until(|| site.upstream.seen.slow_begun.load(Atomic::SeqCst) == 1).await;
    drop(connection);
    until(|| site.upstream.seen.slow_dropped.load(Atomic::SeqCst) == 1).await;
}

#[tokio::test]
async fn stopping_lets_calls_in_flight_finish() {
    let mut site = Site::start(|_| ()).await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "slow_report"}});
    let mut connection = site.begin(POST, &call.to_string()).await;
    until(|| site.upstream.seen.slow_begun.load(Atomic::SeqCst) == 1).await;
    site.stop.take().unwrap().send(()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("\"code\":\"deadline\""), "the call ran to its own end: {answer}");
    site.serving.await.unwrap();
}

#[tokio::test]
async fn what_outlasts_the_grace_is_cut_off() {
    let mut site = Site::start(|settings| settings.shutdown_grace.0 = Duration::from_millis(50)).await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "slow_report"}});
    let mut connection = site.begin(POST, &call.to_string()).await;
    until(|| site.upstream.seen.slow_begun.load(Atomic::SeqCst) == 1).await;
    site.stop.take().unwrap().send(()).unwrap();
    tokio::time::timeout(Duration::from_millis(600), site.serving).await.expect("before the call's end").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("\"code\":\"cancelled\""), "it is told that it was cut off: {answer}");
}

async fn until(condition: impl Fn() -> bool) {
    let reached = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_millis(800), reached).await.expect("in time");
}

#[tokio::test]
async fn several_processes_may_share_a_port_where_the_setting_says_so() {
    let state = tempdir().unwrap();
    let mut settings = crate::testing::settings(&state);
    settings.port = 0;
    settings.reuse_port.0 = true;
    let first = bind(&settings).unwrap();
    settings.port = first.local_addr().unwrap().port();
    assert!(bind(&settings).is_ok());
    settings.reuse_port.0 = false;
    assert!(bind(&settings).is_err());
}

fn list_items() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_items", "arguments": {}}})
}

#[tokio::test]
async fn a_header_of_the_caller_goes_along_only_where_the_operator_names_it() {
    for (names, expected) in [(vec![], None), (vec!["X-User".to_owned()], Some("ada".to_owned()))] {
        let site = Site::start(|settings| settings.forward_headers.0 = names).await;
        let (status, _, body) = site.post("\r\nX-User: ada", &list_items()).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(*site.upstream.seen.users.lock().unwrap(), [expected]);
    }
}

#[tokio::test]
async fn a_token_for_this_server_is_never_forwarded() {
    let state = tempdir().unwrap();
    let mut settings = crate::testing::settings(&state);
    settings.forward_headers.0 = vec!["authorization".to_owned(), "Host".to_owned()];
    settings.auth_token = Some(crate::settings::Secret::new("t0ken"));
    let problems = App::new(&crate::testing::SERVER, &crate::testing::CATALOG, settings).unwrap_err();
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("DEMO_MCP_FORWARD_HEADERS: cannot name `Authorization` where auth_token is set"),
        "{told:?}"
    );
    assert!(told[1].contains("cannot name `Host`"), "{told:?}");
}
