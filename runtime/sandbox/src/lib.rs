//! Runs a command, such as one that a model wrote: within named folders, with named tools, without a network, for a limited time.
//!
//! A [`Profile`] says what a command may reach. [`Sandbox::new`] checks it against this machine, tries it once and says in
//! a [`Report`] how much of it the kernel enforces; less than [`Profile::minimum_level`] is refused, and no command ever runs
//! with less than the report says. [`Sandbox::run`] runs one command; when it returns, every process that the command
//! started is dead.
//!
//! ```no_run
//! use toolwright_sandbox::{CancellationToken, Profile, Root, Sandbox, Support, run_support_if_asked};
//!
//! // First of all, before any thread is started: the sandbox starts this program again as its support process.
//! run_support_if_asked();
//!
//! # async fn example() -> Result<(), toolwright_sandbox::SandboxError> {
//! let profile = Profile::new([Root::read_only("/srv/project")]);
//! let sandbox = Sandbox::new(profile, Support::this_program()).await?;
//! let outcome = sandbox.run("grep -rn TODO . | head", None, &CancellationToken::new()).await?;
//! println!("{}", outcome.for_model(8 * 1024).stdout);
//! # Ok(())
//! # }
//! ```
//!
//! On Linux the support process makes a root of its own that holds the granted files and nothing else, and confines itself
//! before it starts the shell (`linux`). On macOS the system's Seatbelt is asked to enforce the same profile; that part is
//! untested. Any other system refuses. `SECURITY.md` says what each level guarantees.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod collect;
mod command;
mod error;
mod executor;
mod layout;
mod limits;
#[cfg(target_os = "linux")]
mod linux;
mod model_tool;
mod outcome;
mod profile;
mod report;
mod run;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
mod shape;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod unsupported;

pub use command::Command;
pub use error::{ProfileError, SandboxError};
pub use executor::SandboxExecutor;
pub use limits::Limits;
pub use model_tool::{TOOL_NAME, ToolReply, answer, describe, input_schema};
pub use outcome::{End, ModelOutput, Outcome};
pub use profile::{Access, INSPECTION_TOOLS, Profile, Root, TOOL_DIRECTORIES, WRITE_TOOLS};
pub use report::{Level, Report};
pub use run::{Sandbox, Support};
pub use tokio_util::sync::CancellationToken;

/// Becomes the sandbox's support process if this program was started as one, and then does not return.
///
/// A program that uses [`Support::this_program`] calls this first in `main`, before it starts a thread or an async runtime.
pub fn run_support_if_asked() {
    #[cfg(target_os = "linux")]
    linux::run_support_if_asked();
}
