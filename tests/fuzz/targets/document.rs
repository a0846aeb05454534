//! Any bytes as a spec: a document alone, or with the files beside it. The generator makes crates of it or says what is
//! wrong; it never panics, never hangs, and never emits what does not parse.
//!
//! An input is a document. A line `=== NAME` begins another file of the spec, such as `=== server.yaml` or
//! `=== overlay.yaml`; what stands before the first such line is the document.

#![no_main]

mod structure;

use fastrand::Rng;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use toolwright_generator::diagnostic::Sink;
use toolwright_generator::load::{Files, Prose};
use toolwright_generator::surface::Surface;
use toolwright_generator::{Generated, doctor, draft, generate, look_over};

const FOLDER: &str = "specs/t";
const SEPARATOR: &[u8] = b"\n=== ";

fuzz_target!(|input: &[u8]| {
    let spec = Spec::read(input);
    let mut sink = Sink::new();
    look_over(&spec.document, &spec.files, Prose::Keep, &mut sink);
    let _ = draft(&spec.files, FOLDER, &spec.document, Prose::Drop, &mut sink);
    let _ = doctor::examine(&spec.files, FOLDER, &mut sink);

    let mut sink = Sink::new();
    let generated = generate(&spec.files, FOLDER, &mut sink);
    assert_eq!(generated.is_none(), sink.has_errors(), "nothing is made exactly where an error says why:\n{sink}");
    assert!(!sink.to_string().contains("does not parse"), "the emitters wrote broken code:\n{sink}");
    if let Some(generated) = generated {
        check(&spec.files, &generated);
    }
});

// Three of four changes are those of a document; the others are the library's own, of bytes.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Rng::with_seed(seed.into());
    let document = split(&data[..size])[0];
    let end = document.len();
    let changed = random.u8(..4) > 0;
    let changed = changed.then(|| structure::changed(document, &mut random)).flatten();
    match changed.map(|document| [document.as_slice(), &data[end..size]].concat()) {
        Some(changed) if changed.len() <= max_size => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
});

fn check(files: &Files, generated: &Generated) {
    for (part, counts) in generated.ledger.summary() {
        assert!(counts.adds_up(), "the ledger of {part:?} does not add up");
    }
    for (path, content) in generated.files.iter() {
        if path.ends_with(".json") {
            assert!(serde_json::from_slice::<serde_json::Value>(content).is_ok(), "{path} is no JSON");
        }
    }
    let mut sink = Sink::new();
    assert!(Surface::of_generated(&generated.files, &mut sink).is_some(), "the catalog cannot be read back:\n{sink}");
    let again = generate(files, FOLDER, &mut Sink::new()).expect("a second run succeeds as well");
    assert!(generated.files.iter().eq(again.files.iter()), "two runs differ");
}

/// The files of a spec, and which of them is the document.
struct Spec {
    files: Files,
    document: String,
}

impl Spec {
    fn read(input: &[u8]) -> Self {
        let mut parts = split(input).into_iter();
        let document = parts.next().unwrap_or_default();
        let extension = if document.trim_ascii_start().starts_with(b"{") { "json" } else { "yaml" };
        let name = format!("{FOLDER}/openapi.{extension}");
        let mut files = Files::new();
        let settings = format!("server: t\ntitle: T\ndocument: openapi.{extension}\nupstream: {{env_prefix: T}}\n");
        files.insert(format!("{FOLDER}/server.yaml"), settings.clone());
        files.insert(name.clone(), document.to_vec());
        for part in parts {
            let end = part.iter().position(|byte| *byte == b'\n').unwrap_or(part.len());
            let (file, content) = part.split_at(end);
            let content = content.strip_prefix(b"\n").unwrap_or(content);
            match file {
                // Lines beside the ones that no server is without.
                b"server.yaml" => {
                    files.insert(format!("{FOLDER}/server.yaml"), [settings.as_bytes(), content].concat());
                }
                _ => files.insert(format!("{FOLDER}/{}", String::from_utf8_lossy(file)), content.to_vec()),
            }
        }
        Spec { files, document: name }
    }
}

fn split(input: &[u8]) -> Vec<&[u8]> {
    let (mut parts, mut rest) = (Vec::new(), input);
    while let Some(at) = rest.windows(SEPARATOR.len()).position(|window| window == SEPARATOR) {
        parts.push(&rest[..at]);
        rest = &rest[at + SEPARATOR.len()..];
    }
    parts.push(rest);
    parts
}
