//! Whether a failed question is asked again, and when.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use reqwest::header::HeaderMap;

use crate::{clock::Clock, error::ModelError};

/// A limit that says when it is lifted is believed up to here.
const LONGEST_RESET: Duration = Duration::from_secs(120);

/// How often and how patiently a question is asked. Only transient faults are worth another try: too many requests,
/// status 500 and above, the same reported within a stream, and broken or stalled connections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    max_attempts: u32,
    base_delay: Duration,
    max_delay: Duration,
    total: Option<Duration>,
}

impl Default for RetryPolicy {
    /// 3 attempts, 2 s doubling up to 90 s, no limit in all but the call's own deadline.
    fn default() -> Self {
        RetryPolicy {
            max_attempts: 3,
            base_delay: Duration::from_secs(2),
            max_delay: Duration::from_secs(90),
            total: None,
        }
    }
}

/// A policy that cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PolicyError {
    /// Nothing would be asked.
    #[error("max_attempts must be at least 1, and is {0}")]
    Attempts(u32),
    /// A delay that is no time.
    #[error("{0} must be a finite number of seconds, not negative, and is {1}")]
    Delay(&'static str, f64),
    /// The first pause would be longer than the longest.
    #[error("base_delay ({0} s) must not be longer than max_delay ({1} s)")]
    Order(f64, f64),
}

impl RetryPolicy {
    /// A policy of that many attempts, with pauses in seconds.
    ///
    /// # Errors
    /// Names the value that cannot be.
    pub fn new(max_attempts: u32, base_delay: f64, max_delay: f64) -> Result<Self, PolicyError> {
        if max_attempts < 1 {
            return Err(PolicyError::Attempts(max_attempts));
        }
        let read = |name, value| Duration::try_from_secs_f64(value).map_err(|_| PolicyError::Delay(name, value));
        let policy = RetryPolicy {
            max_attempts,
            base_delay: read("base_delay", base_delay)?,
            max_delay: read("max_delay", max_delay)?,
            total: None,
        };
        match policy.base_delay > policy.max_delay {
            true => Err(PolicyError::Order(base_delay, max_delay)),
            false => Ok(policy),
        }
    }

    /// One attempt.
    #[must_use]
    pub fn never() -> Self {
        RetryPolicy { max_attempts: 1, ..RetryPolicy::default() }
    }

    /// All attempts and pauses together take no longer than that.
    #[must_use]
    pub fn within(mut self, total: Duration) -> Self {
        self.total = Some(total);
        self
    }

    /// The limit of all attempts together.
    pub(crate) fn total(&self) -> Option<Duration> {
        self.total
    }

    /// The pause before the next attempt; `None` where there is none. `attempt` is the number of the failed one, from 1.
    pub(crate) fn pause(&self, attempt: u32, error: &ModelError, clock: &dyn Clock) -> Option<Duration> {
        let transient = error.transient()?;
        if attempt >= self.max_attempts {
            return None;
        }
        if let Some(asked) = asked_pause(error) {
            return Some(asked.min(self.max_delay));
        }
        if transient.rate_limited
            && let Some(reset) = reset_named_in(&error.to_string())
        {
            let until = reset.duration_since(clock.now()).unwrap_or_default().min(LONGEST_RESET);
            let jitter = Duration::from_secs_f64(clock.jitter().clamp(0.0, 1.0));
            return Some((until + Duration::from_secs(1) + jitter).min(self.max_delay));
        }
        let doubled = self.base_delay.saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1)));
        let doubled = doubled.min(self.max_delay);
        Some(doubled.mul_f64(1.0 + clock.jitter().clamp(0.0, 1.0) / 4.0).min(self.max_delay))
    }
}

/// What the upstream asks for, with the two statuses where that is meant for a later try (RFC 6585 section 4, RFC 9110
/// section 15.6.4).
fn asked_pause(error: &ModelError) -> Option<Duration> {
    match error {
        ModelError::Refused(refused) if matches!(refused.status, 429 | 503) => refused.retry_after,
        _ => None,
    }
}

/// The pause that an answer's headers ask for: `retry-after-ms`, else `Retry-After` in seconds, with a fraction or
/// without, or as an HTTP date.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let read = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
    number("retry-after-ms")
        .and_then(|milliseconds| read(milliseconds / 1000.0))
        .or_else(|| number("retry-after").and_then(read))
        .or_else(|| toolwright_http::retry_after(headers, now))
}

/// The time in `limit resets at: 2026-01-31 12:00:00 UTC`, in any letter case.
fn reset_named_in(message: &str) -> Option<SystemTime> {
    const MARK: &str = "limit resets at:";
    let lower = message.to_ascii_lowercase();
    let rest = lower.get(lower.find(MARK)? + MARK.len()..)?.trim_start();
    let mut words = rest.split_whitespace();
    let (date, time, zone) = (words.next()?, words.next()?, words.next()?);
    if !zone.starts_with("utc") {
        return None;
    }
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

fn numbers(text: &str, separator: char) -> Option<[u64; 3]> {
    let parts: Option<Vec<u64>> = text.split(separator).map(|part| part.parse().ok()).collect();
    parts?.try_into().ok()
}

/// Days of the Gregorian calendar, counted in years that begin in March so that the leap day comes last.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    days - 719_468
}

/// A question that will be asked again.
#[derive(Debug, Clone)]
pub struct RetryEvent<'a> {
    /// The number of the attempt that failed, from 1.
    pub attempt: u32,
    /// The pause before the next.
    pub delay: Duration,
    /// Why it failed.
    pub error: &'a ModelError,
}

/// Told of every attempt that follows, in place of the log.
#[derive(Clone)]
pub struct OnRetry(Arc<dyn Fn(&RetryEvent<'_>) + Send + Sync>);

impl OnRetry {
    /// Calls that function.
    pub fn new(told: impl Fn(&RetryEvent<'_>) + Send + Sync + 'static) -> Self {
        OnRetry(Arc::new(told))
    }

    pub(crate) fn tell(&self, event: &RetryEvent<'_>) {
        (self.0)(event);
    }
}

impl Default for OnRetry {
    /// A warning in the log, without anything that the upstream said.
    fn default() -> Self {
        OnRetry::new(|event| {
            tracing::warn!(
                attempt = event.attempt,
                delay_seconds = format!("{:.2}", event.delay.as_secs_f64()),
                rate_limited = event.error.transient().is_some_and(|transient| transient.rate_limited),
                error_type = event.error.kind(),
                status_code = event.error.status(),
                "model_call.retry"
            );
        })
    }
}

impl fmt::Debug for OnRetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnRetry")
    }
}

#[cfg(test)]
mod tests;
