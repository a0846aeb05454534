//! The second support process: the first one of the new process namespace.

use super::first::{WITH_USER_NAMESPACE, fail, say, socket};
use super::plan::{Message, Plan};
use super::{confine, landlock, root, syscalls, watch};
use crate::End;
use rustix::process::{
    DumpableBehavior, Signal, getuid, set_dumpable_behavior, set_parent_process_death_signal, setsid,
};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// The stage's argument.
pub(crate) const STAGE: &str = "init";

/// The exit code of this process. When it ends, the kernel kills everything in the process namespace.
pub(super) fn run() -> i32 {
    match set_up_and_run() {
        Ok(Some(end)) => {
            // The caller waits for the end of this process anyway; the message only says how it came.
            let _ = say(&Message::Ended(end));
            0
        }
        Ok(None) => 0,
        Err(problem) => fail(problem),
    }
}

fn set_up_and_run() -> Result<Option<End>, String> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("tying the processes together: {error}"))?;
    let plan = read_plan()?;
    let user = std::env::args().nth(3).as_deref() == Some(WITH_USER_NAMESPACE);
    watch::offer_to_be_killed_first();
    let has_limit = confine::limit_process_numbers(&plan.limits);
    let has_proc = root::build(&plan)?;
    let mut mechanisms = vec!["private root".to_owned(), "process, IPC, host name and cgroup namespaces".to_owned()];
    mechanisms.extend(user.then(|| "user namespace".to_owned()));
    mechanisms.extend((!plan.network).then(|| "network namespace".to_owned()));
    setsid().map_err(|error| format!("starting a session: {error}"))?;
    confine::set_limits(&plan.limits, Some(plan.limits.processes))?;
    confine::drop_capabilities()?;
    let mut weaknesses = Vec::new();
    match landlock::enforce(&landlock::rules_of_the_private_root(&plan), plan.network)? {
        Some(level) => mechanisms.push(level),
        None => weaknesses.push("Landlock is not available: there is one layer less around files".to_owned()),
    }
    // Nothing of this process is for the command: neither its memory nor its files nor its program.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| format!("hiding the support process: {error}"))?;
    syscalls::enforce(plan.network, plan.ipc)?;
    mechanisms.extend(["no new privileges, no capabilities".to_owned(), "seccomp".to_owned()]);
    if !has_proc {
        weaknesses.push("/proc cannot be mounted here: memory is limited for each process but not in sum".to_owned());
    }
    if getuid().is_root() && !has_limit {
        weaknesses.push(
            "the kernel does not limit the number of an administrator's processes: run as an ordinary user, or with Linux 6.14"
                .to_owned(),
        );
    }
    say(&Message::Ready { mechanisms, weaknesses }).map_err(|error| format!("reporting: {error}"))?;
    let Some(command) = &plan.command else { return Ok(None) };
    let child = shell(&plan, command).spawn().map_err(|error| format!("starting /bin/sh: {error}"))?;
    finish(&child, &plan, has_proc).map(Some)
}

fn finish(child: &Child, plan: &Plan, has_proc: bool) -> Result<End, String> {
    let socket = socket().map_err(|error| format!("reaching the caller: {error}"))?;
    let scope = if has_proc { watch::Scope::Namespace } else { watch::Scope::Unseen };
    watch::watch(child, &socket, scope, &plan.limits).map_err(|error| format!("watching the command: {error}"))
}

/// Reads the plan that the caller sent.
pub(super) fn read_plan() -> Result<Plan, String> {
    let mut line = String::new();
    let socket = socket().map_err(|error| format!("reaching the caller: {error}"))?;
    BufReader::new(socket).read_line(&mut line).map_err(|error| format!("reading the plan: {error}"))?;
    serde_json::from_str(&line).map_err(|error| format!("reading the plan: {error}"))
}

/// The shell with the command, with a fresh environment and no input.
pub(super) fn shell(plan: &Plan, command: &crate::Command) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(&command.script).arg("sh").args(&command.arguments).env_clear().stdin(Stdio::null());
    shell.envs(command.variables.iter().map(|(name, value)| (name, value)));
    shell.env("PATH", &plan.programs.path).env("TMPDIR", &plan.scratch);
    shell.envs([
        ("HOME", "/var/empty"),
        ("LC_ALL", "C"),
        ("RIPGREP_CONFIG_PATH", ""),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ]);
    shell
}
