//! Rules of the house that no compiler checks: what tracked files must not hold, and numbers that must agree.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::{Path, PathBuf};
use std::process::Command;
use toolwright_e2e::repository;

/// What ties a file to one machine or one mirror. Each is written in two halves, so that this file passes its own test.
const FORBIDDEN: [(&str, &str); 15] = [
    ("/wo", "rk/"),
    ("/ro", "ot/"),
    ("/home/", "runner"),
    ("/Use", "rs/"),
    ("index.", "crates.io"),
    ("static.", "crates.io"),
    ("registry.", "npmjs.org"),
    ("registry.", "yarnpkg.com"),
    ("files.", "pythonhosted.org"),
    ("pypi.", "org"),
    ("deb.", "debian.org"),
    ("docker", ".io/"),
    ("gh", "cr.io/"),
    ("quay", ".io/"),
    ("-----BEGIN ", "PRIVATE KEY"),
];

#[test]
fn no_file_names_a_machine_or_a_registry() {
    let patterns: Vec<String> = FORBIDDEN.iter().map(|(start, end)| format!("{start}{end}")).collect();
    let mut found = Vec::new();
    for path in tracked_files() {
        // Binary files hold nothing that a person wrote.
        let Ok(text) = std::fs::read_to_string(repository().join(&path)) else { continue };
        for (at, line) in text.lines().enumerate() {
            let hits = patterns.iter().filter(|pattern| line.contains(pattern.as_str()));
            found.extend(hits.map(|pattern| format!("{}:{}: {pattern}", path.display(), at + 1)));
        }
    }
    assert!(found.is_empty(), "these tie the repository to one place:\n{}", found.join("\n"));
}

#[test]
fn no_file_is_large() {
    let limit = 2 * 1024 * 1024;
    let size = |path: &PathBuf| std::fs::metadata(repository().join(path)).map_or(0, |found| found.len());
    let large: Vec<PathBuf> = tracked_files().into_iter().filter(|path| size(path) > limit).collect();
    assert!(large.is_empty(), "larger than {limit} bytes: {large:?}");
}

#[test]
fn the_bundle_has_the_version_of_the_workspace() {
    let manifest = std::fs::read_to_string(repository().join("bundle/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
}

/// The files that git knows; none where this is no checkout, such as an unpacked source archive.
fn tracked_files() -> Vec<PathBuf> {
    let output = Command::new("git").current_dir(repository()).args(["ls-files", "-z"]).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        println!("not a git checkout: nothing to look at");
        return Vec::new();
    };
    let names = String::from_utf8(output.stdout).unwrap();
    names.split('\0').filter(|name| !name.is_empty()).map(|name| Path::new(name).to_owned()).collect()
}
