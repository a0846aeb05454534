//! Counters of calls and of the requests that they made: one source, which `/metrics` and OTLP show.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolwright_core::Catalog;

/// Upper bounds of the duration buckets, in milliseconds.
pub(super) const BUCKETS_MS: [u64; 13] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 15_000, 60_000, 300_000];

/// How long things took: how many in each bucket, the last of which has no bound.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Durations {
    pub(super) buckets: [u64; BUCKETS_MS.len() + 1],
    total_us: u64,
}

impl Durations {
    fn add(&mut self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.total_us = self.total_us.saturating_add(micros);
        let bucket = BUCKETS_MS.iter().position(|bound| micros <= bound * 1_000).unwrap_or(BUCKETS_MS.len());
        self.buckets.iter_mut().skip(bucket).take(1).for_each(|count| *count += 1);
    }

    pub(super) fn merge(mut self, other: &Durations) -> Self {
        self.total_us = self.total_us.saturating_add(other.total_us);
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(count, more)| *count += more);
        self
    }

    pub(super) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// All of them together, in seconds.
    pub(super) fn total(&self) -> f64 {
        Duration::from_micros(self.total_us).as_secs_f64()
    }
}

/// How a request to an upstream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answered {
    /// With an answer of that status.
    Status(u16),
    /// Without one, or without its end, for a reason of that kind.
    Failed(&'static str),
}

/// Bodies: how many, and how many bytes in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Bodies {
    pub(super) count: u64,
    pub(super) bytes: u64,
}

/// Counts of calls and requests.
#[derive(Debug)]
pub(crate) struct Metrics {
    /// By tool and outcome. Names from outside never reach this map: only tools of the server do.
    calls: Mutex<BTreeMap<(&'static str, &'static str), Durations>>,
    /// By method and outcome. Methods from outside are one.
    requests: Mutex<BTreeMap<(&'static str, Answered), Durations>>,
    running: AtomicI64,
    requests_running: AtomicI64,
    sent: AtomicU64,
    received: AtomicU64,
    tools: usize,
}

/// What the counters say at one moment.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) calls: BTreeMap<(&'static str, &'static str), Durations>,
    pub(super) requests: BTreeMap<(&'static str, Answered), Durations>,
    pub(super) running: i64,
    pub(super) requests_running: i64,
    pub(super) sent: Bodies,
    pub(super) received: Bodies,
    pub(super) tools: usize,
}

impl Metrics {
    pub(crate) fn new(catalog: &Catalog) -> Self {
        Metrics {
            calls: Mutex::default(),
            requests: Mutex::default(),
            running: AtomicI64::new(0),
            requests_running: AtomicI64::new(0),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            tools: catalog.tools().len(),
        }
    }

    /// A call has begun.
    pub(crate) fn begin(&self) {
        self.running.fetch_add(1, Ordering::Relaxed);
    }

    /// A call has ended.
    pub(crate) fn end(&self, tool: &'static str, outcome: &'static str, took: Duration) {
        self.running.fetch_sub(1, Ordering::Relaxed);
        held(&self.calls).entry((tool, outcome)).or_default().add(took);
    }

    /// A request to an upstream has begun.
    pub(super) fn request_begins(&self, body_bytes: u64) {
        self.requests_running.fetch_add(1, Ordering::Relaxed);
        self.sent.fetch_add(body_bytes, Ordering::Relaxed);
    }

    /// That many bytes of an answer came.
    pub(super) fn received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A request to an upstream has ended.
    pub(super) fn request_ends(&self, method: &'static str, answered: Answered, took: Duration) {
        self.requests_running.fetch_sub(1, Ordering::Relaxed);
        held(&self.requests).entry((method, answered)).or_default().add(took);
    }

    /// Calls that have begun and not ended.
    pub(crate) fn running(&self) -> i64 {
        self.running.load(Ordering::Relaxed)
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let requests = held(&self.requests).clone();
        let ended: u64 = requests.values().map(Durations::count).sum();
        let running = self.requests_running.load(Ordering::Relaxed);
        let bodies = |bytes: &AtomicU64, count| Bodies { count, bytes: bytes.load(Ordering::Relaxed) };
        Snapshot {
            calls: held(&self.calls).clone(),
            running: self.running(),
            requests_running: running,
            sent: bodies(&self.sent, ended + u64::try_from(running).unwrap_or_default()),
            received: bodies(&self.received, ended),
            tools: self.tools,
            requests,
        }
    }
}

/// A panic elsewhere cannot leave a counter half written.
fn held<T>(counters: &Mutex<T>) -> MutexGuard<'_, T> {
    counters.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The method as it is counted: what a caller makes up must not make counters (OpenTelemetry, `http.request.method`).
pub(super) fn counted_method(method: &str) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
    KNOWN.into_iter().find(|known| *known == method).unwrap_or("_OTHER")
}
