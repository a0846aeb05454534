//! Every document of the corpus becomes a server by the choices of `cargo xtask new`, with a tool for each operation.
//!
//! The documents are not part of the repository; where they are absent, the tests say so and pass.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use toolwright_generator::diagnostic::Sink;
use toolwright_generator::doctor::examine;
use toolwright_generator::load::{Files, Prose, vendor};
use toolwright_generator::{Generated, draft, generate};

/// Documents, by path inside the corpus; none where there is no corpus.
fn documents() -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let Ok(entries) = fs::read_dir(&corpus) else {
        eprintln!("the corpus is absent: nothing was tested");
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "json" || extension == "yaml"));
    found.extend(Some(corpus.join("kin-multifile/openapi.yml")).filter(|path| path.is_file()));
    found.sort();
    found
}

/// The document and what lies beside it.
fn published(path: &Path) -> (String, Files) {
    let mut files = Files::new();
    let label = path.file_name().unwrap().to_str().unwrap().to_owned();
    files.insert(label.clone(), fs::read(path).unwrap());
    if label == "openapi.yml" {
        let base = path.parent().unwrap();
        let mut open = vec![base.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap().path();
                match entry.is_dir() {
                    true => open.push(entry),
                    false => {
                        let name = entry.strip_prefix(base).unwrap().to_str().unwrap().to_owned();
                        files.insert(name, fs::read(&entry).unwrap());
                    }
                }
            }
        }
    }
    (label, files)
}

/// A server's folder as `cargo xtask new` makes it.
fn drafted(path: &Path) -> Files {
    let (label, files) = published(path);
    let mut sink = Sink::new();
    let vendored = vendor(&label, &files, Prose::Keep, &mut sink).unwrap_or_else(|| panic!("{label}: {sink}"));
    let mut files = Files::new();
    files.insert("specs/d/openapi.yaml", vendored.text);
    let draft = draft(&files, "specs/d", "openapi.yaml", Prose::Keep, &mut sink).unwrap();
    files.insert("specs/d/server.yaml", draft.text);
    files
}

fn made(path: &Path) -> Generated {
    let mut sink = Sink::new();
    let generated = generate(&drafted(path), "specs/d", &mut sink);
    generated.unwrap_or_else(|| panic!("{}: {sink}", path.display()))
}

#[test]
fn every_operation_has_a_tool_with_a_legal_name_of_its_own() {
    for path in documents() {
        let generated = made(&path);
        let names: BTreeSet<&str> = generated.summary.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names.len(), generated.summary.operations, "{}", path.display());
        for name in names {
            let is_legal = name.len() <= 48
                && name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
            assert!(is_legal, "{}: {name}", path.display());
        }
    }
}

#[test]
fn large_documents_list_a_few_tools_and_small_ones_all() {
    for path in documents() {
        let summary = made(&path).summary;
        let expected = if summary.tools.len() > 40 { 20 } else { summary.tools.len() };
        assert_eq!(summary.exposed.len(), expected, "{}", path.display());
    }
}

#[test]
fn the_doctor_ends_on_every_document() {
    for path in documents() {
        let mut sink = Sink::new();
        let tools = examine(&drafted(&path), "specs/d", &mut sink).unwrap();
        println!("{}: {tools} tools, {} findings", path.display(), sink.iter().count());
        assert!(!sink.has_errors(), "{}: {sink}", path.display());
    }
}

/// Prints the time of each document beside its operations and bytes; `cargo xtask regenerate` prints that of the optimised one,
/// which the targets are about.
#[test]
fn time_is_printed_beside_size() {
    for path in documents() {
        let files = drafted(&path);
        let start = Instant::now();
        let generated = generate(&files, "specs/d", &mut Sink::new()).unwrap();
        let (operations, elapsed) = (generated.summary.operations.max(1), start.elapsed());
        let bytes = files.get("specs/d/openapi.yaml").map_or(0, <[u8]>::len);
        println!(
            "{:<28} {operations:>4} operations {bytes:>8} bytes {:>6} ms {:>6.2} ms/operation",
            path.file_name().unwrap().to_string_lossy(),
            elapsed.as_millis(),
            elapsed.as_secs_f64() * 1000.0 / operations as f64,
        );
    }
}
