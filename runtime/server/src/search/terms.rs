//! Text to weighted terms.

use super::script::{Run, Script, fold, runs};
use super::{english, japanese, korean};

/// What a word's meaning counts beside the word itself.
pub(super) const CONCEPT_WEIGHT: f32 = 0.7;

/// What the very form of a word counts beside its stem: enough to tell a plural, a participle or a direction.
pub(super) const FORM_WEIGHT: f32 = 0.3;

/// A unit of matching. Its weight is its share of the word that it came from: a word counts about one, whatever the
/// number of its parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Term {
    pub(super) text: String,
    pub(super) weight: f32,
    /// The meaning of the word that this term alone stands for.
    pub(super) concept: Option<u16>,
}

impl Term {
    pub(super) fn new(text: impl Into<String>, weight: f32) -> Self {
        Term { text: text.into(), weight, concept: None }
    }

    /// The term of a meaning that several words share. The mark keeps it apart from words.
    pub(super) fn meaning(concept: u16, weight: f32) -> Self {
        Term::new(format!("@{concept}"), weight)
    }

    /// The form of a word. The mark keeps it apart from stems.
    pub(super) fn form(word: &str) -> Self {
        Term::new(format!("={word}"), FORM_WEIGHT)
    }
}

/// A word as it stands in a text: a run, and the Japanese particle that follows it.
pub(super) type Word = (Run, Option<&'static str>);

/// The words of a text.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for run in runs(&fold(text)) {
        if let Some((before, particle)) = words.last_mut()
            && run.joined
            && run.script == Script::Hiragana
        {
            *particle = japanese::particle(before.script, &run.text);
        }
        words.push((run, None));
    }
    words
}

/// The terms of an indexed word, its meanings among them.
pub(super) fn indexed_terms(word: &Word) -> Vec<Term> {
    let mut terms = word_terms(word);
    let meanings: Vec<Term> =
        terms.iter().filter_map(|term| term.concept).map(|concept| Term::meaning(concept, CONCEPT_WEIGHT)).collect();
    terms.extend(meanings);
    terms
}

/// The terms of a query, repeated ones as often as they occur. Meanings of single terms are only noted on these.
pub(super) fn query_terms(query: &str) -> Vec<Term> {
    words(query).iter().flat_map(word_terms).collect()
}

fn word_terms((run, particle): &Word) -> Vec<Term> {
    let mut terms = Vec::new();
    match run.script {
        Script::Letters => english::terms(&run.text, &mut terms),
        Script::Hangul => korean::terms(&run.text, &mut terms),
        Script::Kanji => japanese::kanji(&run.text, &mut terms),
        Script::Katakana => japanese::katakana(&run.text, &mut terms),
        Script::Hiragana => japanese::hiragana(&run.text, &mut terms),
    }
    // A particle tells what is acted on from what comes out: 文字に, 音声を.
    terms.extend(particle.map(|particle| Term::form(&format!("{}{particle}", run.text))));
    terms
}

/// Pushes the overlapping pairs of characters of a word, which together weigh `weight` times the root of their number:
/// a long word says more than a short one, but not in proportion.
pub(super) fn push_pairs(word: &[char], weight: f32, terms: &mut Vec<Term>) {
    let count = word.len().saturating_sub(1);
    #[allow(clippy::cast_precision_loss)] // Words are short.
    let each = weight / (count.max(1) as f32).sqrt();
    terms.extend(word.windows(2).map(|pair| Term::new(pair.iter().collect::<String>(), each)));
}

/// The entries of a checked-in word list: one a line, `#` starts a comment.
pub(super) fn entries(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).filter(|line| !line.is_empty())
}
