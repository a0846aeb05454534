//! A task as the store has it.

use jiff::Timestamp;
use serde_json::Value;

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It runs, or waits for its turn.
    Working,
    /// It has a result, which may be an error of the tool.
    Completed,
    /// It has no result: what ran it ended.
    Failed,
    /// Somebody wanted it to end.
    Cancelled,
}

/// A task as it was when it was read.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) state: State,
    /// Whether the result is an error of the tool.
    pub(crate) is_error: bool,
    /// How it stands, for people.
    pub(crate) message: Option<String>,
    /// Milliseconds since 1970 UTC, as the next two.
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    /// When it is forgotten.
    pub(crate) expires_at: Option<i64>,
    /// The result of the call, where the task is completed and its result was asked for.
    pub(crate) result: Option<Value>,
    /// Why it failed.
    pub(crate) error: Option<String>,
}

impl Record {
    /// How long it is kept, counted from its beginning, in milliseconds; `None` for no limit.
    pub(crate) fn ttl_ms(&self) -> Option<u64> {
        self.expires_at.and_then(|expires| u64::try_from(expires - self.created_at).ok())
    }

    /// When it was made, as text.
    pub(crate) fn created(&self) -> String {
        date_time(self.created_at)
    }

    /// When it changed last, as text.
    pub(crate) fn updated(&self) -> String {
        date_time(self.updated_at)
    }
}

/// Milliseconds since 1970 as RFC 3339 has them, in UTC. What is beyond the year 9999 is no time of a task.
fn date_time(milliseconds: i64) -> String {
    format!("{:.3}", Timestamp::from_millisecond(milliseconds).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::date_time;

    #[test]
    fn times_are_rfc_3339_in_utc() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_164_800_001, "2024-02-29T00:00:00.001Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(date_time(milliseconds), text);
        }
    }
}
