//! A mock of LocalAI, a state folder, and servers started against them.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolwright_mock::{Mock, Options, Personality};

use crate::{Profile, Session, build, vendored_document};

/// The parts of a test. Everything ends with it.
pub struct Stage {
    /// The upstream.
    pub mock: Mock,
    server: PathBuf,
    state: TempDir,
}

impl Stage {
    /// Starts a mock that behaves as the real LocalAI does, and builds the server.
    ///
    /// # Errors
    /// When a part cannot be built or started.
    pub fn set() -> anyhow::Result<Self> {
        let options = Options { personality: Personality::LocalAi, ..Options::default() };
        Ok(Stage {
            mock: Mock::start(&vendored_document("localai")?, options)?,
            server: build("localai-server", Profile::Dev)?,
            state: tempfile::tempdir()?,
        })
    }

    /// The command that starts the server against the mock, with further environment variables.
    #[must_use]
    pub fn command(&self, environment: &[(&str, &str)]) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(&self.server);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.state.path())
            .env("LOCALAI_BASE_URL", self.mock.url())
            .envs(environment.iter().copied())
            .kill_on_drop(true);
        command
    }

    /// A client of a server over stdio.
    ///
    /// # Errors
    /// When the server does not start or does not speak MCP.
    pub async fn session(&self, environment: &[(&str, &str)]) -> anyhow::Result<Session> {
        let mut command = self.command(environment);
        command.arg("stdio");
        Session::over_stdio(command).await
    }

    /// The server's home folder: state and configuration live below it.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.state.path()
    }

    /// True for the tools of the default set.
    #[must_use]
    pub fn is_listed(&self, name: &str) -> bool {
        localai_tools::SERVER.preset.contains(&name)
    }
}
