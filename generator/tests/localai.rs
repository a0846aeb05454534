//! The LocalAI server as it is checked in: the ledger, the argument shape, and the proof of transcription.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::{Value, json};
use toolwright_generator::diagnostic::Sink;
use toolwright_generator::ledger::Part;
use toolwright_generator::load::Files;
use toolwright_generator::source::Source;
use toolwright_generator::{Generated, generate};

/// The spec of LocalAI, from the repository.
fn spec() -> Files {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Files::new();
    let mut open = vec![root.join("specs/localai")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// What is checked in, generated once for all tests.
fn committed() -> &'static Generated {
    static COMMITTED: OnceLock<Generated> = OnceLock::new();
    COMMITTED.get_or_init(|| localai(&spec()))
}

fn localai(files: &Files) -> Generated {
    let mut sink = Sink::new();
    generate(files, "specs/localai", &mut sink).unwrap_or_else(|| panic!("{sink}"))
}

fn file(generated: &Generated, path: &str) -> Value {
    serde_json::from_slice(generated.files.get(&format!("generated/localai-tools/{path}")).unwrap()).unwrap()
}

#[test]
fn the_ledger_counts_every_part_of_the_document_and_adds_up() {
    let summary = committed().ledger.summary();
    let totals: BTreeMap<Part, usize> = summary.iter().map(|(part, summary)| (*part, summary.total)).collect();
    let expected = [
        (Part::Path, 114),
        (Part::Operation, 123),
        // 151 parameters of Swagger: 38 in paths and 17 in queries here, 48 bodies and 48 form fields below.
        (Part::Parameter, 55),
        // The 48 JSON bodies, and the bodies of ten forms.
        (Part::Body, 58),
        (Part::FormField, 48),
        (Part::Response, 178),
        (Part::Definition, 166),
        (Part::Property, 863),
        (Part::SecurityScheme, 1),
    ];
    assert_eq!(totals, expected.into());
    assert!(summary.values().all(|part| part.adds_up() && part.refused == 0), "{summary:?}");
}

#[test]
fn every_input_of_the_document_is_mapped() {
    let summary = committed().ledger.summary();
    for part in [Part::Operation, Part::Parameter, Part::Body, Part::FormField] {
        assert_eq!(summary[&part].mapped, summary[&part].total, "{part:?}");
    }
}

#[test]
fn the_curated_names_are_those_of_the_contract() {
    let generated = committed();
    let names: Vec<&str> = generated.summary.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.len(), 123);
    for name in ["chat", "detokenize", "transcribe_audio", "set_node_vram_budget", "stream_backend_logs"] {
        assert!(names.contains(&name), "{name}");
    }
    assert!(names.iter().all(|name| name.len() <= 32 && !name.starts_with("localai_")));
}

#[test]
fn the_body_is_one_argument_and_stays_open() {
    let schema = file(committed(), "schemas/detokenize.json");
    assert_eq!(schema["required"], json!(["request"]));
    assert_eq!(schema["properties"]["request"]["properties"]["tokens"]["items"], json!({"type": "integer"}));
    assert_eq!(schema["properties"]["request"].get("additionalProperties"), None);
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn the_body_of_an_agent_task_is_called_parameters() {
    let schema = file(committed(), "schemas/run_agent_task.json");
    assert!(schema["properties"].get("parameters").is_some());
    assert_eq!(schema["required"], json!(["name"]));
}

#[test]
fn descriptions_are_long_enough_and_name_every_argument() {
    let generated = committed();
    let catalog = file(generated, "catalog.json");
    for tool in catalog["tools"].as_array().unwrap() {
        let description = tool["description"].as_str().unwrap();
        let method = tool["declared"].as_str().unwrap();
        assert!(description.contains("Inputs: ") && description.contains("Returns: "), "{description}");
        assert!(!description.contains(method), "{description}");
        assert!(tool["binding"].get("http").is_none() || description.len() >= 80, "{description}");
        for (name, argument) in tool["arguments"].as_object().into_iter().flatten() {
            let is_hidden = argument["in"] == "extra form fields";
            assert!(is_hidden || description.contains(&format!("`{name}`")), "{name}: {description}");
        }
    }
}

#[test]
fn the_same_inputs_give_the_same_bytes() {
    assert_eq!(localai(&spec()).files, committed().files);
}

/// The YAML blocks of a page that are overlays, each as a list of overlay actions.
fn examples(page: &str) -> Vec<Vec<Value>> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page)).unwrap();
    let blocks = text.split("```yaml\n").skip(1).map(|block| block.split("```").next().unwrap().to_owned());
    blocks
        .filter(|block| block.contains("- target: "))
        .map(|block| {
            let actions = block.split_once("actions:\n").map_or(block.as_str(), |(_, actions)| actions);
            let mut sink = Sink::new();
            let value = Source::new(page, format!("actions:\n{actions}")).read(&mut sink).unwrap();
            assert!(sink.is_empty(), "{sink}");
            value["actions"].as_array().unwrap().clone()
        })
        .collect()
}

/// Whether everything that `part` says stands in `whole`.
fn says(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| says(whole, part)))
        }
        (Value::Array(whole), Value::Array(part)) => part.iter().all(|part| whole.contains(part)),
        (whole, part) => whole == part,
    }
}

#[test]
fn examples_of_curation_are_what_the_overlays_say() {
    let overlay = spec().get("specs/localai/overlays/text.yaml").unwrap().to_vec();
    let overlay = Source::new("text.yaml", String::from_utf8(overlay).unwrap()).read(&mut Sink::new()).unwrap();
    let actions = overlay["actions"].as_array().unwrap();
    let first = |page: &str| examples(page).into_iter().next().unwrap();
    for example in first("README.md").iter().chain(&first("docs/spec-format.md")) {
        assert!(actions.iter().any(|action| says(action, example)), "{example}");
    }
}

#[test]
fn the_example_of_an_added_operation_adds_one() {
    let added = examples("README.md").into_iter().nth(1).unwrap();
    let mut files = spec();
    let path = "specs/localai/overlays/monitoring.yaml";
    let text = String::from_utf8(files.get(path).unwrap().to_vec()).unwrap();
    let actions: String = added.iter().map(|action| format!("  - {action}\n")).collect();
    files.insert(path, format!("{}\n{actions}", text.trim_end()));
    let generated = localai(&files);
    assert_eq!(generated.summary.tools.len(), 124);
    assert_eq!(file(&generated, "schemas/get_version.result.json")["properties"]["version"], json!({"type": "string"}));
}

/// Paths and definitions in reverse order.
fn reversed(document: &str) -> String {
    let mut value: Value = serde_json::from_str(document).unwrap();
    for key in ["paths", "definitions"] {
        let members = value[key].as_object().unwrap().clone();
        value[key] = Value::Object(members.into_iter().rev().collect());
    }
    value.to_string()
}

/// The files without what names the document's bytes.
fn without_provenance(generated: &Generated, sha256: &str) -> BTreeMap<String, String> {
    let texts = generated.files.iter().filter(|(path, _)| !path.ends_with("MANIFEST.sha256"));
    texts.map(|(path, text)| (path.to_owned(), String::from_utf8(text.to_vec()).unwrap().replace(sha256, ""))).collect()
}

fn document_hash(generated: &Generated) -> String {
    let root = generated.files.get("generated/localai-tools/src/lib.rs").unwrap();
    let root = String::from_utf8(root.to_vec()).unwrap();
    let (_, rest) = root.split_once(" sha256: \"").unwrap();
    rest.get(..64).unwrap().to_owned()
}

/// The committed document says what the published one says: either gives the same crates.
#[test]
fn the_published_document_gives_the_same_bytes() {
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/documents/localai-swagger.json");
    let Ok(published) = std::fs::read_to_string(published) else {
        eprintln!("skipped: ../shared/documents/localai-swagger.json is not here");
        return;
    };
    let committed = without_provenance(committed(), &document_hash(committed()));
    for document in [published.clone(), reversed(&published)] {
        let mut files = spec();
        files.insert("specs/localai/swagger.yaml", document);
        let other = localai(&files);
        assert_eq!(without_provenance(&other, &document_hash(&other)), committed);
    }
}
