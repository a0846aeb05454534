//! What the caller and the support process tell each other: one line of JSON each.

use super::binaries::Programs;
use crate::layout::Place;
use crate::{Command, End, Limits};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What the support process is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// None for a trial run.
    pub(crate) command: Option<Command>,
    pub(crate) programs: Programs,
    /// Roots and what is guarded in them, outer paths before inner ones.
    pub(crate) places: Vec<(PathBuf, Place)>,
    pub(crate) working_folder: PathBuf,
    /// The private temporary folder.
    pub(crate) scratch: PathBuf,
    /// Whether anything may be written: a root, and so the temporary folder.
    pub(crate) writes: bool,
    pub(crate) network: bool,
    pub(crate) ipc: bool,
    pub(crate) limits: Limits,
}

/// What the support process says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// Everything is set up and enforced.
    Ready { mechanisms: Vec<String>, weaknesses: Vec<String> },
    /// The command has ended, and everything with it.
    Ended(End),
    /// The sandbox was not set up, and no command was started.
    Failed(String),
}
