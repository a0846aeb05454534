//! `toolwright diff`: what changed for callers between two versions of a server.

mod git;
mod side;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use toolwright_generator::diagnostic::Sink;
use toolwright_generator::surface::compare;

use crate::workspace;
use side::Side;

/// Compare the tools of two versions of a server: a changelog, and exit code 1 where callers have to change.
///
/// A version is a server below specs/ as it is now, a folder with a catalog.json, the catalog itself, any of these at a
/// git revision (REV:localai, REV:generated/localai-tools/catalog.json), or an API document (file or URL). A document
/// beside a server is read with that server's settings and overlays: so `diff localai URL` shows what a newer document
/// would change.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The old version.
    old: String,
    /// The new version.
    new: String,
    /// How to print the changes.
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A changelog.
    Markdown,
    /// One JSON object.
    Json,
}

impl Diff {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let root = workspace::root()?;
        let (old, new) = (Side::parse(&root, &self.old)?, Side::parse(&root, &self.new)?);
        let mut sink = Sink::new();
        let old_surface = old.surface(&root, new.server(), &mut sink)?;
        let new_surface = new.surface(&root, old.server(), &mut sink)?;
        let (Some(old), Some(new)) = (old_surface, new_surface) else {
            return Ok(workspace::report(&sink));
        };
        let changes = compare(&old, &new);
        let text = match self.format {
            Format::Markdown => changes.markdown(&new.title, &self.old, &self.new),
            Format::Json => {
                let mut value = serde_json::to_value(&changes)?;
                if let Some(members) = value.as_object_mut() {
                    members.insert("breaking".to_owned(), changes.is_breaking().into());
                }
                format!("{value:#}\n")
            }
        };
        std::io::stdout().write_all(text.as_bytes())?;
        Ok(if changes.is_breaking() { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }
}
