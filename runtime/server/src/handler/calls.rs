//! Calls of tools: the tool that a name is, and what surrounds every call.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, ErrorData, JsonObject};
use rmcp::service::RequestContext;
use toolwright_core::{Client, Envelope};
use toolwright_http::CallContext;
use tracing::Instrument as _;

use super::{caller, shown};
use crate::progress::Relay;
use crate::settings::nearest;
use crate::telemetry::{Asked, CallSpan};
use crate::{App, gateway};

impl App {
    /// The span of a call, where traces are sent.
    pub(crate) fn begin_trace(
        &self,
        tool: &str,
        arguments: Option<&JsonObject>,
        context: &RequestContext<RoleServer>,
    ) -> Option<CallSpan> {
        self.tracing.get().map(|tracing| {
            tracing.begin(&Asked {
                // The caller chooses both, and may write what must not leave this process.
                tool: &shown(&self.known_secrets.scrub(tool)),
                arguments,
                meta: &context.meta,
                headers: caller::headers(context),
                id: shown(&self.known_secrets.scrub(&context.id.to_string())),
            })
        })
    }

    /// Carries out a call of a tool within everything that surrounds one: its progress, its cancellation, the caller's span
    /// and trace. A fault of ours must not leave the caller waiting: it is answered as one.
    pub(crate) async fn surrounded<F>(
        &self,
        trace: Option<CallSpan>,
        context: &RequestContext<RoleServer>,
        client: Arc<dyn Client>,
        carried_out: impl FnOnce(CallContext) -> F,
    ) -> Result<Envelope, ErrorData>
    where
        F: Future<Output = Result<Envelope, ErrorData>>,
    {
        let (progress, relay) = Relay::start(context);
        let forwarded = caller::forwarded(context, &self.settings.forward_headers.0);
        let call = CallContext {
            cancel: context.ct.child_token(),
            progress,
            forwarded,
            observed: self.watched(trace.as_ref().map(CallSpan::span)),
            client,
            ..CallContext::within(self.settings.request_timeout.0)
        };
        let cancel = call.cancel.clone();
        let carried_out = AssertUnwindSafe(carried_out(call).instrument(caller::span(context)));
        let outcome = {
            let mut carried_out = pin!(carried_out.catch_unwind());
            tokio::select! {
                biased;
                outcome = &mut carried_out => outcome,
                () = self.cut_off.cancelled() => {
                    cancel.cancel();
                    carried_out.await
                }
            }
        };
        let envelope = outcome.unwrap_or_else(|_| {
            let message = "the server failed while it carried out the call; its log says where. Please report it";
            Err(ErrorData::internal_error(message, None))
        })?;
        if let Some(trace) = trace {
            trace.finish(&envelope);
        }
        relay.finish().await;
        Ok(envelope)
    }

    /// Calls a listed tool.
    pub(super) async fn dispatch(
        &self,
        request: CallToolRequestParams,
        context: &CallContext,
    ) -> Result<Envelope, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        if let Some(row) = self.exposure.find_listed(&request.name) {
            Ok(self.operation(row, arguments, context).await)
        } else if gateway::is_fixed(&request.name) {
            Ok(gateway::call(self, &request.name, arguments, context).await)
        } else {
            Err(self.unknown_tool(&request.name))
        }
    }

    pub(crate) fn unknown_tool(&self, name: &str) -> ErrorData {
        let known = || self.listed().iter().map(|tool| tool.name.as_ref());
        let message = if self.catalog.find(name).is_some() || gateway::EXTRA_TOOLS.contains(&name) {
            format!("Unknown tool: {name} is not listed here; call execute_additional_tool with tool_name \"{name}\"")
        } else if let Some(near) = nearest(name, known()) {
            format!("Unknown tool: {}; did you mean {near}?", shown(name))
        } else {
            format!("Unknown tool: {}; search_additional_tools finds tools by what they do", shown(name))
        };
        ErrorData::invalid_params(message, None)
    }
}
