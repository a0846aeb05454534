//! The macOS backend: the system's Seatbelt, by `sandbox-exec`. **Untested**: no machine with macOS has run it. So it offers
//! no more than [`crate::Level::Reduced`].

use crate::layout::{Layout, Place};
use crate::{Access, Profile};
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[cfg(target_os = "macos")]
pub(crate) use backend::Backend;

/// Parts of the system that every program loads.
const SYSTEM: [&str; 4] = ["/usr/lib", "/System/Library", "/System/Volumes/Preboot/Cryptexes", "/private/var/db/dyld"];
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper"];

/// The profile in Seatbelt's language. Later rules outrank earlier ones.
fn rules(profile: &Profile, layout: &Layout, programs: &[PathBuf], scratch: &Path) -> String {
    let mut text = String::from(
        "(version 1)\n(deny default)\n(allow process-fork)\n(allow signal (target same-sandbox))\n(allow sysctl-read)\n\
         (allow file-read-metadata)\n",
    );
    for path in SYSTEM {
        rule(&mut text, "allow file-read* file-map-executable", "subpath", Path::new(path));
    }
    for path in DEVICES {
        rule(&mut text, "allow file-read* file-write-data file-ioctl", "literal", Path::new(path));
    }
    for path in programs {
        rule(&mut text, "allow process-exec file-read* file-map-executable", "literal", path);
    }
    for path in &profile.libraries {
        rule(&mut text, "allow process-exec file-read* file-map-executable", "subpath", path);
    }
    let what = if profile.writes() { "allow file-read* file-write*" } else { "allow file-read*" };
    rule(&mut text, what, "subpath", scratch);
    for (path, place) in &layout.places {
        match place {
            Place::Root(Access::ReadWrite) => rule(&mut text, "allow file-read* file-write*", "subpath", path),
            Place::Root(Access::ReadOnly) => {
                rule(&mut text, "allow file-read*", "subpath", path);
                rule(&mut text, "deny file-write* file-link", "subpath", path);
            }
            Place::Pin => rule(&mut text, "deny file-write-unlink", "literal", path),
            Place::DeniedFolder | Place::DeniedFile => {
                rule(&mut text, "deny file-read* file-write* file-link", "subpath", path);
            }
        }
    }
    if profile.network {
        text.push_str(
            "(allow network*)\n(allow file-read* (subpath \"/private/etc/ssl\") (literal \"/private/etc/hosts\"))\n",
        );
    }
    if profile.ipc {
        text.push_str("(allow ipc-posix-shm*)\n");
    }
    text
}

/// One rule for one path, which is quoted so that it cannot end the rule.
fn rule(text: &mut String, what: &str, kind: &str, path: &Path) {
    let path = path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    // Writing to a string does not fail.
    let _ = writeln!(text, "({what} ({kind} \"{path}\"))");
}

#[cfg(target_os = "macos")]
mod backend {
    use super::rules;
    use crate::collect::{Allowance, collect};
    use crate::layout::{Layout, overlap};
    use crate::run::Output;
    use crate::{End, Level, Profile, ProfileError, Report, SandboxError};
    use rustix::process::{Pid, Signal, kill_process_group};
    use std::os::unix::process::ExitStatusExt;
    use std::path::{Path, PathBuf};
    use std::process::Stdio;
    use tempfile::TempDir;
    use tokio::process::{Child, Command};

    const SANDBOX: &str = "/usr/bin/sandbox-exec";
    /// `/bin/sh` hands over to one of the others.
    const SHELLS: [&str; 4] = ["/bin/sh", "/bin/bash", "/bin/dash", "/private/var/select/sh"];

    #[derive(Debug)]
    pub(crate) struct Backend {
        names: Vec<String>,
        programs: Vec<PathBuf>,
        path: String,
    }

    impl Backend {
        pub(crate) async fn prepare(
            profile: &Profile,
            layout: &Layout,
            _: &Path,
        ) -> Result<(Self, Report), SandboxError> {
            if profile.minimum_level > Level::Reduced || !Path::new(SANDBOX).exists() {
                let reason = "the sandbox for macOS is untested".to_owned();
                return Err(SandboxError::Level { required: profile.minimum_level, reason });
            }
            let backend = Self::find(profile, layout)?;
            let weaknesses = [
                "this backend is untested",
                "a process that leaves the command's process group can outlive it",
                "memory and the number of processes are not limited, and temporary files have no quota",
            ];
            let report = Report {
                level: Level::Reduced,
                mechanisms: vec!["Seatbelt".to_owned()],
                weaknesses: weaknesses.map(str::to_owned).to_vec(),
            };
            Ok((backend, report))
        }

        fn find(profile: &Profile, layout: &Layout) -> Result<Self, ProfileError> {
            let mut backend =
                Self { names: Vec::new(), programs: SHELLS.map(PathBuf::from).to_vec(), path: String::new() };
            let folders: Vec<_> = profile.tool_directories.iter().map(|path| path.display().to_string()).collect();
            backend.path = folders.join(":");
            let required = profile.tools.iter().map(|name| (name, true));
            for (name, required) in required.chain(profile.optional_tools.iter().map(|name| (name, false))) {
                if matches!(name.as_str(), "" | "." | "..") || name.contains(['/', '\0']) {
                    return Err(ProfileError::ToolName(name.clone()));
                }
                match profile.tool_directories.iter().map(|folder| folder.join(name)).find(|path| path.is_file()) {
                    Some(path) => {
                        backend.names.push(name.clone());
                        backend.programs.extend(path.canonicalize().ok().into_iter().chain([path]));
                    }
                    None if required => {
                        return Err(ProfileError::ToolMissing { name: name.clone(), directories: folders.join(", ") });
                    }
                    None => {}
                }
            }
            for code in &backend.programs {
                if let Some((root, _)) = layout.roots().find(|(root, _)| overlap(root, code)) {
                    return Err(ProfileError::CodeInRoot { code: code.clone(), root: root.to_owned() });
                }
            }
            backend.names.sort();
            Ok(backend)
        }

        pub(crate) fn tools(&self) -> &[String] {
            &self.names
        }

        pub(crate) async fn start(
            &self,
            profile: &Profile,
            layout: &Layout,
            command: &crate::Command,
        ) -> Result<Started, SandboxError> {
            let problem =
                |error: std::io::Error| SandboxError::Support { program: SANDBOX.into(), problem: error.to_string() };
            let scratch = TempDir::new().map_err(problem)?;
            let folder = scratch.path().canonicalize().map_err(problem)?;
            let limits = &profile.limits;
            let script = format!(
                "ulimit -c 0; ulimit -t {}; ulimit -n {}; ulimit -f {}; exec /bin/sh -c \"$0\" sh \"$@\"",
                limits.timeout_seconds,
                limits.open_files,
                limits.file_bytes.div_ceil(512)
            );
            let child = Command::new(SANDBOX)
                .arg("-p")
                .arg(rules(profile, layout, &self.programs, &folder))
                .args(["/bin/sh", "-c", &script, &command.script])
                .args(&command.arguments)
                .env_clear()
                .envs(command.variables.iter().map(|(name, value)| (name, value)))
                .envs([("HOME", "/var/empty"), ("LC_ALL", "C"), ("PATH", &self.path), ("GIT_CONFIG_NOSYSTEM", "1")])
                .env("TMPDIR", &folder)
                .current_dir(&layout.working_folder)
                .process_group(0)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .kill_on_drop(true)
                .spawn()
                .map_err(problem)?;
            Ok(Started { child, _scratch: scratch })
        }
    }

    pub(crate) struct Started {
        child: Child,
        _scratch: TempDir,
    }

    impl Started {
        pub(crate) async fn follow(&mut self, output: &Output) -> Result<End, SandboxError> {
            let problem =
                |error: std::io::Error| SandboxError::Support { program: SANDBOX.into(), problem: error.to_string() };
            let (Some(stdout), Some(stderr)) = (self.child.stdout.take(), self.child.stderr.take()) else {
                return Err(problem(std::io::ErrorKind::BrokenPipe.into()));
            };
            let group = self.group();
            let allowance = Allowance::new(output.limit);
            let ended = async {
                let status = self.child.wait().await;
                // What is left of the group holds the pipes open.
                kill(group);
                Ok(status)
            };
            let within = |complete: bool| if complete { Ok(()) } else { Err(End::OutputLimit) };
            let all = tokio::try_join!(
                async { within(collect(stdout, &output.stdout, &allowance).await) },
                async { within(collect(stderr, &output.stderr, &allowance).await) },
                ended,
            );
            match all {
                Err(end) => Ok(end),
                Ok((_, _, status)) => {
                    let status = status.map_err(problem)?;
                    Ok(End::Exited(status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)))
                }
            }
        }

        pub(crate) async fn stop(mut self) {
            kill(self.group());
            let _ = self.child.kill().await;
        }

        fn group(&self) -> Option<Pid> {
            Pid::from_raw(i32::try_from(self.child.id()?).ok()?)
        }
    }

    fn kill(group: Option<Pid>) {
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rules;
    use crate::layout::Layout;
    use crate::{Profile, Root};
    use std::path::Path;

    #[test]
    fn what_is_denied_comes_after_the_root_that_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        std::fs::write(path.join("secret"), "").unwrap();
        let profile = Profile { denied_paths: vec![path.join("secret")], ..Profile::new([Root::read_write(&path)]) };
        let text = rules(&profile, &Layout::read(&profile).unwrap(), &[], Path::new("/scratch"));
        let root = text.find(&format!("(allow file-read* file-write* (subpath \"{}\"))", path.display())).unwrap();
        let denied = text.find("(deny file-read* file-write* file-link").unwrap();
        assert!(root < denied, "{text}");
        assert!(!text.contains("network"), "{text}");
    }

    #[test]
    fn a_path_cannot_end_its_rule() {
        let mut text = String::new();
        super::rule(&mut text, "allow file-read*", "subpath", Path::new("/a\")(allow default)\\"));
        assert_eq!(text, "(allow file-read* (subpath \"/a\\\")(allow default)\\\\\"))\n");
    }
}
