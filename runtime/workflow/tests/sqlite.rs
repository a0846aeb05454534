//! The suite on SQLite, and what only a file can show.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use suite::runtime::{until, until_running, watched};
use tempfile::TempDir;
use toolwright_workflow::{Catalogue, Error, Location, NewOperation, Runtime, Settings, SystemClock};

mod suite;

/// A database of its own for one test.
pub(crate) struct Place {
    pub(crate) location: Location,
    /// How a child process is told of it.
    pub(crate) name: String,
    _folder: TempDir,
}

pub(crate) fn place() -> Place {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("state/workflow");
    Place { location: named(path.to_str().unwrap()), name: path.to_str().unwrap().to_owned(), _folder: folder }
}

pub(crate) fn named(name: &str) -> Location {
    Location::Sqlite { folder: PathBuf::from(name) }
}

async fn open(location: &Location) -> Result<Catalogue, Error> {
    Catalogue::open(location, Arc::new(SystemClock), 1000).await
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_may_read_the_folder_or_a_file_in_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = place();
    let catalogue = open(&place.location).await.unwrap();
    catalogue.recoverable(1).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(Path::new(&place.name)), 0o700);
    let files: Vec<_> = std::fs::read_dir(&place.name).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 1, "the write-ahead log is there: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_refused() {
    let place = place();
    open(&place.location).await.unwrap().close().await.unwrap();
    let file = Path::new(&place.name).join("operations.sqlite3");
    rusqlite::Connection::open(file).unwrap().execute("UPDATE format SET version = 2", ()).unwrap();
    let text = open(&place.location).await.err().unwrap().to_string();
    assert_eq!(text, "the operations have format 2, and this program knows formats up to 1: use the newer program");
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_named() {
    let place = place();
    std::fs::create_dir_all(Path::new(&place.name).parent().unwrap()).unwrap();
    std::fs::write(&place.name, "a file").unwrap();
    let text = open(&place.location).await.err().unwrap().to_string();
    assert!(text.starts_with(&format!("workflow folder {}: ", place.name)), "{text}");
}

#[cfg(not(feature = "postgres"))]
#[tokio::test]
async fn without_the_feature_postgresql_is_refused_with_a_remedy() {
    let location = Location::Postgres { url: "postgres://x".to_owned(), schema: "x".to_owned(), authorities: None };
    let text = open(&location).await.err().unwrap().to_string();
    assert!(text.ends_with("build it with the feature `postgres`"), "{text}");
}

#[tokio::test]
async fn a_heartbeat_that_another_writer_keeps_waiting_ends_the_run_while_the_lease_still_lasts() {
    let place = place();
    let (began, ended) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (lease, heartbeat) = (Duration::from_secs(3), Duration::from_millis(100));
    let settings = Settings { lease, heartbeat, ..Settings::new("test") };
    let runtime = Runtime::start(watched(&began, &ended), place.location.clone(), settings).await.unwrap();
    runtime.submit(NewOperation::new("ada", "", serde_json::json!(null))).await.unwrap();
    until_running(&began).await;
    let writer = rusqlite::Connection::open(Path::new(&place.name).join("operations.sqlite3")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let held = Instant::now();
    until("the end of the run", async || ended.load(Ordering::SeqCst) == 1).await;
    assert!(held.elapsed() < lease, "the run went on for {:?}", held.elapsed());
}
