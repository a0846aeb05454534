//! Messages on their way to a client's log.

use rmcp::model::LoggingLevel;
use serde_json::Value;
use tokio::sync::mpsc;
use toolwright_core::Severity;

/// A message.
pub(crate) type LogLine = (LoggingLevel, Value);

/// Where messages go; without a receiver, or below the level that the client wants, nowhere.
#[derive(Debug, Clone, Default)]
pub(crate) struct Logger(Option<(mpsc::Sender<LogLine>, LoggingLevel)>);

impl Logger {
    /// To that channel, from that level on.
    pub(crate) fn to(sender: mpsc::Sender<LogLine>, from: LoggingLevel) -> Self {
        Logger(Some((sender, from)))
    }

    /// Sends a message if there is room; never waits.
    pub(super) fn send(&self, severity: Severity, message: Value) {
        let Some((sender, from)) = &self.0 else { return };
        let level = level(severity);
        if rank(level) >= rank(*from) {
            // One that a slow client has no room for is left out.
            let _ = sender.try_send((level, message));
        }
    }
}

const fn level(severity: Severity) -> LoggingLevel {
    match severity {
        Severity::Debug => LoggingLevel::Debug,
        Severity::Info => LoggingLevel::Info,
        Severity::Notice => LoggingLevel::Notice,
        Severity::Warning => LoggingLevel::Warning,
        Severity::Error => LoggingLevel::Error,
    }
}

/// RFC 5424 section 6.2.1, the least serious first.
const fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
