//! The generator: API documents, overlays and a server's settings in, Rust crates out.
//!
//! It is pure. Files come in as an in-memory [`load::Files`] map, and results and
//! [`diagnostic::Diagnostic`]s go out; there is no network, clock, environment or file write here.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

pub mod diagnostic;
pub mod load;
pub mod source;
