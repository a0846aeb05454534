//! The generator: API documents, overlays and a server's settings in, Rust crates out.
//!
//! It is pure. Files come in as an in-memory [`load::Files`] map, and results and
//! [`diagnostic::Diagnostic`]s go out; there is no network, clock, environment or file write here.
//! [`generate`] runs the whole pipeline for one server.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod access;
mod catalog;
pub mod diagnostic;
pub mod doctor;
mod draft;
mod file_set;
mod invisible;
pub mod ledger;
pub mod load;
mod model;
mod pass;
mod rust;
pub mod source;
mod stale_names;
mod summary;
pub mod surface;
mod text;

pub use draft::{Draft, draft, start};
pub use file_set::{FileSet, MANIFEST, read_manifest};
pub use summary::{ListedTool, Summary};

use std::collections::BTreeMap;

use diagnostic::Sink;
use load::{Files, Prose};
use model::Model;

/// The version of this generator, which stands in what it writes. Those of all crates of Toolwright are the same.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a run makes of one server.
#[derive(Debug)]
pub struct Generated {
    /// The files of both packages, manifests included.
    pub files: FileSet,
    /// Numbers and texts for people.
    pub summary: Summary,
    /// What became of every part of the document.
    pub ledger: ledger::Ledger,
}

/// Runs the pipeline for the server in `dir`, such as `specs/localai`. The files may hold other servers as well.
///
/// The same inputs give the same bytes, whatever the order of the document's paths. A test that puts another form of
/// the document in place of the vendored one need only insert its bytes at the vendored path.
///
/// Returns `None` where `sink` has an error: nothing is generated from wrong inputs.
pub fn generate(files: &Files, dir: &str, sink: &mut Sink) -> Option<Generated> {
    generate_after(files, dir, &BTreeMap::new(), sink)
}

/// As [`generate`], and warns where a text names one of these `earlier` tools that is there no more. They are what an
/// earlier run made: names, with method and path of the operation, such as `GET /things`.
pub fn generate_after(
    files: &Files,
    dir: &str,
    earlier: &BTreeMap<String, String>,
    sink: &mut Sink,
) -> Option<Generated> {
    let loaded = load::load_server(files, dir, sink)?;
    let mut model = Model::new(&loaded);
    pass::run(&mut model, sink);
    if sink.has_errors() {
        return None;
    }
    // With an error, a name may be missing only because an overlay was not applied.
    stale_names::check(files, &model, earlier, sink);
    emit(model, sink)
}

/// Writes the packages of a finished model.
fn emit(model: Model, sink: &mut Sink) -> Option<Generated> {
    let mut output = FileSet::default();
    let package = format!("generated/{}-tools", model.loaded.config.server);
    let catalog_sha256 = catalog::emit(&model, &package, &mut output);
    ledger_file(&model, &package, &mut output);
    rust::emit(&model, &rust::Facts { catalog_sha256 }, &mut output, sink);
    let uses_index_map = output.iter().any(|(path, content)| path.ends_with(".rs") && contains(content, b"indexmap::"));
    text::emit(&model, uses_index_map, &mut output, sink);
    output.seal();
    if sink.has_errors() {
        return None;
    }
    Some(Generated { files: output, summary: summary::summarize(&model), ledger: model.ledger })
}

/// Reads the document at `label` as [`generate`] will, and reports what it finds: dangling references, unknown methods,
/// paths and parameters that cannot be read. Nothing comes of it.
pub fn look_over(label: &str, files: &Files, prose: Prose, sink: &mut Sink) {
    if let Some(loaded) = load::load_alone(label, files, prose, sink) {
        pass::look_over(&mut Model::new(&loaded), sink);
    }
}

fn contains(content: &[u8], needle: &[u8]) -> bool {
    content.windows(needle.len()).any(|window| window == needle)
}

fn ledger_file(model: &Model, package: &str, files: &mut FileSet) {
    let text = catalog::pretty(&model.ledger.report());
    files.insert(format!("{package}/ledger.json"), text);
}
