//! The private root: a small file system that holds the granted files, the roots, and nothing else.

use super::mounts::{DATA, Mount, PLAIN, READ_ONLY, make_read_only};
use super::plan::Plan;
use crate::Access;
use crate::layout::Place;
use rustix::fs::{CWD, Mode, OFlags, chmod, mkdirat, open, openat, symlinkat};
use rustix::mount::{MountAttrFlags, MountPropagationFlags, UnmountFlags, mount_change, unmount};
use rustix::process::{fchdir, getgid, getuid, pivot_root};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Device files that a command sees. None of them leads to hardware.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];
const MASKS: &str = "/.denied";

type Step<T> = Result<T, String>;

/// Makes the root and moves into it, and says whether it has a `/proc`.
pub(super) fn build(plan: &Plan) -> Step<bool> {
    let changed = mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC);
    changed.map_err(|error| {
        format!("the system gives a user namespace but no rights in it ({error}); see kernel.apparmor_restrict_unprivileged_userns")
    })?;
    // Whatever is to be seen later is taken along before the old root goes.
    let sources = Sources::take(plan)?;
    let own = tmpfs("1048576", PLAIN | MountAttrFlags::MOUNT_ATTR_NOEXEC).map_err(at("making", "/"))?;
    enter(&own).map_err(at("entering", "/"))?;
    for (path, mount) in &sources.files {
        put(mount, path)?;
    }
    for (path, target) in &plan.programs.links {
        make_parent(path)?;
        symlinkat(target, CWD, path).map_err(at("linking", path))?;
    }
    make_devices(plan, &sources.devices)?;
    let has_proc = match &sources.processes {
        Some(mount) => make_folder(Path::new("/proc"))
            .and_then(|()| mount.attach(Path::new("/proc")).map_err(at("mounting", "/proc")))
            .is_ok(),
        None => false,
    };
    make_accounts()?;
    make_folder(Path::new("/var/empty"))?;
    make_scratch(plan)?;
    make_places(plan, sources.roots)?;
    make_read_only(Path::new("/")).map_err(at("closing", "/"))?;
    env::set_current_dir(&plan.working_folder).map_err(at("entering", &plan.working_folder))?;
    Ok(has_proc)
}

/// Copies of the mounts that are needed, from before the old root is left.
struct Sources {
    files: Vec<(PathBuf, Mount)>,
    devices: Vec<(&'static str, Mount)>,
    roots: Vec<Mount>,
    processes: Option<Mount>,
}

impl Sources {
    fn take(plan: &Plan) -> Step<Self> {
        let mut files = Vec::new();
        for grant in &plan.programs.files {
            let mount = Mount::copy(&grant.source).map_err(at("opening", &grant.source))?;
            let runs = if grant.runs { PLAIN } else { DATA };
            mount.restrict(runs | READ_ONLY).map_err(at("restricting", &grant.source))?;
            files.push((grant.target.clone(), mount));
        }
        let mut devices = Vec::new();
        for path in DEVICES {
            let mount = Mount::copy(Path::new(path)).map_err(at("opening", path))?;
            mount
                .restrict(MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC)
                .map_err(at("restricting", path))?;
            devices.push((path, mount));
        }
        let mut roots = Vec::new();
        for (path, place) in &plan.places {
            if let Place::Root(access) = place {
                let mount = Mount::copy(path).map_err(at("opening", path))?;
                let access = if *access == Access::ReadOnly { READ_ONLY } else { MountAttrFlags::empty() };
                mount.restrict(DATA | access).map_err(at("restricting", path))?;
                roots.push(mount);
            }
        }
        // Only the processes of the own namespace, and none of the machine's settings, which an administrator could change.
        let processes = Mount::new("proc", &[("subset", "pid")], DATA).ok();
        Ok(Self { files, devices, roots, processes })
    }
}

/// Makes `own` the root of this process and drops the old one.
fn enter(own: &Mount) -> rustix::io::Result<()> {
    let old = open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    own.attach(Path::new("/"))?;
    fchdir(own.file())?;
    pivot_root(".", ".")?;
    fchdir(&old)?;
    unmount(".", UnmountFlags::DETACH)?;
    rustix::process::chdir("/")
}

fn make_devices(plan: &Plan, devices: &[(&'static str, Mount)]) -> Step<()> {
    for (path, mount) in devices {
        put(mount, Path::new(path))?;
    }
    for (path, target) in DEVICE_LINKS {
        symlinkat(target, CWD, path).map_err(at("linking", path))?;
    }
    if plan.ipc {
        let path = Path::new("/dev/shm");
        make_folder(path)?;
        let memory = tmpfs(&plan.limits.scratch_bytes.to_string(), DATA).map_err(at("making", path))?;
        memory.attach(path).map_err(at("mounting", path))?;
    }
    Ok(())
}

/// Names for the one user and group, so that listings show them.
fn make_accounts() -> Step<()> {
    let (uid, gid) = (getuid().as_raw(), getgid().as_raw());
    make_folder(Path::new("/etc"))?;
    write("/etc/passwd", &format!("sandbox:x:{uid}:{gid}:sandbox:/var/empty:/bin/sh\n"))?;
    write("/etc/group", &format!("sandbox:x:{gid}:\n"))
}

fn make_scratch(plan: &Plan) -> Step<()> {
    make_folder(&plan.scratch)?;
    let access = if plan.writes { MountAttrFlags::empty() } else { READ_ONLY };
    let scratch = tmpfs(&plan.limits.scratch_bytes.to_string(), DATA | access).map_err(at("making", &plan.scratch))?;
    scratch.attach(&plan.scratch).map_err(at("mounting", &plan.scratch))
}

/// Puts roots, pins and masks where they belong, outer ones before inner ones.
fn make_places(plan: &Plan, roots: Vec<Mount>) -> Step<()> {
    let mut roots = roots.into_iter();
    let (folder, file) = make_masks()?;
    for (path, place) in &plan.places {
        let mount = match place {
            Place::Root(_) => {
                // Inside another root the folder is there already, and must be: nothing is ever created in a root.
                if !path.is_dir() {
                    make_folder(path)?;
                }
                roots.next().ok_or_else(|| "a root is missing".to_owned())?
            }
            Place::Pin => Mount::copy(path).map_err(at("opening", path))?,
            Place::DeniedFolder => Mount::copy(&folder).map_err(at("opening", &folder))?,
            Place::DeniedFile => Mount::copy(&file).map_err(at("opening", &file))?,
        };
        mount.attach(path).map_err(at("mounting", path))?;
    }
    unmount(MASKS, UnmountFlags::DETACH).map_err(at("leaving", MASKS))
}

/// An unreadable folder and an unreadable file, which nobody can make readable again.
fn make_masks() -> Step<(PathBuf, PathBuf)> {
    let masks = Path::new(MASKS);
    let (folder, file) = (masks.join("folder"), masks.join("file"));
    make_folder(masks)?;
    let mount = tmpfs("65536", DATA).map_err(at("making", masks))?;
    mount.attach(masks).map_err(at("mounting", masks))?;
    make_folder(&folder)?;
    make_file(&file)?;
    for path in [&folder, &file] {
        chmod(path, Mode::empty()).map_err(at("closing", path))?;
    }
    mount.restrict(READ_ONLY).map_err(at("closing", masks))?;
    Ok((folder, file))
}

fn tmpfs(bytes: &str, attributes: MountAttrFlags) -> rustix::io::Result<Mount> {
    Mount::new("tmpfs", &[("size", bytes), ("nr_inodes", "16384"), ("mode", "0755")], attributes)
}

/// Attaches a mount at a new path: a folder at a folder, anything else at a file.
fn put(mount: &Mount, path: &Path) -> Step<()> {
    let kind = rustix::fs::fstat(mount.file()).map_err(at("examining", path))?.st_mode;
    if rustix::fs::FileType::from_raw_mode(kind).is_dir() {
        make_folder(path)?;
    } else {
        make_parent(path)?;
        make_file(path)?;
    }
    mount.attach(path).map_err(at("mounting", path))
}

fn make_parent(path: &Path) -> Step<()> {
    path.parent().map_or(Ok(()), make_folder)
}

/// Makes a folder and those around it, where they are missing.
fn make_folder(path: &Path) -> Step<()> {
    let make = || match mkdirat(CWD, path, Mode::from_raw_mode(0o755)) {
        Err(rustix::io::Errno::EXIST) => Ok(()),
        made => made,
    };
    match make() {
        Err(rustix::io::Errno::NOENT) => make_parent(path).and_then(|()| make().map_err(at("making", path))),
        made => made.map_err(at("making", path)),
    }
}

fn make_file(path: &Path) -> Step<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::from_raw_mode(0o644)).map(drop).map_err(at("making", path))
}

fn write(path: &str, text: &str) -> Step<()> {
    fs::File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(at("writing", path))
}

/// Says at what a step failed.
fn at<E: Into<io::Error>>(doing: &'static str, path: impl AsRef<Path>) -> impl FnOnce(E) -> String {
    let path = path.as_ref().display().to_string();
    move |error| format!("{doing} {path}: {}", error.into())
}
