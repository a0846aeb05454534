//! `cargo xtask show`: what overlays target.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;
use toolwright_generator::diagnostic::Sink;
use toolwright_generator::load::load_server;
use toolwright_generator::source::to_yaml;

use crate::workspace;

/// Print a server's document in its OpenAPI 3.1 form, overlays applied.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The server: the name of a folder below specs/.
    server: String,
    /// Only the node at this JSON pointer, such as /paths/~1v1~1models.
    #[arg(long)]
    pointer: Option<String>,
}

impl Show {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let root = workspace::root()?;
        let folder = workspace::server_folder(&root, &self.server)?;
        let files = workspace::read_folder(&root, &folder)?;
        let mut sink = Sink::new();
        let server = load_server(&files, &folder, &mut sink);
        let code = workspace::report(&sink);
        if let Some(server) = server {
            let pointer = self.pointer.as_deref().unwrap_or_default();
            let node = server.document.get(pointer).with_context(|| format!("there is nothing at {pointer}"))?;
            match std::io::stdout().write_all(to_yaml(node).as_bytes()) {
                // A reader such as `head` has seen enough.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
                written => written?,
            }
        }
        Ok(code)
    }
}
