//! One model that can be asked.

#[cfg(test)]
mod tests;

use std::{
    fmt,
    future::Future,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::StreamExt;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until};
use toolwright_http::{CallContext, Secret, Url, Watch};

use crate::{
    answer::Answer,
    catalogue::ModelSpec,
    clock::Clock,
    dialect::{Dialect, Outgoing},
    error::{Broken, ModelError, Refused},
    reading::{Reading, Reported, Wrong, reported_in},
    request::{Effort, Request},
    retry::{OnRetry, RetryEvent, RetryPolicy, retry_after},
    transport::{Transport, WireError, WireReply, WireRequest},
};

/// The body of an error status, at most; what is beyond says nothing new.
const MOST_ERROR_BYTES: usize = 64 * 1024;

/// A model that can be asked. Cheap to clone: clones share the connections, and the last one closes them.
#[derive(Clone)]
pub struct Model {
    parts: Arc<Parts>,
    retry: RetryPolicy,
    on_retry: OnRetry,
}

/// What a model consists of.
pub(crate) struct Parts {
    pub(crate) id: String,
    pub(crate) spec: ModelSpec,
    pub(crate) dialect: Dialect,
    pub(crate) endpoint: Url,
    pub(crate) headers: HeaderMap,
    /// Texts that no error may repeat.
    pub(crate) hidden: Vec<Secret>,
    pub(crate) secret_name: Option<&'static str>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) response_timeout: Duration,
    pub(crate) default_max_output_tokens: Option<NonZeroU32>,
    pub(crate) counts_usage: bool,
    pub(crate) usage_refused: Arc<AtomicBool>,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("id", &self.parts.id).field("spec", &self.parts.spec).finish_non_exhaustive()
    }
}

impl Model {
    pub(crate) fn new(parts: Parts) -> Self {
        Model { parts: Arc::new(parts), retry: RetryPolicy::default(), on_retry: OnRetry::default() }
    }

    /// The model with another policy of retries.
    #[must_use]
    pub fn with_retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// The model with somebody who is told of retries, in place of the log.
    #[must_use]
    pub fn with_on_retry(mut self, on_retry: OnRetry) -> Self {
        self.on_retry = on_retry;
        self
    }

    /// The id that it was asked for by.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.parts.id
    }

    /// What is known about it.
    #[must_use]
    pub fn spec(&self) -> &ModelSpec {
        &self.parts.spec
    }

    /// Asks. The answer is streamed underneath; its text is shown to whoever watches the context's progress. A try that
    /// fails in passing is repeated as the policy says, word for word; the last error is returned as it is.
    ///
    /// # Errors
    /// Why there is no answer. Cancelling the context closes the connection.
    pub async fn complete(&self, request: &Request, context: &CallContext) -> Result<Answer, ModelError> {
        let effort = self.effort(request)?;
        let deadline = match self.retry.total() {
            Some(total) => context.deadline.min(Instant::now() + total),
            None => context.deadline,
        };
        let mut attempt = 1;
        loop {
            let error = match self.attempt(request, effort, context, deadline).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let Some(delay) = self.retry.pause(attempt, &error, &*self.parts.clock) else { return Err(error) };
            if delay >= deadline.saturating_duration_since(Instant::now()) {
                return Err(error);
            }
            self.on_retry.tell(&RetryEvent { attempt, delay, error: &error });
            tokio::select! {
                () = context.cancel.cancelled() => return Err(ModelError::Cancelled { model: self.parts.id.clone() }),
                () = sleep(delay) => attempt += 1,
            }
        }
    }

    fn effort(&self, request: &Request) -> Result<Option<Effort>, ModelError> {
        let spec = &self.parts.spec;
        match request.reasoning_effort {
            Some(effort) if !spec.supports_reasoning_effort => {
                Err(ModelError::EffortUnsupported { model: self.parts.id.clone(), effort: effort.name() })
            }
            Some(effort) => Ok(Some(effort)),
            None => Ok(spec.default_reasoning_effort.filter(|_| spec.supports_reasoning_effort)),
        }
    }

    /// One try; two where the gateway refuses to count tokens.
    async fn attempt(
        &self,
        request: &Request,
        effort: Option<Effort>,
        context: &CallContext,
        deadline: Instant,
    ) -> Result<Answer, ModelError> {
        let parts = &*self.parts;
        let asks = parts.counts_usage && !parts.usage_refused.load(Ordering::Relaxed);
        let first = self.exchange(self.wire(request, effort, asks), context, deadline).await;
        match first {
            Err(ModelError::Refused(refused)) if asks && refuses_usage(&refused) => {
                parts.usage_refused.store(true, Ordering::Relaxed);
                self.exchange(self.wire(request, effort, false), context, deadline).await
            }
            outcome => outcome,
        }
    }

    fn wire(&self, request: &Request, effort: Option<Effort>, asks_for_usage: bool) -> WireRequest {
        let parts = &*self.parts;
        let max_output_tokens = request.max_output_tokens.or(parts.default_max_output_tokens);
        let (model, spec) = (parts.id.as_str(), &parts.spec);
        let body = parts.dialect.body(&Outgoing { model, request, spec, effort, max_output_tokens, asks_for_usage });
        WireRequest { url: parts.endpoint.clone(), headers: parts.headers.clone(), body: Bytes::from(body.to_string()) }
    }

    /// Sends, and reads to the last byte, within the time for an answer. Whatever keeps the connection alive meanwhile
    /// does not extend it.
    async fn exchange(
        &self,
        wire: WireRequest,
        context: &CallContext,
        deadline: Instant,
    ) -> Result<Answer, ModelError> {
        let parts = &*self.parts;
        let hidden = parts.hidden.iter().map(|secret| secret.expose().to_owned());
        let progress = context.progress.without(hidden.collect());
        let mut heard = Heard { reading: None, watch: Watch::new(&progress) };
        let within = Instant::now() + parts.response_timeout;
        let outcome = Limits { context, deadline, within }.bound(self.listen(wire, &mut heard)).await;
        heard.watch.flush();
        match outcome {
            Ok(outcome) => outcome,
            Err(Ended::Cancelled) => Err(ModelError::Cancelled { model: parts.id.clone() }),
            Err(Ended::Deadline) => Err(ModelError::Deadline { model: parts.id.clone() }),
            Err(Ended::ReadTimeout) => Err(ModelError::ReadTimeout {
                model: parts.id.clone(),
                seconds: parts.response_timeout.as_secs_f64(),
                partial: heard.reading.map(Reading::partial).unwrap_or_default(),
            }),
        }
    }

    async fn listen(&self, wire: WireRequest, heard: &mut Heard<'_>) -> Result<Answer, ModelError> {
        let parts = &*self.parts;
        let mut reply = parts.transport.send(wire).await.map_err(|error| self.wire_error(error, String::new()))?;
        if reply.status != 200 {
            return Err(self.refused(reply).await);
        }
        let media_type = reply.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if media_type.to_ascii_lowercase().starts_with("text/html") {
            let reason = "it is a web page; check llm.base_url, which often ends with /v1".to_owned();
            return Err(self.wrong(Wrong::Unreadable(reason), String::new()));
        }
        heard.reading = Some(Reading::new(parts.dialect, media_type));
        while let Some(piece) = reply.body.next().await {
            let Some(reading) = &mut heard.reading else { break };
            let fed = match piece {
                Ok(bytes) => reading.feed(&bytes),
                Err(error) => return Err(self.wire_error(error, heard.take_partial())),
            };
            match fed {
                Ok(brought) => {
                    heard.watch.show(&brought.text);
                    if brought.done {
                        return self.answer(heard.reading.take().map(Reading::finish));
                    }
                }
                Err(wrong) => return Err(self.wrong(wrong, heard.take_partial())),
            }
        }
        self.answer(heard.reading.take().map(Reading::end))
    }

    fn answer(&self, read: Option<Result<Answer, (Wrong, String)>>) -> Result<Answer, ModelError> {
        let read = read.unwrap_or_else(|| Err((Wrong::Cut, String::new())));
        read.map_err(|(wrong, partial)| self.wrong(wrong, partial))
    }

    /// What an error status says.
    async fn refused(&self, reply: WireReply) -> ModelError {
        let parts = &*self.parts;
        let WireReply { status, headers, mut body } = reply;
        let mut bytes = Vec::new();
        while let Some(Ok(piece)) = body.next().await {
            bytes.extend_from_slice(&piece);
            if bytes.len() > MOST_ERROR_BYTES {
                break;
            }
        }
        let Reported { kind, code, message } = match serde_json::from_slice::<Value>(&bytes) {
            Ok(body) => reported_in(&body),
            Err(_) => Reported::default(),
        };
        let retry_after = retry_after(&headers, parts.clock.now());
        ModelError::Refused(Box::new(Refused {
            model: parts.id.clone(),
            status,
            kind: kind.map(|kind| self.without_secrets(kind)),
            code: code.map(|code| self.without_secrets(code)),
            message: self.without_secrets(message.unwrap_or_else(|| "it does not say why".to_owned())),
            advice: self.advice(status, retry_after),
            retry_after,
        }))
    }

    fn advice(&self, status: u16, retry_after: Option<Duration>) -> String {
        match (status, self.parts.secret_name, retry_after) {
            (401 | 403, Some(name), _) => format!("; check the secret {name:?}"),
            (429 | 503, _, Some(pause)) => format!("; try again in {} s", pause.as_secs_f64().ceil()),
            (300..=399, ..) => "; redirects are not followed: set llm.base_url to the final address".to_owned(),
            (404, ..) => "; check the model's id and llm.base_url".to_owned(),
            _ => String::new(),
        }
    }

    fn wire_error(&self, error: WireError, partial: String) -> ModelError {
        let model = self.parts.id.clone();
        match error {
            WireError::NoAnswer(reason) => ModelError::Unreachable { model, reason: self.without_secrets(reason) },
            WireError::BrokeOff(reason) => {
                ModelError::Cut { model, reason: format!(": {}", self.without_secrets(reason)), partial }
            }
        }
    }

    fn wrong(&self, wrong: Wrong, partial: String) -> ModelError {
        let model = self.parts.id.clone();
        match wrong {
            Wrong::Cut => ModelError::Cut { model, reason: String::new(), partial },
            Wrong::TooLarge(what) => ModelError::TooLarge { model, what },
            Wrong::Unreadable(reason) => ModelError::Unreadable { model, reason },
            Wrong::Reported(Reported { kind, code, message }) => {
                let message = self.without_secrets(message.unwrap_or_else(|| "it does not say why".to_owned()));
                ModelError::Broken(Box::new(Broken { model, kind, code, message, partial }))
            }
        }
    }

    /// Some upstreams repeat the key that they refuse.
    fn without_secrets(&self, message: String) -> String {
        let secrets = self.parts.hidden.iter().map(Secret::expose).filter(|secret| !secret.trim().is_empty());
        secrets.fold(message, |message, secret| message.replace(secret, "[secret]"))
    }
}

/// What has been heard of an answer. It outlives the listening, so that a timeout can tell what had come.
struct Heard<'a> {
    reading: Option<Reading>,
    watch: Watch<'a>,
}

impl Heard<'_> {
    fn take_partial(&mut self) -> String {
        self.reading.take().map(Reading::partial).unwrap_or_default()
    }
}

/// Every limit of one try.
struct Limits<'a> {
    context: &'a CallContext,
    /// Of the call.
    deadline: Instant,
    /// Of the answer.
    within: Instant,
}

/// Why a try ended before its answer.
enum Ended {
    Cancelled,
    Deadline,
    ReadTimeout,
}

impl Limits<'_> {
    async fn bound<T>(&self, future: impl Future<Output = T>) -> Result<T, Ended> {
        tokio::select! {
            biased;
            () = self.context.cancel.cancelled() => Err(Ended::Cancelled),
            () = sleep_until(self.deadline) => Err(Ended::Deadline),
            () = sleep_until(self.within) => Err(Ended::ReadTimeout),
            value = future => Ok(value),
        }
    }
}

fn refuses_usage(refused: &Refused) -> bool {
    matches!(refused.status, 400 | 422) && refused.message.contains("stream_options")
}
