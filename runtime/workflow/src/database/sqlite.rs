//! SQLite, on a thread of its own: its calls block, and one connection writes at a time anyway.

use std::fs::{DirBuilder, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, types::ValueRef};
use tokio::sync::{mpsc, oneshot};

use super::{Outlives, Row, Statement, Value, schema};
use crate::Error;

/// The database file in its folder.
const FILE: &str = "operations.sqlite3";
/// How long a statement waits for another process that writes.
const BUSY: Duration = Duration::from_secs(5);
/// Jobs that wait for the thread; more than that wait for a place.
const QUEUE: usize = 64;

/// Prepared statements that are kept: more than there are.
const STATEMENTS: usize = 64;

type Answer = Result<Option<Vec<Row>>, Error>;

enum Job {
    Run { commit: Outlives, statements: Vec<Statement>, conditional: bool, answer: oneshot::Sender<Answer> },
    Close { answer: oneshot::Sender<Result<(), Error>> },
}

/// A connection on its thread. The thread ends with the last of its senders.
#[derive(Debug)]
pub(crate) struct Sqlite {
    jobs: mpsc::Sender<Job>,
}

impl Sqlite {
    pub(crate) async fn open(folder: PathBuf) -> Result<Self, Error> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let (opened, is_open) = oneshot::channel();
        let place = folder.clone();
        std::thread::Builder::new()
            .name("workflow-sqlite".to_owned())
            .spawn(move || match connect(&folder) {
                Ok(connection) => {
                    // Nobody waits any more where this fails, and then the queue is closed as well.
                    let _ = opened.send(Ok(()));
                    serve(connection, queue);
                }
                Err(error) => drop(opened.send(Err(error))),
            })
            .map_err(|source| Error::Folder { path: place, source })?;
        is_open.await.map_err(|_| Error::Closed)??;
        Ok(Sqlite { jobs })
    }

    /// A job that was taken runs to its end, even where nobody waits for its answer any more.
    pub(crate) async fn run(&self, commit: Outlives, statements: Vec<Statement>, conditional: bool) -> Answer {
        let (answer, answered) = oneshot::channel();
        self.jobs.send(Job::Run { commit, statements, conditional, answer }).await.map_err(|_| Error::Closed)?;
        answered.await.map_err(|_| Error::Closed)?
    }

    pub(crate) async fn close(&self) -> Result<(), Error> {
        let (answer, answered) = oneshot::channel();
        if self.jobs.send(Job::Close { answer }).await.is_err() {
            return Ok(());
        }
        answered.await.unwrap_or(Ok(()))
    }
}

fn connect(folder: &Path) -> Result<Connection, Error> {
    make_folder(folder)?;
    let file = folder.join(FILE);
    make_file(&file)?;
    let mut connection = Connection::open(&file)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "journal_mode", "WAL")?;
    synchronise(&connection, Outlives::PowerCut)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(schema::TABLES)?;
    transaction.execute(schema::WRITE_FORMAT, ())?;
    schema::check_format(transaction.query_row(schema::READ_FORMAT, (), |row| row.get(0))?)?;
    transaction.commit()?;
    Ok(connection)
}

/// With a write-ahead log, NORMAL leaves it to the next FULL commit to bring the log to the disk; the order stays.
fn synchronise(connection: &Connection, commit: Outlives) -> Result<(), Error> {
    let mode = match commit {
        Outlives::Process => "NORMAL",
        Outlives::PowerCut => "FULL",
    };
    Ok(connection.pragma_update(None, "synchronous", mode)?)
}

fn make_folder(folder: &Path) -> Result<(), Error> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|source| Error::Folder { path: folder.to_owned(), source })
}

/// SQLite gives its other files the mode of this one, so nobody else reads them, whatever the folder allows.
fn make_file(file: &Path) -> Result<(), Error> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop).map_err(|source| Error::Folder { path: file.to_owned(), source })
}

fn serve(mut connection: Connection, mut queue: mpsc::Receiver<Job>) {
    while let Some(job) = queue.blocking_recv() {
        match job {
            Job::Run { commit, statements, conditional, answer } => {
                let found =
                    synchronise(&connection, commit).and_then(|()| run(&mut connection, &statements, conditional));
                // Whoever asked may have been cancelled meanwhile; the work is done all the same.
                drop(answer.send(found));
            }
            Job::Close { answer } => {
                queue.close();
                let closed = connection.close().map_err(|(_, error)| Error::Sqlite(error));
                drop(answer.send(closed));
                return;
            }
        }
    }
}

fn run(connection: &mut Connection, statements: &[Statement], conditional: bool) -> Answer {
    if let ([statement], false) = (statements, conditional) {
        return Ok(Some(rows(connection, statement)?));
    }
    // Immediate: a transaction that reads first and writes later could find that it must not write.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut found = Vec::new();
    for statement in statements {
        found = rows(&transaction, statement)?;
        if conditional && found.is_empty() {
            transaction.rollback()?;
            return Ok(None);
        }
    }
    transaction.commit()?;
    Ok(Some(found))
}

fn rows(connection: &Connection, statement: &Statement) -> Result<Vec<Row>, Error> {
    let mut prepared = connection.prepare_cached(statement.sql)?;
    for (index, value) in statement.values.iter().enumerate() {
        match value {
            Value::Integer(number) => prepared.raw_bind_parameter(index + 1, number)?,
            Value::Text(text) => prepared.raw_bind_parameter(index + 1, text)?,
        }
    }
    let columns = prepared.column_count();
    let mut found = Vec::new();
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next()? {
        let values = (0..columns).map(|column| value(row.get_ref(column)?));
        found.push(Row::new(values.collect::<Result<_, Error>>()?));
    }
    Ok(found)
}

fn value(found: ValueRef<'_>) -> Result<Value, Error> {
    match found {
        ValueRef::Null => Ok(Value::Text(None)),
        ValueRef::Integer(number) => Ok(Value::Integer(Some(number))),
        ValueRef::Text(bytes) => {
            let text = std::str::from_utf8(bytes).map_err(|fault| Error::Corrupt { what: fault.to_string() })?;
            Ok(Value::Text(Some(text.to_owned())))
        }
        ValueRef::Real(_) | ValueRef::Blob(_) => {
            Err(Error::Corrupt { what: "a value that is neither a number nor a text".to_owned() })
        }
    }
}
