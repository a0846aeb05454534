//! jq filters: what a tool makes of JSON before it becomes `data`.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;
use tokio::sync::{Semaphore, oneshot};
use toolwright_core::{Envelope, Payload};
use toolwright_jq::{Filter, Limits, STACK_BYTES};

use crate::{
    answer::cut,
    context::{CallContext, Interrupted},
};

/// Outputs of one filter; more are no answer that anybody reads.
const MOST_OUTPUTS: usize = 100_000;
/// A message of a filter may hold the value that it did not fit.
const LONGEST_MESSAGE: usize = 200;
/// Filters that run at the same time. One that never ends is left behind and keeps its place, so that a caller who finds such
/// an input takes no more than these threads.
const MOST_RUNNING: usize = 16;

/// Compiled jq filters by their text: each is compiled by its first run.
#[derive(Debug)]
pub struct Filters {
    known: Mutex<BTreeMap<String, Arc<Filter>>>,
    turns: Arc<Semaphore>,
}

/// Why a filter came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterFault {
    /// It does not fit the value, or makes too much of it.
    #[error("{0}")]
    Failed(String),
    /// The call's deadline passed.
    #[error("it was not done when the call had to end")]
    Deadline,
    /// The call was cancelled.
    #[error("the call was cancelled")]
    Cancelled,
}

impl Default for Filters {
    fn default() -> Self {
        Filters { known: Mutex::default(), turns: Arc::new(Semaphore::new(MOST_RUNNING)) }
    }
}

impl Filters {
    /// Runs a filter beside the other calls, since it may take long over a large value, and never longer than the call has.
    /// What comes out has at most that many bytes as compact JSON.
    ///
    /// # Errors
    /// Where the filter fails, makes too much, or is not done in time.
    pub async fn run(
        &self,
        text: &str,
        input: Arc<Value>,
        most_bytes: u64,
        context: &CallContext,
    ) -> Result<Value, FilterFault> {
        let filter = self.compiled(text)?;
        let limits = Limits { outputs: MOST_OUTPUTS, bytes: most_bytes, stack_bytes: STACK_BYTES };
        let turns = Arc::clone(&self.turns);
        let running = async move {
            let turn = turns.acquire_owned().await;
            let (done, outcome) = oneshot::channel();
            // A thread of its own: one of the runtime's would hold up its end for as long as the filter runs.
            let thread = std::thread::Builder::new().name("filter".to_owned()).stack_size(STACK_BYTES);
            let started = thread.spawn(move || {
                let applied = filter.apply(&input, limits);
                drop((input, turn));
                // Nobody may be waiting any more.
                let _ = done.send(applied);
            });
            match started {
                Ok(_) => outcome.await.ok(),
                Err(_) => None,
            }
        };
        match context.bound(running).await {
            Ok(Some(applied)) => applied.map_err(|error| FilterFault::Failed(cut(&error.to_string(), LONGEST_MESSAGE))),
            Ok(None) => Err(FilterFault::Failed("it broke off; the log of the server says where".to_owned())),
            Err(Interrupted::Deadline) => Err(FilterFault::Deadline),
            Err(Interrupted::Cancelled) => Err(FilterFault::Cancelled),
        }
    }

    /// Applies a filter to the data of a success. Where that fails, the answer stays whole, with a warning: it is what was
    /// asked for, only longer. `most_bytes` bounds what may come out.
    pub async fn project(&self, text: &str, most_bytes: u64, envelope: &mut Envelope, context: &CallContext) {
        if !envelope.ok || !matches!(envelope.payload, Payload::Data(_)) {
            return;
        }
        let Payload::Data(data) = std::mem::take(&mut envelope.payload) else { return };
        let data = Arc::new(data);
        envelope.payload = Payload::Data(match self.run(text, Arc::clone(&data), most_bytes, context).await {
            Ok(projected) => projected,
            Err(fault) => {
                envelope.warnings.push(format!("the answer is given whole, since its projection failed: {fault}"));
                Arc::try_unwrap(data).unwrap_or_else(|data| (*data).clone())
            }
        });
    }

    fn compiled(&self, text: &str) -> Result<Arc<Filter>, FilterFault> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(filter) = known.get(text) {
            return Ok(Arc::clone(filter));
        }
        let filter = Filter::compile(text).map_err(|error| FilterFault::Failed(error.to_string()))?;
        let filter = Arc::new(filter);
        known.insert(text.to_owned(), Arc::clone(&filter));
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright_core::{HttpBinding, ToolSpec};

    use super::*;
    use crate::testing::{GET, Server, Setting, answer, json_answer, tool};

    async fn called(filter: &'static str, reply: Vec<u8>) -> Envelope {
        let spec = tool(HttpBinding { project: Some(filter), ..GET });
        Setting::for_server(&Server::with(reply).await).call(&spec, json!({})).await
    }

    #[tokio::test]
    async fn data_is_what_the_filter_makes_of_the_answer() {
        let envelope = called("[.items[] | .id]", json_answer(r#"{"items":[{"id":1,"x":0},{"id":2}]}"#)).await;
        assert_eq!(envelope.to_json()["data"], json!([1, 2]));
        assert_eq!(envelope.warnings, [""; 0]);
    }

    #[tokio::test]
    async fn a_filter_that_does_not_fit_leaves_the_answer_whole_with_a_warning() {
        let envelope = called(".items[].id", json_answer(r#"{"items":3}"#)).await;
        assert_eq!(envelope.to_json()["data"], json!({"items": 3}));
        assert!(envelope.warnings[0].starts_with("the answer is given whole, since its projection failed: "));
    }

    #[tokio::test]
    async fn errors_and_text_are_not_projected() {
        let refused = answer("404 Not Found", &[("content-type", "application/json")], r#"{"error":"no"}"#);
        assert_eq!(called(".x", refused).await.to_json()["data"], json!({"error": "no"}));
        let text = answer("200 OK", &[("content-type", "text/plain")], "hello");
        assert_eq!(called(".x", text).await.to_json()["text"], json!("hello"));
    }

    #[tokio::test]
    async fn what_is_secret_in_the_answer_is_masked_before_it_can_be_moved() {
        let spec = tool(HttpBinding { project: Some("{moved: .key}"), ..GET });
        let spec = ToolSpec { secrets: &["/key"], ..spec };
        let server = Server::with(json_answer(r#"{"key":"abc"}"#)).await;
        let envelope = Setting::for_server(&server).call(&spec, json!({})).await;
        assert_eq!(envelope.to_json()["data"], json!({"moved": "[masked]"}));
    }
}
