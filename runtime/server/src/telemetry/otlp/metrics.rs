//! The counters as OTLP, with the names of OpenTelemetry's conventions for MCP and HTTP where these have one.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum,
    metric::Data, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use prost::Message as _;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::delivery::Delivery;
use crate::telemetry::Metrics;
use crate::telemetry::metrics::{Answered, BUCKETS_MS, Bodies, Durations, Snapshot};

/// Time between two deliveries, as OpenTelemetry has it by default.
const PERIOD: Duration = Duration::from_secs(60);

/// Delivers the counters now and then, and once more at the end.
pub(super) async fn carry(
    metrics: Arc<Metrics>,
    delivery: Delivery,
    resource: Arc<ResourceAttributesWithSchema>,
    closing: CancellationToken,
) {
    let began = SystemTime::now();
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first comes at once, when there is nothing to tell yet.
    ticks.tick().await;
    loop {
        let is_last = tokio::select! {
            _ = ticks.tick() => false,
            () = closing.cancelled() => true,
        };
        let moment = Moment { began, now: SystemTime::now() };
        // What is not taken now is in the next: the counters only grow.
        delivery.send(moment.request(&metrics.snapshot(), &resource).encode_to_vec()).await;
        if is_last {
            return;
        }
    }
}

/// From when to when the counters have counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) began: SystemTime,
    pub(super) now: SystemTime,
}

impl Moment {
    /// All counters as one message.
    pub(super) fn request(
        self,
        seen: &Snapshot,
        resource: &ResourceAttributesWithSchema,
    ) -> ExportMetricsServiceRequest {
        let scope = InstrumentationScope { name: "toolwright".to_owned(), ..InstrumentationScope::default() };
        let metrics = vec![
            self.calls(seen),
            self.running("toolwright.calls.running", "{call}", "Calls that run.", seen.running),
            self.requests(seen),
            self.running(
                "http.client.active_requests",
                "{request}",
                "Requests to the API that run.",
                seen.requests_running,
            ),
            self.bodies("http.client.request.body.size", "Bodies of requests to the API.", seen.sent),
            self.bodies("http.client.response.body.size", "Contents of its answers.", seen.received),
        ];
        let scope_metrics = vec![ScopeMetrics { scope: Some(scope), metrics, schema_url: String::new() }];
        let attributes = resource.attributes.0.clone();
        let resource = Some(Resource { attributes, ..Resource::default() });
        let resource_metrics = vec![ResourceMetrics { resource, scope_metrics, schema_url: String::new() }];
        ExportMetricsServiceRequest { resource_metrics }
    }

    fn calls(self, seen: &Snapshot) -> Metric {
        let points = seen.calls.iter().map(|((tool, outcome), durations)| {
            let mut attributes = vec![text("mcp.method.name", "tools/call"), text("gen_ai.tool.name", tool)];
            if *outcome != "ok" {
                attributes.push(text("error.type", outcome));
            }
            self.durations(attributes, durations)
        });
        histogram("mcp.server.operation.duration", "s", "Time of a call from arrival to result.", points.collect())
    }

    fn requests(self, seen: &Snapshot) -> Metric {
        let points = seen.requests.iter().map(|((method, answered), durations)| {
            let mut attributes = vec![text("http.request.method", method)];
            match answered {
                Answered::Status(status) => {
                    attributes.push(attribute("http.response.status_code", Any::IntValue(i64::from(*status))));
                    if *status >= 400 {
                        attributes.push(text("error.type", &status.to_string()));
                    }
                }
                Answered::Failed(kind) => attributes.push(text("error.type", kind)),
            }
            self.durations(attributes, durations)
        });
        let description = "Time of a request to the API, to the end of its answer.";
        histogram("http.client.request.duration", "s", description, points.collect())
    }

    fn durations(self, attributes: Vec<KeyValue>, durations: &Durations) -> HistogramDataPoint {
        HistogramDataPoint {
            attributes,
            start_time_unix_nano: nanos(self.began),
            time_unix_nano: nanos(self.now),
            count: durations.count(),
            sum: Some(durations.total()),
            bucket_counts: durations.buckets.to_vec(),
            explicit_bounds: BUCKETS_MS.iter().map(|bound| Duration::from_millis(*bound).as_secs_f64()).collect(),
            ..HistogramDataPoint::default()
        }
    }

    /// Sizes are known by their number and their sum alone: one bucket without bounds.
    fn bodies(self, name: &str, description: &str, bodies: Bodies) -> Metric {
        #[allow(clippy::cast_precision_loss)]
        let sum = bodies.bytes as f64;
        let point = HistogramDataPoint {
            start_time_unix_nano: nanos(self.began),
            time_unix_nano: nanos(self.now),
            count: bodies.count,
            sum: Some(sum),
            bucket_counts: vec![bodies.count],
            ..HistogramDataPoint::default()
        };
        histogram(name, "By", description, vec![point])
    }

    fn running(self, name: &str, unit: &str, description: &str, count: i64) -> Metric {
        let point = NumberDataPoint {
            start_time_unix_nano: nanos(self.began),
            time_unix_nano: nanos(self.now),
            value: Some(number_data_point::Value::AsInt(count)),
            ..NumberDataPoint::default()
        };
        let aggregation_temporality = AggregationTemporality::Cumulative.into();
        let sum = Sum { data_points: vec![point], aggregation_temporality, is_monotonic: false };
        metric(name, unit, description, Data::Sum(sum))
    }
}

fn histogram(name: &str, unit: &str, description: &str, data_points: Vec<HistogramDataPoint>) -> Metric {
    let aggregation_temporality = AggregationTemporality::Cumulative.into();
    metric(name, unit, description, Data::Histogram(Histogram { data_points, aggregation_temporality }))
}

fn metric(name: &str, unit: &str, description: &str, data: Data) -> Metric {
    Metric {
        name: name.to_owned(),
        description: description.to_owned(),
        unit: unit.to_owned(),
        data: Some(data),
        ..Metric::default()
    }
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Any::StringValue(value.to_owned()))
}

fn attribute(key: &str, value: Any) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
