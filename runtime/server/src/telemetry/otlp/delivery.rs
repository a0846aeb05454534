//! One request to a receiver, through the same kind of client as the API's: its proxy and its authorities hold here too.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::header::CONTENT_TYPE;
use toolwright_http::{Config, LazyClient, Secret, Url, innermost};

use super::receivers::{LANGFUSE, Receiver};
use crate::App;

/// Longest wait for one delivery.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why something was not delivered.
#[derive(Debug, thiserror::Error)]
pub(super) enum Undelivered {
    /// The receiver answered, but did not take it.
    #[error("it answered with status {0}")]
    Refused(u16),
    /// There was no answer.
    #[error("{0}")]
    Unreachable(String),
}

/// The way to one address of a receiver.
#[derive(Debug)]
pub(super) struct Delivery {
    receiver: Receiver,
    url: Url,
    config: Config,
    client: OnceLock<Result<LazyClient, String>>,
    is_failing: AtomicBool,
}

/// The ways of the signals to a receiver.
pub(super) struct Deliveries {
    pub(super) traces: Delivery,
    pub(super) metrics: Option<Delivery>,
}

impl Delivery {
    /// The ways to a receiver.
    pub(super) fn to(app: &App, receiver: &Receiver) -> Deliveries {
        let signal = |name: &str| match receiver.name {
            LANGFUSE => format!("/api/public/otel/v1/{name}"),
            _ => format!("/v1/{name}"),
        };
        let metrics = receiver.takes_metrics.then(|| Delivery::at(app, receiver, &signal("metrics")));
        Deliveries { traces: Delivery::at(app, receiver, &signal("traces")), metrics }
    }

    /// The way to one path of it.
    pub(super) fn at(app: &App, receiver: &Receiver, path: &str) -> Self {
        let settings = &app.settings;
        let no_proxy = &settings.no_proxy.0;
        let config = Config {
            connect_timeout: settings.connect_timeout.0,
            https_proxy: settings.https_proxy.as_ref().map(|url| Secret::new(url.expose())),
            no_proxy: (!no_proxy.is_empty()).then(|| no_proxy.join(",")),
            // The client's certificate is for the API alone.
            ca_file: settings.ca_file.clone(),
            user_agent: format!("{}-server/{}", app.server.name, app.server.version),
            ..Config::new(app.server.name, receiver.base.clone())
        };
        let (url, receiver) = (receiver.url(path), receiver.clone());
        Delivery { receiver, url, config, client: OnceLock::new(), is_failing: AtomicBool::new(false) }
    }

    /// Delivers a message, or says in the log that it could not: once until it works again. True where it was taken.
    pub(super) async fn send(&self, message: Vec<u8>) -> bool {
        match self.post(message).await {
            Ok(()) => {
                self.is_failing.store(false, Ordering::Relaxed);
                true
            }
            Err(error) => {
                if !self.is_failing.swap(true, Ordering::Relaxed) {
                    let (receiver, origin) = (self.receiver.name, self.receiver.origin());
                    let path = self.url.path();
                    tracing::warn!(target: "toolwright::telemetry", receiver, origin, path, %error, "traces or metrics were not taken");
                }
                false
            }
        }
    }

    /// Delivers a message.
    ///
    /// # Errors
    /// Where it is not taken.
    pub(super) async fn post(&self, message: Vec<u8>) -> Result<(), Undelivered> {
        self.ask(Some(message)).await
    }

    /// Asks for the address without delivering anything.
    ///
    /// # Errors
    /// Where the answer is no success.
    pub(super) async fn get(&self) -> Result<(), Undelivered> {
        self.ask(None).await
    }

    async fn ask(&self, message: Option<Vec<u8>>) -> Result<(), Undelivered> {
        let opened = self.client.get_or_init(|| LazyClient::new(&self.config).map_err(|error| error.to_string()));
        let client = opened.as_ref().map_err(|error| Undelivered::Unreachable(error.clone()))?;
        let client = client.get(&self.config).map_err(|error| Undelivered::Unreachable(error.message))?;
        let request = match message {
            Some(message) => client.post(self.url.clone()).header(CONTENT_TYPE, "application/x-protobuf").body(message),
            None => client.get(self.url.clone()),
        };
        let answer = request.headers(self.receiver.headers.clone()).timeout(PATIENCE).send().await;
        match answer.map_err(|error| Undelivered::Unreachable(innermost(&error)))?.status().as_u16() {
            200..=299 => Ok(()),
            status => Err(Undelivered::Refused(status)),
        }
    }
}
