//! Spans of calls and of what they do, named as OpenTelemetry's conventions for MCP and HTTP have it.

use std::collections::HashMap;

use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{SpanBuilder, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracer;
use serde_json::Value;
use toolwright_core::Envelope;
use toolwright_http::{KnownSecrets, RequestStart};

use super::{Asked, Details, payload};

/// The headers of W3C Trace Context, which MCP has as members of `_meta` too.
const TRACE_CONTEXT: [&str; 2] = ["traceparent", "tracestate"];

/// A span that others can be made below. It ends when its last clone is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    tracer: SdkTracer,
    context: Context,
}

impl Span {
    fn begin(tracer: &SdkTracer, builder: SpanBuilder, parent: &Context) -> Self {
        let span = tracer.build_with_context(builder, parent);
        Span { tracer: tracer.clone(), context: Context::new().with_span(span) }
    }

    /// The span of a part of this.
    pub(crate) fn part(&self, name: &str) -> Span {
        let builder = SpanBuilder::from_name(name.to_owned()).with_kind(SpanKind::Internal);
        Span::begin(&self.tracer, builder, &self.context)
    }

    /// The span of a request to an upstream. Its path and query hold values of the caller, and are not told.
    pub(crate) fn request(&self, start: &RequestStart<'_>) -> Span {
        let mut attributes = vec![
            KeyValue::new("http.request.method", start.method.to_owned()),
            KeyValue::new("url.scheme", start.scheme.to_owned()),
            KeyValue::new("server.address", start.host.to_owned()),
            KeyValue::new("http.request.body.size", integer(start.body_bytes)),
        ];
        attributes.extend(start.port.map(|port| KeyValue::new("server.port", i64::from(port))));
        if start.resend > 0 {
            attributes.push(KeyValue::new("http.request.resend_count", i64::from(start.resend)));
        }
        let builder = SpanBuilder::from_name(start.method.to_owned()).with_kind(SpanKind::Client);
        Span::begin(&self.tracer, builder.with_attributes(attributes), &self.context)
    }

    /// The headers by which a receiver joins this trace.
    pub(crate) fn propagated(&self) -> Vec<(&'static str, String)> {
        let mut carried = HashMap::new();
        TraceContextPropagator::new().inject_context(&self.context, &mut carried);
        let values = TRACE_CONTEXT.into_iter().filter_map(|name| Some((name, carried.remove(name)?)));
        values.filter(|(_, value)| !value.is_empty()).collect()
    }

    /// The request was answered, and that much of its content was read.
    pub(crate) fn answered(&self, status: u16, bytes: u64) {
        self.set("http.response.status_code", i64::from(status));
        self.set("http.response.body.size", integer(bytes));
        if status >= 400 {
            self.set("error.type", status.to_string());
            self.context.span().set_status(Status::error(""));
        }
    }

    /// What it is of has failed. Messages may hold what an upstream said, so that the kind alone is told.
    pub(crate) fn fail(&self, kind: &'static str) {
        self.set("error.type", kind);
        self.context.span().set_status(Status::error(""));
    }

    fn set(&self, key: &'static str, value: impl Into<opentelemetry::Value>) {
        self.context.span().set_attribute(KeyValue::new(key, value));
    }
}

fn integer(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// The span of one call. Where it is dropped without an end, as when its client goes away, the call was cancelled.
#[derive(Debug)]
pub(crate) struct CallSpan {
    span: Span,
    for_langfuse: bool,
    payloads: Option<KnownSecrets>,
    outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Open,
    Told,
}

impl CallSpan {
    pub(super) fn begin(tracer: &SdkTracer, details: &Details, asked: &Asked<'_>) -> Self {
        let tool = asked.tool;
        let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &Caller(asked));
        let builder =
            SpanBuilder::from_name(format!("tools/call {tool}")).with_kind(SpanKind::Server).with_attributes([
                KeyValue::new("mcp.method.name", "tools/call"),
                KeyValue::new("gen_ai.operation.name", "execute_tool"),
                KeyValue::new("gen_ai.tool.name", tool.to_owned()),
                KeyValue::new("jsonrpc.request.id", asked.id.clone()),
                KeyValue::new("network.transport", if asked.headers.is_some() { "tcp" } else { "pipe" }),
            ]);
        let call = CallSpan {
            span: Span::begin(tracer, builder, &parent),
            for_langfuse: details.for_langfuse,
            payloads: details.payloads.clone(),
            outcome: Outcome::Open,
        };
        if call.for_langfuse {
            call.span.set("langfuse.trace.name", format!("mcp.tool.{tool}"));
            call.span.set("langfuse.observation.type", "tool");
            call.span.set("langfuse.observation.metadata.tool", tool.to_owned());
            call.span.set("langfuse.observation.metadata.source", details.source);
        }
        call.tell(["langfuse.trace.input", "langfuse.observation.input"], || {
            asked.arguments.map_or(Value::Null, |arguments| Value::Object(arguments.clone()))
        });
        call
    }

    /// What is done for the call has its spans below this one.
    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    /// Notes the result.
    pub(crate) fn finish(mut self, envelope: &Envelope) {
        if let Some(status) = envelope.status_code {
            self.span.set("http.response.status_code", i64::from(status));
        }
        self.tell(["langfuse.trace.output", "langfuse.observation.output"], || Value::Object(envelope.to_json()));
        let kind = (!envelope.ok).then(|| envelope.code().map_or("failed", toolwright_core::Code::name));
        self.end(kind);
    }

    fn end(&mut self, kind: Option<&'static str>) {
        self.outcome = Outcome::Told;
        if self.for_langfuse {
            self.span.set("langfuse.observation.metadata.outcome", if kind.is_none() { "success" } else { "error" });
        }
        if let Some(kind) = kind {
            self.span.fail(kind);
        }
        self.span.context.span().end();
    }

    /// Adds what was said, where it was asked for.
    fn tell(&self, keys: [&'static str; 2], said: impl FnOnce() -> Value) {
        let Some(known) = &self.payloads else { return };
        let text = payload::text(said(), known);
        keys.into_iter().for_each(|key| self.span.set(key, text.clone()));
    }
}

impl Drop for CallSpan {
    fn drop(&mut self) {
        if self.outcome == Outcome::Open {
            self.end(Some("cancelled"));
        }
    }
}

/// Where a caller says which trace its call belongs to: in `_meta` of the request, else in the headers that it came with.
struct Caller<'a>(&'a Asked<'a>);

impl Extractor for Caller<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        let meta = self.0.meta;
        match (key, meta.get_traceparent(), self.0.headers) {
            ("traceparent", Some(own), _) => Some(own),
            ("tracestate", Some(_), _) => meta.get_tracestate(),
            (name, None, Some(headers)) if TRACE_CONTEXT.contains(&name) => headers.get(name)?.to_str().ok(),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        TRACE_CONTEXT.to_vec()
    }
}
