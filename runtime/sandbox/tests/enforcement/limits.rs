//! Time, output, memory, processes and files.

use crate::{Stage, failure, mark, run, sandbox, text, with_tools};
use std::time::{Duration, Instant};
use toolwright_sandbox::{CancellationToken, End, Limits, Profile, ProfileError, SandboxError};

fn limited(stage: &Stage, limits: Limits) -> Profile {
    Profile { limits, ..with_tools(stage.writing(), &["sleep", "yes"]) }
}

#[tokio::test]
async fn a_command_is_stopped_when_its_time_is_over_and_its_output_is_kept() {
    let stage = Stage::new();
    let sandbox = sandbox(limited(&stage, Limits { timeout_seconds: 1, ..Limits::default() })).await;
    let begun = Instant::now();
    let outcome = run(&sandbox, "echo before; sleep 60").await;
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(outcome.end, End::TimedOut);
    let shown = outcome.for_model(1000);
    assert_eq!((shown.exit_code, shown.stdout.as_str(), shown.timed_out), (-1, "before\n", true));
    assert!(shown.stderr.contains("time ran out"), "{}", shown.stderr);
}

#[tokio::test]
async fn a_deadline_before_that_holds() {
    let stage = Stage::new();
    let sandbox = sandbox(limited(&stage, Limits::default())).await;
    let deadline = tokio::time::Instant::now() + Duration::from_millis(500);
    let outcome = sandbox.run("sleep 20", Some(deadline), &CancellationToken::new()).await.unwrap();
    assert_eq!(outcome.end, End::TimedOut);
    assert!(outcome.elapsed < Duration::from_secs(10), "{:?}", outcome.elapsed);
}

#[tokio::test]
async fn exactly_as_much_output_is_kept_as_allowed() {
    let stage = Stage::new();
    let sandbox = sandbox(limited(&stage, Limits { output_bytes: 10_000, ..Limits::default() })).await;
    let outcome = run(&sandbox, "yes").await;
    assert_eq!((outcome.end, outcome.stdout.len() + outcome.stderr.len()), (End::OutputLimit, 10_000));
    let shown = outcome.for_model(1000);
    assert!(shown.truncated && shown.exit_code == -1 && shown.stderr.contains("10000 bytes"), "{shown:?}");
}

#[tokio::test]
async fn both_streams_share_the_limit() {
    let stage = Stage::new();
    let sandbox = sandbox(limited(&stage, Limits { output_bytes: 10_000, ..Limits::default() })).await;
    let outcome = run(&sandbox, "head -c 6000 /dev/zero; head -c 6000 /dev/zero >&2; sleep 20").await;
    assert_eq!((outcome.end, outcome.stdout.len() + outcome.stderr.len()), (End::OutputLimit, 10_000));
}

#[tokio::test]
async fn output_of_exactly_the_limit_is_complete() {
    let stage = Stage::new();
    let sandbox = sandbox(limited(&stage, Limits { output_bytes: 10_000, ..Limits::default() })).await;
    let outcome = run(&sandbox, "head -c 10000 /dev/zero").await;
    assert_eq!((outcome.end, outcome.stdout.len()), (End::Exited(0), 10_000));
}

#[tokio::test]
async fn a_model_sees_head_and_tail() {
    let stage = Stage::new();
    let sandbox = sandbox(limited(&stage, Limits::default())).await;
    let shown = run(&sandbox, "echo first; yes | head -n 50000; echo last").await.for_model(1000);
    assert!(shown.stdout.starts_with("first\n") && shown.stdout.ends_with("last\n"), "{}", shown.stdout);
    assert!(shown.stdout.len() < 1100 && shown.truncated && shown.exit_code == 0);
}

#[tokio::test]
async fn memory_in_sum_is_limited() {
    let stage = Stage::new();
    let limits = Limits { memory_bytes: 64 * 1024 * 1024, ..Limits::default() };
    let sandbox = sandbox(with_tools(limited(&stage, limits), &["perl"])).await;
    let command = "for i in 1 2 3 4; do perl -e '$a = q(x) x 30_000_000; sleep 20' & done; wait";
    assert_eq!(run(&sandbox, command).await.end, End::MemoryLimit);
    let enough = run(&sandbox, "perl -e '$a = q(x) x 10_000_000'").await;
    assert!(enough.success(), "{}", text(&enough));
}

#[tokio::test]
async fn the_memory_of_one_process_is_limited_by_the_kernel() {
    let stage = Stage::new();
    let limits = Limits { address_space_bytes: 128 * 1024 * 1024, ..Limits::default() };
    let sandbox = sandbox(with_tools(limited(&stage, limits), &["perl"])).await;
    let said = failure(&sandbox, "perl -e '$a = q(x) x 200_000_000; print q(got it)'").await;
    assert!(!said.contains("got it"), "{said}");
}

#[tokio::test]
async fn a_storm_of_processes_is_stopped() {
    let stage = Stage::new();
    let sandbox = sandbox(limited(&stage, Limits { timeout_seconds: 5, processes: 64, ..Limits::default() })).await;
    let mark = mark(1);
    // Two thousand processes: a storm without an end would be one for the machine if this test failed.
    let storm = format!(
        "storm() {{ if [ $1 -gt 0 ]; then storm $(($1 - 1)) & storm $(($1 - 1)) & fi; sleep {mark}; }}; storm 10"
    );
    let outcome = run(&sandbox, &storm).await;
    assert_ne!(outcome.end, End::Exited(0), "{}", text(&outcome));
    assert!(!crate::is_running(&mark), "part of the storm survived");
}

#[tokio::test]
async fn the_kernel_gives_out_no_more_process_numbers_than_allowed_but_gives_them_again() {
    let stage = Stage::new();
    let sandbox = sandbox(limited(&stage, Limits { processes: 64, ..Limits::default() })).await;
    assert!(sandbox.report().weaknesses.is_empty(), "{:?}", sandbox.report());
    let each = "i=0; while [ $i -lt 600 ]; do sh -c 'echo $$'; i=$((i + 1)); done";
    let numbers = crate::output(&sandbox, each).await;
    let numbers: Vec<u32> = numbers.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(numbers.len(), 600);
    // 300 numbers that are given out once, 64 processes, and the support process.
    assert!(numbers.iter().max() <= Some(&366), "{:?}", numbers.iter().max());
}

#[tokio::test]
async fn a_file_is_no_larger_than_allowed() {
    let stage = Stage::new();
    let sandbox = sandbox(limited(&stage, Limits { file_bytes: 100_000, ..Limits::default() })).await;
    failure(&sandbox, "head -c 200000 /dev/zero > large").await;
    assert_eq!(std::fs::metadata(stage.read_write.join("large")).unwrap().len(), 100_000);
}

#[tokio::test]
async fn the_number_of_open_files_and_the_processor_time_are_limited() {
    let stage = Stage::new();
    let limits = Limits { open_files: 32, timeout_seconds: 7, ..Limits::default() };
    let sandbox = sandbox(limited(&stage, limits)).await;
    assert_eq!(crate::output(&sandbox, "ulimit -n; ulimit -t; ulimit -c").await, "32\n7\n0\n");
    failure(&sandbox, "ulimit -n 64").await;
}

#[tokio::test]
async fn a_limit_of_zero_is_refused() {
    let stage = Stage::new();
    let refused = crate::refusal(limited(&stage, Limits { open_files: 0, ..Limits::default() })).await;
    assert!(matches!(refused, SandboxError::Profile(ProfileError::ZeroLimit("open_files"))), "{refused}");
}

#[tokio::test]
async fn what_is_no_command_is_refused() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.reading()).await;
    for command in ["", " \n", "echo a\0b", &"x".repeat(16_001)] {
        let refused = sandbox.run(command, None, &CancellationToken::new()).await;
        assert!(matches!(refused, Err(SandboxError::Command(_))), "{refused:?}");
    }
    assert!(run(&sandbox, &format!("echo {}", "ä".repeat(15_000))).await.success());
}
