//! What can go wrong with a model.

use std::time::Duration;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The model has no provider of its own.
    #[error(
        "the model {model:?} is available only through a gateway: set llm.backend to \"openai_compatible\", or its \
         native_provider in llm.models"
    )]
    GatewayOnly {
        /// The model.
        model: String,
    },
    /// The key of the model's provider is not set.
    #[error("the model {model:?} needs the native key {secret:?}, which is not set")]
    KeyMissing {
        /// The model.
        model: String,
        /// The secret's logical name.
        secret: &'static str,
    },
    /// A secret cannot be read.
    #[error("the secret {secret:?} of the model {model:?} cannot be read: {reason}")]
    KeyUnreadable {
        /// The model.
        model: String,
        /// The secret's logical name.
        secret: &'static str,
        /// What the store says.
        reason: String,
    },
    /// A secret or a configured header cannot be sent.
    #[error("{name} of the model {model:?} has characters that a header cannot hold, such as a line break")]
    HeaderInvalid {
        /// The model.
        model: String,
        /// Which header or secret.
        name: String,
    },
    /// The model takes no reasoning effort.
    #[error("the model {model:?} takes no reasoning effort, and {effort:?} was asked for")]
    EffortUnsupported {
        /// The model.
        model: String,
        /// What was asked for.
        effort: &'static str,
    },
    /// The client that would talk to the model cannot be made.
    #[error("the connection of the model {model:?} cannot be made: {reason}")]
    Client {
        /// The model.
        model: String,
        /// What is wrong.
        reason: String,
    },
    /// The upstream answered with an error status.
    #[error("{0}")]
    Refused(Box<Refused>),
    /// The upstream reported an error within a stream that had begun well.
    #[error("{0}")]
    Broken(Box<Broken>),
    /// The answer was not complete within the configured time.
    #[error("the model {model:?} did not finish its answer within {seconds} s (llm.response_timeout)")]
    ReadTimeout {
        /// The model.
        model: String,
        /// The limit.
        seconds: f64,
        /// The text that had come.
        partial: String,
    },
    /// Nobody answered.
    #[error("the model {model:?} cannot be reached: {reason}")]
    Unreachable {
        /// The model.
        model: String,
        /// What happened, and what to check.
        reason: String,
    },
    /// The stream ended too early.
    #[error("the answer of the model {model:?} is incomplete: the stream ended before it was complete{reason}")]
    Cut {
        /// The model.
        model: String,
        /// Empty, or what the connection says, behind a colon.
        reason: String,
        /// The text that had come.
        partial: String,
    },
    /// The answer went over a limit.
    #[error("the answer of the model {model:?} is too large: {what}")]
    TooLarge {
        /// The model.
        model: String,
        /// Which limit.
        what: String,
    },
    /// The answer is not what its dialect describes.
    #[error("the answer of the model {model:?} cannot be read: {reason}")]
    Unreadable {
        /// The model.
        model: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The caller's deadline has passed.
    #[error("the model {model:?} did not answer before the deadline of the call")]
    Deadline {
        /// The model.
        model: String,
    },
    /// The caller does not want the answer any more.
    #[error("the call of the model {model:?} was cancelled")]
    Cancelled {
        /// The model.
        model: String,
    },
}

/// An error status.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the upstream of the model {model:?} answered {status}: {message}{advice}")]
pub struct Refused {
    /// The model.
    pub model: String,
    /// The HTTP status.
    pub status: u16,
    /// `type` of the error body.
    pub kind: Option<String>,
    /// `code` of the error body.
    pub code: Option<String>,
    /// The upstream's sentence.
    pub message: String,
    /// Empty, or what to do, behind a semicolon.
    pub advice: String,
    /// When the upstream wants to be asked again.
    pub retry_after: Option<Duration>,
}

/// An error within a stream.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the upstream of the model {model:?} broke the answer off with an error: {message}")]
pub struct Broken {
    /// The model.
    pub model: String,
    /// `type` of the error.
    pub kind: Option<String>,
    /// `code` of the error.
    pub code: Option<String>,
    /// The upstream's sentence.
    pub message: String,
    /// The text that had come.
    pub partial: String,
}

/// A fault that may be gone by the next try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transient {
    /// True where the upstream has had too many requests.
    pub(crate) rate_limited: bool,
}

const RATE_LIMITED: Transient = Transient { rate_limited: true };
const FAILED: Transient = Transient { rate_limited: false };

impl ModelError {
    /// Whether another try may help. A used-up quota is none that comes back while a call waits.
    pub(crate) fn transient(&self) -> Option<Transient> {
        match self {
            ModelError::Refused(refused) if is_spent(&refused.kind, &refused.code) => None,
            ModelError::Refused(refused) => match refused.status {
                429 => Some(RATE_LIMITED),
                500.. => Some(FAILED),
                _ => None,
            },
            ModelError::Broken(broken) if is_spent(&broken.kind, &broken.code) => None,
            ModelError::Broken(broken) => mid_stream(broken),
            ModelError::ReadTimeout { .. } | ModelError::Unreachable { .. } | ModelError::Cut { .. } => Some(FAILED),
            _ => None,
        }
    }

    /// The HTTP status, where there was one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            ModelError::Refused(refused) => Some(refused.status),
            _ => None,
        }
    }

    /// The text that had come before the fault; empty where none had.
    #[must_use]
    pub fn partial(&self) -> &str {
        match self {
            ModelError::Broken(broken) => &broken.partial,
            ModelError::ReadTimeout { partial, .. } | ModelError::Cut { partial, .. } => partial,
            _ => "",
        }
    }

    /// Whether the upstream refused the request because of what it holds, so that another form of it may pass.
    pub(crate) fn refuses_the_form(&self) -> bool {
        matches!(self.status(), Some(400 | 404 | 415 | 422 | 501))
    }

    /// A short name for logs.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            ModelError::GatewayOnly { .. } => "gateway_only",
            ModelError::KeyMissing { .. } => "key_missing",
            ModelError::KeyUnreadable { .. } => "key_unreadable",
            ModelError::HeaderInvalid { .. } => "header_invalid",
            ModelError::EffortUnsupported { .. } => "effort_unsupported",
            ModelError::Client { .. } => "client",
            ModelError::Refused(_) => "refused",
            ModelError::Broken(_) => "broken",
            ModelError::ReadTimeout { .. } => "read_timeout",
            ModelError::Unreachable { .. } => "unreachable",
            ModelError::Cut { .. } => "cut",
            ModelError::TooLarge { .. } => "too_large",
            ModelError::Unreadable { .. } => "unreadable",
            ModelError::Deadline { .. } => "deadline",
            ModelError::Cancelled { .. } => "cancelled",
        }
    }
}

fn is_spent(kind: &Option<String>, code: &Option<String>) -> bool {
    [kind, code].into_iter().flatten().any(|name| name == "insufficient_quota")
}

/// Errors under status 200 are told apart by `type` and `code`, since there is nothing else.
fn mid_stream(broken: &Broken) -> Option<Transient> {
    let names = || [&broken.kind, &broken.code].into_iter().flatten().map(String::as_str);
    if names().any(|name| matches!(name, "rate_limit_error" | "rate_limit_exceeded" | "429")) {
        return Some(RATE_LIMITED);
    }
    let is_server_fault = |name: &str| {
        matches!(name, "api_error" | "overloaded_error" | "server_error")
            || (name.len() == 3 && name.parse::<u16>().is_ok_and(|code| code >= 500))
    };
    names().any(is_server_fault).then_some(FAILED)
}
