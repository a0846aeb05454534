//! Gives every operation its tool name: curated, or derived so that it does not depend on the order of paths.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::diagnostic::{Diagnostic, Sink};
use crate::load::config::is_fixed_tool;
use crate::load::extension::MAX_NAME;
use crate::model::Model;
use crate::model::operation::Operation;

pub(super) fn name(model: &mut Model, sink: &mut Sink) {
    check_curated(model, sink);
    let curated: Vec<String> = model.operations.iter().filter_map(|o| o.extension.name.clone()).collect();
    let mut candidates: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, operation) in model.operations.iter().enumerate() {
        if operation.extension.name.is_none() {
            candidates.entry(candidate(operation)).or_default().push(index);
        }
    }
    for (name, holders) in candidates {
        let alone = holders.len() == 1 && !curated.contains(&name) && !is_fixed_tool(&name);
        for index in holders {
            let Some(operation) = model.operations.get_mut(index) else { continue };
            let name = if alone { name.clone() } else { told_apart(&name, operation) };
            operation.extension.name = Some(name);
        }
    }
}

/// Curated names must be free and unique. That they are well formed was checked when the overlay was read.
fn check_curated(model: &Model, sink: &mut Sink) {
    let mut seen: BTreeMap<&str, &Operation> = BTreeMap::new();
    for operation in &model.operations {
        let Some(name) = operation.extension.name.as_deref() else { continue };
        let place = model.loaded.document.place(&format!("{}/x-toolwright/name", operation.origin));
        if is_fixed_tool(name) {
            let message = format!("the name `{name}` belongs to a tool that every server has");
            sink.push(Diagnostic::error("reserved-name", message).at(place).help("choose another name"));
        } else if let Some(other) = seen.insert(name, operation) {
            let message = format!("two operations are named `{name}`: {} and {}", other.route(), operation.route());
            sink.push(Diagnostic::error("name-collision", message).at(place).help("give one of them another `name`"));
        }
    }
}

/// The operation id, else method and path, in snake case.
fn candidate(operation: &Operation) -> String {
    let id = operation.operation_id.as_deref().map(snake).filter(|id| !id.is_empty());
    let name = id.unwrap_or_else(|| slug(operation));
    capped(&name, operation)
}

/// Every holder of a contested name gets its own method and path appended: the winner must not depend on the order.
fn told_apart(name: &str, operation: &Operation) -> String {
    let kept: String = name.chars().take(MAX_NAME - 9).collect();
    format!("{}_{}", kept.trim_end_matches('_'), fingerprint(operation))
}

fn capped(name: &str, operation: &Operation) -> String {
    if name.len() <= MAX_NAME {
        return name.to_owned();
    }
    let kept: String = name.chars().take(MAX_NAME - 9).collect();
    let kept = kept.rsplit_once('_').map_or(kept.as_str(), |(whole_words, _)| whole_words);
    format!("{kept}_{}", fingerprint(operation))
}

fn slug(operation: &Operation) -> String {
    snake(&format!("{}_{}", operation.method.to_lowercase(), operation.path))
}

/// Eight hexadecimal digits of method and path: they change only when those do.
fn fingerprint(operation: &Operation) -> String {
    let digest = Sha256::digest(operation.route().as_bytes());
    digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// Lower-case words joined by `_`, a letter first. Empty where the text has no ASCII letter or digit.
pub(crate) fn snake(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 4);
    let mut previous = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if !c.is_ascii_alphanumeric() {
            words.push('_');
        } else {
            let next_is_lower = rest.peek().is_some_and(char::is_ascii_lowercase);
            let starts_word = c.is_ascii_uppercase()
                && (previous.is_ascii_lowercase()
                    || previous.is_ascii_digit()
                    || (previous.is_ascii_uppercase() && next_is_lower));
            if starts_word {
                words.push('_');
            }
            words.push(c.to_ascii_lowercase());
        }
        previous = c;
    }
    let joined = words.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    letter_first(joined)
}

/// Names start with a letter: a leading digit is spelt out (`3d` -> `three_d`).
fn letter_first(name: String) -> String {
    const DIGITS: [&str; 10] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let digit = name.chars().next().and_then(|first| first.to_digit(10));
    match digit.and_then(|digit| DIGITS.get(digit as usize)) {
        Some(word) => format!("{word}_{}", name.get(1..).unwrap_or_default().trim_start_matches('_')),
        None => name,
    }
}
