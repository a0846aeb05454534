//! Projections: what a tool makes of a JSON answer before it becomes `data`.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;
use toolwright_core::{Envelope, Payload};
use toolwright_jq::{Filter, Limits};

use crate::{answer::cut, context::CallContext};

/// Outputs of one projection; more are no answer that anybody reads.
const MOST_OUTPUTS: usize = 100_000;
/// A message of a filter may hold the value that it did not fit.
const LONGEST_MESSAGE: usize = 200;

/// Compiled filters by their text: a tool's is compiled by its first call.
#[derive(Debug, Default)]
pub(crate) struct Projections(Mutex<BTreeMap<&'static str, Arc<Filter>>>);

impl Projections {
    /// Applies a filter to the data of a success. Where that fails, the answer stays whole, with a warning: it is what was
    /// asked for, only longer. `most_bytes` bounds what may come out.
    pub(crate) async fn apply(
        &self,
        text: &'static str,
        most_bytes: u64,
        envelope: &mut Envelope,
        context: &CallContext,
    ) {
        if !envelope.ok || !matches!(envelope.payload, Payload::Data(_)) {
            return;
        }
        let Payload::Data(data) = std::mem::take(&mut envelope.payload) else { return };
        let data = Arc::new(data);
        let outcome = match self.compiled(text) {
            Ok(filter) => run(filter, Arc::clone(&data), most_bytes, context).await,
            Err(message) => Err(message),
        };
        envelope.payload = Payload::Data(match outcome {
            Ok(projected) => projected,
            Err(message) => {
                let message = cut(&message, LONGEST_MESSAGE);
                envelope.warnings.push(format!("the answer is given whole, since its projection failed: {message}"));
                Arc::try_unwrap(data).unwrap_or_else(|data| (*data).clone())
            }
        });
    }

    fn compiled(&self, text: &'static str) -> Result<Arc<Filter>, String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(filter) = known.get(text) {
            return Ok(Arc::clone(filter));
        }
        let filter = Arc::new(Filter::compile(text).map_err(|error| error.to_string())?);
        known.insert(text, Arc::clone(&filter));
        Ok(filter)
    }
}

/// Beside the other calls, since a filter may take long over a large answer, and never longer than the call has.
async fn run(filter: Arc<Filter>, data: Arc<Value>, bytes: u64, context: &CallContext) -> Result<Value, String> {
    let limits = Limits { outputs: MOST_OUTPUTS, bytes };
    let running = tokio::task::spawn_blocking(move || filter.apply(&data, limits));
    match context.bound(running).await {
        Ok(Ok(applied)) => applied.map_err(|error| error.to_string()),
        Ok(Err(_)) => Err("it broke off; the log of the server says where".to_owned()),
        Err(_) => Err("it was not done when the call had to end".to_owned()),
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
