//! The binaries under test, and where the repository is.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
};

use anyhow::{Context as _, bail};
use serde_json::Value;

/// How a binary is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// As `cargo test` builds it.
    Dev,
    /// Optimised.
    Release,
}

/// The root of this repository.
#[must_use]
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new("."))
}

/// Builds a package's binary of the same name and returns its path: once a process, since even a build with nothing to
/// do waits for cargo's lock.
///
/// # Errors
/// When cargo cannot be started or the build fails.
pub fn build(package: &'static str, profile: Profile) -> anyhow::Result<PathBuf> {
    static BUILT: Mutex<BTreeMap<(&'static str, Profile), PathBuf>> = Mutex::new(BTreeMap::new());
    // Held during the build: a second caller wants the same answer.
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = built.get(&(package, profile)) {
        return Ok(path.clone());
    }
    let path = build_now(package, profile)?;
    built.insert((package, profile), path.clone());
    Ok(path)
}

fn build_now(package: &str, profile: Profile) -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(repository()).args(["build", "--quiet", "--message-format=json"]);
    match profile {
        // With a test beside the binary, dependencies get the features that `cargo test --workspace` gave them: what that
        // has compiled is used, and nothing is compiled twice.
        Profile::Dev => command.args(["--workspace", "--bin", package, "--test", "documents"]),
        Profile::Release => command.args(["--release", "--package", package]),
    };
    let output = command.stderr(Stdio::inherit()).output().context("cargo cannot be started")?;
    if !output.status.success() {
        bail!("cargo build --package {package} failed");
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message.pointer("/target/name").and_then(Value::as_str) == Some(package))
        .find_map(|message| message.get("executable")?.as_str().map(PathBuf::from))
        .with_context(|| format!("cargo named no executable of {package}"))
}

/// The document that a server is made from, as vendored.
///
/// # Errors
/// When it cannot be read.
pub fn vendored_document(server: &str) -> anyhow::Result<Value> {
    let path = repository().join("specs").join(server).join("swagger.yaml");
    let text = std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    serde_yaml::from_str(&text).with_context(|| format!("{} is not YAML", path.display()))
}
