//! What the support process gives up before it starts the shell, for good and for all its children.

use crate::Limits;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
};
use std::fs;

/// `RESERVED_PIDS` of the kernel.
const RESERVED_NUMBERS: u64 = 300;

/// Sets the kernel's limits for each process. They cannot be raised again.
///
/// The kernel counts processes by user, and by user namespace where there is one. Without one, `processes` is None: the count
/// would include all that the user runs.
pub(super) fn set_limits(limits: &Limits, processes: Option<u64>) -> Result<(), String> {
    let all = [
        (Resource::Cpu, limits.timeout_seconds.max(1)),
        (Resource::As, limits.address_space_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Core, 0),
    ];
    for (resource, value) in all.into_iter().chain(processes.map(|number| (Resource::Nproc, number))) {
        // What the caller itself may not exceed stays as it is: only an administrator could raise it.
        let value = rustix::process::getrlimit(resource).maximum.map_or(value, |maximum| value.min(maximum));
        setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })
            .map_err(|error| format!("limiting {resource:?} to {value}: {error}"))?;
    }
    Ok(())
}

/// Limits the number of processes in the own process namespace, and says whether it could.
///
/// This is the kernel's only such limit that holds for an administrator too. It is a setting of the namespace since Linux
/// 6.14, and one of the whole machine before: then it must not be touched. Numbers up to 300 are given out once only, so that
/// they come on top, or a command that starts many programs one after the other would run out of them.
pub(super) fn limit_process_numbers(limits: &Limits) -> bool {
    let release = rustix::system::uname();
    let release = release.release().to_string_lossy();
    let mut numbers =
        release.split(|character: char| !character.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    let version: (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let highest = limits.processes.saturating_add(RESERVED_NUMBERS + 2);
    version >= (6, 14) && fs::write("/proc/sys/kernel/pid_max", highest.to_string()).is_ok()
}

/// Drops every capability, and every way for a program to bring one back.
pub(super) fn drop_capabilities() -> Result<(), String> {
    give_up().map_err(|error| format!("giving up privileges: {error}"))
}

/// The same where there is no user namespace: someone who is no administrator, or one without any capability to regain, has
/// nothing to give up, and no new privileges are enough for it to stay so.
pub(super) fn drop_capabilities_of_any_user() -> Result<(), String> {
    let can_regain = |capability| capability_is_in_bounding_set(capability).unwrap_or(false);
    if rustix::process::getuid().is_root() && CapabilitySet::all().iter().any(can_regain) {
        return drop_capabilities();
    }
    let none = CapabilitySet::empty();
    set_no_new_privs(true)
        .and_then(|()| set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none }))
        .map_err(|error| format!("giving up privileges: {error}"))
}

fn give_up() -> rustix::io::Result<()> {
    set_no_new_privs(true)?;
    set_capabilities_secure_bits(
        CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED,
    )?;
    clear_ambient_capability_set()?;
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // A capability that this kernel does not know.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(error),
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}
