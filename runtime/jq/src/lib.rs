//! jq filters over JSON values.
//!
//! [`Filter::compile`] reads a filter once; [`Filter::apply`] runs it on a value, within [`Limits`]. A filter sees its
//! input and nothing else: no environment, clock, files or output of the process. The generator compiles filters with
//! this crate as well, so that one that is generated is one that compiles when it is run.
//!
//! A filter is its author's code. [`Limits`] bound what comes out, not what is made on the way: a number of the input must
//! not decide unchecked how much that is, as it does in `"x" * .n` and in `range(.n)`.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod bounds;
mod filter;
mod json_text;
mod value;

pub use filter::{Filter, Limits, RunError, STACK_BYTES, SyntaxError};
