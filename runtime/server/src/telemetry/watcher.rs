//! Watches what calls do below their tools: counts requests to the API, and makes spans of them where there are traces.

use std::sync::Arc;
use std::time::Instant;

use toolwright_http::{Observed, ObservedRequest, Observer, RequestStart};

use super::metrics::{Answered, Metrics, counted_method};
use super::otlp::Span;
use crate::App;

/// The observer of one call, or of a part of it.
#[derive(Debug)]
struct Watcher {
    metrics: Arc<Metrics>,
    span: Option<Span>,
    /// Whether requests to the API's own origin tell it which trace they belong to.
    tells_upstream: bool,
}

impl App {
    /// What watches a call with that span.
    pub(crate) fn watched(&self, span: Option<Span>) -> Observed {
        let metrics = Arc::clone(&self.metrics);
        Observed::by(Arc::new(Watcher { metrics, span, tells_upstream: self.settings.trace_upstream.0 }))
    }
}

impl Observer for Watcher {
    fn request(&self, start: &RequestStart<'_>) -> Box<dyn ObservedRequest> {
        self.metrics.request_begins(start.body_bytes);
        Box::new(Watched {
            metrics: Arc::clone(&self.metrics),
            method: counted_method(start.method),
            began: Instant::now(),
            // Where nothing else is told, the call was given up.
            answered: Answered::Failed("cancelled"),
            bytes: 0,
            span: self.span.as_ref().map(|span| span.request(start)),
            is_told: start.is_own_origin && self.tells_upstream,
        })
    }

    fn part(&self, name: &str) -> Arc<dyn Observer> {
        Arc::new(Watcher {
            metrics: Arc::clone(&self.metrics),
            span: self.span.as_ref().map(|span| span.part(name)),
            tells_upstream: self.tells_upstream,
        })
    }

    fn failed(&self, kind: &'static str) {
        if let Some(span) = &self.span {
            span.fail(kind);
        }
    }
}

/// One request to an upstream.
#[derive(Debug)]
struct Watched {
    metrics: Arc<Metrics>,
    method: &'static str,
    began: Instant,
    answered: Answered,
    bytes: u64,
    span: Option<Span>,
    is_told: bool,
}

impl ObservedRequest for Watched {
    fn headers(&self) -> Vec<(&'static str, String)> {
        self.span.as_ref().filter(|_| self.is_told).map(Span::propagated).unwrap_or_default()
    }

    fn answered(&mut self, status: u16) {
        self.answered = Answered::Status(status);
    }

    fn received(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.metrics.received(bytes);
    }

    fn failed(&mut self, kind: &'static str) {
        self.answered = Answered::Failed(kind);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.metrics.request_ends(self.method, self.answered, self.began.elapsed());
        if let Some(span) = &self.span {
            match self.answered {
                Answered::Status(status) => span.answered(status, self.bytes),
                Answered::Failed(kind) => span.fail(kind),
            }
        }
    }
}
