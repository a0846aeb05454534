//! A task as the store has it.

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

/// Milliseconds since 1970 as RFC 3339 has them, in UTC.
fn date_time(milliseconds: i64) -> String {
    const DAY: i64 = 86_400_000;
    let (year, month, day) = date(milliseconds.div_euclid(DAY));
    let in_day = milliseconds.rem_euclid(DAY);
    let (hour, minute) = (in_day / 3_600_000, in_day / 60_000 % 60);
    let (second, rest) = (in_day / 1000 % 60, in_day % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{rest:03}Z")
}

/// The Gregorian date of a day, counted from 1970-01-01. Years begin in March here, so that a leap day is the last.
fn date(days: i64) -> (i64, i64, i64) {
    const YEARS_400: i64 = 146_097;
    // From 0000-03-01.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(YEARS_400), days.rem_euclid(YEARS_400));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
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
