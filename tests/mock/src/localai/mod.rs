//! LocalAI as it really is: where that differs from its Swagger document (`differences`), and the answers that the
//! document cannot describe (streams, jobs, attachments).

mod audio;
mod chat;
mod differences;
mod jobs;
mod messages;
mod plain;
mod responses;
mod sse;

use crate::answer::Answer;
use crate::check::Call;
use crate::document::{Document, Operation};
use crate::violation::Finding;
use jobs::Jobs;
use std::time::Duration;

/// The models that this LocalAI serves.
const MODELS: [&str; 3] = ["gemma-3-4b-it", "whisper-large-v3", "한국어-모델"];

/// The state of a mock LocalAI.
#[derive(Debug)]
pub(crate) struct LocalAi {
    pause: Duration,
    jobs: Jobs,
}

impl LocalAi {
    /// Correct the document and take over the answers that it cannot describe.
    pub(crate) fn adopt(document: &mut Document, pause: Duration) -> Self {
        differences::apply(document);
        Self { pause, jobs: Jobs::default() }
    }

    /// LOCALAI_UPLOAD_LIMIT is 15 MB unless set; the mesh upload has a limit of its own.
    pub(crate) fn body_limit(path: &str) -> usize {
        if path == "/3d/remesh" { 513 << 20 } else { 15 << 20 }
    }

    /// The answer to a request that the real server answers otherwise than a sample of its document would.
    pub(crate) fn answer(&self, document: &Document, operation: &Operation, call: &Call) -> Option<Answer> {
        let key = operation.key.as_str();
        chat::answer(key, call, self.pause)
            .or_else(|| messages::answer(key, call, self.pause))
            .or_else(|| responses::answer(key, call, self.pause))
            .or_else(|| audio::answer(key, call, self.pause))
            .or_else(|| self.jobs.answer(key, call))
            .or_else(|| plain::answer(document, key, call))
    }

    /// Rules of the real server that a schema cannot say.
    pub(crate) fn examine(&self, operation: &Operation, call: &Call) -> Vec<Finding> {
        audio::examine(&operation.key, call)
    }
}
