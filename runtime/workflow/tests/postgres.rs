//! The suite on PostgreSQL, and what only a server can show. `tests/postgres/run` starts the server and this.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use toolwright_workflow::{Catalogue, Error, Location, SystemClock};

mod suite;

const URL: &str = "TOOLWRIGHT_TEST_POSTGRES";
static PLACES: AtomicU32 = AtomicU32::new(0);

/// A schema of its own for one test.
pub(crate) struct Place {
    pub(crate) location: Location,
    /// How a child process is told of it.
    pub(crate) name: String,
}

pub(crate) fn place() -> Place {
    let name = format!("test_{}_{}", std::process::id(), PLACES.fetch_add(1, Ordering::Relaxed));
    Place { location: named(&name), name }
}

pub(crate) fn named(name: &str) -> Location {
    Location::Postgres { url: url(), schema: name.to_owned(), authorities: None }
}

fn url() -> String {
    std::env::var(URL).unwrap_or_else(|_| panic!("{URL} holds no database: run tests/postgres/run"))
}

async fn open(location: &Location) -> Result<Catalogue, Error> {
    Catalogue::open(location, Arc::new(SystemClock), 1000).await
}

/// A connection past the catalogue.
async fn client() -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(&url(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_refused() {
    let place = place();
    open(&place.location).await.unwrap();
    client().await.batch_execute(&format!("UPDATE {}.format SET version = 2", place.name)).await.unwrap();
    assert!(matches!(open(&place.location).await, Err(Error::Newer { found: 2, known: 1 })));
}

#[tokio::test]
async fn a_broken_connection_costs_one_call() {
    let place = place();
    let catalogue = open(&place.location).await.unwrap();
    catalogue.recoverable(1).await.unwrap();
    // Other tests have connections too: only the one that waits for this schema's lock is cut.
    let cut = "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation \
        JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND NOT l.granted";
    let locker = client().await;
    let lock = format!("BEGIN; LOCK TABLE {}.operations IN ACCESS EXCLUSIVE MODE", place.name);
    locker.batch_execute(&lock).await.unwrap();
    let waiting = tokio::spawn(async move { (catalogue.recoverable(1).await, catalogue) });
    let killer = client().await;
    while killer.query(cut, &[&place.name]).await.unwrap().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let (broken, catalogue) = waiting.await.unwrap();
    drop(locker);
    assert!(matches!(broken, Err(Error::Postgres(_))), "{broken:?}");
    assert_eq!(catalogue.recoverable(1).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn programs_that_start_at_once_make_the_tables_once() {
    let place = place();
    let all = (0..8).map(|_| {
        let location = place.location.clone();
        tokio::spawn(async move { open(&location).await.map(drop) })
    });
    for one in all.collect::<Vec<_>>() {
        one.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_fault_that_names_no_password() {
    let url = "postgres://user:geheim@127.0.0.1:1/x".to_owned();
    let location = Location::Postgres { url, schema: "x".to_owned(), authorities: None };
    let text = open(&location).await.err().unwrap().to_string();
    assert!(text.starts_with("PostgreSQL: error connecting to server"), "{text}");
    assert!(!format!("{text}{location:?}").contains("geheim"));
}

/// The server as it is reached over the network, with what the URL says about encryption.
fn remote(schema: &str, query: &str, authorities: Option<PathBuf>) -> Location {
    let url = std::env::var("TOOLWRIGHT_TEST_POSTGRES_TLS").unwrap() + query;
    Location::Postgres { url, schema: schema.to_owned(), authorities }
}

fn authority() -> Option<PathBuf> {
    Some(std::env::var_os("TOOLWRIGHT_TEST_POSTGRES_AUTHORITY").unwrap().into())
}

#[tokio::test]
async fn a_connection_is_encrypted_to_a_server_that_an_authority_vouches_for() {
    open(&remote(&place().name, "?sslmode=require&channel_binding=require", authority())).await.unwrap();
}

#[tokio::test]
async fn a_server_that_no_authority_vouches_for_is_refused() {
    let text = open(&remote(&place().name, "?sslmode=require", None)).await.err().unwrap().to_string();
    assert!(text.starts_with("PostgreSQL: error performing TLS handshake: invalid peer certificate"), "{text}");
}

#[tokio::test]
async fn within_the_machine_a_connection_is_plain_unless_the_url_wants_it_otherwise() {
    let text = open(&remote(&place().name, "", authority())).await.err().unwrap().to_string();
    assert!(text.contains("no encryption"), "the server takes nothing plain: {text}");
}

#[tokio::test]
async fn a_file_without_certificates_is_refused() {
    let text =
        open(&remote(&place().name, "?sslmode=require", Some("/dev/null".into()))).await.err().unwrap().to_string();
    assert!(text.ends_with("/dev/null: holds no certificate: it must be a PEM file"), "{text}");
}
