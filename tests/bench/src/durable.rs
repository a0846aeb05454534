//! What a durable step costs on SQLite, beside what the disk asks for by itself, in the same run.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use toolwright_workflow::{Catalogue, Claim, Lease, Location, NewOperation, SystemClock};

use crate::report::Report;

const ROUNDS: i64 = 1000;
/// The median of a commit.
const TARGET: Duration = Duration::from_millis(2);

/// Commits of steps with an effect: the announcement, which waits for the disk, and the result, which does not.
pub(crate) async fn steps(report: &mut Report) -> anyhow::Result<()> {
    // On the disk of the build: a temporary folder may be in memory, which would say nothing.
    let program = std::env::current_exe()?;
    let folder = tempfile::tempdir_in(program.parent().context("the folder of this program")?)?;
    let mut bench = Bench::open(folder.path()).await?;
    let (mut disk, mut announced, mut finished) = (Vec::new(), Vec::new(), Vec::new());
    // Rounds of all kinds, so that a busy disk is busy for each of them.
    for round in 0..ROUNDS {
        disk.push(bench.append()?);
        let (announce, finish) = bench.step(round).await?;
        announced.push(announce);
        finished.push(finish);
    }
    let disk = Spread::of(disk);
    report.row("append 512 bytes, fdatasync", disk.shown(), "the disk's own", true);
    for (what, times) in [("durable step, announced", announced), ("durable step, finished", finished)] {
        let times = Spread::of(times);
        report.row(what, times.shown(), "p50 <= 2 ms", times.median <= TARGET);
    }
    Ok(())
}

struct Bench {
    file: File,
    catalogue: Catalogue,
    lease: Lease,
    payload: Value,
}

impl Bench {
    async fn open(folder: &Path) -> anyhow::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(folder.join("file"))?;
        let location = Location::Sqlite { folder: folder.join("operations") };
        let catalogue = Catalogue::open(&location, Arc::new(SystemClock), 1 << 20).await?;
        let made = catalogue.create(&NewOperation::new("bench", "bench", json!(null))).await?;
        match catalogue.claim(&made.id, "bench", Duration::from_secs(3600), 5).await? {
            Claim::Held(lease, _) => Ok(Bench { file, catalogue, lease, payload: json!("x".repeat(510)) }),
            other => bail!("the operation cannot be claimed: {other:?}"),
        }
    }

    fn append(&mut self) -> anyhow::Result<Duration> {
        let text = self.payload.to_string();
        let began = Instant::now();
        self.file.write_all(text.as_bytes())?;
        self.file.sync_data()?;
        Ok(began.elapsed())
    }

    async fn step(&self, seq: i64) -> anyhow::Result<(Duration, Duration)> {
        let began = Instant::now();
        self.catalogue.announce_step(&self.lease, seq, "effect", None).await?;
        let announced = began.elapsed();
        self.catalogue.finish_step(&self.lease, seq, &self.payload).await?;
        Ok((announced, began.elapsed() - announced))
    }
}

struct Spread {
    median: Duration,
    p99: Duration,
}

impl Spread {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |index: usize| times.get(index).copied().unwrap_or_default();
        Spread { median: at(times.len() / 2), p99: at(times.len() * 99 / 100) }
    }

    fn shown(&self) -> String {
        format!("p50 {:.2?}, p99 {:.2?}", self.median, self.p99)
    }
}
