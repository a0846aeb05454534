//! Text to weighted terms.

use super::script::{Script, fold, runs};
use super::{english, japanese, korean};

/// A unit of matching. Its weight is its share of the word that it came from: a word counts about one, whatever the
/// number of its parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Term {
    pub(super) text: String,
    pub(super) weight: f32,
}

impl Term {
    pub(super) fn new(text: impl Into<String>, weight: f32) -> Self {
        Term { text: text.into(), weight }
    }
}

/// The terms of a text, repeated ones as often as they occur.
pub(super) fn terms(text: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    for run in runs(&fold(text)) {
        match run.script {
            Script::Letters => english::terms(&run.text, &mut terms),
            Script::Hangul => korean::terms(&run.text, &mut terms),
            Script::Kanji => japanese::kanji(&run.text, &mut terms),
            Script::Katakana => japanese::katakana(&run.text, &mut terms),
            Script::Hiragana => japanese::hiragana(&run.text, &mut terms),
        }
    }
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
