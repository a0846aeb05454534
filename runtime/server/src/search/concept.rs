//! Words of one meaning, within a language and across languages.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    english, korean,
    script::{Script, runs},
    terms::entries,
};

/// The number of a meaning by word: stems of English words, Korean words without inflection, Japanese words up to the
/// first hiragana.
static CONCEPTS: LazyLock<HashMap<String, u16>> = LazyLock::new(|| {
    let mut concepts = HashMap::new();
    for (line, number) in entries(include_str!("words/concepts.txt")).zip(0..) {
        for word in line.split(' ') {
            concepts.entry(key(word)).or_insert(number);
        }
    }
    concepts
});

fn key(word: &str) -> String {
    match runs(word).first() {
        Some(run) if run.script == Script::Letters => english::stem(&run.text),
        Some(run) if run.script == Script::Hangul => korean::concept_form(&run.text),
        Some(run) => run.text.clone(),
        None => String::new(),
    }
}

/// The meaning of a stem.
pub(super) fn of_word(stem: &str) -> Option<u16> {
    CONCEPTS.get(stem).copied()
}

/// The meaning of the longest listed beginning of a word, of at least two characters where it is not the whole word.
pub(super) fn of_beginning(word: &str) -> Option<u16> {
    let whole = of_word(word);
    let mut ends = word.char_indices().skip(2).map(|(at, _)| at).collect::<Vec<_>>().into_iter().rev();
    whole.or_else(|| ends.find_map(|end| of_word(word.get(..end)?)))
}

/// The meanings of the listed words, of at least two characters, that a run of Japanese holds, or of the run itself.
pub(super) fn within(run: &str) -> Vec<u16> {
    if let Some(whole) = of_word(run) {
        return vec![whole];
    }
    let bounds: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    let mut found = Vec::new();
    let mut start = 0;
    while start + 2 < bounds.len() {
        let longest = (start + 2..bounds.len()).rev().find_map(|end| {
            let part = run.get(*bounds.get(start)?..*bounds.get(end)?)?;
            Some((end, of_word(part)?))
        });
        start = match longest {
            Some((end, concept)) => {
                found.push(concept);
                end
            }
            None => start + 1,
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meaning_has_words_in_every_language() {
        let delete = of_word("delet");
        assert!(delete.is_some());
        assert_eq!(of_beginning("삭제"), delete);
        assert_eq!(within("削除"), [delete.unwrap()]);
    }

    #[test]
    fn compounds_hold_several_meanings() {
        assert_eq!(within("モデルギャラリー"), [of_word("モデル").unwrap(), of_word("ギャラリー").unwrap()]);
    }

    #[test]
    fn an_unknown_word_means_nothing() {
        assert_eq!(of_beginning("가나다"), None);
        assert_eq!(within("亜"), Vec::<u16>::new());
    }
}
