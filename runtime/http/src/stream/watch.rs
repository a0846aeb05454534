//! Text for people who watch a stream. Nobody waits for them: what the channel cannot take goes with the next piece.

use crate::{answer::scrub_note, context::Progress};

/// Text that was not shown yet is dropped beyond this: it is in the result.
const MOST_PENDING: usize = 64 * 1024;

/// Progress of one stream.
#[derive(Debug)]
pub struct Watch<'a> {
    progress: &'a Progress,
    pending: String,
}

impl<'a> Watch<'a> {
    /// For that progress.
    #[must_use]
    pub fn new(progress: &'a Progress) -> Self {
        Watch { progress, pending: String::new() }
    }

    /// Shows text, or keeps it for later: what may be the beginning of a credential until it is known not to be.
    pub fn show(&mut self, text: &str) {
        if !self.progress.is_watched() || text.is_empty() || self.pending.len() > MOST_PENDING {
            return;
        }
        self.pending.push_str(text);
        scrub_note(&mut self.pending, self.progress.secrets());
        self.say(self.pending.len() - self.begun());
    }

    /// Shows what was kept.
    pub fn flush(&mut self) {
        self.say(self.pending.len());
    }

    fn say(&mut self, length: usize) {
        let Some(text) = self.pending.get(..length).filter(|text| !text.is_empty()) else { return };
        if self.progress.say(text) {
            self.pending.drain(..length);
        }
    }

    /// How many bytes at the end are the beginning of a credential, the rest of which may come with the next piece.
    fn begun(&self) -> usize {
        let begins = |secret: &String| {
            let is_begun = |length: &usize| secret.get(..*length).is_some_and(|begun| self.pending.ends_with(begun));
            (1..secret.len()).rev().find(is_begun)
        };
        self.progress.secrets().iter().filter_map(begins).max().unwrap_or_default()
    }
}
