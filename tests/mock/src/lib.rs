//! An upstream made from an API document.
//!
//! [`Mock::start`] serves a Swagger 2.0 or OpenAPI 3 document on a loopback port. It checks every request against the
//! document, answers with valid samples, and misbehaves on request ([`Fault`]). Tests ask it afterwards what arrived
//! ([`Mock::requests`]) and what was wrong with it ([`Mock::violations`]).
//!
//! It reads the document with its own decoder and shares no code with the generator.
//!
//! ```
//! use toolwright_mock::{Mock, Options};
//! let document = serde_json::json!({"swagger": "2.0", "paths": {"/ping": {"get": {"responses": {"200": {}}}}}});
//! let mock = Mock::start(&document, Options::default())?;
//! assert!(mock.url().starts_with("http://127.0.0.1:"));
//! # Ok::<(), toolwright_mock::StartError>(())
//! ```

mod admin;
#[cfg(test)]
mod agreement;
mod answer;
mod check;
mod document;
mod exchange;
mod fault;
mod localai;
mod record;
mod respond;
mod route;
mod sample;
mod serve;
mod violation;
mod websocket;

pub use document::DocumentError;
pub use fault::Fault;
pub use record::{Frame, Outcome, Part, Recorded};
pub use violation::{Kind, Violation};

use document::Document;
use exchange::Upstream;
use fault::Planned;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Whose manners the mock has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Personality {
    /// What the document says, and nothing else.
    #[default]
    Document,
    /// LocalAI as it really is where that differs from its Swagger document, with its streams, jobs and WebSockets.
    LocalAi,
}

/// How a mock is to behave.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whose manners it has.
    pub personality: Personality,
    /// The loopback port; 0 takes a free one.
    pub port: u16,
    /// Requests must carry this key as `Authorization: Bearer KEY` or `x-api-key: KEY`.
    pub bearer: Option<String>,
    /// Bodies beyond this many bytes are answered with 413. `None` means 15 MiB for LocalAI (513 MiB for its mesh
    /// upload), 256 MiB otherwise.
    pub body_limit: Option<usize>,
    /// How many requests and violations are remembered.
    pub keep_requests: usize,
    /// Threads that serve requests.
    pub workers: usize,
    /// The pause between the pieces of a streamed answer.
    pub pause: Duration,
    /// Answer requests that break the document with 400 and the list of violations, instead of as if they were right.
    pub refuse: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            personality: Personality::Document,
            port: 0,
            bearer: None,
            body_limit: None,
            keep_requests: 1_000,
            workers: 1,
            pause: Duration::from_millis(2),
            refuse: false,
        }
    }
}

/// Why a mock did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The document cannot be served.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// No port, no thread or no runtime.
    #[error("the mock cannot listen: {0}")]
    Listen(#[from] std::io::Error),
}

/// A running mock; it stops when this is dropped. It has threads of its own, so it serves blocking and async tests alike.
#[derive(Debug)]
pub struct Mock {
    upstream: Arc<Upstream>,
    server: serve::Server,
}

impl Mock {
    /// Serve a parsed document.
    ///
    /// # Errors
    /// When the document has no paths or no known version, or the port is taken.
    pub fn start(document: &Value, options: Options) -> Result<Self, StartError> {
        Self::serve(Document::from_value(document.clone())?, options)
    }

    /// Serve a document given as JSON or YAML text.
    ///
    /// # Errors
    /// As [`Mock::start`], and when the text is neither.
    pub fn start_text(document: &str, options: Options) -> Result<Self, StartError> {
        Self::serve(Document::parse(document)?, options)
    }

    fn serve(document: Document, options: Options) -> Result<Self, StartError> {
        let upstream = Arc::new(Upstream::new(document, options));
        let server = serve::Server::start(Arc::clone(&upstream))?;
        Ok(Self { upstream, server })
    }

    /// `http://127.0.0.1:PORT`, without the document's base path.
    pub fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// [`Mock::url`] with the document's base path.
    pub fn base_url(&self) -> String {
        format!("{}{}", self.url(), self.upstream.document.base_path)
    }

    /// The keys of all operations served, `METHOD /template`, in document order.
    pub fn operations(&self) -> Vec<String> {
        self.upstream.document.operations.iter().map(|o| o.key.clone()).collect()
    }

    /// Everything that was wrong with the requests so far.
    pub fn violations(&self) -> Vec<Violation> {
        self.upstream.log.violations()
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<Recorded> {
        self.upstream.log.requests()
    }

    /// The largest number of requests that were open at the same time.
    pub fn most_open(&self) -> usize {
        self.upstream.log.most_open()
    }

    /// Let the next `times` requests of an operation meet a fault. The operation is named by `METHOD /template`, by
    /// its template, by its operation id, or by `*` for every one. Faults of one operation are met in the order given.
    pub fn fault(&self, operation: &str, fault: Fault, times: u32) {
        if times > 0 {
            self.upstream.faults.plan(Planned { operation: operation.to_owned(), fault, times });
        }
    }

    /// Forget requests, violations and waiting faults.
    pub fn clear(&self) {
        self.upstream.log.clear();
        self.upstream.faults.clear();
    }

    /// Stop listening, close every connection, and return when that is done.
    pub fn stop(self) {
        self.server.stop();
    }
}
