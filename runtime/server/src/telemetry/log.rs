//! Structured logs to stderr or a file, from whose lines every known secret is taken out.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use toolwright_http::KnownSecrets;
use tracing::Metadata;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::log_file::LogFile;
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

/// Starts logging for the rest of the process. Lines are written as they come, so that none is lost at its end.
///
/// # Errors
/// Where the file cannot be opened.
pub(crate) fn start_logging(
    settings: &Settings,
    known: &KnownSecrets,
    destination: &Destination,
) -> Result<(), Problem> {
    let writer = match destination {
        Destination::Stderr => BoxMakeWriter::new(io::stderr),
        Destination::File(path) => BoxMakeWriter::new(Mutex::new(open(path, settings.log_keep.0)?)),
    };
    tell_panics(known.clone());
    let writer = Scrubbed { writer, known: known.clone() };
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

fn open(path: &Path, keep: usize) -> Result<LogFile, Problem> {
    LogFile::open(path, keep)
        .map_err(|error| Problem::new("TOOLWRIGHT_LOG_FILE", format!("{} cannot be written: {error}", path.display())))
}

/// Tells of panics on stderr, as without this, and in the log; without secrets in both.
fn tell_panics(known: KnownSecrets) {
    std::panic::set_hook(Box::new(move |panic| {
        let told = panic.to_string();
        let told = known.scrub(&told);
        // Where nobody reads stderr, the log has it.
        let _ = writeln!(io::stderr(), "{told}");
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            let _ = writeln!(io::stderr(), "{trace}");
        }
        tracing::error!(target: "toolwright::panic", %told, "a fault of this program");
    }));
}

/// A place for lines that lets no known secret through.
struct Scrubbed<W> {
    writer: W,
    known: KnownSecrets,
}

impl<'a, W: MakeWriter<'a>> MakeWriter<'a> for Scrubbed<W> {
    type Writer = Scrubbing<'a, W::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Scrubbing { writer: self.writer.make_writer(), known: &self.known }
    }

    fn make_writer_for(&'a self, meta: &Metadata<'_>) -> Self::Writer {
        Scrubbing { writer: self.writer.make_writer_for(meta), known: &self.known }
    }
}

struct Scrubbing<'a, W> {
    writer: W,
    known: &'a KnownSecrets,
}

/// Each write is a whole line: that is how the subscriber writes.
impl<W: Write> Write for Scrubbing<'_, W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.writer.write_all(self.known.scrub(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
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
    fn a_secret_that_any_code_logs_is_not_in_the_line() {
        let known = KnownSecrets::default();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.log");
        let writer = Scrubbed { writer: Mutex::new(LogFile::open(&path, 7).unwrap()), known: known.clone() };
        let lines = tracing_subscriber::fmt::layer().with_writer(writer).json();
        known.keep(["s3cr\"et".to_owned()]);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), || {
            tracing::info!(header = "Bearer s3cr\"et", ?known, "sent s3cr\"et");
        });
        let line = std::fs::read_to_string(&path).unwrap();
        assert!(line.contains("Bearer [masked]") && line.contains("sent [masked]"), "{line}");
        assert!(!line.contains("s3cr"), "{line}");
    }
}
