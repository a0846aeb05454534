//! A database that runs statements of one dialect: SQLite on a thread of its own, or PostgreSQL.
//!
//! The SQL is written once. Placeholders are `?1`, `?2`, ..; integers are 64 bits wide, everything else is text.

use std::{fmt, path::PathBuf};

use crate::Error;

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod postgres_address;
mod schema;
mod sqlite;

/// Where operations are kept.
#[derive(Clone)]
pub enum Location {
    /// The file `operations.sqlite3` in a folder of this machine, which is made where it is missing (mode 0700).
    Sqlite {
        /// The folder.
        folder: PathBuf,
    },
    /// A schema of a PostgreSQL database, which is made where it is missing. Needs the feature `postgres`.
    Postgres {
        /// Connection URL. To another host the connection is encrypted, unless the URL says `sslmode=disable`.
        url: String,
        /// The schema: a lower-case letter, then up to 62 lower-case letters, digits and underscores.
        schema: String,
        /// Certificates of the authorities to trust instead of the public ones, as a PEM file.
        authorities: Option<PathBuf>,
    },
}

impl fmt::Debug for Location {
    /// Without the URL, which holds a password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Sqlite { folder } => formatter.debug_struct("Sqlite").field("folder", folder).finish(),
            Location::Postgres { schema, .. } => {
                formatter.debug_struct("Postgres").field("schema", schema).finish_non_exhaustive()
            }
        }
    }
}

/// A value of a column or placeholder. The type counts even where there is no value: PostgreSQL asks for it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Integer(Option<i64>),
    Text(Option<String>),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Integer(Some(number))
    }
}

impl From<Option<i64>> for Value {
    fn from(number: Option<i64>) -> Self {
        Value::Integer(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Integer(Some(i64::from(flag)))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::from(Some(text))
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Value::from(text.as_str())
    }
}

impl From<Option<&str>> for Value {
    /// PostgreSQL takes no NUL in a text, so it is replaced in both databases.
    fn from(text: Option<&str>) -> Self {
        Value::Text(text.map(|text| text.replace('\0', "\u{fffd}")))
    }
}

/// What a commit must outlive. Either way the commits that outlive something are all those up to one of them, never a
/// later one without an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outlives {
    /// The death of the process. Enough for what is found out again by the steps, or binds only workers of this machine.
    Process,
    /// A power cut as well: before something happens outside, or before somebody is told. Costs a write of the disk.
    PowerCut,
}

/// One statement with the values of its placeholders.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub(crate) sql: &'static str,
    pub(crate) values: Vec<Value>,
}

/// A statement: `statement!(SQL, value, ..)`.
macro_rules! statement {
    ($sql:expr $(, $value:expr)* $(,)?) => {
        $crate::database::Statement { sql: $sql, values: vec![$($crate::database::Value::from($value)),*] }
    };
}
pub(crate) use statement;

/// The values of one row, taken from the left.
#[derive(Debug)]
pub(crate) struct Row(std::vec::IntoIter<Value>);

impl Row {
    pub(crate) fn new(values: Vec<Value>) -> Self {
        Row(values.into_iter())
    }

    pub(crate) fn text(&mut self) -> Result<String, Error> {
        self.optional_text()?.ok_or_else(|| corrupt("a text is missing"))
    }

    pub(crate) fn optional_text(&mut self) -> Result<Option<String>, Error> {
        match self.0.next() {
            Some(Value::Text(text)) => Ok(text),
            // SQLite tells no type of a NULL.
            Some(Value::Integer(None)) => Ok(None),
            Some(Value::Integer(Some(_))) | None => Err(corrupt("no text where a text belongs")),
        }
    }

    pub(crate) fn integer(&mut self) -> Result<i64, Error> {
        self.optional_integer()?.ok_or_else(|| corrupt("a number is missing"))
    }

    pub(crate) fn optional_integer(&mut self) -> Result<Option<i64>, Error> {
        match self.0.next() {
            Some(Value::Integer(number)) => Ok(number),
            Some(Value::Text(None)) => Ok(None),
            Some(Value::Text(Some(_))) | None => Err(corrupt("no number where a number belongs")),
        }
    }
}

fn corrupt(what: &str) -> Error {
    Error::Corrupt { what: what.to_owned() }
}

/// An open database.
#[derive(Debug)]
pub(crate) enum Database {
    Sqlite(sqlite::Sqlite),
    #[cfg(feature = "postgres")]
    Postgres(Box<postgres::Postgres>),
}

impl Database {
    /// Opens the database and makes or checks its tables.
    pub(crate) async fn open(location: &Location) -> Result<Self, Error> {
        match location {
            Location::Sqlite { folder } => Ok(Database::Sqlite(sqlite::Sqlite::open(folder.clone()).await?)),
            #[cfg(feature = "postgres")]
            Location::Postgres { url, schema, authorities } => {
                let opened = postgres::Postgres::open(url, schema, authorities.as_deref()).await?;
                Ok(Database::Postgres(Box::new(opened)))
            }
            #[cfg(not(feature = "postgres"))]
            Location::Postgres { .. } => Err(Error::Setting {
                name: "database",
                problem: "this program was built without PostgreSQL: build it with the feature `postgres`".to_owned(),
            }),
        }
    }

    /// The rows of one statement, which is a transaction of its own.
    pub(crate) async fn rows(&self, commit: Outlives, statement: Statement) -> Result<Vec<Row>, Error> {
        let found = self.run(commit, vec![statement], false).await?;
        Ok(found.unwrap_or_default())
    }

    /// Runs the statements as one transaction, and answers with the rows of the last. As soon as one has no row, all of it
    /// is taken back and there is no answer: so each statement is the condition of those after it.
    pub(crate) async fn all(&self, commit: Outlives, statements: Vec<Statement>) -> Result<Option<Vec<Row>>, Error> {
        self.run(commit, statements, true).await
    }

    async fn run(
        &self,
        commit: Outlives,
        statements: Vec<Statement>,
        conditional: bool,
    ) -> Result<Option<Vec<Row>>, Error> {
        match self {
            Database::Sqlite(sqlite) => sqlite.run(commit, statements, conditional).await,
            // Workers elsewhere go on when the server's machine dies, so every commit must outlive it.
            #[cfg(feature = "postgres")]
            Database::Postgres(postgres) => postgres.run(&statements, conditional).await,
        }
    }

    /// Ends all work; later calls fail with [`Error::Closed`].
    pub(crate) async fn close(&self) -> Result<(), Error> {
        match self {
            Database::Sqlite(sqlite) => sqlite.close().await,
            #[cfg(feature = "postgres")]
            Database::Postgres(postgres) => postgres.close().await,
        }
    }
}
