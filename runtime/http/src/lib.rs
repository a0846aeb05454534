//! Calls an upstream HTTP API for a tool.
//!
//! [`Upstream`] carries out what a [`toolwright_core::Binding`] says: it encodes arguments, opens file inputs, sends,
//! waits, reads the answer within limits, and turns it into a [`toolwright_core::Envelope`]. [`Client`] is the typed view
//! of the same path. Arguments are expected to be checked already; everything that the upstream says is untrusted.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod answer;
mod auth;
mod body;
mod client;
mod config;
mod connect;
mod context;
mod curl;
mod encode;
mod files;
mod forward;
mod hidden;
mod known_secrets;
mod media;
mod observe;
mod paginate;
mod plan;
mod project;
mod raw;
mod saved;
mod send;
mod server;
mod stream;
#[cfg(test)]
mod testing;
mod upstream;
mod websocket;

pub use answer::{MASK, mask_arguments, mask_members, mask_result, message_of, names_secret};
pub use client::{Client, Reply};
pub use config::{Config, ConfigError, Secret, parse_base_url};
pub use connect::{LazyClient, check_ca_file, check_client_cert_file};
pub use context::{CallContext, Progress, ProgressUpdate};
pub use encode::{is_reserved_header, percent_value};
pub use forward::{ForwardedHeaders, why_not as why_not_forwarded};
pub use hidden::why_not_sendable;
pub use known_secrets::KnownSecrets;
pub use observe::{Observed, ObservedRequest, Observer, RequestStart};
pub use plan::Planned;
pub use project::{FilterFault, Filters};
pub use raw::RawRequest;
pub use reqwest::Url;
pub use saved::{SavedError, SavedFile, SavedFiles};
pub use send::{innermost, no_answer, retry_after};
pub use stream::{Event, LONGEST_EVENT, MessageStream, Parser, Taken, TooLong, Watch};
pub use tokio_util::sync::CancellationToken;
pub use upstream::Upstream;
#[cfg(feature = "fuzzing")]
pub use upstream::WrittenRequest;
