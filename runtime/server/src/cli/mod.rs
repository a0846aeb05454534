//! The command line of a generated server.

mod call;
mod clients;
mod content;
mod doctor;
mod options;
mod secret;
mod tools;

use std::cell::Cell;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use toolwright_core::{Catalog, ServerSpec};

use crate::settings::{self, ConfigFile, Environment, Problem, Resolution, Settings};
use crate::telemetry::{Destination, start_logging};
use crate::{App, Program, executors, serve};

/// Exit code of a faulty command line or configuration.
const FAULTY: u8 = 2;

/// Runs the command line of a program.
pub(crate) fn run(program: Program) -> ExitCode {
    let Program { server, catalog, .. } = program;
    let matches = match options::command(server).try_get_matches() {
        Ok(matches) => matches,
        Err(message) => {
            // Help and version go to stdout with code 0, faults to stderr with code 2. A closed pipe changes neither.
            let _ = message.print();
            return ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(FAULTY));
        }
    };
    let invocation = Invocation { server, catalog, matches: &matches, program: Cell::new(Some(program)) };
    match dispatch(&invocation) {
        Ok(code) => code,
        Err(problems) => {
            report(server, &problems);
            ExitCode::from(FAULTY)
        }
    }
}

fn dispatch(invocation: &Invocation<'_>) -> Result<ExitCode, Vec<Problem>> {
    let server = invocation.server;
    match invocation.matches.subcommand() {
        None | Some(("stdio", _)) => {
            let app = invocation.app(false)?;
            // A log that was not asked for may be impossible, as on a read-only disk; serving goes on without.
            invocation.log_to_file(&app)?;
            if std::io::stdin().is_terminal() {
                let name = options::binary(server);
                eprintln!(
                    "{name}: waiting for an MCP client on stdin; `{name} config clients` shows how to connect one, \
                     `{name} --help` what else there is. Ctrl-C stops."
                );
            }
            Ok(serve::stdio(&app))
        }
        Some(("http", _)) => {
            let app = invocation.app(true)?;
            let file = app.settings.log_file.clone();
            let destination = file.map_or(Destination::Stderr, Destination::File);
            start_logging(&app.settings, &app.known_secrets, &destination).map_err(|problem| vec![problem])?;
            Ok(serve::http(&app))
        }
        Some(("tools", chosen)) => {
            let app = invocation.app(false)?;
            Ok(match chosen.get_one::<String>("tool") {
                Some(name) => tools::print_one(&app, name, chosen.get_flag("json")),
                None => tools::print(&app, chosen),
            })
        }
        Some(("prompts", _)) => Ok(content::print_prompts(server)),
        Some(("resources", _)) => Ok(content::print_resources(server)),
        Some(("call", chosen)) => {
            let app = invocation.app(false)?;
            invocation.log_to_file(&app)?;
            Ok(call::run(&app, chosen))
        }
        Some(("doctor", _)) => Ok(doctor::run(invocation)),
        Some(("config", chosen)) => config(invocation, chosen),
        Some(("completions", chosen)) => Ok(completions(server, chosen)),
        Some((other, _)) => Err(vec![Problem::new(other, "is not a command")]),
    }
}

/// What was asked for, over the tables it is about.
struct Invocation<'a> {
    server: &'static ServerSpec,
    catalog: &'static Catalog,
    matches: &'a ArgMatches,
    /// What the one server that an invocation makes consists of, until it is made.
    program: Cell<Option<Program>>,
}

impl Invocation<'_> {
    /// The server that the settings describe.
    fn app(&self, over_http: bool) -> Result<Arc<App>, Vec<Problem>> {
        let environment = Environment::process();
        let file = self.file(&environment)?;
        for lookalike in file.lookalike.iter().cloned().chain(settings::lookalikes(self.server, &environment)) {
            eprintln!("{}-server: warning: {lookalike}", self.server.name);
        }
        let (mut texts, mut problems) = self.texts(&environment, &file);
        if over_http {
            // Who may call must be known before anybody can; all other secrets wait for the first call that needs them.
            problems.extend(texts.ask_keyring(self.server, "auth_token").err());
        }
        problems.extend(settings::check(self.server, self.catalog, &texts, over_http));
        let settings = Settings::parse(&texts, &mut problems);
        let mut program = self.program.take().unwrap_or_else(|| Program::new(self.server, self.catalog));
        problems.extend(
            executors::configure(&mut program.executors, &texts.tables, &texts.secrets).err().into_iter().flatten(),
        );
        match settings {
            Some(settings) if problems.is_empty() => program.app(settings),
            _ => Err(problems),
        }
    }

    /// The configuration file. One that cannot be read leaves nothing to go on with.
    fn file(&self, environment: &Environment) -> Result<ConfigFile, Vec<Problem>> {
        match self.config_path(environment) {
            Some((path, required)) => ConfigFile::read(&path, required, self.server),
            None => Ok(ConfigFile::default()),
        }
    }

    /// The texts of all settings, and the faults of single keys and of the profile.
    fn texts(&self, environment: &Environment, file: &ConfigFile) -> (Resolution, Vec<Problem>) {
        let profile = self.matches.get_one::<String>("profile").cloned();
        let variable = format!("{}_PROFILE", self.server.env_prefix);
        let profile = profile.or_else(|| environment.get(&variable).filter(|name| !name.is_empty()));
        let mut problems = file.problems.clone();
        problems.extend(file.check_profile(profile.as_deref()).err());
        let flags = options::setting_flags(self.server, self.matches);
        let texts = settings::resolution(self.server, environment, &flags, file, profile.as_deref());
        (texts, problems)
    }

    /// The configuration file, and whether it must be there since it was asked for by name.
    fn config_path(&self, environment: &Environment) -> Option<(PathBuf, bool)> {
        let named = self.matches.get_one::<String>("config").cloned();
        let named = named.or_else(|| environment.get("TOOLWRIGHT_CONFIG").filter(|path| !path.is_empty()));
        match named {
            Some(path) => Some((path.into(), true)),
            None => environment.config_path().map(|path| (path, false)),
        }
    }

    /// Logs to the configured file, or to one in the state folder.
    fn log_to_file(&self, app: &App) -> Result<(), Vec<Problem>> {
        let start = |path| start_logging(&app.settings, &app.known_secrets, &Destination::File(path));
        if let Some(path) = app.settings.log_file.clone() {
            return start(path).map_err(|problem| vec![problem]);
        }
        let state = Environment::process().state_dir(self.server);
        let path = state.join(format!("logs/{}.log", self.server.name));
        // Nobody asked for this file, so that a disk that refuses it is no reason not to serve.
        let _ = start(path);
        Ok(())
    }
}

/// One line a problem on stderr.
fn report(server: &ServerSpec, problems: &[Problem]) {
    for problem in problems {
        eprintln!("{}-server: {problem}", server.name);
    }
}

fn config(invocation: &Invocation<'_>, chosen: &ArgMatches) -> Result<ExitCode, Vec<Problem>> {
    match chosen.subcommand() {
        Some(("clients", chosen)) => clients::print(invocation, chosen),
        Some(("secret", chosen)) => secret::store(invocation, chosen),
        Some(("table", _)) => Ok(print(&settings::table(invocation.server))),
        _ => Ok(print(&settings::example(invocation.server))),
    }
}

/// What to say of a name that no tool has.
fn unknown_tool(app: &App, name: &str) -> String {
    let names = app.catalog.tools().iter().map(|row| row.name);
    match settings::nearest(name, names) {
        Some(near) => format!("there is no tool {name}; did you mean {near}?"),
        None => format!("there is no tool {name}; `tools --all` lists them"),
    }
}

fn completions(server: &ServerSpec, chosen: &ArgMatches) -> ExitCode {
    let Some(shell) = chosen.get_one::<clap_complete::Shell>("shell") else { return ExitCode::from(FAULTY) };
    let mut script = Vec::new();
    clap_complete::generate(*shell, &mut options::command(server), options::binary(server), &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Prints to stdout. A reader that has gone, as `head` has, is no failure.
fn print(text: &str) -> ExitCode {
    use std::io::Write as _;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}

/// The path by which a client would start this binary.
fn executable(server: &ServerSpec) -> String {
    let path = std::env::current_exe().ok();
    let shown = path.as_deref().map(Path::display).map(|path| path.to_string());
    shown.unwrap_or_else(|| options::binary(server))
}
