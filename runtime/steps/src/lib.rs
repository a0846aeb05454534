//! Several calls as one tool, in the words of OpenAPI Arazzo 1.0.
//!
//! A [`Plan`] says which calls follow each other. Its values hold runtime expressions ([`Expression`]), which a [`Scope`]
//! gives a meaning: the tool's inputs, the outputs of earlier steps, and the answer of the step at hand. [`Condition`]s
//! decide whether a step succeeded and where to go on. Nothing here performs I/O; the generator checks plans with the same
//! code that runs them.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod condition;
mod expression;
mod plan;
mod template;

pub use condition::Condition;
pub use expression::{Answer, Expression, Scope, SyntaxError};
pub use plan::{Action, Call, Criterion, CriterionKind, MAX_CALLS, MAX_RETRIES, Next, Plan, Spread, Step};
pub use template::{Missing, expressions, render, render_path, render_text, unclosed};
