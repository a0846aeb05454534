//! Text for people who watch a stream. Nobody waits for them: what the channel cannot take goes with the next piece.

use crate::context::Progress;

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

    /// Shows text, or keeps it for later.
    pub fn show(&mut self, text: &str) {
        if !self.progress.is_watched() || text.is_empty() || self.pending.len() > MOST_PENDING {
            return;
        }
        self.pending.push_str(text);
        self.flush();
    }

    /// Shows what was kept.
    pub fn flush(&mut self) {
        if !self.pending.is_empty() && self.progress.say(&self.pending) {
            self.pending.clear();
        }
    }
}
