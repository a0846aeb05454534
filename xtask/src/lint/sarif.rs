//! Findings as SARIF 2.1.0 (OASIS Static Analysis Results Interchange Format).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toolwright_generator::diagnostic::{Diagnostic, Place, Severity, Sink};

/// A log of one run: a rule for each code, a result for each finding.
pub(super) fn log(sink: &Sink) -> Value {
    let codes: BTreeMap<&str, Severity> = sink.iter().map(|finding| (finding.code, finding.severity)).collect();
    let index: BTreeMap<&str, usize> = codes.keys().enumerate().map(|(index, code)| (*code, index)).collect();
    let rules: Vec<Value> = codes
        .iter()
        .map(|(code, severity)| {
            json!({
                "id": code,
                "shortDescription": {"text": code.replace('-', " ")},
                "defaultConfiguration": {"level": level(*severity)},
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "toolwright", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": sink.iter().map(|finding| result(finding, &index)).collect::<Vec<_>>(),
        }],
    })
}

/// The words of SARIF section 3.27.10.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn result(finding: &Diagnostic, index: &BTreeMap<&str, usize>) -> Value {
    let text = match &finding.help {
        Some(help) => format!("{}. Help: {help}", finding.message),
        None => format!("{}.", finding.message),
    };
    let mut out = Map::new();
    out.insert("ruleId".to_owned(), finding.code.into());
    out.insert("ruleIndex".to_owned(), json!(index.get(finding.code)));
    out.insert("level".to_owned(), level(finding.severity).into());
    out.insert("message".to_owned(), json!({"text": text}));
    if let Some(place) = &finding.place {
        out.insert("locations".to_owned(), json!([location(place)]));
    }
    Value::Object(out)
}

fn location(place: &Place) -> Value {
    let mut physical = Map::new();
    physical.insert("artifactLocation".to_owned(), json!({"uri": uri(&place.file)}));
    if place.line > 0 {
        let region = json!({"startLine": place.line, "startColumn": place.column.max(1)});
        physical.insert("region".to_owned(), region);
    }
    let mut out = Map::new();
    out.insert("physicalLocation".to_owned(), Value::Object(physical));
    if !place.pointer.is_empty() {
        out.insert("logicalLocations".to_owned(), json!([{"fullyQualifiedName": place.pointer}]));
    }
    Value::Object(out)
}

/// A relative reference (RFC 3986 section 4.2).
fn uri(file: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~');
    file.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]

    use super::log;
    use serde_json::json;
    use toolwright_generator::diagnostic::{Diagnostic, Place, Sink};

    #[test]
    fn a_finding_is_a_result_with_rule_level_and_region() {
        let mut sink = Sink::new();
        let place =
            Place { file: "specs/a b/o.yaml".into(), line: 3, column: 5, pointer: "/paths".into(), via: Vec::new() };
        sink.push(Diagnostic::warning("thin-description", "it says little").at(place).help("say more"));
        let log = log(&sink);
        let run = &log["runs"][0];
        assert_eq!(log["version"], "2.1.0");
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "thin-description");
        assert_eq!(
            run["results"][0],
            json!({
                "ruleId": "thin-description",
                "ruleIndex": 0,
                "level": "warning",
                "message": {"text": "it says little. Help: say more"},
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": {"uri": "specs/a%20b/o.yaml"},
                        "region": {"startLine": 3, "startColumn": 5},
                    },
                    "logicalLocations": [{"fullyQualifiedName": "/paths"}],
                }],
            })
        );
    }
}
