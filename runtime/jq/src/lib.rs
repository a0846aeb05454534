//! jq filters over JSON values.
//!
//! [`Filter::compile`] reads a filter once; [`Filter::apply`] runs it on a value, within [`Limits`]. A filter sees its
//! input and nothing else: no environment, clock, files or output of the process. The generator compiles filters with
//! this crate as well, so that one that is generated is one that compiles when it is run.
//!
//! A filter is its author's code, and mistakes in it cost one run: [`Limits`] bound what comes out, and checks inside the
//! filter bound how deep it recurs and how much it makes on the way. Time is not bounded: `range(.n)` takes what it takes.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod bounds;
mod budget;
mod filter;
mod guard;
mod json_text;
mod value;

pub use filter::{Filter, Limits, RunError, STACK_BYTES, SyntaxError};
