//! The same rules for an ordinary user.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// The number of the user `nobody`.
const NOBODY: u32 = 65534;

#[test]
fn every_rule_holds_for_an_ordinary_user() {
    if !rustix::process::getuid().is_root() {
        // All the other tests of this run are that already.
        return;
    }
    // The variables are decoys, as a caller's environment may hold them.
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--test-threads", "2"])
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir("/")
        .env("PATH", "/tmp/decoys")
        .env("LD_PRELOAD_DECOY", "/tmp/decoy.so")
        .env("GIT_DIR", "/tmp/decoy.git")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "as user {NOBODY}:\n{text}{}", String::from_utf8_lossy(&run.stderr));
    let passed = text.lines().filter(|line| line.ends_with("... ok")).count();
    assert!(passed > 60, "only {passed} tests ran:\n{text}");
}
