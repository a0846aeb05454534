//! A server as its `main` puts it together: its tables, and what carries out tools that are no requests.

use std::process::ExitCode;
use std::sync::Arc;

use toolwright_core::{Catalog, Executor, NativeTools, ServerSpec};

use crate::settings::{Problem, Settings};
use crate::{App, cli, tasks};

/// A server before it starts. What it does not link costs it nothing.
pub struct Program {
    pub(crate) server: &'static ServerSpec,
    pub(crate) catalog: &'static Catalog,
    pub(crate) native: Option<Box<dyn NativeTools>>,
    pub(crate) executors: Vec<Box<dyn Executor>>,
    pub(crate) open_tasks: Option<tasks::Open>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kinds: Vec<&str> = self.executors.iter().map(|executor| executor.kind()).collect();
        f.debug_struct("Program").field("server", &self.server.name).field("executors", &kinds).finish_non_exhaustive()
    }
}

impl Program {
    /// A server of those tables.
    #[must_use]
    pub fn new(server: &'static ServerSpec, catalog: &'static Catalog) -> Self {
        Program { server, catalog, native: None, executors: Vec::new(), open_tasks: None }
    }

    /// Adds what passes calls of native tools to their handlers.
    #[must_use]
    pub fn native(mut self, tools: impl NativeTools + 'static) -> Self {
        self.native = Some(Box::new(tools));
        self
    }

    /// Adds an executor, whose kind of tool the catalog has.
    #[must_use]
    pub fn executor(mut self, executor: impl Executor + 'static) -> Self {
        self.executors.push(Box::new(executor));
        self
    }

    /// Lets calls of long tools become MCP tasks, which are kept in a database and outlive this process.
    #[cfg(feature = "tasks")]
    #[must_use]
    pub fn durable_tasks(mut self) -> Self {
        self.open_tasks = Some(tasks::durable::open);
        self
    }

    /// Runs the command line of this process and returns its exit code: 0 done, 1 failed, 2 for a faulty command line or
    /// configuration.
    #[must_use]
    pub fn run(self) -> ExitCode {
        cli::run(self)
    }

    /// The server by itself, to be served over any transport. Executors are as they were handed over.
    ///
    /// # Errors
    /// Every setting that does not fit the catalog or cannot be used, such as unknown tool names.
    pub fn app(self, settings: Settings) -> Result<Arc<App>, Vec<Problem>> {
        App::assemble(self, settings)
    }
}
