//! What a durable step costs on SQLite, beside what the disk and SQLite ask for by themselves, in the same run.
//!
//!     cargo run --release -p toolwright-workflow --example step_commit -- [FOLDER]
//!
//! The folder decides on which disk it is measured; a temporary folder in memory would say nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};
use toolwright_workflow::{Catalogue, Claim, Lease, Location, NewOperation, SystemClock};

const ROUNDS: i64 = 1000;
const TARGET: Duration = Duration::from_millis(2);

#[tokio::main]
async fn main() {
    let base = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, Into::into);
    let folder = tempfile::tempdir_in(base).unwrap();
    let mut measured = Measured::open(folder.path()).await;
    // Rounds of all kinds, so that a busy disk is busy for each of them.
    for round in 0..ROUNDS {
        measured.round(round).await;
    }
    measured.print();
}

struct Measured {
    file: File,
    plain: Connection,
    catalogue: Catalogue,
    lease: Lease,
    payload: Value,
    times: [(&'static str, Vec<Duration>); 5],
}

impl Measured {
    async fn open(folder: &Path) -> Self {
        let file = OpenOptions::new().append(true).create(true).open(folder.join("file")).unwrap();
        let plain = Connection::open(folder.join("plain.sqlite3")).unwrap();
        plain.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;").unwrap();
        plain.execute_batch("CREATE TABLE steps (seq INTEGER PRIMARY KEY, payload TEXT NOT NULL)").unwrap();
        let location = Location::Sqlite { folder: folder.join("operations") };
        let catalogue = Catalogue::open(&location, Arc::new(SystemClock), 1 << 20).await.unwrap();
        let made = catalogue.create(&NewOperation::new("bench", "bench", json!(null))).await.unwrap();
        let claim = catalogue.claim(&made.id, "bench", Duration::from_secs(3600), 5).await.unwrap();
        let Claim::Held(lease, _) = claim else { unreachable!("nobody else is here") };
        let payload = json!({ "text": "x".repeat(500) });
        let names = [
            "append 512 bytes to a file, fdatasync",
            "plain INSERT, its own commit",
            "step without effect: record",
            "step with effect: announce",
            "step with effect: finish",
        ];
        Measured { file, plain, catalogue, lease, payload, times: names.map(|name| (name, Vec::new())) }
    }

    async fn round(&mut self, round: i64) {
        let text = self.payload.to_string();
        let began = Instant::now();
        self.file.write_all(text.as_bytes()).unwrap();
        self.file.sync_data().unwrap();
        self.times[0].1.push(began.elapsed());

        let began = Instant::now();
        let mut insert = self.plain.prepare_cached("INSERT INTO steps (payload) VALUES (?1)").unwrap();
        insert.execute([&text]).unwrap();
        drop(insert);
        self.times[1].1.push(began.elapsed());

        let (catalogue, lease, seq) = (&self.catalogue, &self.lease, round * 2);
        let began = Instant::now();
        catalogue.record_step(lease, seq, "compute", &self.payload).await.unwrap();
        self.times[2].1.push(began.elapsed());

        let began = Instant::now();
        catalogue.announce_step(lease, seq + 1, "effect", None).await.unwrap();
        self.times[3].1.push(began.elapsed());

        let began = Instant::now();
        catalogue.finish_step(lease, seq + 1, &self.payload).await.unwrap();
        self.times[4].1.push(began.elapsed());
    }

    fn print(&mut self) {
        println!(
            "{ROUNDS} rounds; target: p50 of a commit at most {TARGET:?}. An announcement waits for the disk, so it"
        );
        println!("cannot be faster than an fdatasync of that disk; the last column is what comes on top.\n");
        println!("| what | p50 | p95 | max | target | p50 above fdatasync |\n|---|---|---|---|---|---|");
        let mut disk = None;
        for (at, (name, times)) in self.times.iter_mut().enumerate() {
            times.sort_unstable();
            let (p50, p95, max) = (times[times.len() / 2], times[times.len() * 95 / 100], times[times.len() - 1]);
            let disk = *disk.get_or_insert(p50);
            let met = match p50 <= TARGET {
                _ if at < 2 => "–",
                true => "met",
                false => "MISSED",
            };
            let above = p50.saturating_sub(disk);
            println!("| {name} | {p50:.2?} | {p95:.2?} | {max:.2?} | {met} | {above:.2?} |");
        }
    }
}
