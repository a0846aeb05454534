//! How much of a profile this machine enforces.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How much is enforced. The order is from least to most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Access to files and network is restricted, but there is no private root: [`Report::weaknesses`] lists what that
    /// leaves open. Profiles with denied paths or protected roots are refused at this level.
    Reduced,
    /// Everything that a profile says, by a private root in which nothing else exists.
    #[default]
    Full,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reduced => "reduced",
            Self::Full => "full",
        })
    }
}

/// What is enforced for every command of a sandbox, as a trial run showed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The level that holds.
    pub level: Level,
    /// The mechanisms at work, in words: `user namespace`, `Landlock`, …
    pub mechanisms: Vec<String>,
    /// What is not enforced, one sentence each. Empty when all is.
    pub weaknesses: Vec<String>,
}
