//! What the sandbox promises on Linux, each promise tried with a real command.
//!
//! All tests run as whoever runs them. Where that is an administrator, `identity` runs them a second time as an ordinary
//! user. A kernel that cannot enforce the full level makes them fail: they are never skipped.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod files;
mod guarded;
mod identity;
mod limits;
mod network;
mod processes;
mod programs;
mod reduced;
mod system_calls;
mod tool;

use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use toolwright_sandbox::{CancellationToken, Outcome, Profile, Root, Sandbox, SandboxError, Support};

/// Folders of one test: a read-only one, a read-write one, and one that is no root.
struct Stage {
    _folder: TempDir,
    read_only: PathBuf,
    read_write: PathBuf,
    outside: PathBuf,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let [read_only, read_write, outside] = ["ro", "rw", "outside"].map(|name| path.join(name));
        for folder in [&read_only, &read_write, &outside] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("file"), "text of the file\n").unwrap();
        }
        Self { _folder: folder, read_only, read_write, outside }
    }

    /// A profile that reads the read-only folder.
    fn reading(&self) -> Profile {
        Profile::new([Root::read_only(&self.read_only)])
    }

    /// A profile that writes the read-write folder, its working folder, and reads the other.
    fn writing(&self) -> Profile {
        Profile::new([Root::read_write(&self.read_write), Root::read_only(&self.read_only)]).with_write_tools()
    }
}

/// The profile with further tools.
fn with_tools(mut profile: Profile, tools: &[&str]) -> Profile {
    profile.tools.extend(tools.iter().map(|tool| (*tool).to_owned()));
    profile
}

fn support() -> Support {
    Support::program(env!("CARGO_BIN_EXE_toolwright-sandbox-support"))
}

async fn sandbox(profile: Profile) -> Sandbox {
    Sandbox::new(profile, support()).await.expect("these tests need a kernel that enforces the full level")
}

async fn refusal(profile: Profile) -> SandboxError {
    Sandbox::new(profile, support()).await.expect_err("the profile was not refused")
}

async fn run(sandbox: &Sandbox, command: &str) -> Outcome {
    sandbox.run(command, None, &CancellationToken::new()).await.expect("the command was not run")
}

/// Standard output of a command that must succeed.
async fn output(sandbox: &Sandbox, command: &str) -> String {
    let outcome = run(sandbox, command).await;
    assert!(outcome.success(), "`{command}` failed: {}", text(&outcome));
    String::from_utf8(outcome.stdout).unwrap()
}

/// Everything that a command wrote that must fail.
async fn failure(sandbox: &Sandbox, command: &str) -> String {
    let outcome = run(sandbox, command).await;
    assert!(matches!(outcome.exit_code(), 1..), "`{command}` did not fail: {}", text(&outcome));
    text(&outcome)
}

fn text(outcome: &Outcome) -> String {
    format!(
        "{:?}\n{}{}",
        outcome.end,
        String::from_utf8_lossy(&outcome.stdout),
        String::from_utf8_lossy(&outcome.stderr)
    )
}

/// Whether a process of this machine has the mark among its arguments.
fn is_running(mark: &str) -> bool {
    fs::read_dir("/proc").unwrap().filter_map(Result::ok).any(|entry| {
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // This program itself may have been given the name of a test, never a mark.
        arguments.split(|byte| *byte == 0).any(|argument| argument == mark.as_bytes())
    })
}

/// Waits until a process with the mark runs.
async fn appearance(mark: &str) {
    for _ in 0..500 {
        if is_running(mark) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("no process with the argument {mark} appeared");
}

/// A number of seconds to sleep that no other test and no other run of the tests sleeps.
fn mark(test: u32) -> String {
    format!("{}.{test}", 100_000 + std::process::id())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
