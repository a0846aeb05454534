//! What was wrong with a request.

use serde::Serialize;

/// The rule that a request broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// No operation has this method and path.
    UnknownRoute,
    /// A path, query, header, cookie or form field that must be there is absent.
    Missing,
    /// A query parameter, form field or part that is not declared.
    Undeclared,
    /// A parameter or form field whose value does not fit its declaration.
    BadValue,
    /// A body of a media type that is not declared.
    ContentType,
    /// A body that must be there is absent, or one is there although none is declared.
    BodyPresence,
    /// A body that does not fit its schema, or cannot be read at all.
    BadBody,
    /// Credentials that are needed are absent or wrong.
    Credentials,
    /// A WebSocket message that breaks the exchange's rules.
    BadMessage,
}

/// One broken rule of one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// `METHOD /template`, or the request line itself when no operation matches.
    pub operation: String,
    /// The rule.
    pub kind: Kind,
    /// Where in the request: `query limit`, `body /messages/0/role`, `part file`.
    pub place: String,
    /// One sentence.
    pub what: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {}", self.operation, self.place, self.what)
    }
}

/// A violation before the operation is attached to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) kind: Kind,
    pub(crate) place: String,
    pub(crate) what: String,
}

impl Finding {
    pub(crate) fn new(kind: Kind, place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { kind, place: place.into(), what: what.into() }
    }

    pub(crate) fn of(self, operation: &str) -> Violation {
        Violation { operation: operation.to_owned(), kind: self.kind, place: self.place, what: self.what }
    }
}
