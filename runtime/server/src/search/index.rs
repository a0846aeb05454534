//! The index and its ranking.

use std::collections::HashMap;

use super::{
    Document, Intent,
    english::identifier_words,
    script::fold,
    terms::{CONCEPT_WEIGHT, Term, indexed_terms, query_terms},
};

/// A tool that a query found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    /// Position of the document in the list that the index was built from.
    pub(crate) document: usize,
    /// How well it matches: 0 to about 2.5 for texts, more for a name.
    pub(crate) score: f32,
}

/// How much an occurrence in a field counts.
mod weight {
    pub(super) const NAME: f32 = 3.0;
    pub(super) const TITLE: f32 = 2.0;
    pub(super) const PHRASE: f32 = 1.6;
    pub(super) const SUMMARY: f32 = 1.4;
    pub(super) const TAG: f32 = 0.8;
    pub(super) const PATH: f32 = 0.6;
    pub(super) const DESCRIPTION: f32 = 0.4;
    pub(super) const FIELD: f32 = 0.4;
}

/// How much the nearest phrase counts beside the fields.
const PHRASE_SHARE: f32 = 1.2;
/// Factor for a phrase that the query holds word by word.
const VERBATIM_FACTOR: f32 = 1.4;
/// Occurrences, by weight, at which half of a term's worth is reached (`k1` of BM25).
const HALF: f32 = 1.2;
/// How strongly long texts are held back (`b` of BM25).
const LENGTH: f32 = 0.3;
/// Added where the query is the tool's name.
const NAME_BONUS: f32 = 10.0;
/// Factor for tools that change state where the query wants a change.
const CHANGE_FACTOR: f32 = 1.12;
/// Factor for tools whose declared route is missing.
const STAND_IN_FACTOR: f32 = 0.8;
/// Hits below this share of the best one are noise.
const NOISE: f32 = 0.2;
/// A best hit below this score explains too little of the query to be an answer.
const LEAST: f32 = 0.12;
/// Factor for an indexed word that stands in for a misspelt or unfinished one.
const NEAR_FACTOR: f32 = 0.6;

/// An index over the texts of tools. Search takes well under a millisecond for hundreds of tools.
#[derive(Debug, Default)]
pub(crate) struct Index {
    documents: Vec<Entry>,
    phrases: Vec<Phrase>,
    /// By text of the term.
    vocabulary: HashMap<String, Posting>,
}

/// What ranking needs of a document beside its terms.
#[derive(Debug)]
struct Entry {
    name: String,
    spoken_name: String,
    changes: bool,
    dead: bool,
    stand_in: bool,
    /// Weight of all its terms over the mean.
    length: f32,
}

#[derive(Debug)]
struct Phrase {
    document: usize,
    /// Folded, with one space around each word.
    text: String,
    /// Euclidean length of its vector of weighted terms.
    length: f32,
}

/// Where a term occurs.
#[derive(Debug, Default)]
struct Posting {
    /// Inverse document frequency.
    rarity: f32,
    /// Documents with the summed field weights.
    documents: Vec<(usize, f32)>,
    /// Phrases with the term's weight in them.
    phrases: Vec<(usize, f32)>,
}

impl Posting {
    fn significance(&self) -> f32 {
        significance(self.rarity)
    }
}

impl Index {
    /// Reads the texts of the documents. Sentences that send the reader to another tool are left out: they describe that
    /// one.
    #[must_use]
    pub(crate) fn new(documents: &[Document]) -> Self {
        let names: Vec<&str> = documents.iter().map(|document| document.name.as_str()).collect();
        let mut index = Index::default();
        for document in documents {
            index.add(document, &names);
        }
        index.weigh();
        index
    }

    fn add(&mut self, document: &Document, names: &[&str]) {
        let at = self.documents.len();
        let spoken_name = identifier_words(&document.name);
        let summary = own_sentences(&document.summary, &document.name, names);
        let description = own_sentences(&document.description, &document.name, names);
        let mut length = 0.0;
        let mut field = |text: &str, weight: f32| {
            for term in indexed_terms(text) {
                let posting = self.vocabulary.entry(term.text).or_default();
                add_to(&mut posting.documents, at, term.weight * weight);
                length += term.weight * weight;
            }
        };
        field(&spoken_name, weight::NAME);
        field(&document.title, weight::TITLE);
        field(&summary, weight::SUMMARY);
        field(&description, weight::DESCRIPTION);
        field(&document.path, weight::PATH);
        document.fields.iter().for_each(|name| field(name, weight::FIELD));
        document.tags.iter().for_each(|tag| field(tag, weight::TAG));
        document.phrases.iter().for_each(|phrase| field(phrase, weight::PHRASE));
        for phrase in [&spoken_name, &document.title, &summary].into_iter().chain(&document.phrases) {
            self.add_phrase(at, phrase);
        }
        self.documents.push(Entry {
            name: document.name.clone(),
            spoken_name,
            changes: document.changes,
            dead: document.dead,
            stand_in: document.stand_in,
            length,
        });
    }

    fn add_phrase(&mut self, document: usize, text: &str) {
        let at = self.phrases.len();
        for term in indexed_terms(text) {
            let posting = self.vocabulary.entry(term.text).or_default();
            if !posting.phrases.iter().any(|(phrase, _)| *phrase == at) {
                posting.phrases.push((at, term.weight));
            }
        }
        self.phrases.push(Phrase { document, text: spaced(text), length: 0.0 });
    }

    /// Computes what needs the whole collection: rarities and lengths.
    #[allow(clippy::cast_precision_loss)] // Counts are small.
    fn weigh(&mut self) {
        let count = self.documents.len() as f32;
        for posting in self.vocabulary.values_mut() {
            posting.rarity = rarity(posting.documents.len() as f32, count);
            for (phrase, weight) in &posting.phrases {
                if let Some(phrase) = self.phrases.get_mut(*phrase) {
                    phrase.length += weight.powi(2) * posting.significance();
                }
            }
        }
        self.phrases.iter_mut().for_each(|phrase| phrase.length = phrase.length.sqrt());
        let mean = self.documents.iter().map(|entry| entry.length).sum::<f32>() / count.max(1.0);
        self.documents.iter_mut().for_each(|entry| entry.length /= mean.max(f32::MIN_POSITIVE));
    }

    /// The matching tools, best first: living routes before dead ones and, where the query reads, tools that leave the
    /// upstream's state before tools that change it. Empty where nothing matches well enough to be meant.
    #[must_use]
    pub(crate) fn search(&self, query: &str) -> Vec<Hit> {
        let intent = Intent::of(query);
        let mut scores = self.text_scores(query);
        let folded = fold(query);
        let identifier = folded.trim().replace([' ', '-'], "_");
        for (entry, score) in self.documents.iter().zip(&mut scores) {
            if *score > 0.0 && intent == Intent::Changes && entry.changes {
                *score *= CHANGE_FACTOR;
            }
            if entry.stand_in {
                *score *= STAND_IN_FACTOR;
            }
            if entry.name == identifier || entry.spoken_name == folded.trim() {
                *score += NAME_BONUS;
            } else if entry.name.contains('_') && folded.contains(&entry.name) {
                *score += NAME_BONUS / 2.0;
            }
        }
        self.ranked(&scores, intent)
    }

    fn ranked(&self, scores: &[f32], intent: Intent) -> Vec<Hit> {
        let best = scores.iter().copied().fold(0.0, f32::max);
        if best < LEAST {
            return Vec::new();
        }
        let mut hits: Vec<(&Entry, Hit)> = self
            .documents
            .iter()
            .enumerate()
            .zip(scores)
            .filter(|(_, score)| **score >= best * NOISE)
            .map(|((document, entry), score)| (entry, Hit { document, score: *score }))
            .collect();
        hits.sort_by(|(left, a), (right, b)| {
            let held_back = |entry: &Entry| (entry.dead, intent == Intent::Reads && entry.changes);
            held_back(left)
                .cmp(&held_back(right))
                .then(b.score.total_cmp(&a.score))
                .then_with(|| left.name.cmp(&right.name))
        });
        hits.into_iter().map(|(_, hit)| hit).collect()
    }

    /// One score a document from its fields and its nearest phrase.
    fn text_scores(&self, query: &str) -> Vec<f32> {
        let mut fields = vec![0.0_f32; self.documents.len()];
        let mut phrases = vec![0.0_f32; self.phrases.len()];
        let mut total = 0.0;
        let mut length = 0.0_f32;
        for term in self.known_terms(query) {
            total += term.value();
            length += term.weight.powi(2) * significance(term.rarity);
            let Some(posting) = term.posting else { continue };
            for (document, frequency) in &posting.documents {
                if let (Some(score), Some(entry)) = (fields.get_mut(*document), self.documents.get(*document)) {
                    let half = HALF * (1.0 - LENGTH + LENGTH * entry.length);
                    *score += term.value() * frequency / (frequency + half);
                }
            }
            for (phrase, weight) in &posting.phrases {
                if let Some(score) = phrases.get_mut(*phrase) {
                    *score += term.weight * weight * posting.significance();
                }
            }
        }
        if total == 0.0 {
            return fields;
        }
        let nearest = self.nearest_phrases(&phrases, &spaced(query), length.sqrt());
        fields.iter().zip(nearest).map(|(score, nearest)| score / total + PHRASE_SHARE * nearest).collect()
    }

    /// For each document the cosine between the query and its nearest phrase, more where the query holds the phrase word
    /// by word.
    fn nearest_phrases(&self, products: &[f32], query: &str, query_length: f32) -> Vec<f32> {
        let mut nearest = vec![0.0_f32; self.documents.len()];
        for (phrase, product) in self.phrases.iter().zip(products).filter(|(_, product)| **product > 0.0) {
            let cosine = product / (phrase.length * query_length);
            let verbatim = if query.contains(&phrase.text) { VERBATIM_FACTOR } else { 1.0 };
            if let Some(best) = nearest.get_mut(phrase.document) {
                *best = best.max(cosine * verbatim);
            }
        }
        nearest
    }

    /// The query's distinct terms, each with what the index knows of it.
    fn known_terms(&self, query: &str) -> Vec<QueryTerm<'_>> {
        let mut distinct: Vec<Term> = Vec::new();
        let mut add = |term: Term| match distinct.iter_mut().find(|seen| seen.text == term.text) {
            Some(seen) => seen.weight = seen.weight.max(term.weight),
            None => distinct.push(term),
        };
        for term in query_terms(query) {
            match term.concept {
                // The meaning stands in for a word that no text holds.
                Some(concept) if !self.vocabulary.contains_key(&term.text) => add(Term::meaning(concept, term.weight)),
                Some(concept) => {
                    add(Term::meaning(concept, CONCEPT_WEIGHT));
                    add(term);
                }
                None => add(term),
            }
        }
        distinct.into_iter().map(|term| self.look_up(&term)).collect()
    }

    #[allow(clippy::cast_precision_loss)] // Counts are small.
    fn look_up(&self, term: &Term) -> QueryTerm<'_> {
        if let Some(posting) = self.vocabulary.get(&term.text) {
            return QueryTerm { weight: term.weight, rarity: posting.rarity, posting: Some(posting) };
        }
        let rarity = rarity(0.0, self.documents.len() as f32);
        match self.near(&term.text) {
            Some(posting) => QueryTerm { weight: term.weight * NEAR_FACTOR, rarity: posting.rarity, posting: Some(posting) },
            None => QueryTerm { weight: term.weight, rarity, posting: None },
        }
    }

    /// The indexed word that an unknown word of ASCII letters was probably meant to be: it begins like it, or differs by
    /// one letter.
    fn near(&self, word: &str) -> Option<&Posting> {
        if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        let is_near = |known: &str| {
            known.as_bytes().first() == word.as_bytes().first()
                && known.len().abs_diff(word.len()) <= 3
                && (known.starts_with(word) || within_one_edit(known.as_bytes(), word.as_bytes()))
        };
        let near = self.vocabulary.iter().filter(|(known, _)| is_near(known));
        near.min_by_key(|(known, _)| (known.len().abs_diff(word.len()), known.as_str())).map(|(_, posting)| posting)
    }
}

struct QueryTerm<'a> {
    weight: f32,
    rarity: f32,
    posting: Option<&'a Posting>,
}

impl QueryTerm<'_> {
    fn value(&self) -> f32 {
        self.weight * self.rarity
    }
}

/// What a term counts in the cosine of two texts that share it. With the square of the rarity, as usual, one rare word
/// outweighs all others; with the rarity itself it hardly matters.
fn significance(rarity: f32) -> f32 {
    rarity * rarity.sqrt()
}

/// Inverse document frequency as in BM25, always positive.
fn rarity(frequency: f32, count: f32) -> f32 {
    ((count - frequency + 0.5) / (frequency + 0.5)).ln_1p()
}

/// Folded text with one space around each word. Japanese has no spaces, and Korean puts particles behind words, so these
/// end in the text where they end.
fn spaced(text: &str) -> String {
    let folded = fold(text);
    let words: Vec<&str> = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let edge = if folded.is_ascii() { " " } else { "" };
    format!("{edge}{}{edge}", words.join(" "))
}

/// Adds to the last entry where it is that document's; documents come in order.
fn add_to(postings: &mut Vec<(usize, f32)>, document: usize, weight: f32) {
    match postings.last_mut() {
        Some((last, sum)) if *last == document => *sum += weight,
        _ => postings.push((document, weight)),
    }
}

/// The sentences and clauses that do not name another tool as the one to use.
fn own_sentences(text: &str, own: &str, names: &[&str]) -> String {
    let refers = |sentence: &str| {
        let words: Vec<&str> = sentence.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let other = |word: &&str| *word != own && names.contains(word);
        words.iter().any(|word| word.contains('_') && other(word))
            || words.windows(2).any(|pair| matches!(pair, ["use" | "Use" | "Prefer" | "prefer", name] if other(name)))
    };
    text.split_inclusive(['.', ';', '\n']).filter(|sentence| !refers(sentence)).collect()
}

/// True where one insertion, deletion, replacement or swap of neighbours turns one word into the other.
fn within_one_edit(left: &[u8], right: &[u8]) -> bool {
    let start = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (left, right) = (left.get(start..).unwrap_or_default(), right.get(start..).unwrap_or_default());
    match (left, right) {
        ([], []) | ([_], []) | ([], [_]) => true,
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([_, a @ ..], b) | (b, [_, a @ ..]) if a == b => true,
        ([a, b, left @ ..], [c, d, right @ ..]) => a == d && b == c && left == right,
        _ => false,
    }
}
