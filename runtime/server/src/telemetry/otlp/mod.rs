//! Traces and metrics over OTLP (http/protobuf): both to a collector, and traces to Langfuse.
//!
//! Spans wait in bounded queues and are sent in the background: a receiver that is slow or gone costs spans, never the time
//! of a call. Nothing is connected before there is something to send.

mod check;
mod delivery;
mod metrics;
mod outbox;
mod payload;
mod receivers;
mod span;
#[cfg(test)]
mod tests;

pub(crate) use check::status;
pub(crate) use span::{CallSpan, Span};

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolwright_core::ServerSpec;
use toolwright_http::KnownSecrets;

use super::Asked;
use crate::App;
use crate::settings::Settings;
use outbox::{Lost, Outbox};
use receivers::{Receiver, State};

/// Longest wait for the last deliveries, at the end of the process.
const FAREWELL: Duration = Duration::from_secs(2);

/// The way of spans and metrics to their receivers.
#[derive(Debug)]
pub(crate) struct Tracing {
    tracer: SdkTracer,
    details: Details,
    closing: CancellationToken,
    carriers: Mutex<Vec<JoinHandle<()>>>,
    losses: Vec<Arc<Lost>>,
}

/// What spans of calls say beyond the usual.
#[derive(Debug, Clone)]
struct Details {
    /// The name of the server.
    source: &'static str,
    /// Whether Langfuse reads them.
    for_langfuse: bool,
    /// What is taken out of arguments and results, where they may be told at all.
    payloads: Option<KnownSecrets>,
}

impl Tracing {
    /// Starts sending to each receiver that is configured, once the keyring has answered where it may have a credential of one.
    pub(crate) async fn start(app: &App) -> Option<Tracing> {
        let settings = settings_of_receivers(app).await;
        let receivers: Vec<Receiver> = receivers::all(&settings).into_iter().filter_map(usable).collect();
        if receivers.is_empty() {
            return None;
        }
        let resource = resource(app.server, &app.settings);
        let described = Arc::new(ResourceAttributesWithSchema::from(&resource));
        let closing = CancellationToken::new();
        let (mut outbox, mut carriers) = (Outbox::default(), Vec::new());
        for receiver in &receivers {
            let deliveries = delivery::Delivery::to(app, receiver);
            carriers.push(outbox.add(receiver, deliveries.traces, Arc::clone(&described), closing.clone()));
            if let Some(delivery) = deliveries.metrics {
                let counters = Arc::clone(&app.metrics);
                carriers.push(tokio::spawn(metrics::carry(
                    counters,
                    delivery,
                    Arc::clone(&described),
                    closing.clone(),
                )));
            }
        }
        let losses = outbox.losses();
        let provider = SdkTracerProvider::builder().with_span_processor(outbox).with_resource(resource).build();
        let details = Details {
            source: app.server.name,
            for_langfuse: receivers.iter().any(|receiver| receiver.name == receivers::LANGFUSE),
            payloads: receivers.iter().any(|receiver| receiver.takes_payloads).then(|| app.known_secrets.clone()),
        };
        let tracer = provider.tracer("toolwright");
        Some(Tracing { tracer, details, closing, carriers: Mutex::new(carriers), losses })
    }

    /// Begins the span of a call, below the caller's where the request names one (W3C Trace Context).
    pub(crate) fn begin(&self, asked: &Asked<'_>) -> CallSpan {
        CallSpan::begin(&self.tracer, &self.details, asked)
    }

    /// Sends what waits, and ends. What is not taken by then is lost: the process ends all the same.
    pub(crate) async fn finish(self: Arc<Self>) {
        self.closing.cancel();
        let carriers = std::mem::take(&mut *self.carriers.lock().unwrap_or_else(PoisonError::into_inner));
        let ends: Vec<_> = carriers.iter().map(JoinHandle::abort_handle).collect();
        if tokio::time::timeout(FAREWELL, join_all(carriers)).await.is_err() {
            tracing::warn!(target: "toolwright::telemetry", "a receiver did not take the last spans or metrics in time");
            ends.iter().for_each(tokio::task::AbortHandle::abort);
        }
        self.losses.iter().for_each(|lost| lost.tell());
    }
}

/// The settings with the credentials of receivers. Where the keyring may have one, its answer is waited for.
async fn settings_of_receivers(app: &App) -> Cow<'_, Settings> {
    if app.settings.unsaid_to_receivers().is_empty() {
        return Cow::Borrowed(&app.settings);
    }
    let settings = app.settings.clone();
    match tokio::task::spawn_blocking(move || settings.with_keys_of_receivers()).await {
        Ok(complete) => {
            app.known_secrets.keep(complete.secrets(app.server));
            Cow::Owned(complete)
        }
        Err(_) => Cow::Borrowed(&app.settings),
    }
}

/// Tools are worth more than their traces: a receiver that cannot be used is no reason not to serve.
fn usable((name, state): (&'static str, State)) -> Option<Receiver> {
    match state {
        State::Disabled => None,
        State::Ready(receiver) => Some(receiver),
        State::Faulty(reason) => {
            tracing::error!(target: "toolwright::telemetry", receiver = name, %reason, "nothing is sent");
            None
        }
    }
}

/// Who sends (OpenTelemetry, resource semantic conventions).
fn resource(server: &ServerSpec, settings: &Settings) -> Resource {
    let given = settings.otlp_resource_attributes.iter().flat_map(|pairs| pairs.all());
    let given = given.map(|(name, value)| KeyValue::new(name.to_owned(), value.to_owned()));
    let own = [
        KeyValue::new("service.name", format!("{}-server", server.name)),
        KeyValue::new("service.version", server.version),
        KeyValue::new("telemetry.sdk.name", "opentelemetry"),
        KeyValue::new("telemetry.sdk.language", "rust"),
    ];
    let name = settings.otlp_service_name.iter().map(|name| KeyValue::new("service.name", name.0.clone()));
    // The last of equal names counts.
    Resource::builder_empty().with_attributes(own.into_iter().chain(given).chain(name)).build()
}
