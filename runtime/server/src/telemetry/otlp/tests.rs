use std::sync::Mutex as Held;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Uri};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SpanData};
use prost::Message as _;
use rmcp::model::RequestMetaObject;
use serde_json::{Map, Value, json};
use toolwright_core::{Code, Envelope, ToolError};
use toolwright_http::RequestStart;

use super::metrics::Moment;
use super::*;
use crate::settings::{Secret, SettingValue as _};
use crate::telemetry::Metrics;
use crate::telemetry::metrics::Answered;
use crate::testing::{CATALOG, SERVER};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

fn traceparent(parent: &str) -> String {
    format!("00-{TRACE}-{parent}-01")
}

fn meta(traceparent: &str) -> RequestMetaObject {
    let mut meta = RequestMetaObject::new();
    meta.0.set_traceparent(traceparent);
    meta
}

fn asked(meta: &RequestMetaObject) -> Asked<'_> {
    Asked { tool: "get_item", arguments: None, meta, headers: None, id: "7".to_owned() }
}

/// The spans that `work` leaves.
fn spans(work: impl FnOnce(&SdkTracer, &Details)) -> Vec<SpanData> {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    work(&provider.tracer("test"), &Details { source: "demo", for_langfuse: false, payloads: None });
    exporter.get_finished_spans().unwrap()
}

fn traced(asked: &Asked<'_>, envelope: &Envelope) -> SpanData {
    spans(|tracer, details| CallSpan::begin(tracer, details, asked).finish(envelope)).remove(0)
}

fn attribute<'s>(span: &'s SpanData, key: &str) -> Option<&'s opentelemetry::Value> {
    span.attributes.iter().find(|attribute| attribute.key.as_str() == key).map(|attribute| &attribute.value)
}

#[test]
fn a_call_continues_the_trace_of_its_caller() {
    let span = traced(&asked(&meta(&traceparent("b7ad6b7169203331"))), &Envelope::success(1.into()));
    assert_eq!(span.span_context.trace_id().to_string(), TRACE);
    assert_eq!(span.parent_span_id.to_string(), "b7ad6b7169203331");
    assert_eq!(span.name, "tools/call get_item");
}

#[test]
fn a_caller_can_name_its_trace_in_a_header_and_meta_goes_first() {
    let header = traceparent("00f067aa0ba902b7");
    let headers = HeaderMap::from_iter([("traceparent".parse().unwrap(), HeaderValue::from_str(&header).unwrap())]);
    let parent_of = |meta: &RequestMetaObject| {
        let asked = Asked { headers: Some(&headers), ..asked(meta) };
        traced(&asked, &Envelope::success(1.into())).parent_span_id.to_string()
    };
    assert_eq!(parent_of(&RequestMetaObject::new()), "00f067aa0ba902b7");
    assert_eq!(parent_of(&meta(&traceparent("b7ad6b7169203331"))), "b7ad6b7169203331");
}

#[test]
fn the_callers_tracestate_goes_on_to_the_api() {
    let mut meta = meta(&traceparent("b7ad6b7169203331"));
    meta.0.set_tracestate("vendor=1");
    spans(|tracer, details| {
        let carried = CallSpan::begin(tracer, details, &asked(&meta)).span().request(&REQUEST).propagated();
        assert!(carried[0].1.contains(TRACE), "{carried:?}");
        assert_eq!(carried[1], ("tracestate", "vendor=1".to_owned()));
    });
}

#[test]
fn a_malformed_traceparent_starts_a_new_trace() {
    let span = traced(&asked(&meta("00-zz-\u{0}-01")), &Envelope::success(1.into()));
    assert!(span.span_context.is_valid());
    assert_eq!(span.parent_span_id.to_string(), "0000000000000000");
}

#[test]
fn a_failure_is_noted_by_its_code_and_without_its_message() {
    let failure = Envelope::failure(ToolError::new(Code::Deadline, "the answer said s3cr3t"));
    let span = traced(&asked(&RequestMetaObject::new()), &failure);
    assert_eq!(attribute(&span, "error.type"), Some(&"deadline".into()));
    assert!(!format!("{span:?}").contains("s3cr3t"));
}

#[test]
fn a_call_that_was_given_up_counts_as_cancelled() {
    let spans = spans(|tracer, details| drop(CallSpan::begin(tracer, details, &asked(&RequestMetaObject::new()))));
    assert_eq!(attribute(&spans[0], "error.type"), Some(&"cancelled".into()));
}

const REQUEST: RequestStart<'_> = RequestStart {
    method: "GET",
    scheme: "https",
    host: "api.example",
    port: Some(443),
    resend: 1,
    body_bytes: 0,
    is_own_origin: true,
};

#[test]
fn what_a_call_does_has_spans_below_its_own() {
    let spans = spans(|tracer, details| {
        let call = CallSpan::begin(tracer, details, &asked(&RequestMetaObject::new()));
        let step = call.span().part("step find");
        let request = step.request(&REQUEST);
        let carried = request.propagated();
        assert_eq!(carried.len(), 1, "an empty tracestate is not sent");
        assert!(carried[0].1.starts_with("00-"), "{carried:?}");
        request.answered(503, 12);
        drop((request, step));
        call.finish(&Envelope::success(1.into()));
    });
    let [request, step, call] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!((request.name.as_ref(), step.name.as_ref()), ("GET", "step find"));
    assert_eq!(request.parent_span_id, step.span_context.span_id());
    assert_eq!(step.parent_span_id, call.span_context.span_id());
    assert_eq!(attribute(request, "http.request.resend_count"), Some(&1_i64.into()));
    assert_eq!(attribute(request, "http.response.status_code"), Some(&503_i64.into()));
    assert_eq!(attribute(request, "error.type"), Some(&"503".into()));
}

#[test]
fn what_was_said_is_in_no_span_unless_it_was_asked_for() {
    let arguments: Map<String, Value> = json!({"note": "private"}).as_object().unwrap().clone();
    let meta = RequestMetaObject::new();
    let asked = Asked { arguments: Some(&arguments), ..asked(&meta) };
    let silent = traced(&asked, &Envelope::success("answer".into()));
    assert!(!format!("{silent:?}").contains("private") && !format!("{silent:?}").contains("answer"));

    let said = spans(|tracer, details| {
        let details = Details { payloads: Some(KnownSecrets::default()), ..details.clone() };
        CallSpan::begin(tracer, &details, &asked).finish(&Envelope::success("answer".into()));
    });
    assert_eq!(attribute(&said[0], "langfuse.observation.input"), Some(&r#"{"note":"private"}"#.into()));
    let output = attribute(&said[0], "langfuse.trace.output").unwrap().to_string();
    assert!(output.contains(r#""data":"answer""#), "{output}");
}

#[test]
fn counters_are_told_with_the_names_of_the_conventions() {
    let metrics = Metrics::new(&CATALOG);
    for outcome in ["ok", "deadline"] {
        metrics.begin();
        metrics.end("get_item", outcome, Duration::from_millis(3));
    }
    metrics.request_begins(5);
    metrics.received(10);
    metrics.request_ends("GET", Answered::Status(404), Duration::from_secs(1_000));
    let moment = Moment { began: SystemTime::UNIX_EPOCH, now: SystemTime::UNIX_EPOCH + Duration::from_secs(1) };
    let request = moment.request(&metrics.snapshot(), &ResourceAttributesWithSchema::default());
    let told = &request.resource_metrics[0].scope_metrics[0].metrics;
    let names: Vec<&str> = told.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "mcp.server.operation.duration",
            "toolwright.calls.running",
            "http.client.request.duration",
            "http.client.active_requests",
            "http.client.request.body.size",
            "http.client.response.body.size",
        ]
    );
    let points = |index: usize| match &told[index].data {
        Some(Data::Histogram(histogram)) => histogram.data_points.clone(),
        other => panic!("{other:?}"),
    };
    let attributes = |index: usize, point: usize| -> Vec<String> {
        let found = points(index)[point].attributes.clone();
        let text = |value: Option<Any>| match value {
            Some(Any::StringValue(text)) => text,
            Some(Any::IntValue(number)) => number.to_string(),
            other => panic!("{other:?}"),
        };
        found.into_iter().map(|pair| format!("{}={}", pair.key, text(pair.value.unwrap().value))).collect()
    };
    assert_eq!(attributes(0, 0), ["mcp.method.name=tools/call", "gen_ai.tool.name=get_item", "error.type=deadline"]);
    assert_eq!(attributes(0, 1), ["mcp.method.name=tools/call", "gen_ai.tool.name=get_item"]);
    assert_eq!(attributes(2, 0), ["http.request.method=GET", "http.response.status_code=404", "error.type=404"]);
    let call = &points(0)[0];
    assert_eq!(
        (call.count, &call.bucket_counts[..3], &call.explicit_bounds[..2]),
        (1, &[0, 1, 0][..], &[0.001, 0.005][..])
    );
    let request = &points(2)[0];
    assert_eq!(request.bucket_counts.last(), Some(&1), "longer than any bound");
    assert_eq!((points(4)[0].sum, points(5)[0].sum), (Some(5.0), Some(10.0)));
}

/// A receiver that keeps what it is sent, and answers after that time with that status.
async fn receiver(delay: Duration, status: u16) -> (String, Arc<Held<Vec<(String, HeaderMap, Bytes)>>>) {
    let kept = Arc::new(Held::new(Vec::new()));
    let keeping = Arc::clone(&kept);
    let router = Router::new().fallback(async move |uri: Uri, headers: HeaderMap, body: Bytes| {
        keeping.lock().unwrap().push((uri.path().to_owned(), headers, body));
        tokio::time::sleep(delay).await;
        axum::http::StatusCode::from_u16(status).unwrap()
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, kept)
}

fn app(change: impl FnOnce(&mut Settings)) -> Arc<App> {
    let mut settings = crate::testing::settings(&tempfile::tempdir().unwrap());
    change(&mut settings);
    App::new(&SERVER, &CATALOG, settings).unwrap()
}

fn call(tracing: &Tracing) {
    let arguments: Map<String, Value> = json!({"note": "private"}).as_object().unwrap().clone();
    let meta = RequestMetaObject::new();
    let asked = Asked { arguments: Some(&arguments), ..asked(&meta) };
    tracing.begin(&asked).finish(&Envelope::success(1.into()));
}

#[tokio::test]
async fn each_receiver_gets_its_own_credentials_and_payloads_only_where_asked_for() {
    let (collector, collected) = receiver(Duration::ZERO, 200).await;
    let (langfuse, observed) = receiver(Duration::ZERO, 200).await;
    let app = app(|settings| {
        settings.otlp_endpoint = Option::read(&collector).unwrap();
        settings.otlp_headers = Option::read("x-key=c0llector").unwrap();
        settings.otlp_metrics.0 = false;
        settings.langfuse_enabled = true;
        settings.langfuse_base_url = Option::read(&langfuse).unwrap();
        settings.langfuse_public_key = Option::read("pk").unwrap();
        settings.langfuse_secret_key = Some(Secret::new("sk"));
        settings.langfuse_capture_payloads = true;
    });
    let tracing = Arc::new(Tracing::start(&app).await.unwrap());
    call(&tracing);
    tracing.finish().await;

    let (path, headers, body) = collected.lock().unwrap().remove(0);
    assert_eq!((path.as_str(), &headers["x-key"]), ("/v1/traces", &HeaderValue::from_static("c0llector")));
    assert!(headers.get("authorization").is_none());
    assert!(!String::from_utf8_lossy(&body).contains("private"));

    let (path, headers, body) = observed.lock().unwrap().remove(0);
    assert_eq!(
        (path.as_str(), &headers["authorization"]),
        ("/api/public/otel/v1/traces", &HeaderValue::from_static("Basic cGs6c2s="))
    );
    assert!(headers.get("x-key").is_none());
    let spans = ExportTraceServiceRequest::decode(body).unwrap();
    let span = &spans.resource_spans[0].scope_spans[0].spans[0];
    let keys: Vec<&str> = span.attributes.iter().map(|pair| pair.key.as_str()).collect();
    for key in ["langfuse.trace.name", "langfuse.observation.metadata.outcome", "langfuse.observation.input"] {
        assert!(keys.contains(&key), "{key} in {keys:?}");
    }
}

#[tokio::test]
async fn what_a_caller_chooses_takes_no_secret_into_a_trace_and_is_cut() {
    let (collector, collected) = receiver(Duration::ZERO, 200).await;
    let app = app(|settings| {
        settings.api_key = Some(Secret::new("s3cr3t-key"));
        settings.otlp_endpoint = Option::read(&collector).unwrap();
        settings.otlp_metrics.0 = false;
    });
    app.tracing.set(Arc::new(Tracing::start(&app).await.unwrap())).unwrap();
    let mut wire = crate::testing::Wire::initialized(&app).await;
    let chosen = format!("s3cr3t-key {}", "n".repeat(1_000));
    let parameters = json!({"name": chosen, "arguments": {}});
    wire.send(&json!({"jsonrpc": "2.0", "id": chosen, "method": "tools/call", "params": parameters})).await;
    wire.receive().await;
    Arc::clone(app.tracing.get().unwrap()).finish().await;

    let (_, _, body) = collected.lock().unwrap().remove(0);
    let told = String::from_utf8_lossy(&body);
    assert!(told.contains("tools/call [masked] nnn"), "{told}");
    assert!(!told.contains("s3cr3t") && !told.contains(&"n".repeat(100)), "{told}");
}

#[tokio::test]
async fn who_sends_is_told_by_the_settings() {
    let (collector, collected) = receiver(Duration::ZERO, 200).await;
    let app = app(|settings| {
        settings.otlp_endpoint = Option::read(&collector).unwrap();
        settings.otlp_service_name = Option::read("mine").unwrap();
        settings.otlp_resource_attributes = Option::read("team=search").unwrap();
    });
    let tracing = Arc::new(Tracing::start(&app).await.unwrap());
    call(&tracing);
    tracing.finish().await;
    let mut paths: Vec<String> = collected.lock().unwrap().iter().map(|(path, ..)| path.clone()).collect();
    paths.sort();
    assert_eq!(paths, ["/v1/metrics", "/v1/traces"]);
    for (_, _, body) in collected.lock().unwrap().iter() {
        let text = String::from_utf8_lossy(body);
        assert!(text.contains("service.name") && text.contains("mine") && text.contains("search"), "{text}");
        assert!(!text.contains("demo-server"), "{text}");
    }
}

#[tokio::test]
async fn spans_beyond_the_queue_are_dropped_and_no_call_waits() {
    let (collector, collected) = receiver(Duration::from_secs(3_600), 200).await;
    let app = app(|settings| settings.otlp_endpoint = Option::read(&collector).unwrap());
    let tracing = Arc::new(Tracing::start(&app).await.unwrap());
    // Nothing here awaits, so that a span that waited for room would wait for ever.
    for _ in 0..5_000 {
        call(&tracing);
    }
    tokio::time::timeout(FAREWELL + Duration::from_secs(10), tracing.finish()).await.unwrap();
    assert!(collected.lock().unwrap().len() <= 2, "one delivery of each signal hangs");
}

#[tokio::test]
async fn dropped_spans_are_told_of_once_and_counted_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.log");
    let lines =
        tracing_subscriber::fmt().with_writer(Held::new(std::fs::File::create(&path).unwrap())).with_ansi(false);
    let _logging = tracing::subscriber::set_default(lines.finish());
    let (collector, _) = receiver(Duration::ZERO, 200).await;
    let app = app(|settings| settings.otlp_endpoint = Option::read(&collector).unwrap());
    let tracing = Arc::new(Tracing::start(&app).await.unwrap());
    for _ in 0..2_048 + 7 {
        call(&tracing);
    }
    tracing.finish().await;
    let log = std::fs::read_to_string(&path).unwrap();
    assert_eq!(log.matches("spans are dropped").count(), 1, "{log}");
    assert!(log.contains("spans were dropped receiver=\"otlp\" dropped=7"), "{log}");
}

#[tokio::test]
async fn a_receiver_that_refuses_or_is_gone_ends_with_the_process() {
    let (refusing, _) = receiver(Duration::ZERO, 500).await;
    for url in [refusing.as_str(), "http://127.0.0.1:9"] {
        let app = app(|settings| settings.otlp_endpoint = Option::read(url).unwrap());
        let tracing = Arc::new(Tracing::start(&app).await.unwrap());
        call(&tracing);
        tracing.finish().await;
    }
}

#[tokio::test]
async fn the_state_of_receivers_is_told() {
    let (well, _) = receiver(Duration::ZERO, 200).await;
    let (locked, asked) = receiver(Duration::ZERO, 401).await;
    let states = |change: fn(&mut Settings, &str), url: String| async move {
        status(&app(|settings| change(settings, &url))).await.into_iter().map(|(_, state)| state).collect::<Vec<_>>()
    };
    let collector = |settings: &mut Settings, url: &str| settings.otlp_endpoint = Option::read(url).unwrap();
    assert_eq!(states(|_, _| {}, String::new()).await, ["disabled", "disabled"]);
    assert_eq!(states(collector, well.clone()).await[0], format!("ready at {well}"));
    assert!(
        states(collector, "http://127.0.0.1:9".to_owned()).await[0]
            .starts_with("connection_error at http://127.0.0.1:9: ")
    );
    let langfuse = |settings: &mut Settings, url: &str| {
        settings.langfuse_enabled = true;
        settings.langfuse_base_url = Option::read(url).unwrap();
        settings.langfuse_public_key = Option::read("pk").unwrap();
        settings.langfuse_secret_key = Some(Secret::new("sk"));
    };
    assert!(
        states(langfuse, format!("{locked}/path")).await[1].starts_with(&format!("authentication_error at {locked}: "))
    );
    assert_eq!(asked.lock().unwrap()[0].0, "/path/api/public/projects");
    let lacking = |settings: &mut Settings, _: &str| settings.langfuse_enabled = true;
    assert!(states(lacking, String::new()).await[1].starts_with("configuration_error: "));
}
