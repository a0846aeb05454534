//! Finds the text of each setting and where it came from, then reads all of them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use toolwright_core::ServerSpec;

use super::value::PATH;
use super::{
    ConfigFile, Declared, Environment, Problem, SecretSource, SecretSources, SettingValue, Settings, Tables, declared,
    document,
};

/// Values given as flags, by key.
pub(crate) type Flags = HashMap<&'static str, String>;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A flag, with its dashes.
    Flag(String),
    /// An environment variable.
    Environment(String),
    /// The configuration file: its key, with the tables above it.
    File(String),
    /// The system's keyring: service and account.
    Keyring(String),
    /// Nothing was said.
    Default,
}

impl Source {
    /// The kind of source and its place, where several kinds stand side by side.
    pub(crate) fn in_full(&self) -> String {
        match self {
            Source::Flag(place) => format!("flag {place}"),
            Source::Environment(place) => format!("env {place}"),
            Source::File(place) => format!("file {place}"),
            Source::Keyring(entry) => format!("keyring {entry}"),
            Source::Default => "default".to_owned(),
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Flag(place) | Source::Environment(place) | Source::File(place) => f.write_str(place),
            Source::Keyring(_) | Source::Default => f.write_str(&self.in_full()),
        }
    }
}

/// The text of one setting.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    pub(crate) declared: Declared,
    pub(crate) text: String,
    pub(crate) source: Source,
}

/// The texts of all settings, in the order of the declaration.
#[derive(Debug, Clone)]
pub(crate) struct Resolution {
    pub(crate) entries: Vec<Resolved>,
    /// The tables of the file that are no settings.
    pub(crate) tables: Tables,
    /// Where secrets are looked for that no text says.
    pub(crate) secrets: Arc<SecretSources>,
}

impl Resolution {
    /// The entry of that key.
    pub(crate) fn entry(&self, key: &str) -> Option<&Resolved> {
        self.entries.iter().find(|entry| entry.declared.key == key)
    }

    /// True where a flag, a variable or the file says it.
    pub(super) fn is_set(&self, key: &str) -> bool {
        self.entry(key).is_some_and(|entry| entry.source != Source::Default)
    }

    /// Reads one setting; a fault is added to the problems.
    pub(super) fn parse<T: SettingValue>(&self, key: &str, problems: &mut Vec<Problem>) -> Option<T> {
        let entry = self.entry(key)?;
        match T::read(&entry.text) {
            Ok(value) => Some(value),
            // What is required and was not given is told by `resolve`.
            Err(_) if entry.source == Source::Default && entry.text.is_empty() => None,
            Err(accepted) => {
                problems.push(entry.problem(accepted));
                None
            }
        }
    }

    /// Reads one setting whose faults are reported elsewhere.
    pub(crate) fn value<T: SettingValue>(&self, key: &str) -> Option<T> {
        T::read(&self.entry(key)?.text).ok()
    }

    /// Takes a secret from the keyring that no text says.
    ///
    /// # Errors
    /// Where the keyring fails, or lacks what the file declares to be somewhere.
    pub(crate) fn ask_keyring(&mut self, server: &ServerSpec, key: &str) -> Result<(), Problem> {
        let places = self.secrets.places(key);
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.declared.key == key && entry.text.is_empty())
        else {
            return Ok(());
        };
        let is_needed = places.is_declared && !places.is_disabled();
        let found = if is_needed { self.secrets.require(key).map(Some) } else { self.secrets.look(key) };
        match found {
            Ok(None) => {}
            Ok(Some(found)) => {
                entry.text = found.secret.expose().trim().to_owned();
                entry.source = match found.source {
                    SecretSource::Environment(variable) => Source::Environment(variable),
                    SecretSource::Keyring(place) => Source::Keyring(place),
                };
            }
            Err(error) => {
                let way_out = format!("or write `disabled = true` below [server.{}.secrets.{key}]", server.name);
                return Err(Problem::new(entry.place(server), format!("{error}; set it, {way_out}")));
            }
        }
        Ok(())
    }

    /// A problem at the place where a setting was given, or could be.
    pub(crate) fn problem(&self, server: &ServerSpec, key: &str, message: impl Into<String>) -> Problem {
        let place = self.entry(key).map_or_else(|| key.to_owned(), |entry| entry.place(server));
        Problem::new(place, message)
    }
}

impl Resolved {
    fn place(&self, server: &ServerSpec) -> String {
        match &self.source {
            Source::Default => self.declared.env(server),
            source => source.to_string(),
        }
    }

    /// The text as it may be shown: credentials and the query of a URL are hidden, though hardly a setting accepts them there.
    pub(crate) fn shown(&self) -> String {
        let Some((scheme, rest)) = self.text.split_once("://") else { return self.text.escape_debug().to_string() };
        let (place, query) = rest.split_once('?').map_or((rest, ""), |(place, _)| (place, "?***"));
        let authority = place.split(['/', '#']).next().unwrap_or(place);
        let hidden = authority.rsplit_once('@').and_then(|(credentials, _)| place.get(credentials.len()..));
        let marked = if hidden.is_some() { "***" } else { "" };
        format!("{scheme}://{marked}{}{query}", hidden.unwrap_or(place)).escape_debug().to_string()
    }

    pub(super) fn problem(&self, accepted: &str) -> Problem {
        let shown = self.shown();
        let given = match (self.declared.kind.secret, shown.chars().count()) {
            (true, _) => "a value that is not shown here".to_owned(),
            (_, 0) => "nothing".to_owned(),
            (_, 1..=80) => format!("`{shown}`"),
            _ => format!("`{}…`", shown.chars().take(80).collect::<String>()),
        };
        Problem::new(self.source.to_string(), format!("must be {accepted}; it is {given}"))
    }
}

/// Finds the texts of all settings.
pub(crate) fn resolution(
    server: &ServerSpec,
    environment: &Environment,
    flags: &Flags,
    file: &ConfigFile,
    profile: Option<&str>,
) -> Resolution {
    let state = environment.state_dir(server);
    let secrets = SecretSources::new(server, environment, file, profile);
    let find = |declared: Declared| {
        let found = from_flag(&declared, flags)
            .or_else(|| from_environment(&declared, server, environment))
            .or_else(|| from_aliases(&declared, &secrets, environment))
            .or_else(|| file.find(declared.key, profile).map(|(text, place)| (text, Source::File(place))));
        let (text, source) = found.unwrap_or_else(|| (default(&declared, server, &state), Source::Default));
        let text = expanded(&declared, text.trim(), environment);
        Resolved { declared, text, source }
    };
    let mut resolution = Resolution {
        entries: declared(server).into_iter().map(find).collect(),
        tables: file.tables(profile),
        secrets: Arc::new(secrets),
    };
    let address = document::filled(server, &resolution);
    let base_url = resolution.entries.iter_mut().find(|entry| entry.declared.key == "base_url");
    if let Some(entry) = base_url.filter(|entry| entry.source == Source::Default) {
        entry.text = address;
    }
    resolution
}

/// Variables that no setting has and that were likely meant for one: those with the server's own prefix, and near misses.
/// The API itself may have variables that begin with the same word.
pub(crate) fn lookalikes(server: &ServerSpec, environment: &Environment) -> Vec<String> {
    let profile = format!("{}_PROFILE", server.env_prefix);
    let known: Vec<String> = declared(server).iter().map(|declared| declared.env(server)).chain([profile]).collect();
    let (own, api) = (format!("{}_MCP_", server.env_prefix), format!("{}_", server.env_prefix));
    let mut found = Vec::new();
    for name in environment.names().into_iter().filter(|name| name.starts_with(&api) && !known.contains(name)) {
        let near = known.iter().filter(|known| strsim::damerau_levenshtein(known, &name) <= 2).min();
        match near {
            Some(near) => found.push(format!("{name} is no setting; was {near} meant?")),
            None if name.starts_with(&own) => found.push(format!("{name} is no setting; `config table` lists all")),
            None => {}
        }
    }
    found.sort();
    found
}

/// Finds and reads all settings.
///
/// # Errors
/// Every value that is not accepted.
pub(crate) fn resolve(
    server: &ServerSpec,
    environment: &Environment,
    flags: &Flags,
    file: &ConfigFile,
    profile: Option<&str>,
) -> Result<(Settings, Resolution), Vec<Problem>> {
    let texts = resolution(server, environment, flags, file, profile);
    let mut problems = Vec::new();
    if !texts.is_set("base_url") && texts.entry("base_url").is_some_and(|entry| entry.text.is_empty()) {
        let message = "is required, because the API's document names no host: set it to the API's address, such as https://api.example.com";
        problems.push(texts.problem(server, "base_url", message));
    }
    match Settings::parse(&texts, &mut problems) {
        Some(settings) if problems.is_empty() => Ok((settings, texts)),
        _ => Err(problems),
    }
}

/// A path below the home folder may be written with `~/`.
fn expanded(declared: &Declared, text: &str, environment: &Environment) -> String {
    let below_home = text.strip_prefix("~/").filter(|_| declared.kind.placeholder == PATH);
    match below_home.zip(environment.home()) {
        Some((rest, home)) => home.join(rest).to_string_lossy().into_owned(),
        None => text.to_owned(),
    }
}

fn from_flag(declared: &Declared, flags: &Flags) -> Option<(String, Source)> {
    let text = flags.get(declared.key)?;
    Some((text.clone(), Source::Flag(format!("--{}", declared.flag()))))
}

/// An empty variable counts as unset, as container tools pass it, except where empty is a value of its own.
fn from_environment(declared: &Declared, server: &ServerSpec, environment: &Environment) -> Option<(String, Source)> {
    let name = declared.env(server);
    // Proxy variables are conventionally written in lower case as well.
    let lower = name.ends_with("_PROXY").then(|| name.to_ascii_lowercase());
    let names = std::iter::once(name).chain(lower);
    names
        .filter_map(|name| Some((environment.get(&name)?, Source::Environment(name))))
        .find(|(text, _)| declared.kind.empty_counts || !text.trim().is_empty())
}

/// The variables that the file declares for a secret.
fn from_aliases(declared: &Declared, secrets: &SecretSources, environment: &Environment) -> Option<(String, Source)> {
    if !declared.is_in_keyring() {
        return None;
    }
    let places = secrets.places(declared.key);
    let mut set = places.aliases().iter().filter_map(|name| Some((environment.get(name)?, name)));
    let (text, name) = set.find(|(text, _)| !text.trim().is_empty())?;
    Some((text, Source::Environment(name.clone())))
}

fn default(declared: &Declared, server: &ServerSpec, state: &Path) -> String {
    match declared.key {
        "base_url" => server.default_base_url.to_owned(),
        _ => declared.default.replace("{state}", &state.to_string_lossy()),
    }
}

#[cfg(test)]
mod tests;
