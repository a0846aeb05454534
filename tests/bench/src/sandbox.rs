//! What a command in the sandbox costs, beside the same command without one, in the same run.

use std::{process::Command, time::Instant};

use anyhow::Context as _;
use toolwright_sandbox::{CancellationToken, Profile, Root, Sandbox, Support};

use crate::report::{Report, median};

const ROUNDS: usize = 200;

/// From the call to the end of a shell that does nothing, with the support process started anew for each.
pub(crate) async fn start(report: &mut Report) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let profile = Profile::new([Root::read_only(folder.path())]);
    let sandbox = Sandbox::new(profile, Support::this_program()).await.context("the sandbox")?;
    let (mut bare, mut confined) = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let status = Command::new("/bin/sh").args(["-c", ":"]).env_clear().status()?;
        bare.push(started.elapsed().as_secs_f64() * 1000.0);
        anyhow::ensure!(status.success(), "the shell failed: {status}");
        let started = Instant::now();
        let outcome = sandbox.run(":", None, &CancellationToken::new()).await?;
        confined.push(started.elapsed().as_secs_f64() * 1000.0);
        anyhow::ensure!(outcome.success(), "the command failed: {outcome:?}");
    }
    let (bare, confined) = (median(bare), median(confined));
    report.row("`sh -c :`, bare", format!("{bare:.2} ms"), "the yardstick", true);
    let shown = format!("{confined:.2} ms, {:.1} x, level {}", confined / bare, sandbox.report().level);
    report.row("the same in the sandbox", shown, "<= 15 ms", confined <= 15.0);
    Ok(())
}
