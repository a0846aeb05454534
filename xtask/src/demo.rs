//! `cargo xtask demo`: a server at work, in a transcript for people.

use std::process::ExitCode;

use anyhow::Result;

use crate::{companion, workspace};

/// Check that generated/ is up to date, build a server, and show an MCP client using it against a mock upstream.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// The server to show.
    #[arg(default_value = "localai")]
    server: String,
}

impl Demo {
    pub(crate) fn run(self) -> Result<ExitCode> {
        workspace::server_folder(&workspace::root()?, &self.server)?;
        let checked = crate::regenerate::Regenerate::check(&self.server).run()?;
        if checked != ExitCode::SUCCESS {
            eprintln!("generated/ is not what specs/ says; run `cargo xtask regenerate` first");
            return Ok(checked);
        }
        companion::run("toolwright-e2e", "demo", false, &[self.server])
    }
}
