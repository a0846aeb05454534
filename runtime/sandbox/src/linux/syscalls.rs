//! System calls that no tool needs and that have led out of sandboxes before.

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};
use std::collections::BTreeMap;

/// Refused with EPERM, whatever the arguments.
const REFUSED: &[c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // Files by handle, past all paths.
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    // Large parts of the kernel with a long history of faults.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
];

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_kexec_file_load,
    libc::SYS_uselib,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

/// Shared memory, semaphores and message queues of System V and POSIX.
const SHARING: &[c_long] = &[libc::SYS_shmget, libc::SYS_semget, libc::SYS_msgget, libc::SYS_mq_open];

/// Refused as if the kernel did not have them, so that the C library takes the older way: `clone3` hides its flags from
/// filters, and a program in a memory file lies on no mount that could forbid it.
const UNKNOWN: &[c_long] = &[libc::SYS_clone3, libc::SYS_memfd_create, libc::SYS_memfd_secret];

/// The flags of `clone` that make namespaces.
const NAMESPACE_FLAGS: [libc::c_int; 8] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    // CLONE_NEWTIME shares its bit with the exit signal and is refused with `unshare` and `clone3`.
    libc::CLONE_PTRACE,
];

/// The x32 ABI runs under the same architecture number with this bit in the number of the call.
#[cfg(target_arch = "x86_64")]
const X32: c_long = 0x4000_0000;
/// Calls that x32 has under numbers of its own: ptrace, kexec_load, process_vm_readv, process_vm_writev, execve, execveat.
/// With the last two no program can be started in it.
#[cfg(target_arch = "x86_64")]
const X32_ONLY: [c_long; 6] = [521, 528, 539, 540, 520, 545];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Installs the filters, for good and for all children. Calls of another architecture end the process.
pub(super) fn enforce(network: bool, ipc: bool) -> Result<(), String> {
    install(&filters(network, ipc)).map_err(|error| format!("installing the filter of system calls: {error}"))
}

fn install(filters: &Result<[BpfProgram; 2], seccompiler::Error>) -> Result<(), String> {
    let filters = filters.as_ref().map_err(ToString::to_string)?;
    filters.iter().try_for_each(|filter| apply_filter(filter).map_err(|error| error.to_string()))
}

fn filters(network: bool, ipc: bool) -> Result<[BpfProgram; 2], seccompiler::Error> {
    let mut refused = Rules::new();
    for call in REFUSED.iter().chain(REFUSED_HERE).chain(if ipc { &[] } else { SHARING }) {
        add(&mut refused, *call, &[]);
    }
    #[cfg(target_arch = "x86_64")]
    for call in X32_ONLY {
        add(&mut refused, X32 + call, &[]);
    }
    add(&mut refused, libc::SYS_socket, &[family_is_none_of(network)?]);
    let flags: Result<Vec<_>, seccompiler::Error> = NAMESPACE_FLAGS.iter().map(|flag| has_flag(0, *flag)).collect();
    add(&mut refused, libc::SYS_clone, &flags?);
    let mut unknown = Rules::new();
    for call in UNKNOWN {
        add(&mut unknown, *call, &[]);
    }
    Ok([program(refused, libc::EPERM)?, program(unknown, libc::ENOSYS)?])
}

fn program(rules: Rules, error: libc::c_int) -> Result<BpfProgram, seccompiler::Error> {
    let action = SeccompAction::Errno(error.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, std::env::consts::ARCH.try_into()?)?;
    Ok(filter.try_into()?)
}

/// Adds rules for a call, under its x32 number too. No rules means whatever the arguments.
fn add(rules: &mut Rules, call: c_long, conditions: &[SeccompRule]) {
    rules.entry(call).or_default().extend_from_slice(conditions);
    #[cfg(target_arch = "x86_64")]
    rules.entry(X32 | call).or_default().extend_from_slice(conditions);
}

fn has_flag(argument: u8, flag: libc::c_int) -> Result<SeccompRule, seccompiler::Error> {
    let flag = u64::from(flag.unsigned_abs());
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?;
    Ok(SeccompRule::new(vec![condition])?)
}

/// Without a network sockets are local; with one they are also of the Internet, and never of the kernel or the hypervisor.
fn family_is_none_of(network: bool) -> Result<SeccompRule, seccompiler::Error> {
    let families: &[libc::c_int] =
        if network { &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6] } else { &[libc::AF_UNIX] };
    let conditions: Result<Vec<_>, seccompiler::Error> = families
        .iter()
        .map(|family| {
            Ok(SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(family.unsigned_abs()))?)
        })
        .collect();
    Ok(SeccompRule::new(conditions?)?)
}
