//! How long leases last, how often things are looked at, and what is too much.

use std::time::Duration;

use crate::Error;

/// Settings of a [`Runtime`](crate::Runtime).
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name of the workflow, for logs and traces.
    pub name: String,
    /// How long a lease lasts without a heartbeat: after so long another worker takes over. 90 s.
    pub lease: Duration,
    /// Time between two heartbeats, at most a third of the lease. 30 s.
    pub heartbeat: Duration,
    /// Time between two looks for operations that nobody runs. 30 s.
    pub recovery_scan: Duration,
    /// How many runs in a row may die without finishing one step before the operation counts as poison and fails. 5.
    pub max_attempts: u32,
    /// How many operations run at once; the others wait. 16.
    pub concurrency: usize,
    /// How long ended operations stay in the catalogue. 7 days.
    pub keep_ended: Duration,
    /// Largest value of a row, such as a request or the result of a step, in bytes of JSON. 4 MiB. A run reads its whole
    /// journal when it begins.
    pub max_payload_bytes: usize,
}

impl Settings {
    /// The defaults, for a workflow of that name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Settings {
            name: name.into(),
            lease: Duration::from_secs(90),
            heartbeat: Duration::from_secs(30),
            recovery_scan: Duration::from_secs(30),
            max_attempts: 5,
            concurrency: 16,
            keep_ended: Duration::from_secs(7 * 24 * 60 * 60),
            max_payload_bytes: 4 * 1024 * 1024,
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let refuse = |name, problem: String| Err(Error::Setting { name, problem });
        if self.heartbeat.is_zero() || self.heartbeat * 3 > self.lease {
            let (given, lease) = (self.heartbeat, self.lease);
            return refuse(
                "heartbeat",
                format!("{given:?} must be above zero and at most a third of the lease of {lease:?}"),
            );
        }
        if self.recovery_scan.is_zero() {
            return refuse("recovery_scan", "must be above zero".to_owned());
        }
        if self.max_attempts == 0 {
            return refuse("max_attempts", "must be at least 1".to_owned());
        }
        if self.concurrency == 0 {
            return refuse("concurrency", "must be at least 1".to_owned());
        }
        Ok(())
    }
}

/// A duration in the milliseconds of the catalogue.
pub(crate) fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heartbeat_that_leaves_no_room_for_a_missed_one_is_refused() {
        let settings = Settings { heartbeat: Duration::from_secs(31), ..Settings::new("x") };
        let text = settings.check().unwrap_err().to_string();
        assert_eq!(text, "workflow setting heartbeat: 31s must be above zero and at most a third of the lease of 90s");
    }

    #[test]
    fn the_defaults_are_accepted() {
        Settings::new("x").check().unwrap();
    }
}
