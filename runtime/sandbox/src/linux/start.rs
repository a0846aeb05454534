//! Starts the support process and talks to it.

use super::binaries::{self, Programs};
use super::plan::{Message, Plan};
use super::{SUPPORT_ARGUMENT, first, reduced};
use crate::collect::{Allowance, collect};
use crate::layout::Layout;
use crate::run::Output;
use crate::{End, Level, Profile, ProfileError, Report, SandboxError};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

/// How long the support process may take to set itself up, and to end once it is told to. It is killed then; only a process
/// that is stuck in the kernel takes that long.
const PATIENCE: Duration = Duration::from_secs(10);
/// The private temporary folder in a private root.
const SCRATCH: &str = "/scratch";

/// What is known after the trial run.
#[derive(Debug)]
pub(crate) struct Backend {
    support: PathBuf,
    programs: Programs,
    level: Level,
}

impl Backend {
    /// Finds the tools, and tries which level the system enforces.
    pub(crate) async fn prepare(
        profile: &Profile,
        layout: &Layout,
        support: &Path,
    ) -> Result<(Self, Report), SandboxError> {
        let programs = binaries::find(profile, layout)?;
        let mut backend = Self { support: support.to_owned(), programs, level: Level::Full };
        let reason = match backend.try_out(profile, layout).await {
            Err(SandboxError::Setup(reason)) => reason,
            tried => return tried.map(|report| (backend, report)),
        };
        if profile.minimum_level > Level::Reduced {
            return Err(SandboxError::Level { required: profile.minimum_level, reason });
        }
        if layout.guards_something() {
            return Err(ProfileError::NeedsFull("a denied path, or a read-only root inside a read-write one,").into());
        }
        backend.level = Level::Reduced;
        match backend.try_out(profile, layout).await {
            Err(SandboxError::Setup(worse)) => {
                Err(SandboxError::Level { required: Level::Reduced, reason: format!("{reason}; {worse}") })
            }
            tried => tried.map(|report| (backend, report)),
        }
    }

    /// The names of the tools that a command can run.
    pub(crate) fn tools(&self) -> &[String] {
        &self.programs.names
    }

    /// Starts the support process for one command.
    pub(crate) async fn start(
        &self,
        profile: &Profile,
        layout: &Layout,
        command: &crate::Command,
    ) -> Result<Started, SandboxError> {
        self.spawn(profile, layout, Some(command)).await
    }

    async fn try_out(&self, profile: &Profile, layout: &Layout) -> Result<Report, SandboxError> {
        let mut started = self.spawn(profile, layout, None).await?;
        let ready = started.ready().await;
        started.stop().await;
        let (mechanisms, weaknesses) = ready?;
        Ok(Report { level: self.level, mechanisms, weaknesses })
    }

    async fn spawn(
        &self,
        profile: &Profile,
        layout: &Layout,
        command: Option<&crate::Command>,
    ) -> Result<Started, SandboxError> {
        let problem = |what: &str, error: std::io::Error| SandboxError::Support {
            program: self.support.clone(),
            problem: format!("{what}: {error}"),
        };
        let scratch = match self.level {
            Level::Full => None,
            Level::Reduced => Some(TempDir::new().map_err(|error| problem("got no temporary folder", error))?),
        };
        let plan = self.plan(profile, layout, command, scratch.as_ref());
        let mut line = serde_json::to_vec(&plan).map_err(|error| problem("got no plan", error.into()))?;
        line.push(b'\n');
        let pair = std::os::unix::net::UnixStream::pair().and_then(|(ours, theirs)| {
            ours.set_nonblocking(true)?;
            Ok((UnixStream::from_std(ours)?, theirs))
        });
        let (ours, theirs) = pair.map_err(|error| problem("got no socket", error))?;
        let stage = match (self.level, profile.network) {
            (Level::Full, false) => first::WITHOUT_NETWORK,
            (Level::Full, true) => first::WITH_NETWORK,
            (Level::Reduced, _) => reduced::STAGE,
        };
        let child = Command::new(&self.support)
            .args([SUPPORT_ARGUMENT, stage])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| problem("cannot be started", error))?;
        let mut started =
            Started { child, socket: BufReader::new(ours), support: self.support.clone(), _scratch: scratch };
        // A process that ended at once reads no plan; what it had to say, or that it said nothing, is told by `ready`.
        let _ = started.socket.get_mut().write_all(&line).await;
        Ok(started)
    }

    fn plan(
        &self,
        profile: &Profile,
        layout: &Layout,
        command: Option<&crate::Command>,
        scratch: Option<&TempDir>,
    ) -> Plan {
        Plan {
            command: command.cloned(),
            programs: self.programs.clone(),
            places: layout.places.iter().map(|(path, place)| (path.clone(), *place)).collect(),
            working_folder: layout.working_folder.clone(),
            scratch: scratch.map_or(SCRATCH.into(), |folder| folder.path().to_owned()),
            writes: profile.writes(),
            network: profile.network,
            ipc: profile.ipc,
            limits: profile.limits,
        }
    }
}

/// A support process at work. When this is dropped, its socket closes, and the process kills the command and ends.
pub(crate) struct Started {
    child: Child,
    socket: BufReader<UnixStream>,
    support: PathBuf,
    _scratch: Option<TempDir>,
}

impl Started {
    /// Collects output until the command has ended, or has written more than it may.
    pub(crate) async fn follow(&mut self, output: &Output) -> Result<End, SandboxError> {
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        self.ready().await?;
        let allowance = Allowance::new(output.limit);
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else { return Err(self.silent("has no output")) };
        let all = async {
            tokio::try_join!(
                within(collect(stdout, &output.stdout, &allowance)),
                within(collect(stderr, &output.stderr, &allowance)),
                async { Ok(self.next().await) },
            )
        };
        match all.await {
            Err(end) => Ok(end),
            Ok((_, _, Ok(Some(Message::Ended(end))))) => Ok(end),
            Ok((_, _, Ok(Some(Message::Failed(problem))))) => Err(SandboxError::Setup(problem)),
            Ok((_, _, Ok(_))) => Err(self.silent("was killed, perhaps because the machine is out of memory")),
            Ok((_, _, Err(error))) => Err(error),
        }
    }

    /// Ends the command with everything that it started, and returns when nothing of it is left.
    pub(crate) async fn stop(mut self) {
        // The support process ends when the socket does, after everything else has.
        let _ = self.socket.get_mut().shutdown().await;
        if tokio::time::timeout(PATIENCE, self.child.wait()).await.is_err() {
            let _ = self.child.kill().await;
        }
    }

    /// Waits until everything is set up.
    async fn ready(&mut self) -> Result<(Vec<String>, Vec<String>), SandboxError> {
        let Ok(message) = tokio::time::timeout(PATIENCE, self.next()).await else {
            return Err(self.silent(
                "does not answer; the program must call `toolwright_sandbox::run_support_if_asked` first of all",
            ));
        };
        match message? {
            Some(Message::Ready { mechanisms, weaknesses }) => Ok((mechanisms, weaknesses)),
            Some(Message::Failed(problem)) => Err(SandboxError::Setup(problem)),
            Some(Message::Ended(_)) | None => Err(self.silent(
                "ended without a word; the program must call `toolwright_sandbox::run_support_if_asked` first of all",
            )),
        }
    }

    async fn next(&mut self) -> Result<Option<Message>, SandboxError> {
        let mut line = String::new();
        match self.socket.read_line(&mut line).await {
            // A reset says the same as an end: the process is gone.
            Ok(0) | Err(_) => Ok(None),
            Ok(_) => serde_json::from_str(&line)
                .map(Some)
                .map_err(|error| self.silent(&format!("sent something that is no message: {error}"))),
        }
    }

    fn silent(&self, problem: &str) -> SandboxError {
        SandboxError::Support { program: self.support.clone(), problem: problem.to_owned() }
    }
}

async fn within(collected: impl Future<Output = bool>) -> Result<(), End> {
    if collected.await { Ok(()) } else { Err(End::OutputLimit) }
}
