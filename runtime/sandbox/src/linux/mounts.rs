//! Mounts as values: made detached, restricted, and put in their place.

use super::unsafe_calls::set_mount_attributes;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create, fsconfig_set_string,
    fsmount, fsopen, move_mount, open_tree,
};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// No device files and no set-user-id programs: of every mount.
pub(super) const PLAIN: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);
/// Also no programs at all: of everything that a command might write.
pub(super) const DATA: MountAttrFlags = PLAIN.union(MountAttrFlags::MOUNT_ATTR_NOEXEC);
/// Also no changes.
pub(super) const READ_ONLY: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_RDONLY;

/// A mount that is not yet, or no longer, known by a path.
pub(super) struct Mount(OwnedFd);

impl Mount {
    /// A copy of what is at `path`, with everything mounted below it. The path must pass through no link.
    pub(super) fn copy(path: &Path) -> io::Result<Self> {
        let place = open_path(path)?;
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_EMPTY_PATH
            | OpenTreeFlags::AT_RECURSIVE;
        open_tree(&place, "", flags).map(Self)
    }

    /// A new file system: its type, options, and attributes.
    pub(super) fn new(kind: &str, options: &[(&str, &str)], attributes: MountAttrFlags) -> io::Result<Self> {
        let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (key, value) in options {
            fsconfig_set_string(context.as_fd(), *key, *value)?;
        }
        fsconfig_create(context.as_fd())?;
        fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes).map(Self)
    }

    /// Adds attributes, to all mounts that it contains as well.
    pub(super) fn restrict(&self, attributes: MountAttrFlags) -> io::Result<()> {
        set_mount_attributes(&self.0, attributes.bits().into(), true)
    }

    /// Puts it at `path`, which must exist and pass through no link.
    pub(super) fn attach(&self, path: &Path) -> io::Result<()> {
        let place = open_path(path)?;
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        move_mount(&self.0, "", &place, "", flags)
    }

    pub(super) fn file(&self) -> &OwnedFd {
        &self.0
    }
}

/// Forbids changes of the mount at `path`, but not of those below it.
pub(super) fn make_read_only(path: &Path) -> io::Result<()> {
    set_mount_attributes(open_path(path)?, READ_ONLY.bits().into(), false)
}

fn open_path(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS)
}
