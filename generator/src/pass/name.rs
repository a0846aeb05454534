//! Gives every operation its tool name: curated, or derived from the operation alone.
//!
//! A derived name is the operation id in snake case, else method, path and what the summary adds. It changes only when
//! the operation itself changes, or when another one claims the same name: then every claimant gets eight hexadecimal
//! digits of its method and path, and more where that is claimed as well, so that none of them depends on which stands
//! first.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::diagnostic::{Diagnostic, Sink};
use crate::load::config::is_fixed_tool;
use crate::load::extension::MAX_NAME;
use crate::load::tool_file::is_of_file;
use crate::model::Model;
use crate::model::operation::Operation;

/// Longest name of an argument that is derived: many clients refuse longer property names.
pub(crate) const MAX_ARGUMENT: usize = 64;

/// Hexadecimal digits that a contested name gets at a time.
const DIGITS: usize = 8;

/// How often a name gets more digits. Whoever is contested even then gets other ones.
const MOST_TIMES: usize = 5;

/// A name takes no more than this from a summary.
const SUMMARY_WORDS: usize = 3;

/// Words of summaries that tell no two operations apart.
const FILLERS: [&str; 22] = [
    "all", "and", "any", "are", "been", "for", "from", "has", "have", "into", "its", "not", "one", "that", "the",
    "their", "this", "through", "via", "which", "with", "your",
];

pub(super) fn name(model: &mut Model, sink: &mut Sink) {
    check_curated(model, sink);
    let curated: BTreeSet<String> = model.operations.iter().filter_map(|o| o.extension.name.clone()).collect();
    let unnamed = model.operations.iter_mut().filter(|operation| operation.extension.name.is_none());
    let mut derived: Vec<Derived> = unnamed.map(Derived::of).collect();
    tell_apart(&mut derived, &curated);
    let mut renamed = Vec::new();
    for derived in derived {
        let name = derived.name();
        let Derived { operation, candidate, contested } = derived;
        if contested > 0 {
            renamed.push((operation.origin.clone(), candidate, name.clone()));
        }
        operation.extension.name = Some(name);
    }
    taken_by_files(model, &renamed, sink);
}

/// Tells of operations whose own name a tool file has: whoever wrote the file may not know of them.
fn taken_by_files(model: &Model, renamed: &[(String, String, String)], sink: &mut Sink) {
    let files = model.operations.iter().filter(|operation| is_of_file(&operation.origin));
    let holders: BTreeMap<&str, &str> =
        files.filter_map(|file| Some((file.extension.name.as_deref()?, file.origin.as_str()))).collect();
    for (origin, candidate, name) in renamed {
        let Some(holder) = holders.get(candidate.as_str()) else { continue };
        let file = model.loaded.document.place(holder);
        let message =
            format!("`{candidate}` is the tool of the file {}, and the operation is named `{name}`", file.file);
        let help = format!(
            "give the operation a `name` in an overlay, or remove it there where the file stands for it; or rename {}",
            file.file
        );
        let warning = Diagnostic::warning("name-of-file", message).at(model.loaded.document.place(origin));
        sink.push(warning.help(help));
    }
}

/// An operation whose name is derived.
struct Derived<'o> {
    operation: &'o mut Operation,
    candidate: String,
    /// How often the name was contested.
    contested: usize,
}

impl<'o> Derived<'o> {
    fn of(operation: &'o mut Operation) -> Self {
        let candidate = candidate(operation);
        Derived { operation, candidate, contested: 0 }
    }

    /// The candidate, and digits of the operation's own method and path for each time that it was contested.
    fn name(&self) -> String {
        if self.contested == 0 {
            return self.candidate.clone();
        }
        let digits = DIGITS * self.contested.min(MOST_TIMES);
        let text = match self.contested {
            0..=MOST_TIMES => self.operation.route(),
            more => format!("{} {more}", self.operation.route()),
        };
        let kept: String = self.candidate.chars().take(MAX_NAME - digits - 1).collect();
        format!("{}_{}", kept.trim_end_matches('_'), hexadecimal(&text, digits))
    }
}

/// Every holder of a contested name gets digits of its own: the winner must not depend on the order. A name with digits
/// may be another's candidate, so it is looked at again until nobody shares a name.
fn tell_apart(derived: &mut [Derived], curated: &BTreeSet<String>) {
    loop {
        let mut holders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, derived) in derived.iter().enumerate() {
            holders.entry(derived.name()).or_default().push(index);
        }
        holders.retain(|name, indices| indices.len() > 1 || curated.contains(name) || is_fixed_tool(name));
        if holders.is_empty() {
            return;
        }
        for index in holders.into_values().flatten() {
            if let Some(derived) = derived.get_mut(index) {
                derived.contested += 1;
            }
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
    match id {
        Some(id) => capped(&id, operation),
        None => with_summary(capped(&slug(operation), operation), operation.summary.as_deref()),
    }
}

/// Appends the words of the summary that method and path do not hold, while there is room for whole words.
fn with_summary(mut name: String, summary: Option<&str>) -> String {
    // Transliterated words of other scripts would be syllables that say nothing to anybody.
    let latin: String = summary.unwrap_or_default().chars().map(|c| if is_of_latin(c) { c } else { ' ' }).collect();
    let words = snake(&latin);
    let mut added = 0;
    for word in words.split('_').filter(|word| word.len() > 2 && !FILLERS.contains(word)) {
        let known = name.split('_').any(|known| stem(known) == stem(word));
        if known {
            continue;
        }
        if added == SUMMARY_WORDS || name.len() + 1 + word.len() > MAX_NAME {
            break;
        }
        name.push('_');
        name.push_str(word);
        added += 1;
    }
    name
}

/// Latin letters with all their accents, and everything that is no letter.
fn is_of_latin(c: char) -> bool {
    !c.is_alphabetic() || c <= '\u{24f}' || ('\u{1e00}'..='\u{1eff}').contains(&c)
}

/// Enough of a word to see that `models` and `model` say the same.
fn stem(word: &str) -> &str {
    word.strip_suffix("es").or_else(|| word.strip_suffix('s')).filter(|stem| stem.len() > 2).unwrap_or(word)
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
    hexadecimal(&operation.route(), DIGITS)
}

/// The first hexadecimal digits of a text's SHA-256; an even number of them.
fn hexadecimal(text: &str, digits: usize) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(digits / 2).map(|byte| format!("{byte:02x}")).collect()
}

/// What a name is where nothing of it can be said in ASCII: its place, and eight digits that only this name has.
pub(crate) fn unsayable(wire_name: &str, place: &str) -> String {
    format!("{place}_{}", hexadecimal(wire_name, DIGITS))
}

/// A name in at most so many bytes: what is too long ends in digits of the whole, so that long names stay apart.
pub(crate) fn cut(name: &str, most: usize) -> String {
    if name.len() <= most {
        return name.to_owned();
    }
    let room = most.saturating_sub(DIGITS + 1);
    let kept: String = name.chars().take_while(char::is_ascii).take(room).collect();
    format!("{}_{}", kept.trim_end_matches('_'), hexadecimal(name, DIGITS))
}

/// Lower-case words joined by `_`, a letter first; other scripts are transliterated. Empty where the text has neither
/// letter nor digit.
pub(crate) fn snake(text: &str) -> String {
    let text = if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(any_ascii::any_ascii(text)) };
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

#[cfg(test)]
mod tests {
    use super::{snake, with_summary};

    fn named(summary: &str) -> String {
        with_summary("get_v1_models".to_owned(), Some(summary))
    }

    #[test]
    fn a_summary_adds_only_what_method_and_path_do_not_say() {
        assert_eq!(named("Get the models"), "get_v1_models");
        assert_eq!(named("List available models for this user."), "get_v1_models_list_available_user");
    }

    #[test]
    fn accents_are_taken_off_and_other_scripts_are_transliterated() {
        assert_eq!(snake("größeMax"), "grosse_max");
        assert_eq!(snake("cre\u{301}ation"), snake("cr\u{e9}ation"));
        assert_eq!(snake("用户名"), "yong_hu_ming");
        assert_eq!(snake("Имя"), "imya");
        assert_eq!(snake("\u{e000}*"), "");
    }

    #[test]
    fn a_summary_adds_no_syllables_of_other_scripts() {
        assert_eq!(named("列出 verfügbare 模型"), "get_v1_models_verfugbare");
    }

    #[test]
    fn a_summary_never_makes_a_name_too_long() {
        assert_eq!(named("Anticonstitutionnellement incomprehensibilities"), "get_v1_models_anticonstitutionnellement");
    }
}
