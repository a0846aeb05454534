//! `cargo xtask bench`: every number of the project, measured against its target in one run.
//!
//! Times are printed and never asserted: a timing is not a test. Sizes that must hold are tests in `tests/e2e`.

mod calls;
mod memory;
mod process;
mod report;
mod start;
mod upstream;

use anyhow::Context as _;
use report::Report;
use toolwright_e2e::{Profile, build};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    // reqwest has no provider of its own here; the servers under test bring theirs.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A server built elsewhere, such as the static one of the image, can be named; else it is built here.
    let server = match std::env::args_os().nth(1) {
        Some(path) => path.into(),
        None => build("localai-server", Profile::Release).context("the server under test")?,
    };
    let echo = build_echo()?;
    let mut report = Report::default();
    start::listing(&server, &mut report).await?;
    start::start(&server, &mut report).await?;
    calls::measure(&server, &echo, &mut report).await?;
    memory::large_answer(&server, &mut report).await?;
    start::regenerate(&mut report)?;
    report.print();
    Ok(())
}

/// The yardstick is built beside this binary, in the same profile.
fn build_echo() -> anyhow::Result<std::path::PathBuf> {
    let this = std::env::current_exe()?;
    let echo = this.with_file_name("echo-server");
    anyhow::ensure!(echo.exists(), "echo-server is not built; run `cargo xtask bench`");
    Ok(echo)
}
