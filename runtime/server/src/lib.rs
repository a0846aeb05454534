//! The MCP shell of a generated server: settings, command line, both transports, limits, telemetry, gateway.
//!
//! A generated binary is one call of [`run`] over its static tables, or of [`run_native`] where some tools are Rust. Tests and other programs serve an [`App`] over
//! any transport of `rmcp`, since `Arc<App>` is an [`rmcp::ServerHandler`].
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod answer;
mod app;
mod call;
mod cli;
mod content;
mod exposure;
mod gateway;
mod handler;
mod listing;
mod native;
mod own;
mod progress;
mod search;
mod serve;
pub mod settings;
mod steps;
mod telemetry;
#[cfg(test)]
mod testing;
mod upstream;

/// An MCP server parses, copies and writes many small JSON values per call: the allocator is a third of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub use app::App;
pub use cli::{run, run_native};
