//! The golden queries against the curated texts of LocalAI, read from the overlays as they are written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use super::{Document, Index};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The documents of all operations that an overlay names, and what the corrections say of their routes.
fn documents() -> Vec<Document> {
    let mut operations: BTreeMap<String, Document> = BTreeMap::new();
    let mut schemas: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let folder = std::fs::read_dir(repository().join("specs/localai/overlays")).unwrap();
    for file in folder {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let overlay: Value = serde_yaml::from_str(&text).unwrap();
        for action in overlay["actions"].as_array().unwrap() {
            let target = action["target"].as_str().unwrap();
            let update = &action["update"];
            if let Some(schema) = target.strip_prefix("$.components.schemas['") {
                let fields = update["x-toolwright"]["fields"].as_object();
                let names = fields.into_iter().flatten().map(|(name, _)| name.clone());
                schemas.entry(schema.trim_end_matches("']").into()).or_default().extend(names);
            } else {
                read_operation(operations.entry(target.into()).or_default(), target, update);
            }
        }
    }
    operations.retain(|_, document| !document.name.is_empty());
    operations.into_values().collect()
}

fn read_operation(document: &mut Document, target: &str, update: &Value) {
    let extension = &update["x-toolwright"];
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    if let Some(name) = extension["name"].as_str() {
        document.name = name.into();
        document.title = update["summary"].as_str().unwrap_or_default().into();
        document.summary = update["description"].as_str().unwrap_or_default().into();
        document.description =
            format!("{}\nReturns: {}", document.summary, extension["returns"].as_str().unwrap_or_default());
        document.changes = !matches!(extension["risk"].as_str(), Some("read-only" | "compute"));
        document.path = target.split('\'').nth(1).unwrap_or_default().replace(['/', '{', '}'], " ");
        document.phrases =
            ["en", "ko", "ja"].iter().flat_map(|language| texts(&extension["search"][language])).collect();
        document.fields =
            extension["arguments"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        document.fields.extend(texts(&extension["advertise"]));
    }
    if extension["route"].is_object() {
        document.dead |= extension["path"].is_null();
        document.stand_in |= extension["path"].is_string();
    }
}

struct Query {
    language: String,
    required: bool,
    expected: Vec<String>,
    text: String,
}

fn queries() -> Vec<Query> {
    let table = std::fs::read_to_string(repository().join("tests/golden/search_queries.tsv")).unwrap();
    let query = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        Query {
            language: cells[0].into(),
            required: cells[2] == "yes",
            expected: cells[3].split('|').map(str::to_owned).collect(),
            text: cells[4].into(),
        }
    };
    table.lines().skip(1).map(query).collect()
}

#[derive(Default)]
struct Figures {
    count: usize,
    first: usize,
    third: usize,
}

#[test]
fn the_golden_queries_find_their_tools() {
    let documents = documents();
    let started = Instant::now();
    let index = Index::new(&documents);
    println!("index of {} tools in {:?}", documents.len(), started.elapsed());
    let mut figures: BTreeMap<String, Figures> = BTreeMap::new();
    let mut required_misses = 0;
    let queries = queries();
    let started = Instant::now();
    let found = queries.iter().map(|query| index.search(&query.text).len()).sum::<usize>();
    println!("{found} hits of {} queries in {:?}", queries.len(), started.elapsed());
    for query in queries {
        let names: Vec<&str> =
            index.search(&query.text).iter().map(|hit| documents[hit.document].name.as_str()).collect();
        let place = names.iter().position(|name| query.expected.iter().any(|expected| expected == name));
        let figures = figures.entry(query.language.clone()).or_default();
        figures.count += 1;
        figures.first += usize::from(place == Some(0));
        figures.third += usize::from(place.is_some_and(|place| place < 3));
        if place != Some(0) {
            required_misses += usize::from(query.required);
            let mark = if query.required { "REQUIRED" } else { "" };
            let top: Vec<&&str> = names.iter().take(4).collect();
            println!(
                "{} {:?} {mark} {} -> {:?}, got {top:?}",
                query.language,
                place.map(|p| p + 1),
                query.text,
                query.expected
            );
        }
    }
    for (language, Figures { count, first, third }) in &figures {
        println!("{language}: top-1 {first}/{count}, top-3 {third}/{count}");
    }
    assert_eq!(required_misses, 0, "required queries that are not first");
    for Figures { count, first, third } in figures.values() {
        assert!(first * 100 >= count * 80, "top-1 below 80 %");
        assert!(third * 100 >= count * 95, "top-3 below 95 %");
    }
}
