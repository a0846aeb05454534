//! `toolwright lint`: the spec doctor.

mod json;
mod sarif;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Component, Path};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use toolwright_generator::diagnostic::{Diagnostic, Severity, Sink};
use toolwright_generator::doctor::examine;
use toolwright_generator::draft;
use toolwright_generator::load::{Files, Prose};

use crate::import::Fetched;
use crate::regenerate::table;
use crate::workspace::{self, counted};

/// Examine a server or an API document: what would be lost or is ambiguous, thin texts, names, hints, weight, secrets.
///
/// Exits with 2 on errors, with 1 on warnings where --strict is given, else with 0.
#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// A server below specs/, or a document: a file or an http(s) URL.
    subject: String,
    /// How to print the findings.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Warnings fail, too.
    #[arg(long)]
    strict: bool,
    /// Print at most this many findings of each kind for people; 0 prints all.
    #[arg(long, default_value_t = 5)]
    most: usize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Text with places and remedies, kind by kind.
    Human,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
}

impl Lint {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let mut sink = Sink::new();
        self.examine(&mut sink)?;
        let text = match self.format {
            Format::Human => human(&sink, self.most),
            Format::Json => format!("{:#}\n", json::report(&sink)),
            Format::Sarif => format!("{:#}\n", sarif::log(&sink)),
        };
        std::io::stdout().write_all(text.as_bytes())?;
        let fails = self.strict && sink.count(Severity::Warning) > 0;
        Ok(if sink.has_errors() {
            ExitCode::from(2)
        } else if fails {
            ExitCode::from(1)
        } else {
            ExitCode::SUCCESS
        })
    }

    fn examine(&self, sink: &mut Sink) -> Result<()> {
        let root = workspace::root();
        let folder = format!("specs/{}", self.subject);
        if let Ok(root) = root
            && !self.subject.contains(['/', '\\', ':'])
            && root.join(&folder).join("server.yaml").is_file()
        {
            let summary = examine(&workspace::read_folder(&root, &folder)?, &folder, sink);
            summary
                .iter()
                .filter_map(|summary| table::over_budget(summary, Severity::Warning))
                .for_each(|it| sink.push(it));
            return Ok(());
        }
        let mut found = Sink::new();
        if let Some(files) = alone(&self.subject, &mut found)? {
            examine(&files, ALONE, &mut found);
        }
        let folder = shown_folder(Path::new(&self.subject));
        found.iter().for_each(|finding| sink.push(moved(finding.clone(), &folder)));
        Ok(())
    }
}

/// A document by itself is read in this folder: that of a server needs a legal name, and the document lies anywhere.
const ALONE: &str = "specs/document";

/// A document by itself, with settings chosen by rule; `None` where it cannot be read, which is told.
fn alone(document: &str, sink: &mut Sink) -> Result<Option<Files>> {
    let Fetched { label, files: fetched, .. } = Fetched::all(document, false)?;
    let mut files = Files::new();
    for path in fetched.paths() {
        files.insert(format!("{ALONE}/{path}"), fetched.get(path).unwrap_or_default());
    }
    let mut unread = Sink::new();
    let Some(draft) = draft(&files, ALONE, &label, Prose::Keep, &mut unread) else {
        sink.append(unread);
        return Ok(None);
    };
    files.insert(format!("{ALONE}/server.yaml"), draft.text);
    Ok(Some(files))
}

/// The folder that places are shown in, with a slash at its end: as the person wrote it where that is a plain relative
/// path, else none.
fn shown_folder(document: &Path) -> String {
    let parent = document.parent().unwrap_or(Path::new(""));
    let is_plain = parent.components().all(|part| matches!(part, Component::Normal(_)));
    if !document.is_file() || !is_plain {
        return String::new();
    }
    parent.components().map(|part| format!("{}/", part.as_os_str().to_string_lossy())).collect()
}

/// The finding, its places in another folder.
fn moved(mut finding: Diagnostic, folder: &str) -> Diagnostic {
    let start = format!("{ALONE}/");
    if let Some(place) = &mut finding.place {
        for text in std::iter::once(&mut place.file).chain(&mut place.via) {
            if let Some(rest) = text.strip_prefix(&start) {
                *text = format!("{folder}{rest}");
            }
        }
    }
    finding
}

/// Findings kind by kind, errors first; of each kind the first few.
fn human(sink: &Sink, most: usize) -> String {
    let mut kinds: BTreeMap<(Severity, &str), Vec<String>> = BTreeMap::new();
    for finding in sink.iter() {
        kinds.entry((finding.severity, finding.code)).or_default().push(finding.to_string());
    }
    let mut out = String::new();
    for findings in kinds.values() {
        let shown = if most == 0 { findings.len() } else { most };
        for finding in findings.iter().take(shown) {
            out.push_str(finding);
            out.push_str("\n\n");
        }
    }
    for ((severity, code), findings) in &kinds {
        out.push_str(&format!("{:>6}  {severity}[{code}]\n", findings.len()));
    }
    let count = |severity| sink.count(severity);
    out.push_str(&format!(
        "{}, {}, {}\n",
        counted(count(Severity::Error), "error"),
        counted(count(Severity::Warning), "warning"),
        counted(count(Severity::Note), "note")
    ));
    out
}
