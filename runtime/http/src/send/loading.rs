//! The answer of an upstream whose model is still loading: status 503 with `error.code` `model_loading`.

use reqwest::StatusCode;
use serde_json::{Map, Value};

use crate::answer::Reply;

/// How much of an answer is looked at.
const PEEK_BYTES: usize = 64 * 1024;

/// A model that is still loading.
#[derive(Debug, PartialEq)]
pub(crate) struct Loading {
    /// For people: that it loads, and how far it is.
    pub(crate) message: String,
}

/// Recognises the answer. What was read of it stays in the reply.
pub(crate) async fn of(reply: &mut Reply) -> Option<Loading> {
    if reply.status != StatusCode::SERVICE_UNAVAILABLE {
        return None;
    }
    let head = reply.peek(PEEK_BYTES).await;
    from_body(&serde_json::from_slice(&head).ok()?)
}

pub(crate) fn from_body(body: &Value) -> Option<Loading> {
    let message = match details_of(body)?.as_str() {
        "" => "the model is loading".to_owned(),
        details => format!("the model is loading: {details}"),
    };
    Some(Loading { message })
}

/// How far the loading is, where the body reports one; empty where it does not say.
pub(crate) fn details_of(body: &Value) -> Option<String> {
    let code = body.pointer("/error/code").and_then(Value::as_str);
    (code == Some("model_loading"))
        .then(|| body.get("loading").and_then(Value::as_object).map(details).unwrap_or_default())
}

/// The plain members of the `loading` object, as they are named there.
fn details(loading: &Map<String, Value>) -> String {
    let shown = loading.iter().filter_map(|(name, value)| match value {
        Value::String(text) if !text.is_empty() => Some(format!("{name} {text}")),
        Value::Number(number) => Some(format!("{name} {number}")),
        _ => None,
    });
    shown.take(6).collect::<Vec<_>>().join(", ")
}
