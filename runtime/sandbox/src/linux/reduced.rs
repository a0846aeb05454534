//! The level `reduced`: no namespaces, so the command is confined where it stands, and its descendants are hunted down.

use super::first::{fail, say, socket};
use super::init::{read_plan, shell};
use super::plan::{Message, Plan};
use super::{SUPPORT_ARGUMENT, confine, landlock, syscalls, unsafe_calls, watch};
use rustix::process::{Signal, getpid, set_child_subreaper, set_parent_process_death_signal, setsid};
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// The argument of the process that watches.
pub(crate) const STAGE: &str = "reduced";
/// The argument of the process that becomes the shell.
pub(crate) const SHELL_STAGE: &str = "reduced-shell";

/// What this level leaves open.
const WEAKNESSES: [&str; 6] = [
    "there is no private root: whether a path outside the roots exists, and its size and owner, can be seen",
    "a program copied into a root can be run by naming the system's program loader",
    "temporary files have no quota of their own",
    "the kernel's names of users, groups, hosts and processes are not hidden",
    "the number of processes is limited by counting them, not by the kernel",
    "the end of a command is enforced by searching for its processes, not by the kernel",
];

/// Starts the confined process and watches it. The exit code of this process.
pub(super) fn watch_over() -> i32 {
    match start_and_watch() {
        Ok(code) => code,
        Err(problem) => fail(problem),
    }
}

fn start_and_watch() -> Result<i32, String> {
    unsafe_calls::close_inherited_files_on_exec().map_err(|error| format!("closing inherited files: {error}"))?;
    set_child_subreaper(Some(getpid())).map_err(|error| format!("adopting orphans: {error}"))?;
    let plan = read_plan()?;
    let (child, answer) = start_confined(&plan).map_err(|error| format!("starting the confined process: {error}"))?;
    let answer =
        serde_json::from_str(&answer).map_err(|_| "the confined process ended before it was ready".to_owned())?;
    say(&answer).map_err(|error| format!("reporting: {error}"))?;
    if matches!(answer, Message::Failed(_)) {
        return Ok(1);
    }
    let socket = socket().map_err(|error| format!("reaching the caller: {error}"))?;
    let end = watch::watch(&child, &socket, watch::Scope::Descendants, &plan.limits);
    watch::kill_descendants();
    say(&Message::Ended(end.map_err(|error| format!("watching the command: {error}"))?)).map_or(Ok(1), |()| Ok(0))
}

/// Starts the process that becomes the shell, hands it the plan, and reads its one message.
fn start_confined(plan: &Plan) -> io::Result<(Child, String)> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = Command::new("/proc/self/exe");
    command.args([SUPPORT_ARGUMENT, SHELL_STAGE]).stdin(Stdio::from(OwnedFd::from(theirs)));
    let child = command.spawn()?;
    // The other end must live in the child alone, so that its death ends the reading below.
    drop(command);
    let mut line = serde_json::to_vec(plan)?;
    line.push(b'\n');
    (&ours).write_all(&line)?;
    let mut answer = String::new();
    BufReader::new(&ours).read_line(&mut answer)?;
    Ok((child, answer))
}

/// Confines this process and becomes the shell. The exit code of this process if it does not come to that.
pub(super) fn become_shell() -> i32 {
    let shell = match confine_and_report() {
        Ok(Some(mut shell)) => shell.exec(),
        Ok(None) => return 0,
        Err(problem) => return fail(problem),
    };
    eprintln!("the shell cannot be started: {shell}");
    127
}

fn confine_and_report() -> Result<Option<Command>, String> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("tying the processes together: {error}"))?;
    let plan = read_plan()?;
    watch::offer_to_be_killed_first();
    setsid().map_err(|error| format!("starting a session: {error}"))?;
    std::env::set_current_dir(&plan.working_folder)
        .map_err(|error| format!("entering {}: {error}", plan.working_folder.display()))?;
    confine::set_limits(&plan.limits, None)?;
    confine::drop_capabilities_of_any_user()?;
    let landlock = landlock::enforce(&landlock::rules_of_the_whole_machine(&plan), plan.network)?
        .filter(|level| landlock::keeps_signals_inside(level))
        .ok_or("Landlock 6 (Linux 6.12) is needed where there are no user namespaces, and is not available")?;
    syscalls::enforce(plan.network, plan.ipc)?;
    let mechanisms = vec![landlock, "no new privileges, no capabilities".to_owned(), "seccomp".to_owned()];
    let weaknesses = WEAKNESSES.map(str::to_owned).to_vec();
    say(&Message::Ready { mechanisms, weaknesses }).map_err(|error| format!("reporting: {error}"))?;
    Ok(plan.command.as_ref().map(|command| shell(&plan, command)))
}
