//! The one command-line program of Toolwright. In its own repository `cargo xtask` is an alias of it.
//!
//! One file per command; [`workspace`] is what they share: where the specs are, reading them into
//! memory, and writing files by atomic renames.

mod bench;
mod companion;
mod demo;
mod diff;
mod import;
mod init;
mod invoked;
mod lint;
mod members;
mod mock;
mod new;
mod new_tool;
mod project;
mod regenerate;
mod schema;
mod show;
mod version;
mod workspace;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

/// Turns API descriptions into MCP servers.
#[derive(Debug, Parser)]
#[command(name = "toolwright", version, about, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure the LocalAI server, and print every number beside its target (in Toolwright's own repository).
    Bench(bench::Bench),
    /// Show an MCP client using a server against a mock upstream (in Toolwright's own repository).
    Demo(demo::Demo),
    /// Compare the tools of two versions of a server, as a changelog and a gate.
    Diff(diff::Diff),
    /// Copy an API document into specs/NAME, checked and sorted.
    Import(import::Import),
    /// Make the current folder a project, or bring one up to this program's version.
    Init(init::Init),
    /// Examine a server or an API document, and say what to correct.
    Lint(lint::Lint),
    /// Run a mock of a server's upstream on loopback (in Toolwright's own repository).
    Mock(mock::Mock),
    /// Make a server from an API document: vendor it, choose settings, generate the crates.
    New(new::New),
    /// Start a tool file, and the server around it where there is none.
    NewTool(new_tool::NewTool),
    /// Generate the crates of all servers, or of those named.
    Regenerate(regenerate::Regenerate),
    /// Write the JSON Schemas of our own files, for editors.
    Schema(schema::Schema),
    /// Print a server's document in its OpenAPI 3.1 form, overlays applied.
    Show(show::Show),
}

fn main() -> ExitCode {
    let matches = Arguments::command().bin_name(invoked::name()).get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let outcome = match arguments.command {
        Command::Bench(command) => command.run(),
        Command::Demo(command) => command.run(),
        Command::Diff(command) => command.run(),
        Command::Import(command) => command.run(),
        Command::Init(command) => command.run(),
        Command::Lint(command) => command.run(),
        Command::Mock(command) => command.run(),
        Command::New(command) => command.run(),
        Command::NewTool(command) => command.run(),
        Command::Regenerate(command) => command.run(),
        Command::Schema(command) => command.run(),
        Command::Show(command) => command.run(),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
