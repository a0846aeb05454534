//! `toolwright init`: makes a folder a project, or brings one up to this program's version.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::invoked;
use crate::project::{self, Origin};
use crate::workspace;

/// Make the current folder a project: Cargo.toml, specs/ and .gitignore.
///
/// In a project that is there already it adds what is missing, raises the versions of Toolwright's crates to this
/// program's, and leaves everything else as it is. By default these crates come from the registry.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Take Toolwright's crates from a checkout: its path, absolute or relative to this folder.
    #[arg(long, value_name = "CHECKOUT", conflicts_with = "git")]
    path: Option<String>,
    /// Take Toolwright's crates from a git repository.
    #[arg(long, value_name = "URL")]
    git: Option<String>,
    /// The commit, tag or branch of that repository.
    #[arg(long, requires = "git")]
    rev: Option<String>,
}

const IGNORED: &str = "/target\n";

const SPECS: &str = "\
One folder a server: the API's document, `source.toml` with where it came from, `server.yaml` with the choices, and `overlays/`
with corrections. `toolwright new NAME --document FILE-OR-URL` makes the first version of it; `toolwright regenerate` writes
`generated/` from it.
";

impl Init {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let root = std::env::current_dir().context("the current folder cannot be read")?;
        let origin = self.origin()?;
        let path = root.join("Cargo.toml");
        let text = match path.exists() {
            true => Some(String::from_utf8(workspace::read_file(&path)?).context("Cargo.toml is not UTF-8")?),
            false => None,
        };
        let (completed, changes) = project::completed(text.as_deref(), origin.as_ref())?;
        if text.as_deref() != Some(completed.as_str()) {
            workspace::write_file(&path, completed.as_bytes())?;
        }
        changes.iter().for_each(|change| eprintln!("Cargo.toml: {change}"));
        let added = [add(&root, ".gitignore", IGNORED)?, add(&root, "specs/README.md", SPECS)?];
        if changes.is_empty() && !added.contains(&true) {
            eprintln!("everything is there already");
        }
        self.next(&root)?;
        Ok(ExitCode::SUCCESS)
    }

    fn origin(&self) -> Result<Option<Origin>> {
        if let Some(path) = &self.path {
            project::check_checkout(path)?;
            return Ok(Some(Origin::Checkout(path.clone())));
        }
        Ok(self.git.clone().map(|url| Origin::Git { url, rev: self.rev.clone() }))
    }

    fn next(&self, root: &Path) -> Result<()> {
        let program = invoked::name();
        match workspace::server_folders(root)?.is_empty() {
            true => eprintln!("\nNext: {program} new NAME --document FILE-OR-URL"),
            false => eprintln!("\nNext: {program} regenerate"),
        }
        Ok(())
    }
}

/// Writes a file that is not there yet, and says so.
fn add(root: &Path, name: &str, content: &str) -> Result<bool> {
    let path = root.join(name);
    // A link that leads nowhere is something, too.
    if path.symlink_metadata().is_ok() {
        return Ok(false);
    }
    workspace::write_file(&path, content.as_bytes())?;
    eprintln!("{name}: written");
    Ok(true)
}
