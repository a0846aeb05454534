//! Faults that a test or a person can inject.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::{Mutex, PoisonError};

/// A way in which an upstream misbehaves.
///
/// As JSON: `"empty_body"`, `{"delay": 200}`, `{"status": {"code": 503, "retry_after": 1}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Wait this many milliseconds, then answer as usual.
    Delay(u64),
    /// Answer with this status.
    Status {
        /// The HTTP status.
        code: u16,
        /// A text body; by default a small JSON error.
        #[serde(default)]
        body: Option<String>,
        /// Seconds for a `Retry-After` header.
        #[serde(default)]
        retry_after: Option<u64>,
    },
    /// The usual status and content type without any bytes.
    EmptyBody,
    /// JSON of another type than the declared one (an array for an object, a string for an array).
    WrongType,
    /// The JSON text `null`.
    NullBody,
    /// A `Content-Length` larger than what is sent before the connection ends; a stream ends in its middle.
    Truncated,
    /// An event stream with broken framing and broken JSON, ending without a final event.
    MalformedSse,
    /// A stream that begins well and then reports an error as one of its events.
    StreamError,
    /// The connection ends without any answer; over a WebSocket, in the middle of the exchange.
    DroppedSocket,
    /// An answer of this many bytes in the declared media type.
    Oversized(u64),
    /// The usual body, a few bytes at a time.
    SlowDrip {
        /// Bytes at a time.
        bytes: usize,
        /// Milliseconds between them.
        every_ms: u64,
    },
    /// A `Content-Type` header that is no media type.
    GarbageContentType,
    /// 503 with `Retry-After` and LocalAI's body for a model that is being loaded.
    ModelLoading {
        /// Seconds for the `Retry-After` header.
        retry_after: u64,
    },
    /// 307 to this URL.
    Redirect(String),
    /// The usual body, gzip-encoded and declared so.
    Gzip,
    /// A WebSocket exchange that is over, but whose connection stays open until the client closes it, as LocalAI's do.
    NoClose,
}

/// What can be written for a fault, beside its JSON form.
pub(crate) const WORDS: &str = "delay:MS, status:CODE, empty, empty_body, wrong_type, null, null_body, truncated, \
    malformed_sse, stream_error, drop, dropped_socket, oversized:BYTES, slow, garbage_content_type, model_loading, \
    redirect:URL, gzip, no_close";

impl Fault {
    /// Read the JSON form, the name of a fault without particulars, or a shorthand: `drop`, `empty`, `null`, `slow`,
    /// `model_loading`, `delay:MS`, `status:CODE`, `oversized:BYTES`, `redirect:URL`.
    pub fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(fault) = serde_json::from_str(text) {
            return Some(fault);
        }
        match text.split_once(':') {
            Some(("delay", ms)) => ms.parse().ok().map(Self::Delay),
            Some(("status", code)) => {
                code.parse().ok().map(|code| Self::Status { code, body: None, retry_after: None })
            }
            Some(("oversized", bytes)) => bytes.parse().ok().map(Self::Oversized),
            Some(("redirect", to)) => Some(Self::Redirect(to.to_owned())),
            Some(_) => None,
            None => match text {
                "drop" => Some(Self::DroppedSocket),
                "empty" => Some(Self::EmptyBody),
                "null" => Some(Self::NullBody),
                "slow" => Some(Self::SlowDrip { bytes: 1, every_ms: 50 }),
                "model_loading" => Some(Self::ModelLoading { retry_after: 1 }),
                word => serde_json::from_value(Value::String(word.to_owned())).ok(),
            },
        }
    }
}

/// A fault waiting for requests of an operation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Planned {
    /// `METHOD /template`, the template, the operation id, or `*`.
    #[serde(default = "every_operation")]
    pub(crate) operation: String,
    #[serde(deserialize_with = "in_any_form")]
    pub(crate) fault: Fault,
    #[serde(default = "once")]
    pub(crate) times: u32,
}

/// The JSON form, or a text as [`Fault::from_text`] reads it.
fn in_any_form<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<Fault, D::Error> {
    use serde::de::Error as _;
    match Value::deserialize(reader)? {
        Value::String(text) => Fault::from_text(&text).ok_or_else(|| D::Error::custom(unknown(&text))),
        form => serde_json::from_value(form)
            .map_err(|error| D::Error::custom(format!("{error}; the known faults are: {WORDS}"))),
    }
}

/// What to say of a text that is no fault.
pub(crate) fn unknown(text: &str) -> String {
    format!("`{text}` is no fault; the known ones are: {WORDS}, or one of them as JSON")
}

fn every_operation() -> String {
    "*".to_owned()
}

fn once() -> u32 {
    1
}

#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<Vec<Planned>>);

impl Faults {
    pub(crate) fn plan(&self, planned: Planned) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(planned);
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The first waiting fault for any of an operation's names, counted down.
    pub(crate) fn take(&self, names: &[&str]) -> Option<Fault> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |planned: &Planned| planned.operation == "*" || names.contains(&planned.operation.as_str());
        let at = waiting.iter().position(fits)?;
        let planned = waiting.get_mut(at)?;
        let fault = planned.fault.clone();
        planned.times = planned.times.saturating_sub(1);
        if planned.times == 0 {
            waiting.remove(at);
        }
        Some(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_and_shorthand_say_the_same() {
        assert_eq!(Fault::from_text(r#"{"delay": 20}"#), Some(Fault::Delay(20)));
        assert_eq!(Fault::from_text("delay:20"), Some(Fault::Delay(20)));
        assert_eq!(Fault::from_text("malformed_sse"), Some(Fault::MalformedSse));
        assert_eq!(Fault::from_text("nonsense"), None);
    }

    #[test]
    fn every_word_that_is_named_is_understood() {
        for word in WORDS.split(", ") {
            let example = word.replace("MS", "1").replace("CODE", "500").replace("BYTES", "9");
            assert!(Fault::from_text(&example).is_some(), "{word}");
        }
    }

    #[test]
    fn plans_take_words_as_well_as_json() {
        let plan = |fault: Value| serde_json::from_value::<Planned>(json!({"fault": fault}));
        for fault in [json!("status:503"), json!({"status": {"code": 503}})] {
            let expected = Fault::Status { code: 503, body: None, retry_after: None };
            assert_eq!(plan(fault).map(|planned| planned.fault).ok(), Some(expected));
        }
        let refused = plan(json!("stauts:503")).map_err(|error| error.to_string());
        assert!(
            refused.is_err_and(|error| error.contains("`stauts:503` is no fault") && error.contains("status:CODE"))
        );
    }

    #[test]
    fn a_planned_fault_is_used_up() {
        let faults = Faults::default();
        faults.plan(Planned { operation: "GET /a".to_owned(), fault: Fault::EmptyBody, times: 2 });
        assert_eq!(faults.take(&["GET /b"]), None);
        assert_eq!(faults.take(&["GET /a"]), Some(Fault::EmptyBody));
        assert_eq!(faults.take(&["GET /a"]), Some(Fault::EmptyBody));
        assert_eq!(faults.take(&["GET /a"]), None);
    }
}
