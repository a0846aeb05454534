//! What is wrong with the inputs, where, and what to write instead.

use std::collections::BTreeSet;
use std::fmt;

use crate::invisible::shown;

/// How bad a finding is. Errors stop the output of a server; warnings and notes do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The input is wrong, and nothing is generated from it.
    Error,
    /// The input is doubtful, and was read as its author most likely meant it.
    Warning,
    /// Something worth knowing that needs no action.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// Where in the inputs something stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place {
    /// Path of the file, relative to the repository root.
    pub file: String,
    /// Line, counted from 1; 0 when unknown.
    pub line: u32,
    /// Column in characters, counted from 1; 0 when unknown.
    pub column: u32,
    /// JSON pointer (RFC 6901) of the node inside `file`.
    pub pointer: String,
    /// The `$ref` texts that were followed to get here, outermost first.
    pub via: Vec<String>,
}

impl Place {
    /// A place that is a whole file.
    #[must_use]
    pub fn of_file(file: impl Into<String>) -> Self {
        Self { file: file.into(), ..Self::default() }
    }

    /// The same place, reached through one more `$ref`.
    #[must_use]
    pub fn through(mut self, reference: impl Into<String>) -> Self {
        self.via.push(reference.into());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        Ok(())
    }
}

/// One finding: a stable code, one sentence, the place, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Stable kebab-case name of the rule, such as `unknown-key`.
    pub code: &'static str,
    /// What is wrong, in one sentence without a final full stop.
    pub message: String,
    /// Where it is wrong, when it is wrong somewhere.
    pub place: Option<Place>,
    /// What to write instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without a place.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A warning without a place.
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// A note without a place.
    #[must_use]
    pub fn note(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message)
    }

    fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Self { severity, code, message: message.into(), place: None, help: None }
    }

    /// Sets the place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// Sets the help line.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the help line when there is one.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    /// Findings are reported file by file, top to bottom; those without a place come first.
    fn order(&self) -> impl Ord + '_ {
        (&self.place, self.severity, self.code, &self.message, &self.help)
    }
}

impl PartialOrd for Diagnostic {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Diagnostic {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity, self.code, shown(&self.message))?;
        if let Some(place) = &self.place {
            write!(f, "\n  --> {place}")?;
            if !place.pointer.is_empty() {
                write!(f, "\n  at {}", shown(&place.pointer))?;
            }
            if !place.via.is_empty() {
                write!(f, " (via {})", shown(&place.via.join(" -> ")))?;
            }
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {}", shown(help))?;
        }
        Ok(())
    }
}

/// Collects every finding of a run. Nothing exits early: the author sees all faults at once.
///
/// The order is stable whatever order the findings came in, and equal findings are kept once.
#[derive(Debug, Clone, Default)]
pub struct Sink {
    found: BTreeSet<Diagnostic>,
}

impl Sink {
    /// An empty sink.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding, unless an equal one is already there.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.found.insert(diagnostic);
    }

    /// Moves everything that `other` found into this sink.
    pub fn append(&mut self, mut other: Self) {
        self.found.append(&mut other.found);
    }

    /// All findings: file by file, top to bottom.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.found.iter()
    }

    /// How many findings have this severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.found.iter().filter(|d| d.severity == severity).count()
    }

    /// Whether there is an error among the findings.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|d| d.severity == Severity::Error)
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }
}

impl fmt::Display for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for diagnostic in &self.found {
            writeln!(f, "{diagnostic}\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: u32) -> Place {
        Place { file: "specs/x/a.yaml".into(), line, column: 3, pointer: "/paths/~1t".into(), via: vec![] }
    }

    #[test]
    fn prints_code_place_pointer_hops_and_help() {
        let text = Diagnostic::error("unknown-key", "unknown key `naem`")
            .at(place(4).through("#/components/schemas/A"))
            .help("did you mean `name`?")
            .to_string();
        assert_eq!(
            text,
            "error[unknown-key]: unknown key `naem`\n  --> specs/x/a.yaml:4:3\n  at /paths/~1t (via #/components/schemas/A)\n  help: did you mean `name`?"
        );
    }

    #[test]
    fn sorts_by_place_and_keeps_equal_findings_once() {
        let mut sink = Sink::new();
        sink.push(Diagnostic::warning("b", "later").at(place(9)));
        sink.push(Diagnostic::error("a", "sooner").at(place(2)));
        sink.push(Diagnostic::warning("b", "later").at(place(9)));
        let messages: Vec<_> = sink.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, ["sooner", "later"]);
        assert_eq!(sink.count(Severity::Warning), 1);
    }
}
