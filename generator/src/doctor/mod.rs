//! The spec doctor: what a document or a server makes hard for models and callers, each with its place and remedy.
//!
//! Everything here is advice. What stops the generation is reported by the passes themselves, and comes along.

mod losses;
mod names;
mod risks;
mod secrets;
mod texts;
mod weight;

use crate::diagnostic::Sink;
use crate::load::{self, Files};
use crate::model::Model;
use crate::pass;
use crate::summary::{Summary, summarize};

/// Examines the server in `dir`, such as `specs/localai`: everything that a run reports, and advice beyond it.
///
/// Returns what the server has, or `None` where the document cannot be read at all.
pub fn examine(files: &Files, dir: &str, sink: &mut Sink) -> Option<Summary> {
    let loaded = load::load_server(files, dir, sink)?;
    let mut model = Model::new(&loaded);
    pass::run(&mut model, sink);
    losses::report(&model, sink);
    names::report(&model, sink);
    risks::report(&model, sink);
    secrets::report(&model, sink);
    texts::report(&model, sink);
    weight::report(&model, sink);
    Some(summarize(&model))
}
