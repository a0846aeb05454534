//! Which operations this process has in hand, each once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Operations in hand, with what tells each of them to end.
#[derive(Default)]
pub(crate) struct Running(Mutex<HashMap<String, InHand>>);

struct InHand {
    cancellation: CancellationToken,
    /// Somebody wanted to begin it while it was in hand: whatever it was for, the present run may have missed it.
    again: bool,
}

impl InHand {
    fn new() -> Self {
        InHand { cancellation: CancellationToken::new(), again: false }
    }
}

impl Running {
    /// Takes an operation in hand. `None` where it is already; then it is looked at again when its run ends.
    pub(crate) fn enter(&self, id: &str) -> Option<CancellationToken> {
        match self.lock().entry(id.to_owned()) {
            Entry::Occupied(mut there) => {
                there.get_mut().again = true;
                None
            }
            Entry::Vacant(free) => Some(free.insert(InHand::new()).cancellation.clone()),
        }
    }

    /// Ends a run. Answers with the token of the next one where there is to be one, and gives the operation away otherwise.
    pub(crate) fn leave(&self, id: &str) -> Option<CancellationToken> {
        let mut all = self.lock();
        if !all.remove(id)?.again {
            return None;
        }
        let next = InHand::new();
        let cancellation = next.cancellation.clone();
        all.insert(id.to_owned(), next);
        Some(cancellation)
    }

    /// Tells an operation to end, if this process has it.
    pub(crate) fn cancel(&self, id: &str) {
        if let Some(there) = self.lock().get(id) {
            there.cancellation.cancel();
        }
    }

    /// No code that can panic runs under the lock, so what a poisoned one holds is whole.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, InHand>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_in_hand_once() {
        let running = Running::default();
        assert!(running.enter("a").is_some());
        assert!(running.enter("a").is_none());
        assert!(running.enter("b").is_some());
    }

    #[test]
    fn who_came_while_it_was_in_hand_gets_one_more_run() {
        let running = Running::default();
        running.enter("a").unwrap();
        running.enter("a");
        assert!(running.leave("a").is_some());
        assert!(running.leave("a").is_none());
        assert!(running.enter("a").is_some());
    }

    #[test]
    fn cancelling_reaches_the_run() {
        let running = Running::default();
        let token = running.enter("a").unwrap();
        running.cancel("a");
        assert!(token.is_cancelled());
    }
}
