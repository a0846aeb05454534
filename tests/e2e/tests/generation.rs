//! Properties of the generator over the whole LocalAI spec: it may use any form of the document, and nothing but it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};
use toolwright_e2e::{Profile, Session, build, repository};
use toolwright_generator::{diagnostic::Sink, generate, load::Files};

const DOCUMENT: &str = "specs/localai/swagger.yaml";

fn spec() -> Files {
    files_of("specs/localai")
}

fn files_of(spec: &str) -> Files {
    fn collect(folder: &Path, files: &mut Files) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else {
                let label = path.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned();
                files.insert(label, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut files = Files::new();
    collect(&repository().join(spec), &mut files);
    files
}

fn generated(files: &Files) -> BTreeMap<String, String> {
    let mut sink = Sink::new();
    let generated = generate(files, "specs/localai", &mut sink).unwrap_or_else(|| panic!("{sink}"));
    generated.files.iter().map(|(path, bytes)| (path.to_owned(), String::from_utf8(bytes.to_vec()).unwrap())).collect()
}

/// The generated files without what says where the document came from: digests, and the manifests over them.
fn without_provenance(files: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let is_digest = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    files
        .into_iter()
        .filter(|(path, _)| !path.ends_with("MANIFEST.sha256"))
        .map(|(path, text)| {
            let lines: Vec<&str> =
                text.lines().filter(|line| !line.split(|c: char| !c.is_ascii_alphanumeric()).any(is_digest)).collect();
            (path, lines.join("\n"))
        })
        .collect()
}

fn assert_same(left: BTreeMap<String, String>, right: &BTreeMap<String, String>) {
    assert_eq!(left.keys().collect::<Vec<_>>(), right.keys().collect::<Vec<_>>());
    for (path, text) in left {
        let other = &right[&path];
        if let Some((number, (a, b))) = text.lines().zip(other.lines()).enumerate().find(|(_, (a, b))| a != b) {
            panic!("{path}, line {}: {a:?} and {b:?}", number + 1);
        }
        assert_eq!(text.len(), other.len(), "{path}");
    }
}

/// The published document, where it is at hand: its text may not be part of this repository.
fn published() -> Option<Vec<u8>> {
    let path = repository().join("../shared/documents/localai-swagger.json");
    let bytes = std::fs::read(&path).ok();
    if bytes.is_none() {
        eprintln!(
            "skipped: the published document is not beside the repository (shared/documents/localai-swagger.json)"
        );
    }
    bytes
}

#[test]
fn the_published_document_gives_the_same_bytes_as_the_vendored_one() {
    let Some(bytes) = published() else { return };
    let mut files = spec();
    let vendored = without_provenance(generated(&files));
    files.insert(DOCUMENT, bytes);
    assert_same(without_provenance(generated(&files)), &vendored);
}

#[test]
fn the_order_of_paths_and_definitions_does_not_matter() {
    let mut files = spec();
    let usual = without_provenance(generated(&files));
    let mut document: Value = serde_yaml::from_slice(files.get(DOCUMENT).unwrap()).unwrap();
    for key in ["paths", "definitions"] {
        let members = document[key].as_object().unwrap().clone();
        document[key] = Value::Object(members.into_iter().rev().collect());
    }
    files.insert(DOCUMENT, document.to_string());
    assert_same(without_provenance(generated(&files)), &usual);
}

#[test]
fn two_runs_give_the_same_bytes() {
    let files = spec();
    assert_same(generated(&files), &generated(&files));
}

#[test]
fn what_is_checked_in_is_what_the_spec_says() {
    for (path, text) in generated(&spec()) {
        let there = std::fs::read_to_string(repository().join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(there == text, "{path} is stale; run `cargo xtask regenerate`");
    }
}

#[test]
fn nothing_of_the_published_prose_is_committed() {
    let Some(bytes) = published() else { return };
    let mut sentences = Vec::new();
    collect_prose(&serde_json::from_slice(&bytes).unwrap(), &mut sentences);
    assert!(sentences.len() > 100);
    let mut ours = String::new();
    for path in spec().paths().map(str::to_owned).collect::<Vec<_>>() {
        ours.push_str(std::str::from_utf8(spec().get(&path).unwrap()).unwrap());
    }
    for sentence in sentences {
        assert!(!ours.contains(&sentence), "copied from the document: {sentence}");
    }
}

/// Descriptions of seven words and more: shorter ones are lists of values, facts that have one wording.
fn collect_prose(value: &Value, sentences: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(text) if matches!(key.as_str(), "description" | "summary") => {
                        if text.split_whitespace().count() >= 7 {
                            sentences.push(text.clone());
                        }
                    }
                    other => collect_prose(other, sentences),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_prose(item, sentences)),
        _ => {}
    }
}

/// A document's credentials become settings beside those of every server, so that no key of those may be theirs.
#[test]
fn no_credential_takes_the_key_of_a_setting_that_every_server_has() {
    let table = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 5);
    let keys: Vec<&str> = rows.filter_map(|row| row.split('`').nth(1)).filter(|key| *key != "api_key").collect();
    assert!(keys.contains(&"base_url") && keys.contains(&"task_store"), "{keys:?}");
    let schemes: String =
        keys.iter().map(|key| format!("    {key}: {{ type: apiKey, in: header, name: X-{key} }}\n")).collect();
    let needed: String = keys.iter().map(|key| format!("{{ {key}: [] }}, ")).collect();
    let document = format!(
        "openapi: 3.1.0\ninfo: {{ title: T, version: '1' }}\nservers: [{{ url: 'http://127.0.0.1' }}]\nsecurity: [{needed}]\n\
         components:\n  securitySchemes:\n{schemes}paths:\n  /a:\n    get: {{ operationId: get_a, responses: {{ '200': {{ description: d }} }} }}\n"
    );
    let mut files = Files::new();
    files.insert("specs/t/openapi.yaml".to_owned(), document.into_bytes());
    files.insert(
        "specs/t/server.yaml".to_owned(),
        b"server: t\ntitle: T\ndescription: D.\nversion: 0.1.0\ndocument: openapi.yaml\nupstream: { env_prefix: T }\n"
            .to_vec(),
    );
    let mut sink = Sink::new();
    let generated = generate(&files, "specs/t", &mut sink).unwrap_or_else(|| panic!("{sink}"));
    let files = generated.files.iter();
    let (_, lib) = files.into_iter().find(|(path, _)| path.ends_with("t-tools/src/lib.rs")).unwrap();
    let lib = String::from_utf8(lib.to_vec()).unwrap();
    assert!(lib.contains("key: \"task_store_credential\""), "{lib}");
    for key in keys {
        assert!(!lib.contains(&format!("key: \"{key}\"")), "{key} is the key of two settings");
    }
}

/// Kind of fault: a budget that leaves out a part of what clients pay for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_summary_weighs_what_a_client_is_shown() {
    for (server, program) in [("localai", "localai-server"), ("starter", "starter-server")] {
        let folder = format!("specs/{server}");
        let mut sink = Sink::new();
        let summary = generate(&files_of(&folder), &folder, &mut sink).unwrap_or_else(|| panic!("{sink}")).summary;
        let exposed = summary.tools.iter().filter(|tool| summary.exposed.contains(&tool.name));
        let weighed: BTreeMap<String, Value> = exposed
            .chain(&summary.fixed)
            .map(|tool| (tool.name.clone(), serde_json::from_str(&tool.json).unwrap()))
            .collect();

        let home = tempfile::tempdir().unwrap();
        let mut command = tokio::process::Command::new(build(program, Profile::Dev).unwrap());
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", home.path()).kill_on_drop(true).arg("stdio");
        let session = Session::over_stdio(command).await.unwrap();
        let listed = session.list().await.unwrap();
        let listed: BTreeMap<String, Value> = listed.iter().map(|tool| (tool.name.to_string(), json!(tool))).collect();
        assert_eq!(listed, weighed, "{server}");
    }
}
