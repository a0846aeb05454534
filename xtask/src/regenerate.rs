//! `toolwright regenerate`: from specs/ to generated/.
//!
//! Writing and checking are two verbs over one comparison of what should be there with what is.

mod compare;
mod earlier;
pub(crate) mod table;
mod writer;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use toolwright_generator::diagnostic::{Severity, Sink};
use toolwright_generator::{Generated, Summary, generate_after};

use crate::workspace::{self, counted};
use crate::{invoked, project};
use compare::{Difference, Settled, compare, orphan_packages, settle};

/// Generate the crates of all servers, or of those named.
#[derive(Debug, Args)]
pub(crate) struct Regenerate {
    /// Servers: names of folders below specs/. All of them where none is named.
    servers: Vec<String>,
    /// Write nothing; exit with 1 where a file is stale, missing, edited by hand, or an orphan.
    #[arg(long, conflicts_with_all = ["dry_run", "force"])]
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

/// What a run made of the specs, before anything is written.
pub(crate) struct Made {
    pub(crate) found: Sink,
    pub(crate) generated: Vec<Generated>,
    /// How many warnings each server has.
    pub(crate) warnings: Vec<usize>,
    pub(crate) start: Instant,
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
        let folders = if self.servers.is_empty() { all_servers(&root)? } else { self.named_servers(&root)? };
        let start = Instant::now();
        table::warm_up();
        let (mut found, mut generated, mut warnings) = (Sink::new(), Vec::new(), Vec::new());
        for folder in &folders {
            eprintln!("reading {folder}");
            if let Some(note) = writer::note(&root, folder, self.force)? {
                eprintln!("{note}");
            }
            let mut sink = Sink::new();
            let earlier = earlier::tools(&root, folder);
            generated.extend(generate_after(&workspace::read_folder(&root, folder)?, folder, &earlier, &mut sink));
            warnings.push(sink.count(Severity::Warning));
            found.append(sink);
        }
        self.finish(&root, Made { found, generated, warnings, start })
    }

    /// Reports what was found and settles what differs from the disk.
    pub(crate) fn finish(&self, root: &Path, made: Made) -> Result<ExitCode> {
        let Made { mut found, generated, warnings, start } = made;
        let over = generated.iter().filter_map(|server| table::over_budget(&server.summary, Severity::Error));
        over.for_each(|error| found.push(error));
        let code = workspace::report(&found);
        if found.has_errors() {
            return Ok(code);
        }
        generated.iter().for_each(|server| missing_handlers(root, &server.summary));
        // Lists are weighed beside the work on files: both are long, and neither needs the other.
        let (settled, weights) = std::thread::scope(|scope| {
            let weights = scope.spawn(|| table::weights(&generated));
            let settled = self.apply(root, &generated);
            (settled, weights.join())
        });
        let (code, outcome) = settled?;
        let weights = weights.map_err(|_| anyhow::anyhow!("the lists could not be weighed"))?;
        if let Some(shortage) = project::shortage(root)? {
            eprintln!("warning: {shortage}");
        }
        table::print(&generated, &weights, &warnings, self.verbose);
        let files = generated.iter().map(|server| server.files.iter().count()).sum();
        let (servers, files) = (counted(generated.len(), "server"), counted(files, "file"));
        eprintln!("{servers}, {files}: {outcome}, in {} ms", start.elapsed().as_millis());
        Ok(code)
    }

    /// Compares with the disk and settles what differs; what was done comes along, for people.
    fn apply(&self, root: &Path, generated: &[Generated]) -> Result<(ExitCode, String)> {
        let mut differences = Vec::new();
        for server in generated {
            differences.extend(compare(root, &server.files)?);
        }
        if self.servers.is_empty() {
            differences.extend(orphan_packages(root, generated)?);
        }
        self.settle(root, generated, &differences)
    }

    /// The folders of the servers that were named, each once.
    fn named_servers(&self, root: &Path) -> Result<Vec<String>> {
        let mut folders: Vec<String> =
            self.servers.iter().map(|server| workspace::server_folder(root, server)).collect::<Result<_>>()?;
        folders.sort();
        folders.dedup();
        Ok(folders)
    }

    fn settle(&self, root: &Path, generated: &[Generated], differences: &[Difference]) -> Result<(ExitCode, String)> {
        if self.check {
            differences.iter().for_each(|difference| eprintln!("{difference}"));
            remedies(differences).iter().for_each(|remedy| eprintln!("{remedy}"));
            let code = if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) };
            return Ok((code, counted(differences.len(), "difference")));
        }
        let refused = |difference: &&Difference| matches!(difference, Difference::Edited(_)) && !self.force;
        let edited: Vec<&Difference> = differences.iter().filter(refused).collect();
        if self.dry_run {
            differences.iter().for_each(|difference| eprintln!("{}", difference.plan()));
            if !edited.is_empty() {
                eprintln!("nothing would be written while files are edited by hand");
            }
            let Settled { written, removed } = Settled::of(generated, differences);
            return Ok((ExitCode::SUCCESS, format!("{written} to be written, {removed} to be removed")));
        }
        if !edited.is_empty() {
            edited.iter().for_each(|difference| eprintln!("{difference}"));
            eprintln!("nothing was written: change the spec instead, or overwrite these files with --force");
            return Ok((ExitCode::from(1), "0 written, 0 removed".to_owned()));
        }
        let Settled { written, removed } = settle(root, generated, differences)?;
        Ok((ExitCode::SUCCESS, format!("{written} written, {removed} removed")))
    }
}

/// The server's crate depends on its handlers, which are written by hand and by nobody else.
fn missing_handlers(root: &Path, summary: &Summary) {
    let (server, names) = (&summary.server, summary.native.join(", "));
    if names.is_empty() || root.join(format!("specs/{server}/native/Cargo.toml")).is_file() {
        return;
    }
    eprintln!(
        "warning: the handlers of {names} belong in the package {server}-native, and specs/{server}/native is not there; \
         it has `pub fn handlers() -> impl {}_tools::native::Handlers`, and `{} new-tool {server} NAME --native` starts it",
        server.replace('-', "_"),
        invoked::name()
    );
}

/// What to do about differences, one line a remedy.
fn remedies(differences: &[Difference]) -> Vec<String> {
    let program = invoked::name();
    let any = |kind: fn(&Difference) -> bool| differences.iter().any(kind);
    let mut remedies = Vec::new();
    if any(|d| matches!(d, Difference::Missing(_) | Difference::Stale(_) | Difference::Leftover(_))) {
        remedies.push(format!("run `{program} regenerate` to write what is missing or stale"));
    }
    if any(|d| matches!(d, Difference::Edited(_))) {
        remedies.push(format!(
            "change the spec instead of an edited file; `{program} regenerate --force` overwrites the edits"
        ));
    }
    if any(|d| matches!(d, Difference::Orphan(_))) {
        remedies.push("remove orphans by hand, or move them out of generated/".to_owned());
    }
    remedies
}

/// Folders below specs/ that hold a server.yaml, sorted.
fn all_servers(root: &Path) -> Result<Vec<String>> {
    let folders = workspace::server_folders(root)?.into_iter().map(|name| format!("specs/{name}"));
    let servers: Vec<String> = folders.filter(|folder| root.join(folder).join("server.yaml").is_file()).collect();
    if servers.is_empty() {
        bail!("no folder below specs/ holds a server.yaml");
    }
    Ok(servers)
}
