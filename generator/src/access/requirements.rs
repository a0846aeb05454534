//! Which schemes a call needs (OpenAPI 3.1 section 4.8.30).

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::SCHEMES;
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::{Document, LoadedServer, did_you_mean};
use crate::pass::join;

/// The alternatives that an operation declares; `None` where the document's hold, or where `server.yaml` says how to
/// authenticate.
pub(crate) fn security_of(loaded: &LoadedServer, operation: &str, sink: &mut Sink) -> Option<Vec<Vec<String>>> {
    if loaded.config.upstream.auth.is_some() {
        return None;
    }
    let mut findings = Vec::new();
    let found = of(&loaded.document, &join(operation, "security"), &mut findings);
    findings.into_iter().for_each(|finding| sink.push(finding));
    found
}

/// The scopes that the document and its operations need of a scheme, sorted and separated by spaces: one token serves all.
pub(super) fn scopes(document: &Document, scheme: &str) -> String {
    let paths = document.get("/paths").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let operations = paths.filter_map(Value::as_object).flat_map(Map::values);
    let said = operations.filter_map(|operation| operation.get("security")).chain(document.get("/security"));
    let needed = said.filter_map(Value::as_array).flatten().filter_map(|alternative| alternative.get(scheme));
    let scopes: BTreeSet<&str> = needed.filter_map(Value::as_array).flatten().filter_map(Value::as_str).collect();
    // One token of RFC 6749 section 3.3 each.
    let is_scope =
        |text: &&str| !text.is_empty() && text.bytes().all(|b| matches!(b, b'!' | b'#'..=b'[' | b']'..=b'~'));
    scopes.into_iter().filter(is_scope).collect::<Vec<_>>().join(" ")
}

/// The alternatives at a pointer that can be met; `None` where there are none, or where all that are there are faulty.
pub(super) fn of(document: &Document, pointer: &str, findings: &mut Vec<Diagnostic>) -> Option<Vec<Vec<String>>> {
    let listed: Vec<(String, &Value)> = match document.get(pointer)? {
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (format!("{pointer}/{index}"), item)).collect()
        }
        one @ Value::Object(_) => {
            let message = "security is a list of alternatives; this mapping was read as a list of one";
            findings.push(warning(document, "bad-security", message.to_owned(), pointer).help("write `- name: []`"));
            vec![(pointer.to_owned(), one)]
        }
        _ => {
            let message = "security is a list of alternatives; this was left out";
            findings.push(warning(document, "bad-security", message.to_owned(), pointer).help("write `- name: []`"));
            return None;
        }
    };
    let is_empty = listed.is_empty();
    let found: Vec<_> = listed.iter().filter_map(|(at, item)| alternative(document, at, item, findings)).collect();
    (is_empty || !found.is_empty()).then_some(found)
}

/// The schemes of one alternative; `None` where it names one that is not declared, since what is left of it would ask
/// for less.
fn alternative(document: &Document, at: &str, item: &Value, findings: &mut Vec<Diagnostic>) -> Option<Vec<String>> {
    let Some(members) = item.as_object() else {
        let message = "an alternative is a mapping of schemes to scopes; this was left out";
        findings.push(warning(document, "bad-security", message.to_owned(), at).help("write `- name: []`"));
        return None;
    };
    let declared = document.get(SCHEMES).and_then(Value::as_object);
    let unknown: Vec<&String> =
        members.keys().filter(|name| !declared.is_some_and(|schemes| schemes.contains_key(*name))).collect();
    for name in &unknown {
        let message = format!("there is no security scheme `{name}`, and the alternative that names it was left out");
        let near = did_you_mean(name, declared.into_iter().flat_map(Map::keys).map(String::as_str));
        let help = near.unwrap_or_else(|| "declare it below components.securitySchemes, in an overlay".to_owned());
        findings.push(warning(document, "undeclared-scheme", message, &join(at, name)).help(help));
    }
    unknown.is_empty().then(|| members.keys().cloned().collect())
}

fn warning(document: &Document, code: &'static str, message: String, pointer: &str) -> Diagnostic {
    Diagnostic::warning(code, message).at(document.place(pointer))
}
