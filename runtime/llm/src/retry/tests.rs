use reqwest::header::{HeaderMap, HeaderValue};

use super::*;
use crate::error::{Broken, Refused};

/// A clock that stands still.
struct Still {
    now: SystemTime,
    jitter: f64,
}

impl Clock for Still {
    fn now(&self) -> SystemTime {
        self.now
    }

    fn jitter(&self) -> f64 {
        self.jitter
    }
}

/// 2026-01-31 12:00:00 UTC.
fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_769_860_800)
}

fn still(jitter: f64) -> Still {
    Still { now: noon(), jitter }
}

fn refused(status: u16) -> Refused {
    Refused {
        model: "m".into(),
        status,
        kind: None,
        code: None,
        message: String::new(),
        advice: String::new(),
        retry_after: None,
    }
}

fn status(status: u16) -> ModelError {
    ModelError::Refused(Box::new(refused(status)))
}

fn asking(status: u16, seconds: u64) -> ModelError {
    ModelError::Refused(Box::new(Refused { retry_after: Some(Duration::from_secs(seconds)), ..refused(status) }))
}

fn broken(kind: &str, code: &str) -> ModelError {
    let name = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let broken = Broken {
        model: "m".into(),
        kind: name(kind),
        code: name(code),
        message: String::new(),
        partial: String::new(),
    };
    ModelError::Broken(Box::new(broken))
}

fn pause(attempt: u32, error: &ModelError, jitter: f64) -> Option<Duration> {
    RetryPolicy::default().pause(attempt, error, &still(jitter))
}

fn secs(seconds: f64) -> Option<Duration> {
    Some(Duration::from_secs_f64(seconds))
}

#[test]
fn a_policy_that_cannot_be_is_refused() {
    assert_eq!(RetryPolicy::new(0, 1.0, 2.0), Err(PolicyError::Attempts(0)));
    assert_eq!(RetryPolicy::new(1, -1.0, 2.0), Err(PolicyError::Delay("base_delay", -1.0)));
    assert_eq!(RetryPolicy::new(1, 3.0, 2.0), Err(PolicyError::Order(3.0, 2.0)));
    assert!(RetryPolicy::new(1, 0.0, 0.0).is_ok());
}

#[test]
fn only_faults_that_may_pass_are_retried() {
    for passing in [429, 500, 502, 503, 529] {
        assert!(pause(1, &status(passing), 0.0).is_some(), "{passing}");
    }
    for lasting in [301, 400, 401, 404, 408, 422] {
        assert_eq!(pause(1, &status(lasting), 0.0), None, "{lasting}");
    }
}

#[test]
fn within_a_stream_type_and_code_decide() {
    for (kind, code) in [
        ("rate_limit_error", ""),
        ("", "rate_limit_exceeded"),
        ("", "429"),
        ("api_error", ""),
        ("overloaded_error", ""),
        ("server_error", ""),
        ("", "503"),
    ] {
        assert!(pause(1, &broken(kind, code), 0.0).is_some(), "{kind} {code}");
    }
    for (kind, code) in [("invalid_request_error", ""), ("", "400"), ("", ""), ("", "50")] {
        assert_eq!(pause(1, &broken(kind, code), 0.0), None, "{kind} {code}");
    }
}

#[test]
fn with_an_error_status_the_kinds_of_the_body_say_nothing() {
    let error = ModelError::Refused(Box::new(Refused { kind: Some("overloaded_error".into()), ..refused(400) }));
    assert_eq!(pause(1, &error, 0.0), None);
}

#[test]
fn a_used_up_quota_is_not_retried() {
    let error = ModelError::Refused(Box::new(Refused { code: Some("insufficient_quota".into()), ..refused(429) }));
    assert_eq!(pause(1, &error, 0.0), None);
    assert_eq!(pause(1, &broken("rate_limit_error", "insufficient_quota"), 0.0), None);
}

#[test]
fn pauses_double_with_up_to_a_quarter_more() {
    assert_eq!(pause(1, &status(500), 0.0), secs(2.0));
    assert_eq!(pause(2, &status(500), 0.0), secs(4.0));
    assert_eq!(pause(1, &status(500), 1.0), secs(2.5));
    let patient = RetryPolicy::new(40, 2.0, 90.0).unwrap();
    assert_eq!(patient.pause(39, &status(500), &still(1.0)), secs(90.0));
}

#[test]
fn the_last_attempt_is_the_last() {
    assert_eq!(pause(3, &status(500), 0.0), None);
    assert_eq!(RetryPolicy::never().pause(1, &status(500), &still(0.0)), None);
}

#[test]
fn what_a_rate_limit_asks_for_is_taken_exactly_up_to_the_longest_pause() {
    assert_eq!(pause(1, &asking(429, 7), 1.0), secs(7.0));
    assert_eq!(pause(1, &asking(429, 600), 1.0), secs(90.0));
    assert_eq!(pause(1, &asking(503, 7), 1.0), secs(7.0));
    assert_eq!(pause(1, &asking(500, 7), 0.0), secs(2.0));
}

#[test]
fn a_limit_that_says_when_it_is_lifted_is_waited_for() {
    let error = |message: &str| ModelError::Refused(Box::new(Refused { message: message.to_owned(), ..refused(429) }));
    let soon = error("Limit Resets At: 2026-01-31 12:00:30 UTC");
    assert_eq!(pause(1, &soon, 0.5), secs(31.5));
    let past = error("limit resets at: 2026-01-31 11:00:00 UTC");
    assert_eq!(pause(1, &past, 0.0), secs(1.0));
    let far = error("limit resets at: 2027-01-31 11:00:00 UTC");
    assert_eq!(pause(1, &far, 0.0), secs(90.0));
    let nonsense = error("limit resets at: 2026-13-31 11:00:00 UTC");
    assert_eq!(pause(1, &nonsense, 0.0), secs(2.0));
}

#[test]
fn days_are_counted_as_the_calendar_does() {
    assert_eq!(days_since_1970(1970, 1, 1), 0);
    assert_eq!(days_since_1970(2000, 3, 1), 11_017);
    assert_eq!(days_since_1970(2024, 2, 29), 19_782);
}

#[test]
fn retry_after_is_read_in_every_form() {
    let headers = |pairs: &[(&'static str, &str)]| -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap())).collect()
    };
    let read = |pairs: &[(&'static str, &str)]| retry_after(&headers(pairs), noon());
    assert_eq!(read(&[("retry-after", "3")]), secs(3.0));
    assert_eq!(read(&[("retry-after", "0.25")]), secs(0.25));
    assert_eq!(read(&[("retry-after-ms", "1500"), ("retry-after", "9")]), secs(1.5));
    let date = httpdate::fmt_http_date(noon() + Duration::from_secs(20));
    assert_eq!(read(&[("retry-after", &date)]), secs(20.0));
    assert_eq!(read(&[("retry-after", "-1")]), None);
    assert_eq!(read(&[("retry-after", "soon")]), None);
    assert_eq!(read(&[]), None);
}
