//! Structured logs to stderr or a file.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::settings::{LogFormat, Problem, Settings};

/// Where logs go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Standard error.
    Stderr,
    /// A file, made on start with its folder.
    File(PathBuf),
}

/// Starts logging for the rest of the process.
///
/// # Errors
/// Where the filter cannot be read or the file cannot be opened.
pub(crate) fn start_logging(settings: &Settings, destination: &Destination) -> Result<(), Problem> {
    let filter = filter(&settings.log_level)?;
    let writer = match destination {
        Destination::Stderr => BoxMakeWriter::new(std::io::stderr),
        Destination::File(path) => BoxMakeWriter::new(std::sync::Mutex::new(open(path)?)),
    };
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(false);
    let started = match settings.log_format {
        LogFormat::Text => subscriber.try_init(),
        LogFormat::Json => subscriber.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| Problem::new("MCP_LOG_LEVEL", format!("logging cannot start: {error}")))
}

/// A bare level is that of the server's own code: libraries say less, and what they say of a message may hold its
/// content. Directives are taken as they are.
fn filter(level: &str) -> Result<EnvFilter, Problem> {
    let directives = match level {
        "off" | "error" | "warn" => level.to_owned(),
        "info" | "debug" | "trace" => format!("warn,toolwright={level},toolwright_server={level},toolwright_http={level}"),
        directives => directives.to_owned(),
    };
    EnvFilter::try_new(&directives).map_err(|_| {
        let accepted = "off, error, warn, info, debug, trace, or directives such as warn,toolwright=debug";
        Problem::new("MCP_LOG_LEVEL", format!("must be {accepted}; it is `{}`", level.escape_debug()))
    })
}

/// Opens a log file that only its owner reads.
fn open(path: &Path) -> Result<File, Problem> {
    let problem = |error: std::io::Error| {
        Problem::new("MCP_LOG_FILE", format!("{} cannot be written: {error}", path.display()))
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(problem)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_level_keeps_libraries_at_warn() {
        assert!(filter("debug").unwrap().to_string().contains("toolwright_server=debug"));
    }

    #[test]
    fn a_word_that_is_no_level_is_a_problem() {
        assert!(filter("louder=").is_err());
    }

    #[test]
    #[cfg(unix)]
    fn a_log_file_is_made_with_its_folder_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.log");
        open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
