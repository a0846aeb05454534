//! `toolwright bench`: the project's numbers, measured.

use std::process::ExitCode;

use anyhow::Result;

use crate::companion;

/// Measure the LocalAI server against a bare rmcp server in the same run, and print every number beside its target.
///
/// Only in Toolwright's own repository.
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {}

impl Bench {
    pub(crate) fn run(self) -> Result<ExitCode> {
        companion::check_repository("bench")?;
        companion::run_optimised("toolwright-bench")
    }
}
