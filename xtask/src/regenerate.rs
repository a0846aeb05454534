//! `cargo xtask regenerate`: from specs/ to generated/.
//!
//! Writing and checking are two verbs over one comparison of what should be there with what is.

mod compare;
mod table;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use toolwright_generator::diagnostic::Sink;
use toolwright_generator::{Generated, generate};

use crate::workspace;
use compare::{Difference, compare, orphan_packages};

/// Generate the crates of all servers, or of those named.
#[derive(Debug, Args)]
pub(crate) struct Regenerate {
    /// Servers: names of folders below specs/. All of them where none is named.
    servers: Vec<String>,
    /// Write nothing; exit with 1 where a file is stale, missing, edited by hand, or an orphan.
    #[arg(long)]
    check: bool,
    /// Write nothing; show what would be written.
    #[arg(long)]
    dry_run: bool,
    /// Overwrite files that were edited by hand.
    #[arg(long)]
    force: bool,
    /// Show the heaviest tools, and notes.
    #[arg(long, short)]
    verbose: bool,
}

impl Regenerate {
    /// `regenerate --check SERVER`.
    pub(crate) fn check(server: &str) -> Self {
        Regenerate { servers: vec![server.to_owned()], check: true, dry_run: false, force: false, verbose: false }
    }

    /// `regenerate SERVER`.
    pub(crate) fn one(server: &str) -> Self {
        Regenerate { servers: vec![server.to_owned()], check: false, dry_run: false, force: false, verbose: false }
    }

    pub(crate) fn run(self) -> Result<ExitCode> {
        let root = workspace::root()?;
        let servers = if self.servers.is_empty() { all_servers(&root)? } else { self.servers.clone() };
        let start = Instant::now();
        let mut sink = Sink::new();
        let mut generated = Vec::new();
        for server in &servers {
            let folder = format!("specs/{server}");
            let files = workspace::read_folder(&root, &folder)?;
            generated.extend(generate(&files, &folder, &mut sink));
        }
        let code = workspace::report(&sink);
        if sink.has_errors() {
            return Ok(code);
        }
        // Lists are weighed beside the work on files: both are long, and neither needs the other.
        let (code, weights) = std::thread::scope(|scope| {
            let weights = scope.spawn(|| table::weights(&generated));
            let code = self.apply(&root, &generated);
            (code, weights.join())
        });
        let code = code?;
        let weights = weights.map_err(|_| anyhow::anyhow!("the lists could not be weighed"))?;
        table::print(&generated, &weights, &sink, self.verbose);
        eprintln!("{} in {} ms", counted(&generated), start.elapsed().as_millis());
        Ok(code)
    }

    fn apply(&self, root: &Path, generated: &[Generated]) -> Result<ExitCode> {
        let mut differences = Vec::new();
        for server in generated {
            differences.extend(compare(root, &server.files)?);
        }
        if self.servers.is_empty() {
            differences.extend(orphan_packages(root, generated)?);
        }
        self.settle(root, generated, &differences)
    }

    fn settle(&self, root: &Path, generated: &[Generated], differences: &[Difference]) -> Result<ExitCode> {
        let refused = |difference: &&Difference| matches!(difference, Difference::Edited(_)) && !self.force;
        if self.check || self.dry_run {
            differences.iter().for_each(|difference| eprintln!("{difference}"));
            let fails = self.check && !differences.is_empty();
            if fails {
                eprintln!("run `cargo xtask regenerate`");
            }
            return Ok(if fails { ExitCode::from(1) } else { ExitCode::SUCCESS });
        }
        let edited: Vec<&Difference> = differences.iter().filter(refused).collect();
        if !edited.is_empty() {
            edited.iter().for_each(|difference| eprintln!("{difference}"));
            eprintln!("nothing was written: change the spec instead, or overwrite these files with --force");
            return Ok(ExitCode::from(1));
        }
        for difference in differences {
            difference.settle(root, generated)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn counted(generated: &[Generated]) -> String {
    let files: usize = generated.iter().map(|server| server.files.iter().count()).sum();
    format!("{} servers, {files} files", generated.len())
}

/// Folders below specs/ that hold a server.yaml, sorted.
fn all_servers(root: &Path) -> Result<Vec<String>> {
    let mut servers = Vec::new();
    for entry in std::fs::read_dir(root.join("specs"))? {
        let entry = entry?;
        if entry.path().join("server.yaml").is_file() {
            servers.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    servers.sort();
    if servers.is_empty() {
        bail!("no folder below specs/ holds a server.yaml");
    }
    Ok(servers)
}
