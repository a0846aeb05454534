//! The Linux backend.
//!
//! The caller starts the support process, which is a program that calls [`run_support_if_asked`], with pipes for the
//! command's output and a socket as its standard input. Through the socket it sends a [`plan::Plan`] and reads
//! [`plan::Message`]s; when the socket closes, everything is killed. There are up to three processes, because a fork in a
//! program with threads may do nothing but start another program:
//!
//! 1. The first makes the namespaces ([`first`]) and starts the second inside them.
//! 2. The second ([`init`]) is the first process of the new process namespace: when it ends, the kernel kills all the others.
//!    It makes the private root ([`root`]), gives up what it may do ([`confine`]), starts the shell, and watches ([`watch`]).
//! 3. At the level `reduced` there is no namespace, so the first process stays as it is and watches, and the second
//!    confines itself and becomes the shell.

pub(crate) mod binaries;
mod confine;
mod elf;
mod first;
mod init;
mod landlock;
mod mounts;
pub(crate) mod plan;
mod reduced;
mod root;
pub(crate) mod start;
mod syscalls;
mod unsafe_calls;
mod watch;

/// The argument that makes a program the support process.
pub(crate) const SUPPORT_ARGUMENT: &str = "--toolwright-sandbox-support";

/// Runs the part of the support process that the arguments ask for, and ends the program; returns if they ask for none.
pub(crate) fn run_support_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|argument| argument != SUPPORT_ARGUMENT) {
        return;
    }
    let stage = arguments.next();
    let code = match stage.as_ref().and_then(|stage| stage.to_str()) {
        Some(first::WITHOUT_NETWORK) => first::run(false),
        Some(first::WITH_NETWORK) => first::run(true),
        Some(init::STAGE) => init::run(),
        Some(reduced::STAGE) => reduced::watch_over(),
        Some(reduced::SHELL_STAGE) => reduced::become_shell(),
        _ => 2,
    };
    std::process::exit(code)
}
