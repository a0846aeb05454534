//! Answers of tools as content: the path of every call, then a projection.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolwright_core::content::{Answer, Given, Piece, Values, fill};
use toolwright_core::{Code, Envelope, Payload, ToolError};
use toolwright_http::{CallContext, FilterFault};

use crate::App;
use crate::call::named_failure;

impl App {
    /// Asks a tool, with [`arguments`].
    pub(super) async fn answer(&self, answer: &Answer, arguments: Map<String, Value>, call: &CallContext) -> Envelope {
        let Some(row) = self.catalog.find(answer.tool) else {
            let message = "the server has no such tool; this is a fault of the server";
            return named_failure(answer.tool, ToolError::new(Code::NotAllowed, message));
        };
        let envelope = self.operation(row, arguments, call).await;
        match answer.project {
            Some(filter) if envelope.ok => self.projected(filter, envelope, call).await,
            _ => envelope,
        }
    }

    /// `data` of an answer through a filter. One that fails leaves nothing: what is read then would be something else.
    async fn projected(&self, filter: &str, mut envelope: Envelope, call: &CallContext) -> Envelope {
        let data = match std::mem::take(&mut envelope.payload) {
            Payload::Data(data) | Payload::Events { data: Some(data), .. } => data,
            other => {
                envelope.payload = other;
                return envelope;
            }
        };
        let most = self.settings.max_response_bytes.0;
        match self.filters.run(filter, Arc::new(data), most, call).await {
            Ok(data) => Envelope { payload: Payload::Data(data), ..envelope },
            Err(FilterFault::Failed(reason)) => {
                let message = format!("the server's filter failed on the answer: {reason}");
                Envelope::failure(ToolError::new(Code::HandlerFailed, message))
            }
            Err(FilterFault::Deadline) => {
                let message = "the server's filter was not done before the deadline";
                Envelope::failure(ToolError::new(Code::Deadline, message))
            }
            Err(FilterFault::Cancelled) => {
                Envelope::failure(ToolError::new(Code::Cancelled, "the request was cancelled"))
            }
        }
    }
}

/// The arguments with values in their places. `None` where one has a place without a value.
pub(super) fn arguments(answer: &Answer, values: &Values) -> Option<Map<String, Value>> {
    let has_value = |piece: &Piece| match piece {
        Piece::Text(_) => true,
        Piece::Place(name) => values.contains_key(*name),
    };
    let mut arguments = Map::new();
    for (name, given) in answer.arguments {
        let value = match given {
            Given::Text(pieces) if pieces.iter().all(has_value) => fill(pieces, values).into(),
            Given::Text(_) => return None,
            // The generator wrote it.
            Given::Json(text) => serde_json::from_str(text).ok()?,
        };
        arguments.insert((*name).to_owned(), value);
    }
    Some(arguments)
}
