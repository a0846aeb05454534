//! `toolwright demo`: a server at work, in a transcript for people.

use std::ffi::OsStr;
use std::process::ExitCode;

use anyhow::Result;

use crate::{companion, invoked, workspace};

/// Check that generated/ is up to date, build a server, and show an MCP client using it against a mock upstream.
///
/// Only in Toolwright's own repository.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// The server to show.
    #[arg(default_value = "localai")]
    server: String,
}

impl Demo {
    pub(crate) fn run(self) -> Result<ExitCode> {
        companion::check_repository("demo")?;
        workspace::server_folder(&workspace::root()?, &self.server)?;
        let checked = crate::regenerate::Regenerate::check(&self.server).run()?;
        if checked != ExitCode::SUCCESS {
            eprintln!("generated/ is not what specs/ says; run `{} regenerate` first", invoked::name());
            return Ok(checked);
        }
        let server = format!("{}-server", self.server);
        eprintln!("building {server} (the first time takes a few minutes)");
        let programs = companion::build(&["demo", &server])?;
        let [demo, server] = programs.as_slice() else { anyhow::bail!("the demo is not built") };
        let arguments: [&OsStr; 2] = [self.server.as_ref(), server.as_ref()];
        companion::run(demo, &arguments)
    }
}
