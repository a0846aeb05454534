//! What became of every part of a document: mapped, dropped by a named rule, or refused with an error.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::load::tool_file::is_of_file;

/// The kinds of parts that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A path item.
    Path,
    /// A method on a path.
    Operation,
    /// A parameter in path, query, header or cookie.
    Parameter,
    /// A request body in one media type.
    Body,
    /// A field of a form body.
    FormField,
    /// An answer.
    Response,
    /// A named schema.
    Definition,
    /// A property of a schema: a named one, or one that is written in place.
    Property,
    /// A security scheme.
    SecurityScheme,
}

/// What became of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is in the model.
    Mapped,
    /// It was left out by a rule.
    Dropped(Rule),
    /// It is wrong, and an error or warning names it.
    Refused,
}

/// The rules by which parts are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// An overlay removed or replaced it.
    ReplacedByOverlay,
    /// A body is sent in one media type; this is another.
    OneBodyMediaType,
    /// Nothing that a tool takes or returns refers to it.
    Unreachable,
    /// Answers that are not successes have the envelope's own error shape.
    ErrorAnswer,
    /// The first success that has content gives the result its shape.
    FurtherSuccess,
    /// `server.yaml` says how to authenticate, in place of the document's security schemes.
    CredentialsAreSettings,
    /// A security scheme of no kind that is known.
    UnknownScheme,
    /// The server itself sets `Accept`, `Content-Type` and `Authorization` (OpenAPI 3.1 section 4.8.12.2).
    ReservedHeader,
    /// An argument needs a name.
    EmptyName,
    /// The upstream makes the value; it is never asked for.
    ReadOnly,
    /// The parts of a multipart body have no names by which arguments could be told.
    PositionalParts,
    /// The operation declares a parameter of the same name and place (OpenAPI 3.1 section 4.8.10.1).
    Overridden,
    /// The server is read-only, and the call changes state.
    ReadOnlyServer,
    /// Text and bytes are one argument, whatever the document says is in them.
    SentAsItIs,
}

impl Rule {
    /// Why parts of this kind are left out, in one sentence.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::ReplacedByOverlay => "An overlay removed or replaced it.",
            Self::OneBodyMediaType => "A body is sent in one media type, and this is another form of the same body.",
            Self::Unreachable => "Nothing that a tool takes or returns refers to it.",
            Self::ErrorAnswer => "Answers that are not successes have the error shape of the envelope.",
            Self::FurtherSuccess => "The first success that has content gives the result its shape.",
            Self::CredentialsAreSettings => "server.yaml says how to authenticate, in place of the document.",
            Self::UnknownScheme => "Nothing is known of credentials of this kind.",
            Self::ReservedHeader => "The server itself sets Accept, Content-Type and Authorization.",
            Self::EmptyName => "An argument needs a name.",
            Self::ReadOnly => "The upstream makes the value, so it is never asked for.",
            Self::ReadOnlyServer => "The server is read-only, and the call changes state.",
            Self::SentAsItIs => "Text and bytes are one argument, whatever the document says is in them.",
            Self::PositionalParts => "The parts of the body have no names, and go by their position.",
            Self::Overridden => "The operation declares a parameter of the same name and place.",
        }
    }
}

/// One entry per part, by JSON pointer of the document's 3.1 form.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    entries: BTreeMap<(Part, String), Outcome>,
    /// Parts that overlays added to the document.
    added: BTreeMap<Part, usize>,
}

impl Ledger {
    /// Records what became of a part. A drop or refusal is never overwritten by a mapping.
    /// Tool files have no part in it: it counts what became of the document.
    pub(crate) fn record(&mut self, part: Part, pointer: impl Into<String>, outcome: Outcome) {
        let pointer = pointer.into();
        if is_of_file(&pointer) {
            return;
        }
        let entry = self.entries.entry((part, pointer));
        entry
            .and_modify(|known| {
                if *known == Outcome::Mapped {
                    *known = outcome.clone();
                }
            })
            .or_insert(outcome);
    }

    /// Records that a part which was mapped is left out after all.
    pub(crate) fn drop_mapped(&mut self, part: Part, pointer: &str, rule: Rule) {
        self.record(part, pointer, Outcome::Dropped(rule));
    }

    /// Keeps the entries of what the document declares: its parts without an entry go to `otherwise`, and entries that
    /// only overlays have are counted apart.
    pub(crate) fn close(&mut self, declared: BTreeSet<(Part, String)>, otherwise: impl Fn(Part, &str) -> Outcome) {
        let mut recorded = std::mem::take(&mut self.entries);
        for key in declared {
            let outcome = recorded.remove(&key).unwrap_or_else(|| otherwise(key.0, &key.1));
            self.entries.insert(key, outcome);
        }
        for (part, _) in recorded.into_keys() {
            *self.added.entry(part).or_default() += 1;
        }
    }

    /// What became of a part.
    #[must_use]
    pub fn outcome(&self, part: Part, pointer: &str) -> Option<&Outcome> {
        self.entries.get(&(part, pointer.to_owned()))
    }

    /// All entries, by kind and pointer.
    pub fn iter(&self) -> impl Iterator<Item = (Part, &str, &Outcome)> {
        self.entries.iter().map(|((part, pointer), outcome)| (*part, pointer.as_str(), outcome))
    }

    /// The totals and everything that is not in the model, as JSON.
    #[must_use]
    pub fn report(&self) -> Value {
        let left_out = self.entries.iter().filter_map(|((part, pointer), outcome)| match outcome {
            Outcome::Mapped => None,
            Outcome::Dropped(rule) => Some(json!({"part": part, "at": pointer, "rule": rule})),
            Outcome::Refused => Some(json!({"part": part, "at": pointer, "rule": "refused"})),
        });
        let rules: BTreeMap<Rule, &str> = self
            .entries
            .values()
            .filter_map(|outcome| match outcome {
                Outcome::Dropped(rule) => Some((*rule, rule.reason())),
                Outcome::Mapped | Outcome::Refused => None,
            })
            .collect();
        json!({"totals": self.summary(), "added_by_overlays": self.added, "rules": rules, "left_out": left_out.collect::<Vec<_>>()})
    }

    /// The totals, by kind.
    #[must_use]
    pub fn summary(&self) -> BTreeMap<Part, PartSummary> {
        let mut totals: BTreeMap<Part, PartSummary> = BTreeMap::new();
        for ((part, _), outcome) in &self.entries {
            let total = totals.entry(*part).or_default();
            total.total += 1;
            match outcome {
                Outcome::Mapped => total.mapped += 1,
                Outcome::Refused => total.refused += 1,
                Outcome::Dropped(rule) => *total.dropped.entry(*rule).or_default() += 1,
            }
        }
        totals
    }
}

/// Totals of one kind of part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PartSummary {
    /// All of them.
    pub total: usize,
    /// Those that are in the model.
    pub mapped: usize,
    /// Those left out, by rule.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped: BTreeMap<Rule, usize>,
    /// Those that an error or warning names.
    #[serde(skip_serializing_if = "is_zero")]
    pub refused: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // The signature that serde asks for.
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl PartSummary {
    /// True where every part is accounted for.
    #[must_use]
    pub fn adds_up(&self) -> bool {
        self.total == self.mapped + self.refused + self.dropped.values().sum::<usize>()
    }
}
