//! Real parts put together for tests, the demo and the benchmark: a mock upstream made from the vendored document, the
//! real server binary as a child process, and a real MCP client.

mod binary;
mod client;
mod collector;
mod http;
mod media;
mod stage;

pub use binary::{Profile, build, repository, vendored_document};
pub use client::{Session, structured, text};
pub use collector::{Collector, Manner, Received};
pub use http::{Answer, Http};
pub use media::{file_for, png, wav};
pub use stage::Stage;
