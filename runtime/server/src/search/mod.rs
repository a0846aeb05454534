//! Finding a tool by a plain sentence, in English, Korean or Japanese.
//!
//! An [`Index`] is built once over the texts of a server's tools and holds no reference to them. A query is cut into
//! terms in the same way as the texts. A tool's score is the share of the query that its fields explain (BM25 with a
//! weight per field), plus how close the query comes to the nearest of the tool's phrases. What the query wants
//! ([`Intent`]) then decides between tools that read and tools that change state.

mod concept;
mod document;
mod english;
#[cfg(test)]
mod golden;
mod index;
mod intent;
mod japanese;
mod korean;
mod script;
mod terms;

pub(crate) use document::{Document, properties};
pub(crate) use index::Index;
pub(crate) use intent::Intent;
