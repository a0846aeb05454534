//! What surrounds a call: its deadline, its cancellation, and whom to tell about its progress.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;
use toolwright_core::{Client, Code, NoClient, ToolError};

use crate::{
    answer::{credentials, recognizable, scrub_note},
    auth::Tokens,
    config::Config,
    forward::ForwardedHeaders,
    observe::Observed,
};

/// One step of a call that takes a while.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressUpdate {
    /// How far the call is; grows from update to update.
    pub progress: f64,
    /// Where it ends, if known.
    pub total: Option<f64>,
    /// For people: the text of a stream as it comes, or what is waited for.
    pub message: String,
}

/// Where progress goes; cheap to clone. Without a receiver, nothing is sent.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    sender: Option<mpsc::Sender<ProgressUpdate>>,
    /// Updates so far, over all clones: MCP wants every update of a call to be further than the one before.
    said: Arc<AtomicU32>,
    /// Credentials, which no update shows.
    secrets: Arc<[String]>,
}

impl Progress {
    /// Progress to that channel.
    #[must_use]
    pub fn to(sender: mpsc::Sender<ProgressUpdate>) -> Self {
        Progress { sender: Some(sender), ..Progress::default() }
    }

    /// Progress that nobody watches.
    #[must_use]
    pub fn none() -> Self {
        Progress::default()
    }

    /// True where somebody watches.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.sender.is_some()
    }

    /// The same progress, from whose messages these credentials are taken out. Those that are so short that they would
    /// turn up by chance stay.
    #[must_use]
    pub fn without(&self, secrets: Vec<String>) -> Self {
        Progress { secrets: recognizable(secrets).into(), ..self.clone() }
    }

    /// The credentials that no message shows.
    pub(crate) fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// Sends an update if there is room; never waits. False where it was not taken.
    pub fn send(&self, mut update: ProgressUpdate) -> bool {
        if self.is_watched() {
            scrub_note(&mut update.message, &self.secrets);
        }
        self.sender.as_ref().is_some_and(|sender| sender.try_send(update).is_ok())
    }

    /// Sends a message as one step further. False where it was not taken.
    pub fn say(&self, message: &str) -> bool {
        let step = self.said.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        self.is_watched()
            && self.send(ProgressUpdate { progress: f64::from(step), total: None, message: message.to_owned() })
    }
}

/// What surrounds one call.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// When the call must be over.
    pub deadline: Instant,
    /// Cancels the call: the connection to the upstream is dropped.
    pub cancel: CancellationToken,
    /// Where progress goes.
    pub progress: Progress,
    /// Headers of the caller's request that go along to the upstream.
    pub forwarded: ForwardedHeaders,
    /// Headers of answers that the result keeps beyond the usual ones, in lower case.
    pub keep_headers: Arc<[String]>,
    /// Who is told what the call does.
    pub observed: Observed,
    /// Whoever called, to be asked back.
    pub client: Arc<dyn Client>,
}

impl CallContext {
    /// A call that must be over within that time, watched by nobody.
    #[must_use]
    pub fn within(limit: Duration) -> Self {
        CallContext {
            deadline: Instant::now() + limit,
            cancel: CancellationToken::new(),
            progress: Progress::none(),
            forwarded: ForwardedHeaders::default(),
            keep_headers: Arc::from([]),
            observed: Observed::default(),
            client: Arc::new(NoClient),
        }
    }

    /// A part of the same call, watched as such until the context and its clones are dropped.
    #[must_use]
    pub fn part(&self, name: &str) -> Self {
        CallContext { observed: self.observed.part(name), ..self.clone() }
    }

    /// The same call, whose progress shows no credential.
    pub(crate) async fn without_credentials(&self, config: &Config, tokens: &Tokens) -> Self {
        if !self.progress.is_watched() {
            return self.clone();
        }
        CallContext { progress: self.progress.without(self.credentials(config, tokens).await), ..self.clone() }
    }

    /// What nothing that the call tells may hold: the credentials of the settings and the caller, and the tokens that were
    /// fetched so far.
    pub(crate) async fn credentials(&self, config: &Config, tokens: &Tokens) -> Vec<String> {
        let mut texts = tokens.texts().await;
        texts.extend(self.forwarded.texts());
        credentials(config, texts)
    }

    /// Waits for the future, the deadline or the cancellation, whichever comes first.
    pub(crate) async fn bound<T>(&self, future: impl Future<Output = T>) -> Result<T, Interrupted> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Interrupted::Cancelled),
            () = sleep_until(self.deadline) => Err(Interrupted::Deadline),
            value = future => Ok(value),
        }
    }

    /// Time left before the deadline.
    pub(crate) fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// What a caller must know of a call that ended early and may change something.
pub(crate) const MAYBE_APPLIED: &str = "it may already have been applied: read the state before trying again";

/// Why a wait ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupted {
    Deadline,
    Cancelled,
}

impl Interrupted {
    /// The failure as the caller sees it. Where the call may change something, the text says so: the upstream may have
    /// acted before the answer came.
    pub(crate) fn into_error(self, changes_nothing: bool) -> ToolError {
        let (code, what) = match self {
            Interrupted::Deadline => (Code::Deadline, "the upstream did not finish before the deadline"),
            Interrupted::Cancelled => (Code::Cancelled, "the call was cancelled"),
        };
        let advice = match (self, changes_nothing) {
            (Interrupted::Deadline, true) => "ask for less, or raise the request timeout",
            (Interrupted::Cancelled, true) => return ToolError::new(code, what),
            (_, false) => MAYBE_APPLIED,
        };
        ToolError::new(code, format!("{what}; {advice}"))
    }
}
