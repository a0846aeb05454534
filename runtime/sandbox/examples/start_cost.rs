//! Prints what the start of a sandbox costs, against the start of `/bin/true` alone.
//!
//! `cargo run --release -p toolwright-sandbox --example start_cost`
#![allow(clippy::expect_used, reason = "an example may stop with a message")]

use std::process::Command;
use std::time::{Duration, Instant};
use toolwright_sandbox::{CancellationToken, Profile, Root, Sandbox, Support, run_support_if_asked};

const ROUNDS: usize = 200;

fn main() {
    run_support_if_asked();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(measure());
}

async fn measure() {
    let begun = Instant::now();
    let folder = std::env::temp_dir().join("toolwright-sandbox-start-cost");
    std::fs::create_dir_all(&folder).expect("a folder");
    let sandbox =
        Sandbox::new(Profile::new([Root::read_only(&folder)]), Support::this_program()).await.expect("a sandbox");
    println!("level {}, made once in {:.1} ms", sandbox.report().level, milliseconds(begun.elapsed()));
    let (mut bare, mut boxed) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        assert!(Command::new("/bin/true").status().expect("a process").success(), "/bin/true failed");
        bare.push(begun.elapsed());
        let outcome = sandbox.run(":", None, &CancellationToken::new()).await.expect("an outcome");
        assert!(outcome.success(), "the command failed: {outcome:?}");
        boxed.push(outcome.elapsed);
    }
    report("bare /bin/true", &mut bare);
    report("sandboxed `:`", &mut boxed);
}

fn report(name: &str, times: &mut [Duration]) {
    times.sort();
    let at = |share: usize| milliseconds(times.get(times.len() * share / 100).copied().unwrap_or_default());
    println!("{name:<16} median {:>6.2} ms   p95 {:>6.2} ms", at(50), at(95));
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
