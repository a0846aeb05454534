//! The tables, in words that both databases understand.

use crate::Error;

/// The format that this version writes. A change of the tables raises it, and says how the step before is brought up.
pub(super) const FORMAT: i64 = 1;

/// Makes what is missing; changes nothing that is there.
///
/// `lease_expires` without `lease_owner` is a time before which nobody shall claim the operation.
pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS format (version BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS operations (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    label TEXT NOT NULL,
    state TEXT NOT NULL,
    request TEXT NOT NULL,
    metadata TEXT NOT NULL,
    preview TEXT,
    question TEXT,
    result TEXT,
    error TEXT,
    message TEXT,
    idempotency_key TEXT,
    cancel_requested BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    lease_owner TEXT,
    lease_expires BIGINT,
    fence BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    tool_calls_used BIGINT NOT NULL,
    expires_at BIGINT,
    UNIQUE (owner, idempotency_key)
);
CREATE INDEX IF NOT EXISTS operations_by_state ON operations (state, created_at);
CREATE TABLE IF NOT EXISTS steps (
    operation_id TEXT NOT NULL REFERENCES operations (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    payload TEXT,
    fence BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (operation_id, seq)
);
";

/// Writes the format into a new database.
pub(super) const WRITE_FORMAT: &str =
    "INSERT INTO format (version) SELECT 1 WHERE NOT EXISTS (SELECT version FROM format)";
/// The format of the database.
pub(super) const READ_FORMAT: &str = "SELECT max(version) FROM format";

/// Refuses a database of a newer program, whose rows this one could read wrongly.
pub(super) fn check_format(found: i64) -> Result<(), Error> {
    if found > FORMAT { Err(Error::Newer { found, known: FORMAT }) } else { Ok(()) }
}
