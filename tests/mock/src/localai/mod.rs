//! LocalAI as it really is, where that differs from its Swagger document.

use crate::answer::Answer;
use crate::check::Call;
use crate::document::{Document, Operation};
use crate::violation::Finding;
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct LocalAi {
    pause: Duration,
}

impl LocalAi {
    pub(crate) fn adopt(_document: &mut Document, pause: Duration) -> Self {
        Self { pause }
    }

    pub(crate) fn body_limit(path: &str) -> usize {
        if path == "/3d/remesh" { 513 << 20 } else { 15 << 20 }
    }

    pub(crate) fn answer(&self, _document: &Document, _operation: &Operation, _call: &Call) -> Option<Answer> {
        let _ = self.pause;
        None
    }

    pub(crate) fn examine(&self, _operation: &Operation, _call: &Call) -> Vec<Finding> {
        Vec::new()
    }
}
