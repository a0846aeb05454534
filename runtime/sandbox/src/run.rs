//! The sandbox as its callers see it.

use crate::layout::Layout;
#[cfg(target_os = "linux")]
use crate::linux::start::Backend;
#[cfg(target_os = "macos")]
use crate::seatbelt::Backend;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
use crate::unsupported::Backend;
use crate::{CancellationToken, Command, End, Limits, Outcome, Profile, ProfileError, Report, SandboxError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tokio::time::Instant;

/// The program that becomes the support process. It must call [`crate::run_support_if_asked`] first of all.
#[derive(Clone, Debug)]
pub struct Support(PathBuf);

impl Support {
    /// The running program itself, even if its file has been replaced since.
    pub fn this_program() -> Self {
        Self("/proc/self/exe".into())
    }

    /// Another program, for callers that cannot call [`crate::run_support_if_asked`], such as tests.
    pub fn program(path: impl AsRef<Path>) -> Self {
        Self(path.as_ref().to_owned())
    }
}

/// What a command has written so far.
pub(crate) struct Output {
    pub(crate) limit: usize,
    pub(crate) stdout: Mutex<Vec<u8>>,
    pub(crate) stderr: Mutex<Vec<u8>>,
}

/// A profile, checked against this machine.
#[derive(Debug)]
pub struct Sandbox {
    profile: Profile,
    layout: Layout,
    backend: Backend,
    report: Report,
}

impl Sandbox {
    /// Checks a profile and tries it out without a command.
    ///
    /// # Errors
    /// [`SandboxError::Profile`] says what is wrong with the profile; [`SandboxError::Level`] that the system enforces less
    /// than it asks for.
    pub async fn new(profile: Profile, support: Support) -> Result<Self, SandboxError> {
        check_limits(&profile.limits)?;
        let layout = Layout::read(&profile)?;
        let (backend, report) = Backend::prepare(&profile, &layout, &support.0).await?;
        Ok(Self { profile, layout, backend, report })
    }

    /// What is enforced for every command.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The profile as given.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The names of the tools that a command can run, sorted.
    pub fn tools(&self) -> &[String] {
        self.backend.tools()
    }

    /// The roots by their real paths, and whether each may be written.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Runs one command; a text is one for the shell.
    ///
    /// It ends by itself, when the profile's time or the deadline is over, or when `cancel` is cancelled; then everything
    /// that it started is dead. If the future is dropped, the same happens shortly after.
    ///
    /// # Errors
    /// The command is not one, or the sandbox could not be set up as its report says. No command was run then. A command that
    /// fails, or is ended from outside, is an [`Outcome`].
    pub async fn run(
        &self,
        command: impl Into<Command>,
        deadline: Option<Instant>,
        cancel: &CancellationToken,
    ) -> Result<Outcome, SandboxError> {
        let command = command.into();
        command.check()?;
        let begun = Instant::now();
        let own = begun + self.profile.limits.timeout();
        let deadline = deadline.map_or(own, |given| given.min(own));
        // A command may have made links, or another program may have: what is guarded is looked at again.
        self.check_again().await?;
        let output =
            Output { limit: self.profile.limits.output_bytes, stdout: Mutex::default(), stderr: Mutex::default() };
        let mut started = self.backend.start(&self.profile, &self.layout, &command).await?;
        let end = tokio::select! {
            biased;
            () = cancel.cancelled() => Ok(End::Cancelled),
            () = tokio::time::sleep_until(deadline) => Ok(End::TimedOut),
            end = started.follow(&output) => end,
        };
        started.stop().await;
        let text = |bytes: Mutex<Vec<u8>>| bytes.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Outcome { end: end?, stdout: text(output.stdout), stderr: text(output.stderr), elapsed: begun.elapsed() })
    }

    /// Reads the paths of the profile again: they must still be what they were.
    async fn check_again(&self) -> Result<(), SandboxError> {
        let profile = self.profile.clone();
        let again = tokio::task::spawn_blocking(move || Layout::read(&profile)).await;
        let again = again.map_err(|error| SandboxError::Setup(format!("checking the roots again: {error}")))??;
        if again.places == self.layout.places {
            Ok(())
        } else {
            Err(SandboxError::Setup(
                "roots or denied paths are no longer what they were; make the sandbox anew".to_owned(),
            ))
        }
    }
}

fn check_limits(limits: &Limits) -> Result<(), ProfileError> {
    let all = [
        ("timeout_seconds", limits.timeout_seconds),
        ("output_bytes", limits.output_bytes as u64),
        ("memory_bytes", limits.memory_bytes),
        ("address_space_bytes", limits.address_space_bytes),
        ("processes", limits.processes),
        ("open_files", limits.open_files),
        ("file_bytes", limits.file_bytes),
        ("scratch_bytes", limits.scratch_bytes),
    ];
    match all.iter().find(|(_, value)| *value == 0) {
        Some((name, _)) => Err(ProfileError::ZeroLimit(name)),
        None => Ok(()),
    }
}
