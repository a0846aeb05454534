//! What can go wrong before a command has run.

use crate::Level;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A profile that cannot be enforced as it stands.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// No root at all.
    #[error("roots: there must be at least one; the first is the working folder")]
    NoRoot,
    /// A path that is not absolute, or not UTF-8.
    #[error("{field}: `{path}` must be an absolute path in UTF-8")]
    Path {
        /// The field of the profile.
        field: &'static str,
        /// The path as given.
        path: PathBuf,
    },
    /// A path that cannot be looked at.
    #[error("{field}: `{path}` cannot be used: {source}")]
    Unusable {
        /// The field of the profile.
        field: &'static str,
        /// The path as given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A root that is no folder.
    #[error("roots: `{0}` is not a folder")]
    NotAFolder(PathBuf),
    /// A root that would hide a folder which the sandbox makes itself.
    #[error("roots: `{root}` overlaps `{reserved}`, which the sandbox makes itself; name a folder below or beside it")]
    Reserved {
        /// The root.
        root: PathBuf,
        /// The folder that it overlaps.
        reserved: PathBuf,
    },
    /// One path, two kinds of access.
    #[error("roots: `{0}` is given both read-only and read-write; say one")]
    Conflict(PathBuf),
    /// A read-write root inside a read-only one.
    #[error(
        "roots: read-write `{inner}` lies inside read-only `{outer}`; make the outer one read-write or move the inner one"
    )]
    WritableInside {
        /// The read-write root.
        inner: PathBuf,
        /// The read-only root around it.
        outer: PathBuf,
    },
    /// A denied path that no root contains.
    #[error("denied_paths: `{0}` must lie inside a root")]
    DeniedOutside(PathBuf),
    /// A denied path with a link in it.
    #[error("denied_paths: `{0}` is or passes through a symbolic link; name the path that it leads to")]
    DeniedLink(PathBuf),
    /// A root below a denied path.
    #[error("roots: `{root}` lies inside the denied path `{denied}`")]
    RootDenied {
        /// The root.
        root: PathBuf,
        /// The denied path.
        denied: PathBuf,
    },
    /// A file that could be reached under another name.
    #[error(
        "`{0}` is to be guarded but has another hard link, by which it could be reached; remove the link or copy the file"
    )]
    HardLink(PathBuf),
    /// A guarded folder whose contents cannot be checked.
    #[error("`{path}` is to be guarded but cannot be checked: {source}")]
    Unlistable {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A name that is no program name.
    #[error("tools: {0:?} is not the name of a program; write it without a folder")]
    ToolName(String),
    /// Required and optional at once.
    #[error("tools: `{0}` is also in optional_tools; say one")]
    ToolTwice(String),
    /// A required tool that is not installed.
    #[error("tools: `{name}` is not installed in {directories}; install it, or move it to optional_tools")]
    ToolMissing {
        /// The tool.
        name: String,
        /// Where it was looked for.
        directories: String,
    },
    /// A script whose interpreter is not granted.
    #[error("tools: `{name}` is a script for `{interpreter}`; list that interpreter too, or leave the script out")]
    Interpreter {
        /// The tool.
        name: String,
        /// The interpreter that its first line names.
        interpreter: String,
    },
    /// A program that cannot be examined.
    #[error("`{path}` cannot be granted: {reason}")]
    Program {
        /// The program or library.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A program that a command could change or that a root would hide.
    #[error("`{code}`, which a tool runs, overlaps the root `{root}`; programs must lie outside all roots")]
    CodeInRoot {
        /// The program, library or library folder.
        code: PathBuf,
        /// The root.
        root: PathBuf,
    },
    /// A limit of zero.
    #[error("limits.{0} must be at least 1")]
    ZeroLimit(&'static str),
    /// Something that only [`Level::Full`] can enforce.
    #[error(
        "{0} cannot be enforced at the level `reduced`, which is all that this system allows; remove it, or allow user namespaces"
    )]
    NeedsFull(&'static str),
}

impl ProfileError {
    /// Whether a root is at fault.
    pub(crate) fn is_of_roots(&self) -> bool {
        match self {
            Self::Path { field, .. } | Self::Unusable { field, .. } => *field == "roots",
            Self::NotAFolder(_) | Self::Reserved { .. } | Self::Conflict(_) | Self::WritableInside { .. } => true,
            _ => false,
        }
    }
}

/// Why a sandbox could not be made, or a command not be run.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// The profile is at fault, or what it names has changed since.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The command is blank, too long, or contains a NUL character.
    #[error("the command {0}")]
    Command(&'static str),
    /// The system enforces less than the profile asks for.
    #[error("this system does not enforce the sandbox level `{required}`: {reason}{}", hint(*.required))]
    Level {
        /// What the profile asks for.
        required: Level,
        /// What the system refused.
        reason: String,
    },
    /// The support process reported that it could not set the sandbox up.
    #[error("the sandbox could not be set up: {0}")]
    Setup(String),
    /// The support process did not do its part.
    #[error("the support process `{program}` {problem}")]
    Support {
        /// The program that was started.
        program: PathBuf,
        /// What happened, and what to do.
        problem: String,
    },
}

fn hint(required: Level) -> &'static str {
    match required {
        Level::Full => "; `minimum_level: reduced` accepts less, see its weaknesses",
        Level::Reduced => "",
    }
}
