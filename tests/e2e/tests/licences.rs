//! Every crate that the workspace builds with has a permissive licence, and `THIRD-PARTY-NOTICES.md` holds the notices of
//! those that a server's binary contains.
//!
//! After a change of dependencies: `UPDATE_NOTICES=1 cargo test -p toolwright-e2e --test licences`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use serde_json::Value;
use spdx::{Expression, ParseMode};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use toolwright_e2e::repository;

/// Licences that ask for no more than their notice. A crate passes when one of its choices is made of these alone.
const ALLOWED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

const NOTICES: &str = "THIRD-PARTY-NOTICES.md";
const COMMAND: &str = "UPDATE_NOTICES=1 cargo test -p toolwright-e2e --test licences";

#[test]
fn every_licence_is_permissive() {
    let metadata = metadata();
    // Generated packages leave the choice of a licence to those who own the document.
    let generated = repository().join("generated");
    let packages: Vec<Package> = packages(&metadata).filter(|it| !it.folder.starts_with(&generated)).collect();
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !is_permissive(&package.licence))
        .map(|package| format!("{} {}: {:?}", package.name, package.version, package.licence))
        .collect();
    assert!(packages.len() > 100, "only {} packages were read", packages.len());
    assert!(refused.is_empty(), "not on the list of permissive licences:\n{}", refused.join("\n"));
}

#[test]
fn a_choice_may_hold_one_copyleft_option_but_a_duty_may_not() {
    assert!(is_permissive("MIT OR Apache-2.0 OR LGPL-2.1-or-later"));
    assert!(is_permissive("Apache-2.0 WITH LLVM-exception"));
    assert!(is_permissive("MIT/Apache-2.0"));
    assert!(!is_permissive("MIT AND MPL-2.0"));
    assert!(!is_permissive(""));
}

#[test]
fn the_notices_are_up_to_date() {
    let path = repository().join(NOTICES);
    let expected = notices(&metadata());
    if std::env::var_os("UPDATE_NOTICES").is_some() {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let missing: Vec<&str> = expected.lines().filter(|line| line.starts_with("| ") && !found.contains(line)).collect();
    assert!(found == expected, "{NOTICES} is stale; run: {COMMAND}\nmissing:\n{}", missing.join("\n"));
}

fn is_permissive(licence: &str) -> bool {
    let allows = |name: &str| ALLOWED.contains(&name);
    Expression::parse_mode(licence, ParseMode::LAX)
        .is_ok_and(|choices| choices.evaluate(|term| term.license.id().is_some_and(|id| allows(id.name))))
}

#[derive(Debug, Clone)]
struct Package {
    id: String,
    name: String,
    version: String,
    licence: String,
    source: String,
    folder: PathBuf,
    runs_at_build_time: bool,
}

/// What cargo says about the workspace and everything it depends on, on every platform and with every feature.
fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(repository())
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn packages(metadata: &Value) -> impl Iterator<Item = Package> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    metadata["packages"].as_array().unwrap().iter().map(move |package| {
        let kinds = package["targets"].as_array().unwrap().iter().flat_map(|target| target["kind"].as_array().unwrap());
        Package {
            id: text(&package["id"]),
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: text(&package["license"]),
            source: text(&package["repository"]),
            folder: Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned(),
            runs_at_build_time: kinds.into_iter().any(|kind| kind == "proc-macro"),
        }
    })
}

/// The crates of others that end up in a server's binary, on any platform, by name and version.
fn shipped(metadata: &Value) -> Vec<Package> {
    let by_id: BTreeMap<String, Package> = packages(metadata).map(|package| (package.id.clone(), package)).collect();
    let links: BTreeMap<&str, Vec<&str>> = metadata["resolve"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| (node["id"].as_str().unwrap(), linked(node)))
        .collect();
    let generated = repository().join("generated");
    let mut open: Vec<&str> =
        by_id.values().filter(|it| it.folder.starts_with(&generated)).map(|package| package.id.as_str()).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !by_id[id].runs_at_build_time && seen.insert(id) {
            open.extend(&links[id]);
        }
    }
    let mut found: Vec<Package> = seen.into_iter().map(|id| by_id[id].clone()).collect();
    found.retain(|package| !package.folder.starts_with(repository()));
    found.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    found
}

/// The packages that a package links, those for its tests and build script left out.
fn linked(node: &Value) -> Vec<&str> {
    let links =
        |dependency: &&Value| dependency["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"].is_null());
    node["deps"].as_array().unwrap().iter().filter(links).map(|it| it["pkg"].as_str().unwrap()).collect()
}

fn notices(metadata: &Value) -> String {
    let shipped = shipped(metadata);
    let mut page = format!(
        "# Third-party notices\n\nThe crates that the servers' binaries contain on one platform or another. \
         This file is made by\n`{COMMAND}`.\n\n| crate | version | licence | source |\n|---|---|---|---|\n"
    );
    for package in &shipped {
        let Package { name, version, licence, source, .. } = package;
        page += &format!("| {name} | {version} | {licence} | {source} |\n");
    }
    page += "\nWhere a crate offers several licences, the text of the MIT licence is given if it is among them.\n";
    for (text, names) in texts(&shipped) {
        page += &format!("\n## {}\n\n```text\n{text}\n```\n", names.join(", "));
    }
    page
}

/// Each distinct licence text with the crates that carry it, in the order of their first crate.
fn texts(packages: &[Package]) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for package in packages {
        for text in licence_files(package) {
            match found.iter_mut().find(|(known, _)| words(known).eq(words(&text))) {
                Some((_, names)) if names.contains(&package.name) => {}
                Some((_, names)) => names.push(package.name.clone()),
                None => found.push((text, vec![package.name.clone()])),
            }
        }
    }
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}

/// The texts of a package's licence: the MIT file alone where there is one and it is enough, else all.
fn licence_files(package: &Package) -> Vec<String> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(&package.folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && is_notice(path))
        .collect();
    names.sort();
    let is_mit = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().contains("MIT"));
    let a_choice = !package.licence.contains("AND");
    if let Some(mit) = names.iter().find(|path| a_choice && is_mit(path)).cloned() {
        names = vec![mit];
    }
    names.iter().map(|path| tidy(&std::fs::read_to_string(path).unwrap())).collect()
}

fn is_notice(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy().to_uppercase();
    ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"].iter().any(|start| name.starts_with(start))
}

fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').replace("```", "'''")
}
