//! What the operator sees: logs, metrics, traces. Nothing here holds arguments, answers or credentials.

mod log;
mod metrics;
mod one_line;
mod record;
#[cfg(feature = "otlp")]
mod trace;
#[cfg(not(feature = "otlp"))]
#[path = "untraced.rs"]
mod trace;

pub(crate) use log::{Destination, start_logging};
pub(crate) use metrics::Metrics;
pub(crate) use record::Record;
pub(crate) use trace::Tracing;

use toolwright_core::Code;

/// The name of a failure's code, as in the envelope.
pub(crate) const fn code_name(code: Code) -> &'static str {
    match code {
        Code::InvalidArguments => "invalid_arguments",
        Code::UnknownTool => "unknown_tool",
        Code::CallDirectly => "call_directly",
        Code::NotAllowed => "not_allowed",
        Code::FileRefused => "file_refused",
        Code::TooLarge => "too_large",
        Code::NoRoute => "no_route",
        Code::UpstreamError => "upstream_error",
        Code::UpstreamUnreachable => "upstream_unreachable",
        Code::Deadline => "deadline",
        Code::Cancelled => "cancelled",
        Code::HandlerFailed => "handler_failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_the_same_name_in_metrics_and_envelopes() {
        for code in [Code::InvalidArguments, Code::CallDirectly, Code::UpstreamUnreachable, Code::HandlerFailed] {
            assert_eq!(serde_json::json!(code), code_name(code));
        }
    }
}
