//! What time it is, for leases and for the dates of operations.

use std::time::{SystemTime, UNIX_EPOCH};

/// A clock that several processes agree about. Tests put their own in its place.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since 1970-01-01 00:00 UTC.
    fn now(&self) -> i64;
}

/// The clock of the machine.
///
/// Workers on several machines compare times with each other: their clocks may differ by far less than a lease lasts. A
/// clock that is wrong makes a lease end too early, never a write of two workers: that is what fences are for.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}
