//! The calls of the system that have no safe form. Nothing else in this crate is unsafe.
#![allow(
    unsafe_code,
    reason = "rustix marks `unshare` unsafe, and no crate in use offers `mount_setattr` or `close_range`"
)]

use rustix::io::Errno;
use rustix::thread::UnshareFlags;
use std::os::fd::{AsFd, AsRawFd};

/// Moves this process, or its future children, into new namespaces.
pub(super) fn unshare_namespaces(flags: UnshareFlags) -> rustix::io::Result<()> {
    if flags.contains(UnshareFlags::FILES) {
        return Err(Errno::INVAL);
    }
    // SAFETY: the one unsound use is `FILES` in a program with threads, and it is refused above.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// `struct mount_attr` of `linux/mount.h`.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Sets attributes (`MOUNT_ATTR_*`) of a mount, and with `recursive` of all mounts below it. Clears none. Linux 5.12.
pub(super) fn set_mount_attributes(mount: impl AsFd, attributes: u64, recursive: bool) -> rustix::io::Result<()> {
    let attributes = MountAttributes { set: attributes, clear: 0, propagation: 0, user_namespace: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is an empty C string, and the size given is that of the structure pointed to.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    };
    check(result)
}

/// Makes every file from descriptor 3 on close itself when the next program is started. Linux 5.11.
pub(super) fn close_inherited_files_on_exec() -> rustix::io::Result<()> {
    // SAFETY: no descriptor is closed now, so that nothing in this process loses one that it owns.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    check(result)
}

fn check(result: libc::c_long) -> rustix::io::Result<()> {
    if result == 0 {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    Err(error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error))
}
