//! What a command may reach.

use crate::{Level, Limits};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Tools that only look at files: the default of [`Profile::tools`].
pub const INSPECTION_TOOLS: [&str; 27] = [
    "awk", "basename", "cat", "cmp", "comm", "cut", "diff", "dirname", "du", "file", "find", "grep", "head", "ls",
    "nl", "od", "paste", "readlink", "realpath", "sed", "sort", "stat", "tail", "tr", "uniq", "wc", "xargs",
];

/// Tools that change files, for profiles with a read-write root.
pub const WRITE_TOOLS: [&str; 10] = ["chmod", "cp", "ln", "mkdir", "mv", "patch", "rm", "rmdir", "tee", "touch"];

/// Where tools are looked for, in this order. The caller's `PATH` is never asked.
pub const TOOL_DIRECTORIES: [&str; 5] = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"];

/// What a command may do below a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reading and listing.
    ReadOnly,
    /// Also creating, writing, renaming and removing. Programs in a root can never be run.
    ReadWrite,
}

/// A folder that a command sees, at the same path as outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// An absolute path of an existing folder.
    pub path: PathBuf,
    /// What a command may do below it.
    pub access: Access,
}

impl Root {
    /// A folder that commands may read.
    pub fn read_only(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().to_owned(), access: Access::ReadOnly }
    }

    /// A folder that commands may change.
    pub fn read_write(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().to_owned(), access: Access::ReadWrite }
    }
}

/// What a command may reach, and how much of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Folders that a command sees; the first is its working folder. A read-only root inside a read-write one is protected
    /// from every change; a read-write root inside a read-only one is an error.
    pub roots: Vec<Root>,
    /// Existing files and folders inside a root that a command can neither read nor list nor change.
    #[serde(default)]
    pub denied_paths: Vec<PathBuf>,
    /// Whether a command may use the network. Then it also reads the machine's resolver settings and certificates.
    #[serde(default)]
    pub network: bool,
    /// Whether a command may use shared memory. It is never shared with processes outside.
    #[serde(default)]
    pub ipc: bool,
    /// The programs that a command may run besides the shell's own commands. One that is missing is an error.
    #[serde(default = "inspection_tools")]
    pub tools: Vec<String>,
    /// Further programs, granted where they are installed.
    #[serde(default)]
    pub optional_tools: Vec<String>,
    /// Files and folders outside the roots that granted tools need, such as an interpreter's modules. They can be read and
    /// what is in them can be run.
    #[serde(default)]
    pub libraries: Vec<PathBuf>,
    /// Where tools are looked for, in order: [`TOOL_DIRECTORIES`] by default.
    #[serde(default = "tool_directories")]
    pub tool_directories: Vec<PathBuf>,
    /// How long, how large, how many.
    #[serde(default)]
    pub limits: Limits,
    /// The least that the system must enforce. [`Level::Full`] unless said otherwise.
    #[serde(default)]
    pub minimum_level: Level,
}

impl Profile {
    /// A profile with these roots, [`INSPECTION_TOOLS`], no network, and the default limits.
    pub fn new(roots: impl IntoIterator<Item = Root>) -> Self {
        Self {
            roots: roots.into_iter().collect(),
            denied_paths: Vec::new(),
            network: false,
            ipc: false,
            tools: inspection_tools(),
            optional_tools: Vec::new(),
            libraries: Vec::new(),
            tool_directories: tool_directories(),
            limits: Limits::default(),
            minimum_level: Level::Full,
        }
    }

    /// Adds [`WRITE_TOOLS`] to the tools.
    #[must_use]
    pub fn with_write_tools(mut self) -> Self {
        self.tools.extend(WRITE_TOOLS.map(str::to_owned));
        self
    }

    /// Whether any root may be changed. Only then can the private temporary folder be written.
    pub fn writes(&self) -> bool {
        self.roots.iter().any(|root| root.access == Access::ReadWrite)
    }
}

fn inspection_tools() -> Vec<String> {
    INSPECTION_TOOLS.map(str::to_owned).to_vec()
}

fn tool_directories() -> Vec<PathBuf> {
    TOOL_DIRECTORIES.map(PathBuf::from).to_vec()
}
