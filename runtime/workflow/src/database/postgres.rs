//! PostgreSQL over one connection, which is made anew when it broke.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use tokio::{sync::Mutex, time::timeout};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, GenericClient};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Row, Statement, Value, postgres_address, schema};
use crate::Error;

/// How long a connection may take to open, where the URL says nothing.
const CONNECT: Duration = Duration::from_secs(5);
/// How long one transaction may take, with its connection if need be.
const ANSWER: Duration = Duration::from_secs(15);

/// What a session must be like, whatever the database has as its defaults: each statement sees what was committed before
/// it, a commit that was answered is on the disk, and a worker that hangs holds no row for long.
const SESSION: &str = "
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET synchronous_commit = on;
SET lock_timeout = '5s';
SET statement_timeout = '10s';
SET idle_in_transaction_session_timeout = '10s';
";
/// Two programs that start at once must not make the same tables. The number is an arbitrary one of ours.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7806116521)";

/// A database, and the session with it while there is one.
pub(crate) struct Postgres {
    config: Config,
    tls: MakeRustlsConnect,
    schema: String,
    session: Mutex<Slot>,
}

enum Slot {
    Empty,
    Open(Box<Session>),
    Closed,
}

struct Session {
    client: Client,
    prepared: HashMap<&'static str, tokio_postgres::Statement>,
}

impl std::fmt::Debug for Postgres {
    /// Without the configuration, which holds a password.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Postgres").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Postgres {
    pub(crate) async fn open(url: &str, schema: &str, authorities: Option<&Path>) -> Result<Self, Error> {
        postgres_address::check_schema(schema)?;
        let mut config = postgres_address::configuration(url)?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        let tls = postgres_address::tls(authorities)?;
        let postgres = Postgres { config, tls, schema: schema.to_owned(), session: Mutex::new(Slot::Empty) };
        timeout(ANSWER, postgres.make_tables()).await.map_err(|_| Error::Slow(ANSWER))??;
        Ok(postgres)
    }

    /// After a fault the session is given up: nobody knows what it still does, and the next call opens another.
    pub(crate) async fn run(&self, statements: &[Statement], conditional: bool) -> Result<Option<Vec<Row>>, Error> {
        let mut slot = self.session.lock().await;
        let work = async {
            let session = self.session(&mut slot).await?;
            session.run(statements, conditional).await
        };
        let answer = timeout(ANSWER, work).await.unwrap_or(Err(Error::Slow(ANSWER)));
        if matches!(answer, Err(Error::Postgres(_) | Error::Slow(_))) {
            *slot = Slot::Empty;
        }
        answer
    }

    pub(crate) async fn close(&self) -> Result<(), Error> {
        *self.session.lock().await = Slot::Closed;
        Ok(())
    }

    async fn session<'slot>(&self, slot: &'slot mut Slot) -> Result<&'slot mut Session, Error> {
        match slot {
            Slot::Closed => return Err(Error::Closed),
            Slot::Open(session) if !session.client.is_closed() => {}
            Slot::Open(_) | Slot::Empty => *slot = Slot::Open(Box::new(self.connect().await?)),
        }
        match slot {
            Slot::Open(session) => Ok(session),
            Slot::Empty | Slot::Closed => Err(Error::Closed),
        }
    }

    async fn connect(&self) -> Result<Session, Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::warn!(error = %Error::Postgres(error), "workflow.connection_lost");
            }
        });
        client.batch_execute(SESSION).await?;
        // The name holds nothing that a quoted name could end with: it was checked.
        client.batch_execute(&format!("SET search_path TO \"{}\"", self.schema)).await?;
        Ok(Session { client, prepared: HashMap::new() })
    }

    async fn make_tables(&self) -> Result<(), Error> {
        let mut session = self.connect().await?;
        let transaction = session.client.transaction().await?;
        transaction.batch_execute(LOCK).await?;
        // Not `IF NOT EXISTS`: that asks for the right to make schemas even where there is nothing to make.
        let known = transaction.query("SELECT nspname FROM pg_namespace WHERE nspname = $1", &[&self.schema]).await?;
        if known.is_empty() {
            transaction.batch_execute(&format!("CREATE SCHEMA \"{}\"", self.schema)).await?;
        }
        transaction.batch_execute(schema::TABLES).await?;
        transaction.execute(schema::WRITE_FORMAT, &[]).await?;
        schema::check_format(transaction.query_one(schema::READ_FORMAT, &[]).await?.try_get(0)?)?;
        transaction.commit().await?;
        *self.session.lock().await = Slot::Open(Box::new(session));
        Ok(())
    }
}

impl Session {
    async fn run(&mut self, statements: &[Statement], conditional: bool) -> Result<Option<Vec<Row>>, Error> {
        for statement in statements {
            self.prepare(statement).await?;
        }
        let Session { client, prepared } = self;
        if let ([statement], false) = (statements, conditional) {
            return Ok(Some(rows(&*client, prepared, statement).await?));
        }
        // Dropped before its commit, whether by a fault or a cancelled call, a transaction rolls back.
        let transaction = client.transaction().await?;
        let mut found = Vec::new();
        for statement in statements {
            found = rows(&transaction, prepared, statement).await?;
            if conditional && found.is_empty() {
                transaction.rollback().await?;
                return Ok(None);
            }
        }
        transaction.commit().await?;
        Ok(Some(found))
    }

    async fn prepare(&mut self, statement: &Statement) -> Result<(), Error> {
        if self.prepared.contains_key(statement.sql) {
            return Ok(());
        }
        let types: Vec<Type> = statement.values.iter().map(column_type).collect();
        let prepared = self.client.prepare_typed(&statement.sql.replace('?', "$"), &types).await?;
        self.prepared.insert(statement.sql, prepared);
        Ok(())
    }
}

fn column_type(value: &Value) -> Type {
    match value {
        Value::Integer(_) => Type::INT8,
        Value::Text(_) => Type::TEXT,
    }
}

async fn rows(
    client: &(impl GenericClient + Sync),
    prepared: &HashMap<&'static str, tokio_postgres::Statement>,
    statement: &Statement,
) -> Result<Vec<Row>, Error> {
    let query = prepared.get(statement.sql).ok_or(Error::Closed)?;
    let values: Vec<&(dyn ToSql + Sync)> = statement.values.iter().map(parameter).collect();
    client.query(query, &values).await?.iter().map(row).collect()
}

fn parameter(value: &Value) -> &(dyn ToSql + Sync) {
    match value {
        Value::Integer(number) => number,
        Value::Text(text) => text,
    }
}

fn row(found: &tokio_postgres::Row) -> Result<Row, Error> {
    let value = |(at, column): (usize, &tokio_postgres::Column)| match column.type_() {
        &Type::INT8 => Ok(Value::Integer(found.try_get(at)?)),
        &Type::TEXT => Ok(Value::Text(found.try_get(at)?)),
        other => Err(Error::Corrupt { what: format!("a column of type {other}") }),
    };
    Ok(Row::new(found.columns().iter().enumerate().map(value).collect::<Result<_, Error>>()?))
}
