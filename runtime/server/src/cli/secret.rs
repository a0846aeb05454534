//! `config secret`: puts a secret where the server looks for it.

use std::io::{self, IsTerminal as _, Read as _};
use std::process::ExitCode;

use clap::ArgMatches;
use toolwright_core::Secret;

use super::Invocation;
use crate::settings::{self, Environment, Problem, Resolution};

/// Reads a value from stdin and keeps it in the keyring.
///
/// # Errors
/// Where the name is no secret's, there is no value, or the keyring fails.
pub(super) fn store(invocation: &Invocation<'_>, chosen: &ArgMatches) -> Result<ExitCode, Vec<Problem>> {
    let name = chosen.get_one::<String>("name").map(String::as_str).unwrap_or_default();
    let environment = Environment::process();
    let file = invocation.file(&environment)?;
    let (texts, problems) = invocation.texts(&environment, &file);
    if !problems.is_empty() {
        return Err(problems);
    }
    let fault = |message: String| vec![Problem::new(name.escape_debug().to_string(), message)];
    check_name(&texts, name).map_err(fault)?;
    let value = value(name).map_err(fault)?;
    let places = texts.secrets.store(name, &value).map_err(|error| fault(error.to_string()))?;
    Ok(super::print(&format!("{places} is kept in the keyring as {}\n", places.entry())))
}

fn check_name(texts: &Resolution, name: &str) -> Result<(), String> {
    let known = texts.secrets.names();
    if texts.secrets.places(name).is_disabled() {
        return Err("is not looked for, since the configuration file says `disabled = true`".to_owned());
    }
    if known.contains(&name) {
        return Ok(());
    }
    let way_out = match settings::nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => "declare it as [secrets.NAME] in the configuration file first".to_owned(),
    };
    Err(format!("is no secret of this server; {way_out}"))
}

/// One line of a person whom nobody watches, or all that another program wrote.
fn value(name: &str) -> Result<Secret, String> {
    let mut text = String::new();
    let read = match io::stdin().is_terminal() {
        true => {
            eprint!("value of {name}, which is not shown: ");
            read_unseen(&mut text)
        }
        false => io::stdin().read_to_string(&mut text),
    };
    read.map_err(|error| format!("the value cannot be read from stdin: {error}"))?;
    // Programs that print a value end it with a line break, which is none of it.
    let value = text.strip_suffix('\n').unwrap_or(&text);
    let value = value.strip_suffix('\r').unwrap_or(value);
    match value.trim().is_empty() {
        true => Err("needs a value on stdin".to_owned()),
        false => Ok(Secret::new(value)),
    }
}

/// Reads a line while the terminal shows none of it.
#[cfg(unix)]
fn read_unseen(text: &mut String) -> io::Result<usize> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let stdin = io::stdin();
    let shown = tcgetattr(&stdin)?;
    let mut unseen = shown.clone();
    unseen.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&stdin, OptionalActions::Flush, &unseen)?;
    let read = stdin.read_line(text);
    tcsetattr(&stdin, OptionalActions::Flush, &shown)?;
    eprintln!();
    read
}

#[cfg(not(unix))]
fn read_unseen(_text: &mut String) -> io::Result<usize> {
    Err(io::Error::other("a terminal would show it; pipe the value in"))
}
