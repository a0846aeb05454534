//! Spans on their way out: a bounded queue for each receiver, emptied in the background.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanProcessor};
use prost::Message as _;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::delivery::Delivery;
use super::payload;
use super::receivers::Receiver;

/// Spans that wait for a receiver at most; further ones are dropped.
const MOST_WAITING: usize = 2_048;

/// Spans in one delivery at most.
const MOST_AT_ONCE: usize = 256;

/// How long a span waits for others to go with it.
const GATHERING: Duration = Duration::from_secs(1);

/// Takes every span that ends and never waits.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queues: Vec<Queue>,
}

#[derive(Debug)]
struct Queue {
    sender: mpsc::Sender<SpanData>,
    takes_payloads: bool,
    lost: Arc<Lost>,
}

/// Spans that a receiver did not get.
#[derive(Debug)]
pub(super) struct Lost {
    receiver: &'static str,
    count: AtomicU64,
}

impl Lost {
    /// The first is told at once, the number at the end: a line for each would fill the log.
    fn add(&self, spans: usize) {
        if self.count.fetch_add(spans as u64, Ordering::Relaxed) == 0 {
            let receiver = self.receiver;
            tracing::warn!(
                target: "toolwright::telemetry",
                receiver,
                "spans are dropped, since the receiver is gone or too slow; how many is told when the server stops"
            );
        }
    }

    /// How many there were, at the end.
    pub(super) fn tell(&self) {
        let (receiver, dropped) = (self.receiver, self.count.load(Ordering::Relaxed));
        if dropped > 0 {
            tracing::warn!(target: "toolwright::telemetry", receiver, dropped, "spans were dropped");
        }
    }
}

impl Outbox {
    /// A queue to one more receiver, emptied until `closing`.
    pub(super) fn add(
        &mut self,
        receiver: &Receiver,
        delivery: Delivery,
        resource: Arc<ResourceAttributesWithSchema>,
        closing: CancellationToken,
    ) -> JoinHandle<()> {
        let (sender, spans) = mpsc::channel(MOST_WAITING);
        let lost = Arc::new(Lost { receiver: receiver.name, count: AtomicU64::new(0) });
        self.queues.push(Queue { sender, takes_payloads: receiver.takes_payloads, lost: Arc::clone(&lost) });
        tokio::spawn(Carrier { spans, delivery, resource, closing, lost }.carry())
    }

    /// What each receiver did not get.
    pub(super) fn losses(&self) -> Vec<Arc<Lost>> {
        self.queues.iter().map(|queue| Arc::clone(&queue.lost)).collect()
    }
}

impl SpanProcessor for Outbox {
    fn on_start(&self, _span: &mut Span, _context: &Context) {}

    fn on_end(&self, span: SpanData) {
        for queue in &self.queues {
            let mut span = span.clone();
            if !queue.takes_payloads {
                span.attributes.retain(|attribute| !payload::is_payload(attribute.key.as_str()));
            }
            // After the end of the carrier there is nobody to be told.
            if let Err(mpsc::error::TrySendError::Full(_)) = queue.sender.try_send(span) {
                queue.lost.add(1);
            }
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// Empties one queue.
struct Carrier {
    spans: mpsc::Receiver<SpanData>,
    delivery: Delivery,
    resource: Arc<ResourceAttributesWithSchema>,
    closing: CancellationToken,
    lost: Arc<Lost>,
}

impl Carrier {
    async fn carry(mut self) {
        loop {
            let batch = self.gather().await;
            if batch.is_empty() {
                break;
            }
            let count = batch.len();
            let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
            if !self.delivery.send(ExportTraceServiceRequest { resource_spans }.encode_to_vec()).await {
                self.lost.add(count);
            }
        }
    }

    /// The next spans to go; none when all have gone and no more come.
    async fn gather(&mut self) -> Vec<SpanData> {
        let mut batch = Vec::new();
        let mut until = None;
        while batch.len() < MOST_AT_ONCE {
            let room = MOST_AT_ONCE - batch.len();
            let came = tokio::select! {
                biased;
                () = self.closing.cancelled() => {
                    self.spans.close();
                    self.spans.recv_many(&mut batch, room).await;
                    return batch;
                }
                came = received(&mut self.spans, &mut batch, room, until) => came,
            };
            if came == 0 {
                return batch;
            }
            until.get_or_insert_with(|| Instant::now() + GATHERING);
        }
        batch
    }
}

/// How many spans came, before a time where there is one.
async fn received(
    spans: &mut mpsc::Receiver<SpanData>,
    batch: &mut Vec<SpanData>,
    room: usize,
    until: Option<Instant>,
) -> usize {
    let coming = spans.recv_many(batch, room);
    match until {
        Some(until) => timeout_at(until, coming).await.unwrap_or(0),
        None => coming.await,
    }
}
