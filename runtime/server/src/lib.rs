//! The MCP shell of a generated server: settings, command line, both transports, limits, telemetry, gateway.
//!
//! A generated binary is a [`Program`] over its static tables, with handlers where some tools are Rust, and with the executors
//! and the store of tasks that others need. Tests and other programs serve an [`App`] over any transport of `rmcp`, since `Arc<App>` is an
//! [`rmcp::ServerHandler`].
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod answer;
mod app;
mod call;
mod cli;
mod client;
mod confirm;
mod content;
mod executors;
mod exposure;
mod gateway;
mod handler;
mod listing;
mod native;
mod own;
mod program;
mod progress;
mod search;
mod serve;
mod sessions;
pub mod settings;
mod steps;
mod tasks;
mod telemetry;
#[cfg(test)]
mod testing;
mod upstream;

/// An MCP server parses, copies and writes many small JSON values per call: the allocator is a third of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub use app::App;
pub use program::Program;
