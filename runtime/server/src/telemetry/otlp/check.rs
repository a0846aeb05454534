//! Whether receivers can be reached, for `doctor`.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message as _;

use super::delivery::{Delivery, Undelivered};
use super::receivers::{self, LANGFUSE, Receiver, State};
use super::settings_of_receivers;
use crate::App;

/// The state of each receiver, by its name, after asking those that are configured.
pub(crate) async fn status(app: &App) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let settings = settings_of_receivers(app).await;
    for (name, state) in receivers::all(&settings) {
        let told = match state {
            State::Disabled => "disabled".to_owned(),
            State::Faulty(reason) => format!("configuration_error: {reason}"),
            State::Ready(receiver) => reached(app, &receiver).await,
        };
        found.push((name, told));
    }
    found
}

async fn reached(app: &App, receiver: &Receiver) -> String {
    let asked = match receiver.name {
        // What a key pair may always read, and nothing is written by it.
        LANGFUSE => Delivery::at(app, receiver, "/api/public/projects").get().await,
        _ => Delivery::to(app, receiver).traces.post(ExportTraceServiceRequest::default().encode_to_vec()).await,
    };
    let origin = receiver.origin();
    match asked {
        Ok(()) => format!("ready at {origin}"),
        Err(Undelivered::Refused(status @ (401 | 403))) => {
            format!("authentication_error at {origin}: it answered with status {status}; check the keys or headers")
        }
        Err(error) => format!("connection_error at {origin}: {error}"),
    }
}
