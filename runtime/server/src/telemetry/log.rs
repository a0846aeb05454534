//! Structured logs to stderr or a file.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::one_line::OneLine;
use crate::settings::{LogFormat, LogLevel, Problem, Settings};

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
/// Where the file cannot be opened.
pub(crate) fn start_logging(settings: &Settings, destination: &Destination) -> Result<(), Problem> {
    let writer = match destination {
        Destination::Stderr => BoxMakeWriter::new(std::io::stderr),
        Destination::File(path) => BoxMakeWriter::new(std::sync::Mutex::new(open(path)?)),
    };
    let lines = tracing_subscriber::fmt::layer().with_ansi(false);
    let lines = match settings.log_format {
        LogFormat::Text => lines.with_writer(OneLine(writer)).boxed(),
        LogFormat::Json => lines.with_writer(writer).json().flatten_event(true).boxed(),
    };
    let started = tracing_subscriber::registry().with(lines.with_filter(filter(&settings.log_level))).try_init();
    started.map_err(|error| Problem::new("TOOLWRIGHT_LOG_LEVEL", format!("logging cannot start: {error}")))
}

/// A bare level is that of the server's own code: libraries say less, and what they say of a message may hold its
/// content. Directives are taken as they are.
fn filter(level: &LogLevel) -> Targets {
    let own = match level.0.as_str() {
        "info" => LevelFilter::INFO,
        "debug" => LevelFilter::DEBUG,
        "trace" => LevelFilter::TRACE,
        // The setting has been checked; what the library cannot read even so must not silence warnings.
        directives => return directives.parse().unwrap_or_else(|_| Targets::new().with_default(LevelFilter::WARN)),
    };
    Targets::new().with_default(LevelFilter::WARN).with_target("toolwright", own)
}

/// Opens a log file that only its owner reads.
fn open(path: &Path) -> Result<File, Problem> {
    let problem = |error: std::io::Error| {
        Problem::new("TOOLWRIGHT_LOG_FILE", format!("{} cannot be written: {error}", path.display()))
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
        let targets = filter(&LogLevel("debug".into()));
        assert!(targets.would_enable("toolwright_http::send", &tracing::Level::DEBUG));
        assert!(!targets.would_enable("rmcp::service", &tracing::Level::INFO));
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
