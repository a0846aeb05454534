//! Reading our own files strictly: unknown keys and wrong values are errors that say what to write.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::diagnostic::{Diagnostic, Place, Sink};
use crate::source::child_pointer;

/// Turns a JSON pointer of the value being read into a place.
pub(crate) type Places<'a> = &'a dyn Fn(&str) -> Place;

/// The members of one object of ours.
pub(crate) struct Fields<'a> {
    members: &'a Map<String, Value>,
    pointer: String,
    places: Places<'a>,
}

impl<'a> Fields<'a> {
    /// Opens an object and reports every key that is not `known`. Keys that start with `x-` are left
    /// to their owners. `None` when it is not an object, which is reported too.
    pub(crate) fn open(
        value: &'a Value,
        pointer: &str,
        known: &[&str],
        places: Places<'a>,
        sink: &mut Sink,
    ) -> Option<Self> {
        let Some(members) = value.as_object() else {
            sink.push(wrong_kind(pointer, "a mapping", value, places));
            return None;
        };
        let fields = Self { members, pointer: pointer.to_owned(), places };
        for key in members.keys().filter(|key| !key.starts_with("x-")) {
            if !known.contains(&key.as_str()) {
                sink.push(fields.unknown(key, known));
            }
        }
        Some(fields)
    }

    fn unknown(&self, key: &str, known: &[&str]) -> Diagnostic {
        let help =
            did_you_mean(key, known.iter().copied()).unwrap_or_else(|| format!("the keys are: {}", known.join(", ")));
        Diagnostic::error("unknown-key", format!("unknown key `{key}`")).at(self.place(key)).help(help)
    }

    /// Where the object itself stands.
    pub(crate) fn pointer(&self) -> &str {
        &self.pointer
    }

    pub(crate) fn pointer_of(&self, key: &str) -> String {
        child_pointer(&self.pointer, key)
    }

    pub(crate) fn place(&self, key: &str) -> Place {
        (self.places)(&self.pointer_of(key))
    }

    /// The place of any pointer of the file.
    pub(crate) fn place_at(&self, pointer: &str) -> Place {
        (self.places)(pointer)
    }

    pub(crate) fn element_place(&self, key: &str, index: usize) -> Place {
        (self.places)(&child_pointer(&self.pointer_of(key), &index.to_string()))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.members.get(key)
    }

    /// Reports a key that must be there.
    pub(crate) fn require(&self, key: &str, example: &str, sink: &mut Sink) {
        if !self.members.contains_key(key) {
            sink.push(
                Diagnostic::error("missing-key", format!("the key `{key}` is missing"))
                    .at((self.places)(&self.pointer))
                    .help(format!("add `{key}: {example}`")),
            );
        }
    }

    pub(crate) fn string(&self, key: &str, sink: &mut Sink) -> Option<String> {
        self.read(key, "a text", sink, |value| match value {
            Value::String(text) => Some(text.clone()),
            _ => None,
        })
    }

    pub(crate) fn boolean(&self, key: &str, sink: &mut Sink) -> Option<bool> {
        self.read(key, "true or false", sink, Value::as_bool)
    }

    /// A whole number from 1 to `most`.
    pub(crate) fn positive(&self, key: &str, most: u64, sink: &mut Sink) -> Option<u64> {
        let wanted = format!("a whole number from 1 to {most}");
        self.read(key, &wanted, sink, |value| value.as_u64().filter(|number| (1..=most).contains(number)))
    }

    pub(crate) fn strings(&self, key: &str, sink: &mut Sink) -> Option<Vec<String>> {
        self.read(key, "a list of texts", sink, |value| {
            let items = value.as_array()?;
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        })
    }

    /// The elements of a list with their pointers; none where the key is absent. `wanted` is what the list is, for the message.
    pub(crate) fn elements(&self, key: &str, wanted: &str, sink: &mut Sink) -> Vec<(String, &'a Value)> {
        let Some(value) = self.get(key) else { return Vec::new() };
        let base = self.pointer_of(key);
        let Some(items) = value.as_array() else {
            sink.push(wrong_kind(&base, wanted, value, self.places));
            return Vec::new();
        };
        items.iter().enumerate().map(|(index, item)| (format!("{base}/{index}"), item)).collect()
    }

    pub(crate) fn string_map(&self, key: &str, sink: &mut Sink) -> IndexMap<String, String> {
        self.read(key, "a mapping of names to texts", sink, |value| {
            let members = value.as_object()?;
            members.iter().map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned()))).collect()
        })
        .unwrap_or_default()
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(&self, key: &str, words: &[(&str, T)], sink: &mut Sink) -> Option<T> {
        let value = self.get(key)?;
        let chosen = choose(value, words);
        if chosen.is_none() {
            sink.push(wrong_word(&self.pointer_of(key), value, words, self.places));
        }
        chosen
    }

    /// A list of words, each one of a few.
    pub(crate) fn choices<T: Copy>(&self, key: &str, words: &[(&str, T)], sink: &mut Sink) -> Vec<T> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let pointer = self.pointer_of(key);
        let Some(items) = value.as_array() else {
            sink.push(wrong_kind(&pointer, "a list", value, self.places));
            return Vec::new();
        };
        let mut chosen = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match choose(item, words) {
                Some(word) => chosen.push(word),
                None => {
                    let pointer = child_pointer(&pointer, &index.to_string());
                    sink.push(wrong_word(&pointer, item, words, self.places));
                }
            }
        }
        chosen
    }

    /// The object under `key`, opened strictly.
    pub(crate) fn child(&self, key: &str, known: &[&str], sink: &mut Sink) -> Option<Self> {
        Self::open(self.get(key)?, &self.pointer_of(key), known, self.places, sink)
    }

    /// The members of the object under `key`, whose keys are names that the author chose.
    pub(crate) fn named(&self, key: &str, sink: &mut Sink) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        let members = self.get(key).and_then(|value| {
            if !value.is_object() {
                sink.push(wrong_kind(&self.pointer_of(key), "a mapping", value, self.places));
            }
            value.as_object()
        });
        members.into_iter().flatten()
    }

    fn read<T>(
        &self,
        key: &str,
        wanted: &str,
        sink: &mut Sink,
        convert: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(key)?;
        let converted = convert(value);
        if converted.is_none() {
            sink.push(wrong_kind(&self.pointer_of(key), wanted, value, self.places));
        }
        converted
    }
}

fn choose<T: Copy>(value: &Value, words: &[(&str, T)]) -> Option<T> {
    let text = value.as_str()?;
    words.iter().find(|(word, _)| *word == text).map(|(_, chosen)| *chosen)
}

fn wrong_word<T>(pointer: &str, value: &Value, words: &[(&str, T)], places: Places<'_>) -> Diagnostic {
    let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let help = value
        .as_str()
        .and_then(|text| did_you_mean(text, all.iter().copied()))
        .unwrap_or_else(|| format!("write one of: {}", all.join(", ")));
    Diagnostic::error("wrong-value", format!("{value} is not one of {}", all.join(", "))).at(places(pointer)).help(help)
}

pub(crate) fn wrong_kind(pointer: &str, wanted: &str, value: &Value, places: Places<'_>) -> Diagnostic {
    if pointer.is_empty() && value.is_null() {
        return Diagnostic::error("empty-file", "the file is empty")
            .at(places(pointer))
            .help(format!("write {wanted}"));
    }
    Diagnostic::error("wrong-value", format!("this must be {wanted}, not {}", shown(wanted, value)))
        .at(places(pointer))
        .help(remedy(wanted, value))
}

/// What a value is, and which one where that fits into a sentence.
fn shown(wanted: &str, value: &Value) -> String {
    match value {
        Value::Bool(_) | Value::Number(_) => format!("{} ({value})", kind(value)),
        // A list where one is wanted: what is at fault is in it.
        Value::Array(_) if wanted.contains("a list") => shortened(&value.to_string()),
        Value::String(text) if text.trim().is_empty() => "an empty text".to_owned(),
        other => kind(other).to_owned(),
    }
}

/// Enough of a value to recognize it.
pub(crate) fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// What to write instead of a value of the wrong kind.
fn remedy(wanted: &str, value: &Value) -> String {
    match (wanted, value) {
        (_, Value::Null) => "write a value after the colon, or remove the key".to_owned(),
        ("a text", Value::Bool(_) | Value::Number(_)) => format!("put it in quotes: \"{value}\""),
        ("a list of texts" | "a list", Value::String(text)) => format!("write a list: [{text}]"),
        ("a list of texts", Value::Array(_)) => "every element must be a text; put numbers in quotes".to_owned(),
        ("a mapping of names to texts", Value::Object(_)) => {
            "every value must be a text; put numbers in quotes".to_owned()
        }
        ("true or false", Value::String(_)) => "write `true` or `false`, without quotes".to_owned(),
        _ => format!("write {wanted}"),
    }
}

/// What a JSON value is, for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

/// "did you mean `x`?", when one of the candidates is near enough to be a slip of the keyboard.
pub fn did_you_mean<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    nearest(word, candidates).map(|near| format!("did you mean `{near}`?"))
}

/// The candidate that is near enough to be meant.
pub(super) fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // A third of the word may be wrong, and two letters always.
    let limit = (word.chars().count() / 3).max(2);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.chars().count())
        .min()
        .map(|(_, candidate)| candidate)
}
