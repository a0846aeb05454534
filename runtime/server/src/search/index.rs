//! The index and its ranking.

use std::collections::HashMap;

use super::{
    Document, Intent,
    english::identifier_words,
    script::fold,
    terms::{CONCEPT_WEIGHT, Term, Word, indexed_terms, query_terms, words},
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
/// Characters of a query that are read: nobody asks in more, and time grows with them.
const LONGEST_QUERY: usize = 400;
/// Shortest word that may be misspelt or unfinished.
const SHORTEST_NEAR: usize = 5;
/// Factor for an indexed word that stands in for a misspelt or unfinished one.
const NEAR_FACTOR: f32 = 0.6;

/// An index over the texts of tools. Search takes well under a millisecond for hundreds of tools.
#[derive(Debug, Default)]
pub(crate) struct Index {
    documents: Vec<Entry>,
    phrases: Vec<Phrase>,
    /// Where the posting of a term is, by its text.
    vocabulary: HashMap<String, usize>,
    postings: Vec<Posting>,
}

/// The terms of words already seen: phrases repeat the same few words.
type Known = HashMap<Word, Vec<(usize, f32)>>;

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
        let mut known = Known::new();
        for document in documents {
            index.add(document, &names, &mut known);
        }
        index.weigh();
        index
    }

    fn add(&mut self, document: &Document, names: &[&str], known: &mut Known) {
        let at = self.documents.len();
        let spoken_name = identifier_words(&document.name);
        let summary = own_sentences(&document.summary, &document.name, names);
        let description = own_sentences(&document.description, &document.name, names);
        let mut length = 0.0;
        for (text, weight) in
            [(&spoken_name, weight::NAME), (&document.title, weight::TITLE), (&summary, weight::SUMMARY)]
                .into_iter()
                .chain(document.phrases.iter().map(|phrase| (phrase, weight::PHRASE)))
        {
            let terms = self.intern(text, known);
            self.add_phrase(at, text, &terms);
            length += self.add_terms(at, &terms, weight);
        }
        for (text, weight) in [(&description, weight::DESCRIPTION), (&document.path, weight::PATH)]
            .into_iter()
            .chain(document.fields.iter().map(|name| (name, weight::FIELD)))
            .chain(document.tags.iter().map(|tag| (tag, weight::TAG)))
        {
            let terms = self.intern(text, known);
            length += self.add_terms(at, &terms, weight);
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

    /// The text's terms by their postings, with their weights.
    fn intern(&mut self, text: &str, known: &mut Known) -> Vec<(usize, f32)> {
        let mut interned = Vec::new();
        for word in words(text) {
            if let Some(terms) = known.get(&word) {
                interned.extend_from_slice(terms);
                continue;
            }
            let terms: Vec<(usize, f32)> =
                indexed_terms(&word).into_iter().map(|term| (self.place(term.text), term.weight)).collect();
            interned.extend_from_slice(&terms);
            known.insert(word, terms);
        }
        interned
    }

    /// Where the posting of a term is, a new one where it has none.
    fn place(&mut self, term: String) -> usize {
        let new = self.postings.len();
        let place = *self.vocabulary.entry(term).or_insert(new);
        if place == new {
            self.postings.push(Posting::default());
        }
        place
    }

    /// Adds a field's terms and returns what they weigh.
    fn add_terms(&mut self, document: usize, terms: &[(usize, f32)], weight: f32) -> f32 {
        for (place, share) in terms {
            if let Some(posting) = self.postings.get_mut(*place) {
                add_to(&mut posting.documents, document, share * weight);
            }
        }
        terms.iter().map(|(_, share)| share * weight).sum()
    }

    fn add_phrase(&mut self, document: usize, text: &str, terms: &[(usize, f32)]) {
        let at = self.phrases.len();
        for (place, weight) in terms {
            let Some(posting) = self.postings.get_mut(*place) else { continue };
            // A term that the phrase repeats counts once; phrases come in order.
            if posting.phrases.last().is_none_or(|(last, _)| *last != at) {
                posting.phrases.push((at, *weight));
            }
        }
        self.phrases.push(Phrase { document, text: spaced(text), length: 0.0 });
    }

    /// Computes what needs the whole collection: rarities and lengths.
    #[allow(clippy::cast_precision_loss)] // Counts are small.
    fn weigh(&mut self) {
        let count = self.documents.len() as f32;
        for posting in &mut self.postings {
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
        let end = query.char_indices().nth(LONGEST_QUERY).map_or(query.len(), |(end, _)| end);
        let query = query.get(..end).unwrap_or(query);
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
        if let Some(posting) = self.posting(&term.text) {
            return QueryTerm { weight: term.weight, rarity: posting.rarity, posting: Some(posting) };
        }
        let rarity = rarity(0.0, self.documents.len() as f32);
        match self.near(&term.text) {
            Some(posting) => {
                QueryTerm { weight: term.weight * NEAR_FACTOR, rarity: posting.rarity, posting: Some(posting) }
            }
            None => QueryTerm { weight: term.weight, rarity, posting: None },
        }
    }

    fn posting(&self, term: &str) -> Option<&Posting> {
        self.vocabulary.get(term).and_then(|place| self.postings.get(*place))
    }

    /// The indexed word that an unknown word of ASCII letters was probably meant to be: it begins like it, or differs by
    /// one letter.
    fn near(&self, word: &str) -> Option<&Posting> {
        if word.len() < SHORTEST_NEAR || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        let is_near = |known: &str| {
            known.as_bytes().first() == word.as_bytes().first()
                && known.len().abs_diff(word.len()) <= 3
                && (known.starts_with(word) || within_one_edit(known.as_bytes(), word.as_bytes()))
        };
        let near = self.vocabulary.iter().filter(|(known, _)| is_near(known));
        let nearest = near.min_by_key(|(known, _)| (known.len().abs_diff(word.len()), known.as_str()));
        nearest.and_then(|(_, place)| self.postings.get(*place))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn document(name: &str, summary: &str, changes: bool) -> Document {
        Document { name: name.into(), summary: summary.into(), changes, ..Document::default() }
    }

    fn names(documents: &[Document], query: &str) -> Vec<String> {
        Index::new(documents).search(query).iter().map(|hit| documents[hit.document].name.clone()).collect()
    }

    #[test]
    fn the_name_itself_comes_first() {
        let documents = [
            document("list_orders", "List orders.", false),
            document("list_orders_by_day", "List orders, orders.", false),
        ];
        for query in ["list_orders", "List Orders", "list-orders"] {
            assert_eq!(names(&documents, query)[0], "list_orders");
        }
    }

    #[test]
    fn a_query_that_reads_never_has_a_change_above_a_reading_tool() {
        let documents = [
            document("set_order_status", "Set the order status, order status.", true),
            document("find_shipments", "Where an order is.", false),
        ];
        assert_eq!(names(&documents, "show order status"), ["find_shipments", "set_order_status"]);
        assert_eq!(names(&documents, "change order status")[0], "set_order_status");
    }

    #[test]
    fn dead_routes_come_last() {
        let dead = Document { dead: true, ..document("list_orders", "List orders.", false) };
        let documents = [dead, document("export", "Everything, orders too.", false)];
        assert_eq!(names(&documents, "orders"), ["export", "list_orders"]);
    }

    #[test]
    fn sentences_about_another_tool_do_not_count() {
        let documents = [
            document("delete_order", "Remove an order. To refund its payment use refund_payment.", true),
            document("refund_payment", "Give money back.", true),
        ];
        assert_eq!(names(&documents, "refund a payment"), ["refund_payment"]);
    }

    #[test]
    fn phrases_of_any_language_find_their_tool() {
        let shipped = Document {
            phrases: vec!["배송 조회".into(), "荷物の追跡".into()],
            ..document("track_parcel", "Track.", false)
        };
        let documents = [shipped, document("list_orders", "List orders.", false)];
        assert_eq!(names(&documents, "배송을 조회하고 싶어요")[0], "track_parcel");
        assert_eq!(names(&documents, "荷物を追跡したい")[0], "track_parcel");
    }

    #[test]
    fn meanings_find_tools_without_phrases_of_the_language() {
        let documents =
            [document("delete_user", "Remove a user.", true), document("list_orders", "List orders.", false)];
        assert_eq!(names(&documents, "사용자 삭제")[0], "delete_user");
        assert_eq!(names(&documents, "注文の一覧")[0], "list_orders");
    }

    #[test]
    fn a_slip_of_the_keyboard_does_not_matter() {
        let documents =
            [document("list_shipments", "List shipments.", false), document("add_user", "Add a user.", true)];
        assert_eq!(names(&documents, "shipmnets")[0], "list_shipments");
    }

    #[test]
    fn nothing_meant_finds_nothing() {
        let documents = [document("list_orders", "List orders.", false)];
        for query in ["", "the", "xyzzy plugh", "?!", "ㅋㅋㅋ"] {
            assert_eq!(names(&documents, query), Vec::<String>::new(), "{query:?}");
        }
    }

    #[test]
    fn an_index_of_nothing_finds_nothing() {
        assert_eq!(Index::new(&[]).search("orders"), Vec::new());
    }
}
