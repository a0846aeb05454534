//! What a retry needs from outside, so that tests need no patience.

use std::time::SystemTime;

/// Time of day and chance. Waiting itself is tokio's, whose clock tests can stop.
pub trait Clock: Send + Sync {
    /// The time of day, for dates that an upstream names.
    fn now(&self) -> SystemTime;

    /// A number from 0 up to but not including 1, so that callers do not march in step.
    fn jitter(&self) -> f64;
}

/// The real clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn jitter(&self) -> f64 {
        fastrand::f64()
    }
}
