//! `toolwright mock`: the mock upstream alone, for trying a server by hand.

use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::{companion, invoked, workspace};

/// Run a mock of a server's upstream on loopback, made from its vendored document. It stops by itself.
///
/// Only in Toolwright's own repository.
#[derive(Debug, clap::Args)]
pub(crate) struct Mock {
    /// The server whose upstream to imitate.
    #[arg(default_value = "localai")]
    server: String,
    /// The port on 127.0.0.1; 0 takes a free one, which the first line of the output names.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Seconds until it stops by itself.
    #[arg(long, default_value_t = 3600)]
    stop_after: u64,
}

impl Mock {
    pub(crate) fn run(self) -> Result<ExitCode> {
        companion::check_repository("mock")?;
        let root = workspace::root()?;
        let folder = root.join(workspace::server_folder(&root, &self.server)?);
        let vendored = ["swagger.yaml", "openapi.yaml"].map(|name| folder.join(name));
        let Some(document) = vendored.iter().find(|document| document.is_file()) else {
            anyhow::bail!("{} holds no document; `{} import` puts one there", folder.display(), invoked::name());
        };
        let mut arguments = vec![document.display().to_string()];
        arguments.extend(["--port".to_owned(), self.port.to_string()]);
        arguments.extend(["--stop-after".to_owned(), self.stop_after.to_string()]);
        if self.server == "localai" {
            arguments.push("--localai".to_owned());
        }
        // Building the mock may take minutes.
        std::net::TcpListener::bind(("127.0.0.1", self.port))
            .with_context(|| format!("port {} of 127.0.0.1 cannot be used; choose another with --port", self.port))?;
        let programs = companion::build(&["toolwright-mock"])?;
        let mock = programs.first().context("the mock is not built")?;
        companion::run(mock, &arguments)
    }
}
