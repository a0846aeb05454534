//! Whether to try again, and when.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::{fault::Fault, loading::Loading};
use crate::{answer::Reply, context::CallContext};

/// Further attempts of one call.
const MOST_RETRIES: u32 = 2;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// A longer `Retry-After` is for the caller to decide.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(30);
/// Between two looks at a loading model.
const LOADING_PAUSE: Duration = Duration::from_secs(2);

/// What to do with an answer.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    /// It is the answer.
    Keep,
    /// Try again after that time.
    Wait(Duration),
}

/// The attempts of one call so far.
#[derive(Debug)]
pub(crate) struct Retries {
    /// The request has no effect at all.
    safe: bool,
    /// The request leaves the upstream's state as it is: repeating one that was turned away costs nothing.
    leaves_state: bool,
    done: u32,
}

impl Retries {
    pub(crate) fn new(safe: bool, leaves_state: bool) -> Self {
        Retries { safe, leaves_state, done: 0 }
    }

    /// The pause after a broken connection, if a further attempt is allowed.
    pub(crate) fn after_fault(&mut self, fault: &Fault, context: &CallContext) -> Option<Duration> {
        (fault.is_broken_connection() && self.safe && self.take())
            .then(|| self.pause())
            .filter(|pause| *pause < context.remaining())
    }

    /// What to do with an answer. A loading model has not begun with the call, so that waiting is right for every
    /// method. Other refusals are retried for safe methods, and for calls that leave the state as it is where the answer
    /// says when: by that it says that nothing was done (RFC 9110 section 15.6.4, RFC 6585 section 4).
    pub(crate) fn after_reply(&mut self, reply: &Reply, loading: Option<&Loading>, context: &CallContext) -> Verdict {
        let asked = retry_after(&reply.headers, SystemTime::now());
        let pause = match loading {
            Some(_) => asked.unwrap_or(LOADING_PAUSE).max(Duration::from_millis(100)),
            None if !self.may_repeat(reply.status.as_u16(), asked.is_some()) || !self.take() => return Verdict::Keep,
            None => asked.unwrap_or_else(|| self.pause()),
        };
        let tolerable = loading.is_some() || pause <= LONGEST_RETRY_AFTER;
        match tolerable && pause < context.remaining() {
            true => Verdict::Wait(pause),
            false => Verdict::Keep,
        }
    }

    fn may_repeat(&self, status: u16, asked: bool) -> bool {
        match status {
            429 | 503 => self.safe || (self.leaves_state && asked),
            502 | 504 => self.safe,
            _ => false,
        }
    }

    fn take(&mut self) -> bool {
        let allowed = self.done < MOST_RETRIES;
        self.done += u32::from(allowed);
        allowed
    }

    /// Doubles from attempt to attempt, with up to half as much again so that callers do not march in step.
    fn pause(&self) -> Duration {
        let base = FIRST_PAUSE * 2u32.saturating_pow(self.done.saturating_sub(1));
        base.mul_f64(1.0 + fastrand::f64() / 2.0)
    }
}

/// `Retry-After` in seconds or as an HTTP date (RFC 9110 section 10.2.3); a date that is past is no wait.
#[must_use]
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    match text.parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => Some(httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default()),
    }
}
