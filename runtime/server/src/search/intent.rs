//! Whether a query wants to read or to change something.

use std::sync::LazyLock;

use super::{script::fold, terms::entries};

/// What a query asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intent {
    /// It holds a word of the reading lists and none of the changing lists.
    Reads,
    /// It holds a word of the changing lists.
    Changes,
    /// Neither.
    Open,
}

macro_rules! word_list {
    ($name:ident, $file:literal) => {
        static $name: LazyLock<Vec<&'static str>> = LazyLock::new(|| entries(include_str!($file)).collect());
    };
}

word_list!(READS_EN, "words/reads.en.txt");
word_list!(CHANGES_EN, "words/changes.en.txt");
word_list!(NOUN_BEFORE_EN, "words/noun_before.en.txt");
word_list!(STATES_EN, "words/states.en.txt");
word_list!(READS_KO, "words/reads.ko.txt");
word_list!(CHANGES_NOUNS_KO, "words/changes.nouns.ko.txt");
word_list!(CHANGES_VERBS_KO, "words/changes.verbs.ko.txt");
word_list!(READS_JA, "words/reads.ja.txt");
word_list!(CHANGES_NOUNS_JA, "words/changes.nouns.ja.txt");
word_list!(CHANGES_VERBS_JA, "words/changes.verbs.ja.txt");

impl Intent {
    /// The intent of a query in English, Korean or Japanese.
    #[must_use]
    pub(crate) fn of(query: &str) -> Self {
        let folded = fold(query);
        let words = alphabetic_words(&folded);
        if changes_en(&words) || changes_ko(&folded) || changes_ja(&folded) {
            return Intent::Changes;
        }
        let holds = |list: &[&str]| list.iter().any(|entry| folded.contains(entry));
        if position(&words, &READS_EN).next().is_some() || holds(&READS_KO) || holds(&READS_JA) {
            return Intent::Reads;
        }
        Intent::Open
    }
}

fn alphabetic_words(folded: &str) -> Vec<&str> {
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// Where entries of the list, of one word or more, begin.
fn position<'a>(words: &'a [&str], list: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    let entry_at = |at: usize| {
        let rest = words.get(at..).unwrap_or_default();
        list.iter().any(|entry| {
            let length = entry.split(' ').count();
            rest.len() >= length && entry.split(' ').eq(rest.iter().take(length).copied())
        })
    };
    (0..words.len()).filter(move |at| entry_at(*at))
}

/// A changing word in its plain form counts, unless it stands where only a noun can: "the limit", "show install jobs".
fn changes_en(words: &[&str]) -> bool {
    let noun = |at: usize| {
        let before = words.get(..at).unwrap_or_default();
        let is_named = before.last().is_some_and(|word| NOUN_BEFORE_EN.contains(word));
        // "status of the model install": what follows is what the status is of.
        let of = before.iter().rposition(|word| *word == "of" || *word == "on");
        let head = of.and_then(|of| before.get(of.checked_sub(1)?));
        is_named || head.is_some_and(|word| STATES_EN.contains(word))
    };
    position(words, &CHANGES_EN).any(|at| !noun(at))
}

/// A verbal noun counts where it ends the query or 하다 follows it; "설치된 모델" and "설치 작업" only describe. A verb counts in
/// the listed forms at the start of a word.
fn changes_ko(folded: &str) -> bool {
    let words: Vec<&str> = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.iter().enumerate().any(|(at, word)| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        CHANGES_VERBS_KO.iter().any(|verb| word.starts_with(verb))
            || CHANGES_NOUNS_KO.iter().any(|noun| match word.rsplit_once(noun) {
                Some((_, "")) => next.is_empty() || begins_action_ko(next),
                Some((_, "을" | "를")) => next.starts_with(['하', '해']),
                Some((_, tail)) => tail.starts_with(['하', '해', '시']),
                None => false,
            })
    })
}

fn begins_action_ko(word: &str) -> bool {
    ["하", "해", "시켜", "줘", "주세요", "부탁", "방법", "좀"].iter().any(|start| word.starts_with(start))
}

/// As in Korean: "インストール済み" and "インストールの進捗" only describe. A listed verb form counts unless a past form follows.
fn changes_ja(folded: &str) -> bool {
    let noun = |noun: &&str| after(folded, noun).any(begins_action_ja);
    let verb = |verb: &&str| after(folded, verb).any(|tail| !tail.starts_with('た') || tail.starts_with("たい"));
    CHANGES_NOUNS_JA.iter().any(noun) || CHANGES_VERBS_JA.iter().any(verb)
}

/// What follows each occurrence of the word.
fn after<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(word).filter_map(move |(at, found)| text.get(at + found.len()..))
}

fn begins_action_ja(tail: &str) -> bool {
    let tail = tail.strip_prefix('を').unwrap_or(tail).trim_start();
    let action = ["する", "して", "したい", "しよ", "しろ", "せよ", "し直", "できる", "お願い", "方法"];
    tail.chars().next().is_none_or(|c| !c.is_alphanumeric()) || action.iter().any(|start| tail.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(queries: &[&str], intent: Intent) {
        for query in queries {
            assert_eq!(Intent::of(query), intent, "{query}");
        }
    }

    #[test]
    fn reading_words_read() {
        all(&["list users", "how much space is left", "order status", "주문 목록", "ユーザーの一覧"], Intent::Reads);
    }

    #[test]
    fn a_changing_word_outweighs_reading_words() {
        all(&["show how to delete users", "주문 상태 변경", "状態を変更する"], Intent::Changes);
    }

    #[test]
    fn what_has_been_done_only_describes() {
        all(&["list installed plugins", "설치된 플러그인 목록", "インストール済みの一覧"], Intent::Reads);
    }

    #[test]
    fn a_noun_only_describes() {
        all(
            &[
                "show the limit",
                "get install status",
                "status of the backend upgrade",
                "progress of a model install",
                "설치 작업 목록",
                "インストールの状態",
            ],
            Intent::Reads,
        );
    }

    #[test]
    fn neither_stays_open() {
        all(&["translate a letter", "", "그림", "手紙の翻訳"], Intent::Open);
    }
}
