//! Sealing of states that travel through a client: a state counts only for the caller and the request that it was made for,
//! for a while, and only as this server wrote it (MCP 2026-07-28, Multi Round-Trip Requests: Security).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::header;
use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestStateCodec, SealOptions};
use rmcp::service::RequestContext;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Asking;
use crate::settings::{Problem, Secret};

/// How long a person may take to answer.
const LIFETIME: Duration = Duration::from_secs(600);

/// Length of a key of our own, in bytes.
const KEY_BYTES: usize = 32;

/// The key, and the confirmations that were used.
#[derive(Debug)]
pub(crate) struct Sealer {
    codec: RequestStateCodec,
    /// How long a state is good for.
    lifetime: Duration,
    /// Ids of used states, and until when they would be valid.
    spent: Mutex<BTreeMap<String, Instant>>,
}

impl Sealer {
    /// With the operator's key, so that several processes take each other's states, or with one that this process alone has.
    ///
    /// # Errors
    /// A key that is too short, or a system that gives no random bytes.
    pub(crate) fn new(key: Option<&Secret>) -> Result<Self, Problem> {
        let key = match key {
            Some(key) => key.expose().as_bytes().to_vec(),
            None => {
                let mut key = vec![0; KEY_BYTES];
                getrandom::fill(&mut key)
                    .map_err(|error| Problem::new("the operating system", format!("gives no random bytes: {error}")))?;
                key
            }
        };
        let short = |_| Problem::new("MCP_STATE_KEY", too_short());
        let codec = RequestStateCodec::try_new(key).map_err(short)?;
        Ok(Sealer { codec, lifetime: LIFETIME, spent: Mutex::default() })
    }

    /// An id that no other state has.
    pub(super) fn fresh_id() -> String {
        let mut bytes = [0; 16];
        // Without random bytes the server would not have started.
        let _ = getrandom::fill(&mut bytes);
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// A sealed state; `None` where it cannot be written as JSON, which its type rules out.
    pub(super) fn seal(&self, state: &impl Serialize, binding: &[u8]) -> Option<String> {
        let options = SealOptions::new().associated_data(binding).ttl(self.lifetime);
        self.codec.seal_json_with(state, &options).ok()
    }

    /// What a state says.
    ///
    /// # Errors
    /// One and the same for every fault: what was wrong helps only whoever forges.
    pub(super) fn open<T: DeserializeOwned>(&self, sealed: &str, binding: &[u8]) -> Result<T, ErrorData> {
        self.codec.open_json_with(sealed, binding).map_err(|error| {
            tracing::warn!(target: "toolwright::server", %error, "refused a request state");
            let message = "requestState is not one that this server gave for this request, or it is too old; \
                           make the request again without it";
            ErrorData::invalid_params(message, None)
        })
    }

    /// Uses a state up. False where it was before.
    pub(super) fn spend(&self, id: &str) -> bool {
        let now = Instant::now();
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.retain(|_, until| *until > now);
        spent.insert(id.to_owned(), now + self.lifetime).is_none()
    }
}

/// Length of the operator's key at least, in bytes.
pub(crate) const SHORTEST_KEY: usize = RequestStateCodec::MIN_KEY_LENGTH;

/// What the operator's key must be.
pub(crate) fn too_short() -> String {
    format!("must be at least {} bytes, such as the output of `openssl rand -hex 32`", SHORTEST_KEY)
}

/// The caller and the request, as one text in which nothing can pass for something else: each part stands behind its length.
pub(super) fn bound_to(context: &RequestContext<RoleServer>, forwarded: &[String], asking: &Asking<'_>) -> Vec<u8> {
    let arguments = asking.arguments.map(|arguments| sorted(&Value::Object(arguments.clone())).to_string());
    let mut parts: Vec<Vec<u8>> = vec![asking.method.into(), asking.name.into(), arguments.unwrap_or_default().into()];
    if let Some(request) = context.extensions.get::<Parts>() {
        let names = forwarded.iter().map(String::as_str).chain([header::AUTHORIZATION.as_str()]);
        for name in names {
            parts.extend(request.headers.get_all(name).iter().map(|value| value.as_bytes().to_vec()));
            parts.push(Vec::new());
        }
    }
    let mut bound = Vec::new();
    for part in parts {
        bound.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bound.extend_from_slice(&part);
    }
    bound
}

/// The same value whatever order a client writes members in.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(members) => {
            let members: BTreeMap<&String, &Value> = members.iter().collect();
            Value::Object(members.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_state_is_good_for_its_lifetime_and_its_binding_alone() {
        let sealer = Sealer::new(None).unwrap();
        let sealed = sealer.seal(&json!({"a": 1}), b"one").unwrap();
        assert_eq!(sealer.open::<Value>(&sealed, b"one").unwrap(), json!({"a": 1}));
        assert!(sealer.open::<Value>(&sealed, b"two").is_err());
        let brief = Sealer { lifetime: Duration::ZERO, ..sealer };
        let sealed = brief.seal(&json!({"a": 1}), b"one").unwrap();
        std::thread::sleep(Duration::from_millis(5));
        assert!(brief.open::<Value>(&sealed, b"one").is_err());
    }

    #[test]
    fn a_key_that_is_too_short_is_refused_with_how_to_make_one() {
        let problem = Sealer::new(Some(&Secret::new("short"))).unwrap_err().to_string();
        assert!(problem.contains("MCP_STATE_KEY") && problem.contains("openssl"), "{problem}");
    }

    #[test]
    fn the_order_of_members_does_not_matter() {
        let one: Value = serde_json::from_str(r#"{"a": {"b": 1, "c": [{"d": 1, "e": 2}]}}"#).unwrap();
        let two: Value = serde_json::from_str(r#"{"a": {"c": [{"e": 2, "d": 1}], "b": 1}}"#).unwrap();
        assert_eq!(sorted(&one).to_string(), sorted(&two).to_string());
    }
}
