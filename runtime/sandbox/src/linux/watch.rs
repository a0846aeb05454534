//! Watches the command until it ends, the caller is gone, or it takes more than it may.

use crate::{End, Limits};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, setpriority_process, wait};
use rustix::time::Timespec;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::{fs, io};

/// How often consumption is measured. A storm of processes makes some hundred in this time.
const INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// How often descendants are killed before this process gives up: five seconds and more. Only a process that is stuck in the
/// kernel survives that.
const KILLING_ROUNDS: usize = 5_000;

/// The command's priority, between 0 of most programs and the lowest, 19.
const COMMAND_PRIORITY: i32 = 10;

/// Which processes are the command's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All in this process namespace but its first.
    Namespace,
    /// All that descend from this process.
    Descendants,
    /// They cannot be seen.
    Unseen,
}

/// Waits for the end of the shell and reports it. In a [`Scope::Namespace`] the end of this process is that of all others.
pub(super) fn watch(shell: &Child, caller: &UnixStream, scope: Scope, limits: &Limits) -> io::Result<End> {
    let shell = Pid::from_child(shell);
    // However many processes the command starts, this one and the machine's other work must come first. It inherits.
    let _ = setpriority_process(Some(shell), COMMAND_PRIORITY);
    let shell_ends = pidfd_open(shell, PidfdFlags::empty())?;
    loop {
        let mut events =
            [PollFd::new(&shell_ends, PollFlags::IN), PollFd::from_borrowed_fd(caller.as_fd(), PollFlags::RDHUP)];
        match poll(&mut events, Some(&INTERVAL)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if !events[1].revents().is_empty() {
            return Ok(End::Cancelled);
        }
        if let Some(code) = reap(shell) {
            return Ok(End::Exited(code));
        }
        if let Some(end) = excess(scope, limits) {
            return Ok(end);
        }
    }
}

/// Collects the children that ended, orphans among them, so that they do not count as processes. The shell's code as a shell
/// itself would tell it, once it has ended.
fn reap(shell: Pid) -> Option<i32> {
    let mut code = None;
    while let Ok(Some((process, status))) = wait(WaitOptions::NOHANG) {
        if process == shell {
            code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
        }
    }
    code
}

/// Which limit the command exceeds, if any.
fn excess(scope: Scope, limits: &Limits) -> Option<End> {
    let processes = match scope {
        Scope::Namespace => all_processes().into_iter().filter(|process| *process != 1).collect(),
        Scope::Descendants => descendants(),
        Scope::Unseen => return None,
    };
    // First what is quickly known: in a storm the rest takes too long.
    if processes.len() as u64 > limits.processes {
        return Some(End::ProcessLimit);
    }
    let (mut memory, mut threads) = (0, 0);
    for process in processes {
        memory += own_memory(process);
        threads += fs::read_dir(format!("/proc/{process}/task")).map_or(1, |tasks| tasks.count() as u64);
    }
    if threads > limits.processes {
        Some(End::ProcessLimit)
    } else if memory > limits.memory_bytes {
        Some(End::MemoryLimit)
    } else {
        None
    }
}

/// Resident bytes of a process without those of mapped files.
fn own_memory(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    let mut pages = text.split(' ').skip(1).filter_map(|number| number.parse::<u64>().ok());
    let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(shared) * rustix::param::page_size() as u64
}

fn all_processes() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Everything that descends from this process.
fn descendants() -> BTreeSet<u32> {
    let mut by_parent: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for process in all_processes() {
        if let Some(parent) = parent(process) {
            by_parent.entry(parent).or_default().push(process);
        }
    }
    let mut found = BTreeSet::new();
    let mut waiting = vec![std::process::id()];
    while let Some(process) = waiting.pop() {
        for child in by_parent.remove(&process).unwrap_or_default() {
            found.insert(child);
            waiting.push(child);
        }
    }
    found
}

fn parent(process: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything; the state and the parent follow the last one.
    text.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

/// Kills everything that descends from this process, which adopts its orphans. Repeated until nothing is left, since a
/// process may start another while the list is read; stopped ones can no longer do that.
pub(super) fn kill_descendants() {
    for _ in 0..KILLING_ROUNDS {
        let processes = descendants();
        if processes.is_empty() {
            return;
        }
        for signal in [Signal::STOP, Signal::KILL] {
            for process in &processes {
                if let Some(process) = i32::try_from(*process).ok().and_then(Pid::from_raw) {
                    let _ = kill_process(process, signal);
                }
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }
}

/// Asks the kernel to take the command first when the machine is out of memory.
pub(super) fn offer_to_be_killed_first() {
    // Where it cannot be said, all limits hold nevertheless.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
}
