//! The filter of system calls, tried with perl's `syscall`.

use crate::{Stage, output, run, sandbox, text, with_tools};

const EPERM: i32 = 1;
const ENOSYS: i32 = 38;

/// Runs one call and asserts its error.
async fn refused(call: &str, error: i32) {
    let stage = Stage::new();
    let sandbox = sandbox(with_tools(stage.reading(), &["perl"])).await;
    let said = output(&sandbox, &format!("perl -e '$r = syscall({call}); print $r, q( ), $!+0'")).await;
    assert_eq!(said, format!("-1 {error}"), "syscall({call})");
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn calls_that_led_out_of_sandboxes_are_refused() {
    for (name, call) in [
        ("ptrace", "101, 0, 0, 0, 0"),
        ("unshare of a user namespace", "272, 0x10000000"),
        ("clone of a user namespace", "56, 0x10000011, 0, 0, 0, 0"),
        ("mount", "165, 0, 0, 0, 0, 0"),
        ("keyctl", "250, 0, 0, 0"),
        ("bpf", "321, 0, 0, 0"),
        ("io_uring_setup", "425, 1, 0"),
        ("userfaultfd", "323, 0"),
        ("perf_event_open", "298, 0, 0, 0, 0, 0"),
        ("open_by_handle_at", "304, 0, 0, 0"),
        ("shmget", "29, 0, 4096, 0777"),
    ] {
        println!("{name}");
        refused(call, EPERM).await;
    }
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn sockets_of_the_kernel_and_the_hypervisor_are_refused() {
    for family in [16, 17, 40, 38, 2, 10] {
        refused(&format!("41, {family}, 1, 0"), EPERM).await;
    }
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn the_second_numbering_of_calls_is_no_way_around() {
    refused("0x40000000 + 272, 0x10000000", EPERM).await;
    refused("0x40000000 + 521, 0, 0, 0, 0", EPERM).await;
    refused("0x40000000 + 41, 2, 1, 0", EPERM).await;
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn memory_files_and_clone3_are_as_if_unknown() {
    refused("319, 0, 0", ENOSYS).await;
    refused("435, 0, 0", ENOSYS).await;
}

#[tokio::test]
async fn a_local_socket_is_made() {
    let stage = Stage::new();
    let sandbox = sandbox(with_tools(stage.reading(), &["perl"])).await;
    let outcome = run(&sandbox, "perl -e 'socket($s, 1, 1, 0) or die qq($!)'").await;
    assert!(outcome.success(), "{}", text(&outcome));
}
