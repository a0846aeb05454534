//! Starts the programs of `tests/` through cargo: so `cargo xtask` itself compiles only the generator.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::workspace;

/// Builds and runs a binary of this workspace, and passes its exit code on.
pub(crate) fn run(package: &str, binary: &str, release: bool, arguments: &[String]) -> Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(workspace::root()?).args(["run", "--quiet", "--package", package, "--bin", binary]);
    if release {
        command.arg("--release");
    }
    let status = command.arg("--").args(arguments).status().context("cargo cannot be started")?;
    Ok(match status.code() {
        Some(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        None => ExitCode::FAILURE,
    })
}

/// Builds every binary of a package, optimised.
pub(crate) fn build(package: &str) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(workspace::root()?).args(["build", "--release", "--package", package]);
    let status = command.status().context("cargo cannot be started")?;
    anyhow::ensure!(status.success(), "cargo build --package {package} failed");
    Ok(())
}
