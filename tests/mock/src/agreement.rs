//! Whole documents: what the mock samples, its own check accepts.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::check::{self, Call};
use crate::document::{Document, FieldKind, Operation, Place};
use crate::exchange::Upstream;
use crate::record::Part;
use crate::sample::json::sample;
use crate::{Options, Personality};
use bytes::Bytes;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The vendored document of LocalAI and, where it is at hand, the corpus of real documents.
fn documents() -> Vec<PathBuf> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let corpus =
        std::fs::read_dir(home.join("../shared/corpus")).into_iter().flatten().flatten().map(|entry| entry.path());
    let known = |path: &PathBuf| path.extension().is_some_and(|e| e == "json" || e == "yaml");
    let mut all: Vec<PathBuf> =
        corpus.chain([home.join("specs/localai/swagger.yaml")]).filter(|path| path.is_file() && known(path)).collect();
    all.sort();
    all
}

fn read(path: &Path) -> Document {
    Document::parse(&std::fs::read_to_string(path).unwrap())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Sampled JSON with `%` and the like encoded.
fn encoded(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    percent_encoding::utf8_percent_encode(&text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

/// A request with every required parameter and a sampled body.
fn sampled_call(root: &Value, operation: &Operation) -> Call {
    let scalar = |schema: &Value| {
        let value = sample(root, schema);
        let item = value.as_array().and_then(|a| a.first()).cloned();
        item.unwrap_or(value)
    };
    let required = || operation.parameters.iter().filter(|p| p.required);
    let simple = |schema: &Value| !sample(root, schema).is_object();
    let query: Vec<String> = required()
        .filter(|p| p.place == Place::Query && simple(&p.schema))
        .map(|p| format!("{}={}", p.name, encoded(&scalar(&p.schema))))
        .collect();
    let path_values =
        required().filter(|p| p.place == Place::Path).map(|p| (p.name.clone(), encoded(&scalar(&p.schema)))).collect();
    let mut headers: Vec<(String, String)> = required()
        .filter(|p| p.place == Place::Header)
        .map(|p| (p.name.to_ascii_lowercase(), text(&scalar(&p.schema))))
        .collect();
    let mut parts = Vec::new();
    let mut body = Bytes::new();
    if let Some(media) = operation.body.as_ref().and_then(|b| b.media.first()) {
        headers.push(("content-type".to_owned(), media.name.clone()));
        body = Bytes::from(sample(root, &media.schema).to_string());
        for field in media.form.iter().flat_map(|form| &form.fields).filter(|field| field.required) {
            let filename = matches!(field.kind, FieldKind::File { .. }).then(|| "a.bin".to_owned());
            let bytes = match &field.kind {
                FieldKind::File { .. } => Bytes::from_static(b"x"),
                FieldKind::Text { schema, .. } => Bytes::from(text(&scalar(schema))),
                FieldKind::Json { schema } => Bytes::from(sample(root, schema).to_string()),
            };
            parts.push(Part { name: field.name.clone(), filename, content_type: None, headers: Vec::new(), bytes });
        }
        if media.form.is_some() && !media.name.starts_with("multipart/") {
            let pair = |part: &Part| format!("{}={}", part.name, encoded(&String::from_utf8_lossy(&part.bytes).into()));
            body = Bytes::from(parts.iter().map(pair).collect::<Vec<_>>().join("&"));
        }
    }
    Call {
        method: operation.method.clone(),
        path: operation.template.clone(),
        query: (!query.is_empty()).then(|| query.join("&")),
        headers,
        body,
        parts: Ok(parts),
        path_values,
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What has no simple sample: required objects in queries, read-only fields in bodies, patterns, prefixed path styles.
fn is_sampling_gap(finding: &crate::violation::Finding) -> bool {
    ["read-only", "pattern", "is required", "does not start with"].iter().any(|gap| finding.what.contains(gap))
}

#[test]
fn sampled_requests_break_no_rule() {
    for path in documents() {
        let document = read(&path);
        let mut broken = Vec::new();
        for operation in &document.operations {
            let call = sampled_call(&document.root, operation);
            let report = check::request(&document.root, operation, &call);
            let real = report.findings.into_iter().filter(|f| !is_sampling_gap(f));
            broken.extend(real.map(|f| format!("{}: {}: {}", operation.key, f.place, f.what)));
        }
        println!("{}: {} operations, {} broken", path.display(), document.operations.len(), broken.len());
        // A sample that takes the first form of every union cannot satisfy all of them together.
        assert!(broken.len() * 50 <= document.operations.len(), "{}: {broken:#?}", path.display());
    }
}

#[test]
fn localai_answers_what_its_document_promises() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/localai/swagger.yaml");
    if !path.is_file() {
        eprintln!("specs/localai/swagger.yaml is absent; nothing to check");
        return;
    }
    let upstream = Upstream::new(read(&path), Options { personality: Personality::LocalAi, ..Options::default() });
    let mut broken = Vec::new();
    for (at, operation) in upstream.document.operations.iter().enumerate() {
        let call = sampled_call(&upstream.document.root, operation);
        let answer = upstream.answer(at, operation, &call);
        let declared =
            operation.responses.iter().find(|r| r.status == answer.status.to_string()).and_then(|r| r.media.first());
        if let (Some((media, schema)), Ok(value)) = (declared, serde_json::from_slice::<Value>(&answer.whole()))
            && media.contains("json")
        {
            let errors = check::schema::check(&upstream.document.root, schema, &value).errors;
            broken.extend(errors.into_iter().map(|(at, what)| format!("{}: {at}: {what}", operation.key)));
        }
    }
    // The Responses dialect sends null for what is absent; the document knows no null.
    broken.retain(|line| !line.contains(": is null"));
    assert_eq!(broken, Vec::<String>::new());
}
