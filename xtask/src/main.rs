//! The one command-line program of Toolwright. `cargo xtask` is its alias.
//!
//! One file per command; [`workspace`] is what they share: where the specs are, reading them into
//! memory, and writing files by atomic renames.

mod bench;
mod companion;
mod demo;
mod diff;
mod import;
mod lint;
mod members;
mod mock;
mod new;
mod regenerate;
mod show;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Turns API descriptions into MCP servers.
#[derive(Debug, Parser)]
#[command(name = "toolwright", version, about, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure the LocalAI server, and print every number beside its target.
    Bench(bench::Bench),
    /// Show an MCP client using a server against a mock upstream.
    Demo(demo::Demo),
    /// Compare the tools of two versions of a server, as a changelog and a gate.
    Diff(diff::Diff),
    /// Copy an API document into specs/NAME, checked and sorted.
    Import(import::Import),
    /// Examine a server or an API document, and say what to correct.
    Lint(lint::Lint),
    /// Run a mock of a server's upstream on loopback.
    Mock(mock::Mock),
    /// Make a server from an API document: vendor it, choose settings, generate the crates.
    New(new::New),
    /// Generate the crates of all servers, or of those named.
    Regenerate(regenerate::Regenerate),
    /// Print a server's document in its OpenAPI 3.1 form, overlays applied.
    Show(show::Show),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Bench(command) => command.run(),
        Command::Demo(command) => command.run(),
        Command::Diff(command) => command.run(),
        Command::Import(command) => command.run(),
        Command::Lint(command) => command.run(),
        Command::Mock(command) => command.run(),
        Command::New(command) => command.run(),
        Command::Regenerate(command) => command.run(),
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
