//! Japanese, which has no spaces: every script of it is cut in its own way.

use std::{collections::HashSet, sync::LazyLock};

use super::{
    concept,
    script::Script,
    terms::{CONCEPT_WEIGHT, Term, entries, push_pairs},
};

/// Grammar written in hiragana, and words that say nothing by themselves.
static GRAMMAR: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| entries(include_str!("words/grammar.ja.txt")).collect());

/// Characters of the longest entry in the list.
const LONGEST_GRAMMAR: usize = 8;

/// The meanings in a run.
fn meanings(run: &str) -> impl Iterator<Item = Term> {
    concept::within(run).into_iter().map(|concept| Term::meaning(concept, CONCEPT_WEIGHT))
}

/// The particle at the start of hiragana that follows a word.
pub(super) fn particle(script: Script, hiragana: &str) -> Option<&'static str> {
    let particles = ["から", "まで", "を", "に", "へ", "で"];
    let found = particles.into_iter().find(|particle| hiragana.starts_with(particle));
    found.filter(|_| matches!(script, Script::Kanji | Script::Katakana))
}

/// Pairs of characters, and weakly each character: 消去 and 消す have one in common.
pub(super) fn kanji(run: &str, terms: &mut Vec<Term>) {
    let characters: Vec<char> = run.chars().collect();
    terms.extend(meanings(run));
    if let [only] = characters.as_slice() {
        terms.push(Term::new(*only, 0.9));
        return;
    }
    push_pairs(&characters, 1.0, terms);
    terms.extend(characters.iter().map(|character| Term::new(*character, 0.2)));
}

/// The whole run, which is mostly one borrowed word, and pairs of characters for runs of several words.
pub(super) fn katakana(run: &str, terms: &mut Vec<Term>) {
    let characters: Vec<char> = run.chars().collect();
    terms.extend(meanings(run));
    terms.push(Term::new(run, 0.6));
    push_pairs(&characters, 0.7, terms);
}

/// Pairs of characters of what is left between grammar.
pub(super) fn hiragana(run: &str, terms: &mut Vec<Term>) {
    let characters: Vec<char> = run.chars().collect();
    let mut rest = characters.as_slice();
    let mut word = Vec::new();
    while let Some((first, tail)) = rest.split_first() {
        match grammar_length(rest) {
            0 => {
                word.push(*first);
                rest = tail;
            }
            length => {
                push_pairs(&word, 0.4, terms);
                word.clear();
                rest = rest.get(length..).unwrap_or_default();
            }
        }
    }
    push_pairs(&word, 0.4, terms);
}

/// Length of the longest entry of the grammar list at the start of the text.
fn grammar_length(text: &[char]) -> usize {
    let longest = LONGEST_GRAMMAR.min(text.len());
    let is_entry = |length: &usize| {
        let start: String = text.iter().take(*length).collect();
        GRAMMAR.contains(start.as_str())
    };
    (1..=longest).rev().find(is_entry).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(cut: fn(&str, &mut Vec<Term>), run: &str) -> Vec<String> {
        let mut out = Vec::new();
        cut(run, &mut out);
        out.into_iter().map(|term| term.text).filter(|text| !text.starts_with('@')).collect()
    }

    #[test]
    fn grammar_is_left_out() {
        assert_eq!(texts(hiragana, "してください"), Vec::<String>::new());
        assert_eq!(texts(hiragana, "をふさぐには"), ["ふさ", "さぐ"]);
    }

    #[test]
    fn words_in_kanji_meet_their_parts() {
        assert_eq!(texts(kanji, "消去"), ["消去", "消", "去"]);
        assert_eq!(texts(kanji, "消"), ["消"]);
    }

    #[test]
    fn a_borrowed_word_is_one_term_and_its_pairs() {
        assert_eq!(texts(katakana, "モデル"), ["モデル", "モデ", "デル"]);
    }
}
