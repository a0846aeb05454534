//! What holds where the kernel refuses user namespaces, as in many containers.
//!
//! The inner tests are ignored by themselves: an outer one runs them in a user namespace that allows no further one and has no
//! privileges.

use crate::{Stage, failure, is_running, mark, output, refusal, run, support, with_tools};
use std::net::TcpListener;
use std::process::Command;
use toolwright_sandbox::{End, Level, Limits, Profile, ProfileError, Sandbox, SandboxError};

/// Runs tests of this program where no user namespace can be made. `privileges` is put before the program.
fn run_without_user_namespaces(privileges: &str, arguments: &[&str]) -> String {
    let script = format!("echo 0 > /proc/sys/user/max_user_namespaces && exec {privileges} \"$0\" \"$@\"");
    let run = Command::new("/usr/bin/unshare")
        .args(["--user", "--map-root-user", "/bin/sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .args(["--test-threads", "2"])
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success(), "{text}{}", String::from_utf8_lossy(&run.stderr));
    text
}

#[test]
fn without_user_namespaces_what_is_reported_holds() {
    let no_privileges = "/usr/bin/setpriv --bounding-set -all --inh-caps -all";
    let text = run_without_user_namespaces(no_privileges, &["--ignored", "reduced::"]);
    assert!(text.contains("7 passed"), "{text}");
}

#[test]
fn without_user_namespaces_an_administrator_still_has_the_full_level() {
    let text = run_without_user_namespaces("", &["files::", "guarded::", "network::", "system_calls::"]);
    assert!(text.lines().filter(|line| line.ends_with("... ok")).count() > 30, "{text}");
}

async fn reduced(profile: Profile) -> Sandbox {
    let profile = Profile { minimum_level: Level::Reduced, ..profile };
    Sandbox::new(profile, support()).await.expect("these tests need Landlock 6 (Linux 6.12)")
}

#[tokio::test]
#[ignore = "needs a kernel without user namespaces; the outer test makes one"]
async fn the_full_level_is_refused_with_the_reason() {
    let stage = Stage::new();
    let refused = refusal(stage.reading()).await;
    assert!(matches!(refused, SandboxError::Level { required: Level::Full, .. }), "{refused}");
    assert!(refused.to_string().contains("user namespaces"), "{refused}");
}

#[tokio::test]
#[ignore = "needs a kernel without user namespaces; the outer test makes one"]
async fn the_report_says_what_is_open() {
    let stage = Stage::new();
    let sandbox = reduced(stage.reading()).await;
    assert_eq!(sandbox.report().level, Level::Reduced);
    assert!(sandbox.report().weaknesses.iter().any(|weakness| weakness.contains("private root")));
}

#[tokio::test]
#[ignore = "needs a kernel without user namespaces; the outer test makes one"]
async fn denied_paths_are_refused() {
    let stage = Stage::new();
    let denied_paths = vec![stage.read_only.join("file")];
    let refused = refusal(Profile { denied_paths, minimum_level: Level::Reduced, ..stage.reading() }).await;
    assert!(matches!(refused, SandboxError::Profile(ProfileError::NeedsFull(_))), "{refused}");
}

#[tokio::test]
#[ignore = "needs a kernel without user namespaces; the outer test makes one"]
async fn roots_hold_and_nothing_else_is_read_written_or_run() {
    let stage = Stage::new();
    let sandbox = reduced(stage.writing()).await;
    output(&sandbox, "cat file && echo new > new && echo > $TMPDIR/file").await;
    let read_only = stage.read_only.display();
    output(&sandbox, &format!("cat {read_only}/file")).await;
    failure(&sandbox, &format!("echo > {read_only}/file")).await;
    failure(&sandbox, &format!("cat {}/file", stage.outside.display())).await;
    failure(&sandbox, "ls /etc").await;
    failure(&sandbox, "echo > /tmp/toolwright-sandbox-reduced").await;
    assert_eq!(run(&sandbox, "/usr/bin/id").await.exit_code(), 126);
    assert_eq!(run(&sandbox, "cp /usr/bin/ls copy; ./copy").await.exit_code(), 126);
}

#[tokio::test]
#[ignore = "needs a kernel without user namespaces; the outer test makes one"]
async fn no_connection_is_made() {
    let stage = Stage::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let sandbox = reduced(with_tools(stage.reading(), &["bash"])).await;
    failure(&sandbox, &format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'")).await;
    failure(&sandbox, &format!("bash -c 'exec 3<>/dev/udp/127.0.0.1/{port}'")).await;
}

#[tokio::test]
#[ignore = "needs a kernel without user namespaces; the outer test makes one"]
async fn processes_outside_are_not_signalled() {
    let stage = Stage::new();
    let sandbox = reduced(stage.reading()).await;
    failure(&sandbox, &format!("kill -0 {}", std::process::id())).await;
    failure(&sandbox, "kill -0 $PPID").await;
}

#[tokio::test]
#[ignore = "needs a kernel without user namespaces; the outer test makes one"]
async fn no_process_survives() {
    let stage = Stage::new();
    let limits = Limits { timeout_seconds: 1, ..Limits::default() };
    let sandbox = reduced(Profile { limits, ..with_tools(stage.reading(), &["sleep", "setsid"]) }).await;
    let mark = mark(20);
    output(&sandbox, &format!("(setsid sh -c '(sleep {mark} &)' &); sleep 0.2")).await;
    assert!(!is_running(&mark));
    assert_eq!(run(&sandbox, &format!("setsid sleep {mark} & sleep {mark}")).await.end, End::TimedOut);
    assert!(!is_running(&mark));
}
