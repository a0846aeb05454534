//! What stands in for traces where the feature `otlp` is left out.

use std::sync::Arc;

use toolwright_core::Envelope;
use toolwright_http::RequestStart;

use super::Asked;
use crate::App;

/// No way of spans to anywhere.
#[derive(Debug)]
pub(crate) enum Tracing {}

/// No span.
#[derive(Debug, Clone)]
pub(crate) enum Span {}

/// No span of a call.
#[derive(Debug)]
pub(crate) enum CallSpan {}

/// Says that what is configured is out of reach.
pub(crate) async fn status(app: &App) -> Vec<(&'static str, String)> {
    states(app)
}

fn states(app: &App) -> Vec<(&'static str, String)> {
    let settings = &app.settings;
    let state = |is_on: bool| if is_on { "dependency_missing: this build has no feature `otlp`" } else { "disabled" };
    vec![
        ("otlp", state(settings.otlp_endpoint.is_some()).to_owned()),
        ("langfuse", state(settings.langfuse_enabled).to_owned()),
    ]
}

impl Tracing {
    pub(crate) async fn start(app: &App) -> Option<Tracing> {
        for (name, state) in states(app).iter().filter(|(_, state)| *state != "disabled") {
            tracing::error!(target: "toolwright::telemetry", receiver = name, %state, "nothing is sent");
        }
        None
    }

    pub(crate) fn begin(&self, _asked: &Asked<'_>) -> CallSpan {
        match *self {}
    }

    pub(crate) async fn finish(self: Arc<Self>) {
        match *self {}
    }
}

impl CallSpan {
    pub(crate) fn span(&self) -> Span {
        match *self {}
    }

    pub(crate) fn finish(self, _envelope: &Envelope) {
        match self {}
    }
}

impl Span {
    pub(crate) fn part(&self, _name: &str) -> Span {
        match *self {}
    }

    pub(crate) fn request(&self, _start: &RequestStart<'_>) -> Span {
        match *self {}
    }

    pub(crate) fn propagated(&self) -> Vec<(&'static str, String)> {
        match *self {}
    }

    pub(crate) fn answered(&self, _status: u16, _bytes: u64) {
        match *self {}
    }

    pub(crate) fn fail(&self, _kind: &'static str) {
        match *self {}
    }
}
