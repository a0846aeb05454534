//! What stands in for traces where the feature `otlp` is left out.

use std::sync::Arc;

use rmcp::model::RequestMetaObject;
use toolwright_core::{Envelope, ServerSpec};

use crate::settings::{Problem, Settings};

/// No way of spans to anywhere.
#[derive(Debug)]
pub(crate) enum Tracing {}

/// No span.
#[derive(Debug)]
pub(crate) struct CallSpan;

impl Tracing {
    /// # Errors
    /// Where a collector is configured, which this build cannot reach.
    pub(crate) fn start(_server: &ServerSpec, settings: &Settings) -> Result<Option<Tracing>, Problem> {
        match &settings.otlp_endpoint {
            Some(_) => Err(Problem::new("OTEL_EXPORTER_OTLP_ENDPOINT", "this build sends no traces: feature `otlp`")),
            None => Ok(None),
        }
    }

    pub(crate) fn begin(&self, _tool: &str, _meta: &RequestMetaObject) -> CallSpan {
        match *self {}
    }

    pub(crate) async fn finish(self: Arc<Self>) {
        match *self {}
    }
}

impl CallSpan {
    pub(crate) fn finish(self, _envelope: &Envelope) {}
}
