//! Korean words: particles and endings come off, the rest is cut into pairs of syllables.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    concept,
    terms::{Term, entries, push_pairs},
};

/// Words that say nothing by themselves.
static STOP_WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| entries(include_str!("words/stop.ko.txt")).collect());

/// Particles and endings, each with the fewest syllables that must be left before it.
static ENDINGS: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let ending = |line: &'static str| match line.split_once(' ') {
        Some((ending, least)) => (ending, least.trim().parse().unwrap_or(1)),
        None => (line, if line.chars().count() > 1 { 1 } else { 2 }),
    };
    entries(include_str!("words/endings.ko.txt")).map(ending).collect()
});

/// Syllables of the longest ending in the list.
const LONGEST_ENDING: usize = 6;

/// Pushes the terms of one word as it stands between spaces.
pub(super) fn terms(word: &str, terms: &mut Vec<Term>) {
    if STOP_WORDS.contains(&word) || ENDINGS.contains_key(word) {
        return;
    }
    let syllables: Vec<char> = word.chars().collect();
    let stem = strip(&syllables);
    if stem.len() < syllables.len() {
        terms.push(Term::form(word));
    }
    let form = uninflected(stem);
    let concept = concept::of_beginning(&form);
    // A listed word is a whole; any other may be a compound, whose pairs tell more.
    let (pairs, whole) = if concept::of_word(&form).is_some() { (0.6, 0.6) } else { (1.0, 0.5) };
    match stem {
        [] => {}
        [only] => terms.push(Term { text: only.to_string(), weight: 0.8, concept }),
        _ => {
            push_pairs(stem, pairs, terms);
            terms.push(Term { text: format!("~{form}"), weight: whole, concept });
        }
    }
}

/// A word of the concept list in the form that words of texts are looked up by.
pub(super) fn concept_form(word: &str) -> String {
    uninflected(&word.chars().collect::<Vec<_>>())
}

/// The word without its endings, of which at most two follow each other, as in 사람들에게.
fn strip(word: &[char]) -> &[char] {
    strip_one(strip_one(word))
}

fn strip_one(word: &[char]) -> &[char] {
    for length in (1..=LONGEST_ENDING.min(word.len().saturating_sub(1))).rev() {
        let (rest, ending) = word.split_at(word.len() - length);
        let ending: String = ending.iter().collect();
        if ENDINGS.get(ending.as_str()).is_some_and(|least| rest.len() >= *least) {
            return rest;
        }
    }
    word
}

/// A verb's last syllable before inflection: 지워, 지운 and 지울 give 지우, as 지우기 does without its ending.
fn uninflected(stem: &[char]) -> String {
    let mut form = String::new();
    if let Some((last, rest)) = stem.split_last() {
        form.extend(rest);
        form.push(base_syllable(*last));
    }
    form
}

/// Undoes the contraction of the vowel and drops the consonants that inflection puts at the end. The numbers are those of
/// Unicode section 3.12, "Conjoining Jamo Behavior".
fn base_syllable(syllable: char) -> char {
    let Some(index) = u32::from(syllable).checked_sub(0xac00).filter(|index| *index < 11172) else {
        return syllable;
    };
    let (lead, vowel, tail) = (index / 588, index / 28 % 21, index % 28);
    let vowel = match vowel {
        14 => 13,             // ㅝ to ㅜ
        9 => 8,               // ㅘ to ㅗ
        6 => 20,              // ㅕ to ㅣ
        1 if lead == 18 => 0, // 해 to 하
        other => other,
    };
    let tail = if matches!(tail, 4 | 8 | 16 | 17 | 20) { 0 } else { tail }; // ㄴ ㄹ ㅁ ㅂ ㅆ
    char::from_u32(0xac00 + (lead * 21 + vowel) * 28 + tail).unwrap_or(syllable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stem(word: &str) -> String {
        strip(&word.chars().collect::<Vec<_>>()).iter().collect()
    }

    fn form(word: &str) -> String {
        uninflected(strip(&word.chars().collect::<Vec<_>>()))
    }

    #[test]
    fn particles_come_off() {
        assert_eq!(["모델을", "사람들에게", "갤러리에서", "화자별로"].map(stem), ["모델", "사람", "갤러리", "화자"]);
    }

    #[test]
    fn a_word_is_not_taken_for_its_particle() {
        assert_eq!(["목소리", "사이", "지도"].map(stem), ["목소리", "사이", "지도"]);
    }

    #[test]
    fn forms_of_a_verb_meet() {
        assert_eq!(["지우기", "지워", "지운", "지우는"].map(form), ["지우"; 4]);
        assert_eq!(["만들어", "만들기", "만드는"].map(form), ["만드"; 3]);
        assert_eq!(["설치하기", "설치해", "설치된"].map(form), ["설치"; 3]);
    }
}
