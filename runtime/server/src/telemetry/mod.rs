//! What the operator sees: logs, metrics, traces. Nothing here holds credentials, and arguments and answers only go where
//! the operator has asked for them.

mod chain;
mod log;
mod log_file;
mod metrics;
mod one_line;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(not(feature = "otlp"))]
#[path = "untraced.rs"]
mod otlp;
mod prometheus;
mod record;
mod watcher;

pub(crate) use chain::Chain;
pub(crate) use log::{Destination, start_logging};
pub(crate) use metrics::Metrics;
pub(crate) use otlp::{CallSpan, Tracing, status};
pub(crate) use record::Record;

use axum::http::HeaderMap;
use rmcp::model::RequestMetaObject;
use serde_json::{Map, Value};

/// A call as a trace tells of it.
#[cfg_attr(not(feature = "otlp"), allow(dead_code))]
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    /// The name of the tool, as the caller wrote it.
    pub(crate) tool: &'a str,
    /// Its arguments, which leave this process only where the operator has asked for it.
    pub(crate) arguments: Option<&'a Map<String, Value>>,
    /// `_meta` of the request.
    pub(crate) meta: &'a RequestMetaObject,
    /// Headers of the request, over HTTP.
    pub(crate) headers: Option<&'a HeaderMap>,
    /// Its id.
    pub(crate) id: String,
}
