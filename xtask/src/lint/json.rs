//! Findings as JSON.

use serde_json::{Value, json};
use toolwright_generator::diagnostic::{Diagnostic, Severity, Sink};

/// Counts, and every finding with its place and remedy.
pub(super) fn report(sink: &Sink) -> Value {
    json!({
        "errors": sink.count(Severity::Error),
        "warnings": sink.count(Severity::Warning),
        "notes": sink.count(Severity::Note),
        "findings": sink.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn finding(finding: &Diagnostic) -> Value {
    json!({
        "severity": finding.severity.to_string(),
        "code": finding.code,
        "message": finding.message,
        "help": finding.help,
        "place": finding.place.as_ref().map(|place| json!({
            "file": place.file,
            "line": place.line,
            "column": place.column,
            "pointer": place.pointer,
            "via": place.via,
        })),
    })
}
