//! Builds and starts the programs of `tests/` and `generated/`: so the program itself compiles only the generator.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::workspace;

/// Builds binaries of this workspace in one go, and returns where they are, in the given order.
///
/// `--workspace` gives dependencies the same features as `cargo test --workspace`, so that they are compiled once.
pub(crate) fn build(binaries: &[&str]) -> Result<Vec<PathBuf>> {
    let mut command = cargo()?;
    command.args(["build", "--workspace", "--message-format=json-render-diagnostics"]);
    for binary in binaries {
        command.args(["--bin", binary]);
    }
    let output = command.stderr(Stdio::inherit()).output().context("cargo cannot be started")?;
    anyhow::ensure!(output.status.success(), "cargo build of {} failed", binaries.join(", "));
    let messages: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    binaries.iter().map(|binary| executable(&messages, binary)).collect()
}

fn executable(messages: &[Value], binary: &str) -> Result<PathBuf> {
    messages
        .iter()
        .filter(|message| message.pointer("/target/name").and_then(Value::as_str) == Some(binary))
        .find_map(|message| message.get("executable")?.as_str().map(PathBuf::from))
        .with_context(|| format!("cargo named no executable of {binary}"))
}

/// Refuses a command whose program is a part of Toolwright's own repository, where this project is another one.
pub(crate) fn check_repository(command: &str) -> Result<()> {
    anyhow::ensure!(
        workspace::root()?.join("tests/mock/Cargo.toml").is_file(),
        "`{command}` runs a program of Toolwright's own repository, and this project is another one: run `cargo xtask \
         {command}` in a checkout of Toolwright"
    );
    Ok(())
}

/// Runs a program, and passes its exit code on.
pub(crate) fn run(program: &Path, arguments: &[impl AsRef<OsStr>]) -> Result<ExitCode> {
    let status = Command::new(program)
        .current_dir(workspace::root()?)
        .args(arguments)
        .status()
        .with_context(|| format!("{} cannot be started", program.display()))?;
    Ok(match status.code() {
        Some(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        None => ExitCode::FAILURE,
    })
}

/// Builds a package optimised, all its binaries, and runs the one of that name.
pub(crate) fn run_optimised(package: &str) -> Result<ExitCode> {
    let status =
        cargo()?.args(["build", "--release", "--package", package]).status().context("cargo cannot be started")?;
    anyhow::ensure!(status.success(), "cargo build --package {package} failed");
    let status = cargo()?
        .args(["run", "--quiet", "--release", "--package", package, "--bin", package])
        .status()
        .context("cargo cannot be started")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn cargo() -> Result<Command> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace::root()?);
    Ok(command)
}
