//! Systems without a backend: every profile is refused.

use crate::layout::Layout;
use crate::run::Output;
use crate::{Command, End, Profile, Report, SandboxError};
use std::convert::Infallible;
use std::path::Path;

#[derive(Debug)]
pub(crate) struct Backend(Infallible);

impl Backend {
    pub(crate) async fn prepare(profile: &Profile, _: &Layout, _: &Path) -> Result<(Self, Report), SandboxError> {
        let reason = format!("there is no sandbox for {}", std::env::consts::OS);
        Err(SandboxError::Level { required: profile.minimum_level, reason })
    }

    pub(crate) fn tools(&self) -> &[String] {
        match self.0 {}
    }

    pub(crate) async fn start(&self, _: &Profile, _: &Layout, _: &Command) -> Result<Started, SandboxError> {
        match self.0 {}
    }
}

pub(crate) struct Started(Infallible);

impl Started {
    pub(crate) async fn follow(&mut self, _: &Output) -> Result<End, SandboxError> {
        match self.0 {}
    }

    pub(crate) async fn stop(self) {
        match self.0 {}
    }
}
