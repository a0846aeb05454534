//! Every document of the corpus becomes a server by the choices of `toolwright new`, with a tool for each operation.
//!
//! The documents are not part of the repository; where they are absent, the tests say so and pass.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

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

/// A server's folder as `toolwright new` makes it.
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

/// A server made of a document.
struct Made {
    name: String,
    files: Files,
    generated: Generated,
    elapsed: Duration,
}

/// Every document, made once for all tests.
static MADE: LazyLock<Vec<Made>> = LazyLock::new(|| {
    documents()
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let files = drafted(&path);
            let (mut sink, start) = (Sink::new(), Instant::now());
            let generated = generate(&files, "specs/d", &mut sink).unwrap_or_else(|| panic!("{name}: {sink}"));
            Made { name, files, generated, elapsed: start.elapsed() }
        })
        .collect()
});

#[test]
fn every_operation_has_a_tool_with_a_legal_name_of_its_own() {
    for Made { name, generated, .. } in &*MADE {
        let names: BTreeSet<&str> = generated.summary.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names.len(), generated.summary.operations, "{name}");
        for tool in names {
            let is_legal = tool.len() <= 48
                && tool.starts_with(|c: char| c.is_ascii_lowercase())
                && tool.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
            assert!(is_legal, "{name}: {tool}");
        }
    }
}

#[test]
fn large_documents_list_a_few_tools_and_small_ones_all() {
    for Made { name, generated: Generated { summary, .. }, .. } in &*MADE {
        let expected = if summary.tools.len() > 40 { 20 } else { summary.tools.len() };
        assert_eq!(summary.exposed.len(), expected, "{name}");
    }
}

#[test]
fn the_doctor_finds_no_error_and_ends_on_every_document() {
    for Made { name, files, .. } in &*MADE {
        let mut sink = Sink::new();
        let tools = examine(files, "specs/d", &mut sink).unwrap().tools.len();
        println!("{name}: {tools} tools, {} findings", sink.iter().count());
        assert!(!sink.has_errors(), "{name}: {sink}");
    }
}

/// Prints the time of each document beside its operations and bytes; `toolwright regenerate` prints that of the optimised
/// program, which the targets are about.
#[test]
fn time_is_printed_beside_size() {
    for Made { name, files, generated, elapsed } in &*MADE {
        let operations = generated.summary.operations.max(1);
        let bytes = files.get("specs/d/openapi.yaml").map_or(0, <[u8]>::len);
        let each = elapsed.as_secs_f64() * 1000.0 / operations as f64;
        println!(
            "{name:<28} {operations:>4} operations {bytes:>8} bytes {:>6} ms {each:>6.2} ms/operation",
            elapsed.as_millis()
        );
    }
}
