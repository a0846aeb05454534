//! Traces of calls, sent to an OpenTelemetry collector over OTLP (http/protobuf) where one is configured.
//!
//! Spans wait in a bounded queue and are sent in the background: a collector that is slow or gone costs spans, never
//! the time of a call.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span};
use rmcp::model::RequestMetaObject;
use toolwright_core::{Envelope, ServerSpec};

use super::code_name;
use crate::settings::{Problem, Settings};

/// Longest wait for one delivery.
const PATIENCE: Duration = Duration::from_secs(5);

/// Longest wait for the last delivery, at the end of the process.
const FAREWELL: Duration = Duration::from_secs(2);

/// The way of spans to the collector.
#[derive(Debug)]
pub(crate) struct Tracing {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    propagator: TraceContextPropagator,
}

impl Tracing {
    /// Starts sending, where a collector is configured. Must be called within a runtime, which carries the deliveries.
    ///
    /// # Errors
    /// Where the exporter cannot be made from the settings.
    pub(crate) fn start(server: &ServerSpec, settings: &Settings) -> Result<Option<Tracing>, Problem> {
        let Some(endpoint) = &settings.otlp_endpoint else { return Ok(None) };
        let problem = |error: String| Problem::new("OTEL_EXPORTER_OTLP_ENDPOINT", error);
        let courier = Courier::new().map_err(|error| problem(error.to_string()))?;
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(courier)
            .with_endpoint(format!("{}/v1/traces", endpoint.as_str()))
            .with_timeout(PATIENCE)
            .build()
            .map_err(|error| problem(error.to_string()))?;
        let provider =
            SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource(server)).build();
        Ok(Some(Tracing::over(provider)))
    }

    fn over(provider: SdkTracerProvider) -> Self {
        let tracer = provider.tracer("toolwright");
        Tracing { provider, tracer, propagator: TraceContextPropagator::new() }
    }

    /// Begins the span of a call, below the caller's where `_meta.traceparent` names one (W3C Trace Context).
    pub(crate) fn begin(&self, tool: &str, meta: &RequestMetaObject) -> CallSpan {
        let parent = self.propagator.extract_with_context(&Context::new(), &Carrier(meta));
        let span = self
            .tracer
            .span_builder(format!("tools/call {tool}"))
            .with_kind(SpanKind::Server)
            .with_attributes([
                KeyValue::new("mcp.method.name", "tools/call"),
                KeyValue::new("gen_ai.tool.name", tool.to_owned()),
            ])
            .start_with_context(&self.tracer, &parent);
        CallSpan { span }
    }

    /// Sends what waits, and ends.
    pub(crate) async fn finish(self: Arc<Self>) {
        let flushing = tokio::task::spawn_blocking(move || self.provider.shutdown_with_timeout(FAREWELL));
        // The process ends whether or not the collector took the last spans.
        let _ = flushing.await;
    }
}

fn resource(server: &ServerSpec) -> Resource {
    let version = KeyValue::new("service.version", server.version);
    let builder = Resource::builder().with_attribute(version);
    // The builder reads OTEL_SERVICE_NAME itself.
    match std::env::var_os("OTEL_SERVICE_NAME") {
        Some(_) => builder.build(),
        None => builder.with_service_name(format!("{}-server", server.name)).build(),
    }
}

/// The span of one call. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct CallSpan {
    span: Span,
}

impl CallSpan {
    /// Notes the result.
    pub(crate) fn finish(mut self, envelope: &Envelope) {
        if let Some(status) = envelope.status_code {
            self.span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status)));
        }
        if let Some(code) = envelope.code() {
            self.span.set_attribute(KeyValue::new("error.type", code_name(code)));
        }
        if !envelope.ok {
            // The message may hold what the upstream said, so that it stays out.
            self.span.set_status(Status::error(""));
        }
    }
}

struct Carrier<'a>(&'a RequestMetaObject);

impl Extractor for Carrier<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            "traceparent" => self.0.get_traceparent(),
            "tracestate" => self.0.get_tracestate(),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent", "tracestate"]
    }
}

/// Carries deliveries on the server's runtime; the exporter's own thread has none.
#[derive(Debug)]
struct Courier {
    runtime: tokio::runtime::Handle,
    client: reqwest::Client,
    has_warned: AtomicBool,
}

impl Courier {
    fn new() -> reqwest::Result<Self> {
        // A provider that is there already serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().timeout(PATIENCE).build()?;
        Ok(Courier { runtime: tokio::runtime::Handle::current(), client, has_warned: AtomicBool::new(false) })
    }
}

impl HttpClient for Courier {
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let delivery = self.runtime.spawn(deliver(self.client.clone(), request));
            let delivered = delivery.await.map_err(HttpError::from).and_then(|delivered| delivered);
            match &delivered {
                Ok(_) => self.has_warned.store(false, Ordering::Relaxed),
                Err(error) if !self.has_warned.swap(true, Ordering::Relaxed) => {
                    tracing::warn!(target: "toolwright::telemetry", %error, "the trace collector does not answer");
                }
                Err(_) => {}
            }
            delivered
        })
    }
}

async fn deliver(client: reqwest::Client, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let answer = client.execute(request.try_into()?).await?.error_for_status()?;
    let status = answer.status();
    let body = answer.bytes().await?;
    Ok(Response::builder().status(status).body(body)?)
}

#[cfg(test)]
mod tests {
    use opentelemetry_sdk::trace::InMemorySpanExporter;
    use toolwright_core::{Code, ToolError};

    use super::*;

    fn traced(meta: &RequestMetaObject, envelope: &Envelope) -> opentelemetry_sdk::trace::SpanData {
        let exporter = InMemorySpanExporter::default();
        let tracing = Tracing::over(SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build());
        tracing.begin("get_item", meta).finish(envelope);
        exporter.get_finished_spans().unwrap().remove(0)
    }

    #[test]
    fn a_call_continues_the_trace_of_its_caller() {
        let mut meta = RequestMetaObject::new();
        meta.0.set_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        let span = traced(&meta, &Envelope::success(1.into()));
        assert_eq!(span.span_context.trace_id().to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(span.parent_span_id.to_string(), "b7ad6b7169203331");
    }

    #[test]
    fn a_malformed_traceparent_starts_a_new_trace() {
        let mut meta = RequestMetaObject::new();
        meta.0.set_traceparent("00-zz-\u{0}-01");
        let span = traced(&meta, &Envelope::success(1.into()));
        assert!(span.span_context.is_valid());
        assert_eq!(span.parent_span_id.to_string(), "0000000000000000");
    }

    #[test]
    fn a_failure_is_noted_by_its_code_and_without_its_message() {
        let failure = Envelope::failure(ToolError::new(Code::Deadline, "the answer said s3cr3t"));
        let span = traced(&RequestMetaObject::new(), &failure);
        assert!(span.attributes.contains(&KeyValue::new("error.type", "deadline")));
        assert!(!format!("{span:?}").contains("s3cr3t"));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_collector_that_is_not_there_slows_no_call() {
        let state = tempfile::tempdir().unwrap();
        let mut settings = crate::testing::settings(&state);
        let nobody = crate::settings::SettingValue::read("http://127.0.0.1:9").unwrap();
        settings.otlp_endpoint = Some(nobody);
        let tracing = Tracing::start(&crate::testing::SERVER, &settings).unwrap().unwrap();
        let started = std::time::Instant::now();
        for _ in 0..5_000 {
            tracing.begin("get_item", &RequestMetaObject::new()).finish(&Envelope::success(1.into()));
        }
        assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
        // Its end would wait for the last delivery, which is not what is measured here.
        std::mem::forget(tracing);
    }
}
