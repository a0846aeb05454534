//! What the operator sees of the real server: traces and metrics at a receiver of OTLP, and its log.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::json;
use toolwright_e2e::{Collector, Http, Manner, Stage, structured};
use toolwright_mock::Fault;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

fn traceparent() -> String {
    format!("00-{TRACE}-{CALLER}-01")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn attributes(pairs: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |pair: &KeyValue| match pair.value.clone()?.value? {
        Any::StringValue(text) => Some(text),
        Any::IntValue(number) => Some(number.to_string()),
        _ => None,
    };
    pairs.iter().filter_map(|pair| Some((pair.key.clone(), text(pair)?))).collect()
}

/// Every span that the collector got, by name.
fn spans(collector: &Collector, path: &str) -> BTreeMap<String, Span> {
    let requests = collector.received(path);
    let decoded = requests.iter().map(|request| ExportTraceServiceRequest::decode(&request.body[..]).unwrap());
    let spans = decoded.flat_map(|request| request.resource_spans);
    let spans = spans.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans);
    spans.map(|span| (span.name.clone(), span)).collect()
}

#[tokio::test]
async fn a_call_and_its_request_are_parts_of_the_callers_trace() {
    let collector = Collector::start(Manner::Answers(200)).unwrap();
    let stage = Stage::set().unwrap();
    let session = stage
        .session(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url()),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=c0llector%20key"),
            ("OTEL_SERVICE_NAME", "assistant-tools"),
            ("OTEL_RESOURCE_ATTRIBUTES", "team=search"),
        ])
        .await
        .unwrap();
    let answer = session.call_within(&traceparent(), "list_models", json!({})).await.unwrap();
    assert_eq!(structured(&answer)["ok"], true);
    let told = stage.mock.requests()[0].header("traceparent").map(str::to_owned).unwrap();
    session.close().await.unwrap();

    let request = &collector.received("/v1/traces")[0];
    assert!(request.head.to_ascii_lowercase().contains("x-key: c0llector key"), "{}", request.head);
    let sent = ExportTraceServiceRequest::decode(&request.body[..]).unwrap();
    let who = attributes(&sent.resource_spans[0].resource.as_ref().unwrap().attributes);
    assert_eq!((who["service.name"].as_str(), who["team"].as_str()), ("assistant-tools", "search"));

    let spans = spans(&collector, "/v1/traces");
    let (call, request) = (&spans["tools/call list_models"], &spans["GET"]);
    assert_eq!((hex(&call.trace_id), hex(&call.parent_span_id)), (TRACE.to_owned(), CALLER.to_owned()));
    assert_eq!(hex(&request.parent_span_id), hex(&call.span_id));
    assert_eq!(told, format!("00-{TRACE}-{}-01", hex(&request.span_id)), "the API joins the trace below the request");
    assert_eq!(attributes(&call.attributes)["gen_ai.tool.name"], "list_models");
    assert_eq!(attributes(&request.attributes)["http.response.status_code"], "200");
}

#[tokio::test]
async fn each_attempt_has_a_span_and_a_hidden_tool_one_of_its_own() {
    let collector = Collector::start(Manner::Answers(200)).unwrap();
    let stage = Stage::set().unwrap();
    stage.mock.fault("GET /api/agent/jobs/{id}", Fault::Status { code: 503, body: None, retry_after: None }, 1);
    let environment =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url()), ("LOCALAI_MCP_TRACE_UPSTREAM", "false".to_owned())];
    let environment: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let session = stage.session(&environment).await.unwrap();
    session.execute("get_agent_job", json!({"id": "1"})).await.unwrap();
    assert!(stage.mock.requests().iter().all(|request| request.header("traceparent").is_none()));
    session.close().await.unwrap();

    let request = &collector.received("/v1/traces")[0];
    let sent = ExportTraceServiceRequest::decode(&request.body[..]).unwrap();
    let spans = &sent.resource_spans[0].scope_spans[0].spans;
    let seen: Vec<(&str, Option<String>)> = spans
        .iter()
        .map(|span| (span.name.as_str(), attributes(&span.attributes).remove("http.request.resend_count")))
        .collect();
    assert_eq!(
        seen,
        [
            ("GET", None),
            ("GET", Some("1".to_owned())),
            ("tool get_agent_job", None),
            ("tools/call execute_additional_tool", None)
        ]
    );
}

#[tokio::test]
async fn metrics_tell_the_same_as_the_page_for_prometheus() {
    let collector = Collector::start(Manner::Answers(200)).unwrap();
    let stage = Stage::set().unwrap();
    let mut http = Http::start(&stage, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url())]).await.unwrap();
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_models", "arguments": {}}});
    http.post(&call, &[]).await.unwrap();
    let page = http.get("/metrics").await.unwrap().body;
    assert!(
        page.contains("toolwright_upstream_requests_total{server=\"localai\",method=\"GET\",outcome=\"200\"} 1"),
        "{page}"
    );
    let received =
        |line: &&str| line.starts_with("toolwright_upstream_bytes_total{server=\"localai\",direction=\"received\"}");
    let bytes: f64 = page.lines().find(received).unwrap().rsplit(' ').next().unwrap().parse().unwrap();

    let process = http.child.id().unwrap().to_string();
    std::process::Command::new("kill").arg(process).status().unwrap();
    http.child.wait().await.unwrap();
    let sent = collector.received("/v1/metrics");
    let sent = ExportMetricsServiceRequest::decode(&sent.last().unwrap().body[..]).unwrap();
    let told = format!("{sent:?}");
    for expected in ["mcp.server.operation.duration", "list_models", "http.client.request.duration", "localai-server"] {
        assert!(told.contains(expected), "{expected} in {told}");
    }
    assert!(bytes > 0.0 && told.contains(&format!("sum: Some({bytes:?})")), "{bytes} in {told}");
}

#[tokio::test]
async fn a_receiver_that_does_not_work_reaches_no_call() {
    let stage = Stage::set().unwrap();
    let hanging = Collector::start(Manner::Hangs).unwrap();
    let failing = Collector::start(Manner::Answers(500)).unwrap();
    for endpoint in [hanging.url(), failing.url(), "http://127.0.0.1:9".to_owned()] {
        let mut http = Http::start(&stage, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint), ("MCP_SHUTDOWN_GRACE", "30")])
            .await
            .unwrap();
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_models", "arguments": {}}});
        for _ in 0..20 {
            let answer = http.post(&call, &[]).await.unwrap();
            assert!(answer.status == 200 && answer.body.contains("\"ok\":true"), "{endpoint}: {}", answer.body);
        }
        std::process::Command::new("kill").arg(http.child.id().unwrap().to_string()).status().unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(30), http.child.wait()).await;
        assert!(ended.expect("it ends within the grace period").unwrap().success(), "{endpoint}");
    }
}

#[tokio::test]
async fn langfuse_gets_calls_and_what_was_said_only_where_it_was_asked_for() {
    const KEY: &str = "sk-planted-secret-7741";
    for (capture, is_told) in [("false", false), ("true", true)] {
        let langfuse = Collector::start(Manner::Answers(200)).unwrap();
        let stage = Stage::set().unwrap();
        let session = stage
            .session(&[
                ("TOOLWRIGHT_LANGFUSE_ENABLED", "true"),
                ("TOOLWRIGHT_LANGFUSE_CAPTURE_PAYLOADS", capture),
                ("LANGFUSE_BASE_URL", &langfuse.url()),
                ("LANGFUSE_PUBLIC_KEY", "pk-1"),
                ("LANGFUSE_SECRET_KEY", "sk-1"),
                ("LOCALAI_API_KEY", KEY),
            ])
            .await
            .unwrap();
        session.execute("get_agent_job", json!({"id": format!("private {KEY}")})).await.unwrap();
        session.close().await.unwrap();

        let spans = spans(&langfuse, "/api/public/otel/v1/traces");
        let call = attributes(&spans["tools/call execute_additional_tool"].attributes);
        assert_eq!(call["langfuse.trace.name"], "mcp.tool.execute_additional_tool");
        assert_eq!(call["langfuse.observation.metadata.source"], "localai");
        assert!(["success", "error"].contains(&call["langfuse.observation.metadata.outcome"].as_str()));
        assert_eq!(call.contains_key("langfuse.observation.output"), is_told);
        let text = langfuse.text();
        assert_eq!(text.contains("private"), is_told, "{text}");
        assert!(!text.contains(KEY), "{text}");
        assert!(text.to_ascii_lowercase().contains("authorization: basic cgstmtpzay0x"), "{text}");
    }
}

#[tokio::test]
async fn doctor_tells_the_state_of_receivers_and_no_key() {
    let langfuse = Collector::start(Manner::Answers(401)).unwrap();
    let stage = Stage::set().unwrap();
    let output = stage
        .command(&[
            ("TOOLWRIGHT_LANGFUSE_ENABLED", "on"),
            ("LANGFUSE_BASE_URL", &format!("{}/deep", langfuse.url())),
            ("LANGFUSE_PUBLIC_KEY", "pk-1"),
            ("LANGFUSE_SECRET_KEY", "sk-planted"),
        ])
        .arg("doctor")
        .stderr(Stdio::piped())
        .output()
        .await
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let state = format!("langfuse             authentication_error at {}: ", langfuse.url());
    assert!(told.contains(&state), "{told}");
    assert!(told.contains("otlp                 disabled"), "{told}");
    assert!(!told.contains("sk-planted"), "{told}");
}

#[tokio::test]
async fn a_log_at_its_loudest_holds_no_key() {
    const KEY: &str = "sk-planted-secret-9925";
    let stage = Stage::set().unwrap();
    let log = stage.home().join("loud.log");
    let session = stage
        .session(&[
            ("LOCALAI_API_KEY", KEY),
            ("TOOLWRIGHT_LOG_LEVEL", "trace"),
            ("TOOLWRIGHT_LOG_FILE", log.to_str().unwrap()),
        ])
        .await
        .unwrap();
    session.call("list_models", json!({})).await.unwrap();
    session.close().await.unwrap();
    let first = std::fs::read_to_string(&log).unwrap();
    assert!(first.lines().count() > 0 && !first.contains(KEY), "{first}");

    // With every library at its loudest, whose lines nobody here has written.
    let session = stage
        .session(&[
            ("LOCALAI_API_KEY", KEY),
            ("TOOLWRIGHT_LOG_LEVEL", "trace,toolwright=trace"),
            ("TOOLWRIGHT_LOG_FILE", log.to_str().unwrap()),
        ])
        .await
        .unwrap();
    session.execute("get_agent_job", json!({"id": KEY})).await.unwrap();
    session.close().await.unwrap();
    let all = std::fs::read_to_string(&log).unwrap();
    assert!(all.len() > first.len() && all.contains("[masked]") && !all.contains(KEY), "{all}");
}

#[tokio::test]
async fn a_log_of_an_earlier_day_is_put_aside_and_only_seven_stay() {
    let stage = Stage::set().unwrap();
    let log = stage.home().join("s.log");
    let aside = |day: &str| stage.home().join(format!("s.log.{day}"));
    for day in 1..=7 {
        std::fs::write(aside(&format!("2001-09-0{day}")), "older\n").unwrap();
    }
    std::fs::write(&log, "old\n").unwrap();
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    std::fs::File::options().append(true).open(&log).unwrap().set_modified(then).unwrap();
    let session = stage
        .session(&[("TOOLWRIGHT_LOG_LEVEL", "debug"), ("TOOLWRIGHT_LOG_FILE", log.to_str().unwrap())])
        .await
        .unwrap();
    session.call("list_models", json!({})).await.unwrap();
    session.close().await.unwrap();
    assert_eq!(std::fs::read_to_string(aside("2001-09-09")).unwrap(), "old\n");
    assert!(!aside("2001-09-01").exists() && aside("2001-09-02").exists());
    let today = std::fs::read_to_string(&log).unwrap();
    assert!(today.contains("the upstream answered") && !today.contains("old\n"), "{today}");
}

#[tokio::test]
async fn a_log_that_cannot_be_written_stops_the_server_only_where_it_was_asked_for() {
    let stage = Stage::set().unwrap();
    let file = stage.home().join("file");
    std::fs::write(&file, "").unwrap();
    let below = file.join("x.log");
    let refused =
        stage.command(&[("TOOLWRIGHT_LOG_FILE", below.to_str().unwrap())]).arg("stdio").output().await.unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("TOOLWRIGHT_LOG_FILE: "));
    let served = stage.session(&[("XDG_STATE_HOME", file.to_str().unwrap())]).await.unwrap();
    assert!(!served.list().await.unwrap().is_empty());
}
