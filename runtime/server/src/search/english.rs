//! Words in Latin and other alphabetic scripts.

use rust_stemmers::{Algorithm, Stemmer};
use std::{collections::HashSet, sync::LazyLock};

use super::{
    concept,
    terms::{Term, entries},
};

static STOP_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| entries(include_str!("words/stop.en.txt")).collect());

/// Pushes the stem of a word unless it is a stop word, and its form where that differs.
pub(super) fn terms(word: &str, terms: &mut Vec<Term>) {
    if STOP_WORDS.contains(word) {
        return;
    }
    let stem = stem(word);
    if stem != word {
        terms.push(Term::form(word));
    }
    let concept = concept::of_word(&stem);
    terms.push(Term { text: stem, weight: 1.0, concept });
}

/// The stem of a folded word. What can be done is kept apart from what is done: "installable" from "installed".
pub(super) fn stem(word: &str) -> String {
    if word.ends_with("able") || word.ends_with("ible") {
        return word.to_owned();
    }
    Stemmer::create(Algorithm::English).stem(word).into_owned()
}

/// The words of an identifier in any case: `modelId`, `voice-id` and `tool_choice` give two each.
pub(super) fn identifier_words(identifier: &str) -> String {
    let mut words = String::with_capacity(identifier.len() + 4);
    let mut previous_lower = false;
    for character in identifier.chars() {
        if character.is_uppercase() && previous_lower {
            words.push(' ');
        }
        previous_lower = character.is_lowercase();
        words.push(if character.is_alphanumeric() { character } else { ' ' });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        text.split(' ').for_each(|word| terms(word, &mut out));
        out.into_iter().map(|term| term.text).filter(|text| !text.starts_with('=')).collect()
    }

    #[test]
    fn forms_of_a_word_share_a_stem() {
        assert_eq!(stems("install installed installing installs"), ["instal"; 4]);
    }

    #[test]
    fn words_that_say_nothing_are_left_out() {
        assert_eq!(stems("is the model in a file"), ["model", "file"]);
    }

    #[test]
    fn identifiers_fall_into_words() {
        assert_eq!(identifier_words("modelId"), "model Id");
        assert_eq!(identifier_words("voice-id"), "voice id");
        assert_eq!(identifier_words("img1_area"), "img1 area");
    }
}
