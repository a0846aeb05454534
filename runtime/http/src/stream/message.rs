//! The message that a chat stream adds up to, for callers that read the stream themselves.

use serde_json::Value;
use toolwright_core::StreamDialect;

use super::assembly::Assembly;

/// Puts a chat message together from the data of its events, in the shape that the upstream would have sent unstreamed.
#[derive(Debug)]
pub struct MessageStream {
    assembly: Assembly,
}

/// What an event brought.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Taken {
    /// Text for people who watch.
    pub text: Option<String>,
    /// True where the message is complete with this event.
    pub done: bool,
}

impl MessageStream {
    /// A message of that dialect, of which nothing has come.
    #[must_use]
    pub fn new(dialect: StreamDialect) -> Self {
        MessageStream { assembly: Assembly::of(Some(dialect)) }
    }

    /// Takes the data of one event. Events that report an error are for the caller to find first.
    pub fn take(&mut self, data: &Value) -> Taken {
        let step = self.assembly.take(data);
        Taken { text: step.text, done: step.done }
    }

    /// True where the stream may end here although no event said that it is done.
    #[must_use]
    pub fn may_end(&self) -> bool {
        self.assembly.may_end()
    }

    /// The message as far as it has come; `None` where nothing has.
    #[must_use]
    pub fn finish(self) -> Option<Value> {
        self.assembly.finish()
    }
}
