//! WebSocket exchanges.

use serde_json::{Map, Value};
use toolwright_core::{Code, Envelope, ToolError, WebSocketBinding};

use crate::{config::Config, connect::LazyClient, context::CallContext, saved::SavedFiles};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Session<'a> {
    pub(crate) config: &'a Config,
    pub(crate) saved: &'a SavedFiles,
    pub(crate) context: &'a CallContext,
}

impl Session<'_> {
    pub(crate) async fn run(self, _: &LazyClient, _: &WebSocketBinding, _: &Map<String, Value>) -> Envelope {
        Envelope::failure(ToolError::new(Code::UpstreamUnreachable, "WebSocket exchanges are not carried out yet"))
    }
}
