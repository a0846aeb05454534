//! `cargo xtask bench`: every number of the project, measured against its target in one run.
//!
//! Times are printed and never asserted: a timing is not a test. Sizes that must hold are tests in `tests/e2e`.

mod calls;
mod durable;
mod memory;
mod pages;
mod process;
mod report;
mod sandbox;
mod settings;
mod start;
mod upstream;

use anyhow::Context as _;
use report::Report;
use toolwright_e2e::{Profile, build};

fn main() -> anyhow::Result<()> {
    // The sandbox starts this program again; before any thread.
    toolwright_sandbox::run_support_if_asked();
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(measure())
}

async fn measure() -> anyhow::Result<()> {
    // reqwest has no provider of its own here; the servers under test bring theirs.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A server built elsewhere, such as the static one of the image, can be named; else it is built here.
    let server = match std::env::args_os().nth(1) {
        Some(path) => path.into(),
        None => build("localai-server", Profile::Release).context("the server under test")?,
    };
    let (echo, wide) = (beside("echo-server")?, beside("wide-server")?);
    let mut report = Report::default();
    start::listing(&server, &mut report).await?;
    start::start(&server, &mut report).await?;
    let starter = build("starter-server", Profile::Release).context("the server with every executor")?;
    start::start_of_all(&starter, &mut report).await?;
    settings::read(&mut report)?;
    calls::measure(&server, &echo, &mut report).await?;
    pages::measure(&wide, &mut report).await?;
    memory::large_answer(&server, &mut report).await?;
    durable::steps(&mut report).await?;
    sandbox::start(&mut report).await?;
    start::regenerate(&mut report)?;
    report.print();
    Ok(())
}

/// The yardstick and the wide server are built beside this binary, in the same profile.
fn beside(name: &str) -> anyhow::Result<std::path::PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    anyhow::ensure!(path.exists(), "{name} is not built; run `cargo xtask bench`");
    Ok(path)
}
