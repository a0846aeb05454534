//! `cargo xtask bench`: the project's numbers, measured.

use std::process::ExitCode;

use anyhow::Result;

use crate::companion;

/// Measure the LocalAI server against a bare rmcp server in the same run, and print every number beside its target.
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {}

impl Bench {
    pub(crate) fn run(self) -> Result<ExitCode> {
        companion::run_optimised("toolwright-bench")
    }
}
