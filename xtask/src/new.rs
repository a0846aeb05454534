//! `toolwright new`: from an API document to a server that runs.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use toolwright_generator::diagnostic::{Severity, Sink};
use toolwright_generator::load::Prose;
use toolwright_generator::start;

use crate::import::{Wishes, import};
use crate::invoked;
use crate::regenerate::{Made, Regenerate, table};
use crate::workspace::{self, counted};
use crate::{members, schema};

/// Make a server from an API document: vendor it into specs/NAME, choose settings, generate the crates.
#[derive(Debug, Args)]
pub(crate) struct New {
    /// The server: small letters, digits and `-`. It names the folder below specs/ and the crates.
    name: String,
    /// The document: a file or an http(s) URL, Swagger 2.0 or OpenAPI 3.x.
    #[arg(long)]
    document: String,
    /// Leave out descriptions, summaries, titles, examples, links to documentation and contacts.
    #[arg(long)]
    no_prose: bool,
    /// Also fetch what the document names at other http(s) addresses. It is brought into the copy, and pinned by its hash.
    #[arg(long)]
    remote_references: bool,
}

impl New {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let root = workspace::root()?;
        let folder = format!("specs/{}", self.name);
        if root.join(&folder).join("server.yaml").exists() {
            bail!(
                "{folder}/server.yaml is there already; `{} import {} DOCUMENT` takes a new version of the document",
                invoked::name(),
                self.name
            );
        }
        let (no_prose, remote_references) = (self.no_prose, self.remote_references);
        let wishes = Wishes { no_prose, remote_references, looks_over: false };
        let (code, imported) = import(&root, &self.name, &self.document, wishes)?;
        let Some(imported) = imported else { return Ok(code) };
        let mut sink = Sink::new();
        let files = workspace::read_folder(&root, &folder)?;
        let prose = if self.no_prose { Prose::Drop } else { Prose::Keep };
        let begun = Instant::now();
        let Some((draft, generated)) = start(&files, &folder, imported.file, prose, &mut sink) else {
            return Ok(workspace::report(&sink));
        };
        schema::write(&root)?;
        let text = format!("{}{}", schema::line("server", 2), draft.text);
        workspace::write_file(&root.join(&folder).join("server.yaml"), text.as_bytes())?;
        let regenerate = Regenerate::one(&self.name);
        let code = match generated {
            Some(generated) => {
                table::warm_up();
                let warnings = vec![sink.count(Severity::Warning)];
                regenerate.finish(&root, Made { found: sink, generated: vec![generated], warnings, start: begun })?
            }
            // The settings may change what was found, and what is reported names the file that is there now.
            None => regenerate.run()?,
        };
        if code != ExitCode::SUCCESS {
            let (program, name) = (invoked::name(), &self.name);
            eprintln!("correct the document in an overlay, then run `{program} regenerate {name}`");
            return Ok(code);
        }
        let crates = ["server", "tools"].map(|kind| format!("generated/{}-{kind}", self.name));
        let added = members::add(&root, &crates)?;
        for folder in &added {
            eprintln!("Cargo.toml: added the member {folder}");
        }
        self.next(draft.tools, draft.listed);
        Ok(ExitCode::SUCCESS)
    }

    fn next(&self, tools: usize, listed: usize) {
        let (program, name) = (invoked::name(), &self.name);
        eprintln!(
            "\n{}, {listed} of them listed by default. Next:\n\
             \x20 cargo run -p {name}-server -- tools --all      see every tool\n\
             \x20 cargo run -p {name}-server -- stdio            serve them to an MCP client\n\
             \x20 {program} lint {name}                        what to correct, and how\n\
             \x20 edit specs/{name}/server.yaml                  what is listed, hints, health; then {program} regenerate {name}",
            counted(tools, "tool"),
        );
    }
}
