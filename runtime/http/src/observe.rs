//! Who is told what a call does below its tool: requests to upstreams, and parts of it such as steps. What is told holds
//! no value of the caller and no credential, so that it can be counted and traced anywhere.

use std::{fmt, sync::Arc};

/// What is known of a request before it is sent.
#[derive(Debug, Clone, Copy)]
pub struct RequestStart<'a> {
    /// Its method.
    pub method: &'a str,
    /// `http` or `https`.
    pub scheme: &'a str,
    /// The host that it goes to.
    pub host: &'a str,
    /// The port that it goes to.
    pub port: Option<u16>,
    /// How many requests of the same exchange came before: redirects that were followed, and attempts.
    pub resend: u32,
    /// Length of its body in bytes.
    pub body_bytes: u64,
    /// True where it goes to the API's own origin, which may be told of the trace that it belongs to.
    pub is_own_origin: bool,
}

/// Watches one call.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A request is about to be sent. What is returned sees how it goes, and its end when it is dropped.
    fn request(&self, start: &RequestStart<'_>) -> Box<dyn ObservedRequest>;

    /// A part of the call begins, and ends when its observer is dropped.
    fn part(&self, name: &str) -> Arc<dyn Observer>;

    /// What is watched has failed for a reason of that kind.
    fn failed(&self, kind: &'static str);
}

/// One request that is watched.
pub trait ObservedRequest: fmt::Debug + Send + Sync {
    /// Headers that the request carries for its observer.
    fn headers(&self) -> Vec<(&'static str, String)>;

    /// An answer has begun.
    fn answered(&mut self, status: u16);

    /// That many bytes of its content were read.
    fn received(&mut self, bytes: u64);

    /// There is no answer, or no end of it, for a reason of that kind.
    fn failed(&mut self, kind: &'static str);
}

/// The observer of a call, where it has one. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Observed(Option<Arc<dyn Observer>>);

impl Observed {
    /// Watched by that observer.
    #[must_use]
    pub fn by(observer: Arc<dyn Observer>) -> Self {
        Observed(Some(observer))
    }

    /// A part of the call, which ends when the last clone of this is dropped.
    #[must_use]
    pub fn part(&self, name: &str) -> Self {
        Observed(self.0.as_ref().map(|observer| observer.part(name)))
    }

    /// What is watched has failed.
    pub fn failed(&self, kind: &'static str) {
        if let Some(observer) = &self.0 {
            observer.failed(kind);
        }
    }

    pub(crate) fn request(&self, start: &RequestStart<'_>) -> Option<Box<dyn ObservedRequest>> {
        self.0.as_ref().map(|observer| observer.request(start))
    }
}

#[cfg(test)]
mod tests;
