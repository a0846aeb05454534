//! The first support process: it makes the namespaces, starts the second inside, and waits for it.

use super::plan::Message;
use super::{SUPPORT_ARGUMENT, init, unsafe_calls};
use rustix::io::Errno;
use rustix::process::{getgid, getuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, configure_capability_in_ambient_set, set_capabilities,
};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::{fs, io};

/// The stage's argument where the command gets no network.
pub(crate) const WITHOUT_NETWORK: &str = "private-network";
/// The stage's argument where it gets that of the machine.
pub(crate) const WITH_NETWORK: &str = "shared-network";
/// The third argument of the second stage where there is a user namespace.
pub(super) const WITH_USER_NAMESPACE: &str = "user";

/// The exit code of this process.
pub(super) fn run(network: bool) -> i32 {
    match enter_and_start(network) {
        Ok(code) => code,
        Err(problem) => fail(problem),
    }
}

/// Tells the caller that nothing was started.
pub(super) fn fail(problem: String) -> i32 {
    // A caller that is gone needs no message.
    let _ = say(&Message::Failed(problem));
    1
}

/// Sends one message to the caller.
pub(super) fn say(message: &Message) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    socket()?.write_all(&line)
}

/// The socket to the caller: this process's standard input.
pub(super) fn socket() -> io::Result<UnixStream> {
    use std::os::fd::AsFd;
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

fn enter_and_start(network: bool) -> Result<i32, String> {
    unsafe_calls::close_inherited_files_on_exec().map_err(|error| format!("closing inherited files: {error}"))?;
    let user = enter(network)?;
    let mut second = Command::new("/proc/self/exe");
    second.args([SUPPORT_ARGUMENT, init::STAGE, if user { WITH_USER_NAMESPACE } else { "" }]).stdin(Stdio::inherit());
    let status = second.status().map_err(|error| format!("starting the second support process: {error}"))?;
    Ok(status.code().unwrap_or(1))
}

/// Makes the namespaces, and says whether a user namespace is among them. Where it is refused, the privileges of an
/// administrator do as well: all of them are given up later in either case.
fn enter(network: bool) -> Result<bool, String> {
    let (uid, gid) = (getuid().as_raw(), getgid().as_raw());
    let mut flags = UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    if !network {
        flags |= UnshareFlags::NEWNET;
    }
    match unsafe_calls::unshare_namespaces(flags | UnshareFlags::NEWUSER) {
        Ok(()) => {
            // The person keeps the own number, and no other exists. Groups must be given up before one may be mapped.
            write("/proc/self/setgroups", "deny")?;
            write("/proc/self/uid_map", &format!("{uid} {uid} 1"))?;
            write("/proc/self/gid_map", &format!("{gid} {gid} 1"))?;
            keep_rights_in_the_namespace().map_err(|error| format!("keeping rights in the user namespace: {error}"))?;
            Ok(true)
        }
        Err(refused) => match unsafe_calls::unshare_namespaces(flags) {
            Ok(()) => Ok(false),
            Err(_) => Err(no_namespaces(refused)),
        },
    }
}

/// What the refusal means. The system says "no space left on device" of a limit that is reached, or that was set to 0:
/// namespaces(7) has `user.max_*_namespaces`, of which user_namespaces(7) also tells how deep they may nest.
fn no_namespaces(refused: Errno) -> String {
    match refused {
        Errno::NOSPC => {
            "the system allows no further user namespaces, or no others: a limit is reached or is 0; raise \
             user.max_user_namespaces, or another of the settings user.max_*_namespaces"
                .to_owned()
        }
        _ => format!(
            "the system refuses user namespaces ({refused}); see the settings user.max_user_namespaces, \
             kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns"
        ),
    }
}

/// The second process needs the rights to mount and to give up rights. Someone who is no administrator loses all of them
/// when a program is started, except those in the ambient set.
fn keep_rights_in_the_namespace() -> rustix::io::Result<()> {
    let sets = capabilities(None)?;
    let kept = CapabilitySet::SYS_ADMIN | CapabilitySet::SETPCAP;
    set_capabilities(None, CapabilitySets { inheritable: sets.inheritable | kept, ..sets })?;
    kept.iter().try_for_each(|capability| configure_capability_in_ambient_set(capability, true))
}

fn write(path: &str, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("writing {path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_reached_is_told_as_one() {
        let told = no_namespaces(Errno::NOSPC);
        assert!(told.contains("user.max_user_namespaces") && !told.contains("space left"), "{told}");
        let told = no_namespaces(Errno::PERM);
        assert!(told.contains("kernel.unprivileged_userns_clone") && told.contains("os error 1"), "{told}");
    }
}
