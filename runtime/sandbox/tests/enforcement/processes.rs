//! Processes: what they see, and that none survives.

use crate::{Stage, appearance, failure, is_running, mark, output, run, sandbox, text, with_tools};
use std::time::Duration;
use toolwright_sandbox::{CancellationToken, End, Level, Limits, Profile, Sandbox, SandboxError, Support};

async fn sleeping(stage: &Stage, timeout_seconds: u64) -> Sandbox {
    let limits = Limits { timeout_seconds, ..Limits::default() };
    sandbox(Profile { limits, ..with_tools(stage.writing(), &["sleep", "setsid"]) }).await
}

#[tokio::test]
async fn exit_codes_are_those_of_the_shell() {
    let stage = Stage::new();
    let sandbox = sleeping(&stage, 30).await;
    assert_eq!(run(&sandbox, "exit 3").await.end, End::Exited(3));
    assert_eq!(run(&sandbox, "kill -TERM $$").await.end, End::Exited(143));
    assert_eq!(run(&sandbox, "kill -KILL $$").await.end, End::Exited(137));
}

#[tokio::test]
async fn standard_input_is_empty() {
    let stage = Stage::new();
    assert_eq!(output(&sleeping(&stage, 30).await, "cat").await, "");
}

#[tokio::test]
async fn no_background_process_survives_the_command() {
    let stage = Stage::new();
    let sandbox = sleeping(&stage, 30).await;
    let mark = mark(10);
    output(&sandbox, &format!("sleep {mark} & setsid sleep {mark} & (setsid sh -c '(sleep {mark} &)' &) ; sleep 0.2"))
        .await;
    assert!(!is_running(&mark));
}

#[tokio::test]
async fn a_background_process_does_not_hold_the_output_open() {
    let stage = Stage::new();
    let sandbox = sleeping(&stage, 30).await;
    let outcome = run(&sandbox, "sleep 25 & echo done").await;
    assert_eq!((outcome.end, outcome.stdout.as_slice()), (End::Exited(0), b"done\n".as_slice()));
    assert!(outcome.elapsed < Duration::from_secs(10), "{:?}", outcome.elapsed);
}

#[tokio::test]
async fn no_process_survives_the_end_of_the_time() {
    let stage = Stage::new();
    let sandbox = sleeping(&stage, 1).await;
    let mark = mark(11);
    assert_eq!(run(&sandbox, &format!("setsid sleep {mark} & sleep {mark}")).await.end, End::TimedOut);
    assert!(!is_running(&mark));
}

#[tokio::test]
async fn no_process_survives_cancellation() {
    let stage = Stage::new();
    let sandbox = sleeping(&stage, 60).await;
    let (mark, cancel) = (mark(12), CancellationToken::new());
    let command = format!("setsid sleep {mark} & sleep {mark}");
    let (outcome, ()) = tokio::join!(sandbox.run(&command, None, &cancel), async {
        appearance(&mark).await;
        cancel.cancel();
    });
    assert_eq!(outcome.unwrap().end, End::Cancelled);
    assert!(!is_running(&mark));
}

#[tokio::test]
async fn a_cancelled_call_runs_nothing() {
    let stage = Stage::new();
    let sandbox = sleeping(&stage, 60).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert_eq!(sandbox.run("echo > made; sleep 5", None, &cancel).await.unwrap().end, End::Cancelled);
}

#[tokio::test]
async fn no_process_survives_a_dropped_future() {
    let stage = Stage::new();
    let sandbox = sleeping(&stage, 60).await;
    let (mark, cancel) = (mark(13), CancellationToken::new());
    let command = format!("setsid sleep {mark} & sleep {mark}");
    tokio::select! {
        outcome = sandbox.run(&command, None, &cancel) => panic!("{outcome:?}"),
        () = appearance(&mark) => {}
    }
    for _ in 0..500 {
        if !is_running(&mark) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("a process survived");
}

#[tokio::test]
async fn other_commands_of_the_same_profile_are_spared() {
    let stage = Stage::new();
    let sandbox = sleeping(&stage, 60).await;
    let (mark, cancel) = (mark(14), CancellationToken::new());
    let command = format!("sleep {mark}");
    let (cancelled, spared) = tokio::join!(
        async {
            let (outcome, ()) = tokio::join!(sandbox.run(&command, None, &cancel), async {
                appearance(&mark).await;
                cancel.cancel();
            });
            outcome.unwrap()
        },
        run(&sandbox, "sleep 2; echo spared")
    );
    assert_eq!(cancelled.end, End::Cancelled);
    assert_eq!(spared.stdout, b"spared\n", "{}", text(&spared));
}

#[tokio::test]
async fn processes_outside_are_neither_seen_nor_signalled() {
    let stage = Stage::new();
    let sandbox = sleeping(&stage, 30).await;
    let own = std::process::id();
    failure(&sandbox, &format!("ls /proc/{own}/cmdline")).await;
    failure(&sandbox, &format!("kill -0 {own}")).await;
    // Only the support process, the shell, and the tools of the command itself.
    let seen = output(&sandbox, "ls /proc | grep -c '^[0-9]'").await;
    assert!(seen.trim_end().parse::<u32>().unwrap() <= 5, "{seen}");
}

#[tokio::test]
async fn the_support_process_is_not_killed_by_the_command() {
    let stage = Stage::new();
    let sandbox = sleeping(&stage, 30).await;
    assert_eq!(output(&sandbox, "kill -KILL 1; kill -STOP 1; kill -TERM 1; echo alive").await, "alive\n");
}

#[tokio::test]
async fn the_support_process_is_not_looked_into() {
    let stage = Stage::new();
    let sandbox = sleeping(&stage, 30).await;
    for path in ["/proc/1/fd/", "/proc/1/exe", "/proc/1/environ", "/proc/1/mem", "/proc/1/cwd/"] {
        failure(&sandbox, &format!("ls {path} && cat {path}")).await;
    }
    failure(&sandbox, "/proc/1/exe --toolwright-sandbox-support init").await;
}

#[tokio::test]
async fn the_report_names_every_layer() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.reading()).await;
    let mechanisms = sandbox.report().mechanisms.join(", ");
    for layer in ["private root", "process, IPC", "network namespace", "Landlock", "seccomp", "no capabilities"] {
        assert!(mechanisms.contains(layer), "{layer} is missing in {mechanisms}");
    }
    assert_eq!(sandbox.report().level, Level::Full);
}

#[tokio::test]
async fn a_program_that_is_no_support_process_is_an_error_that_says_what_to_call() {
    let stage = Stage::new();
    let refused = Sandbox::new(stage.reading(), Support::program("/bin/true")).await.unwrap_err();
    assert!(matches!(refused, SandboxError::Support { .. }), "{refused}");
    assert!(refused.to_string().contains("run_support_if_asked"), "{refused}");
}

#[tokio::test]
async fn no_open_file_is_inherited() {
    let stage = Stage::new();
    let sandbox = sleeping(&stage, 30).await;
    // A file of this program that would pass to any program that it starts.
    let file = std::fs::File::open(stage.outside.join("file")).unwrap();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    let listed = output(&sandbox, "ls -l /proc/$$/fd").await;
    assert!(!listed.contains("outside") && !listed.contains("socket"), "{listed}");
    drop(file);
}

#[tokio::test]
async fn there_are_no_privileges_and_none_can_be_gained() {
    let stage = Stage::new();
    let sandbox = sleeping(&stage, 30).await;
    let status = output(&sandbox, "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status").await;
    for line in [
        "CapPrm:\t0000000000000000",
        "CapEff:\t0000000000000000",
        "CapBnd:\t0000000000000000",
        "NoNewPrivs:\t1",
        "Seccomp:\t2",
    ] {
        assert!(status.contains(line), "{line} is missing in:\n{status}");
    }
}
