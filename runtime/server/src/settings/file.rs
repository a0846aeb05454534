//! The configuration file: shared defaults at its root, `[server.NAME]` over them, and
//! `[server.NAME.profiles.PROFILE]` over both.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toml::{Table, Value};
use toolwright_core::ServerSpec;

use super::declaration::{self, Declaration, Declarations, toml_key};
use super::identifier::{IDENTIFIER, is_identifier};
use super::tables::{TABLES, Tables};
use super::{Declared, Problem, declared};

/// The form of the file that this program reads.
const SCHEMA_VERSION: i64 = 1;

/// Keys of the root that are no settings.
const OF_ROOT: [&str; 2] = ["schema_version", "server"];

/// One level of the file, with what stands in front of its keys in messages.
#[derive(Debug, Clone, Default)]
struct Level {
    prefix: String,
    /// The texts of settings, by key.
    texts: BTreeMap<String, String>,
    secrets: Declarations,
    tables: Table,
}

/// A configuration file that has been read.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConfigFile {
    /// Where it was read from.
    pub(crate) path: Option<PathBuf>,
    shared: Level,
    server: Level,
    profiles: BTreeMap<String, Level>,
    /// A table that this server does not read and that may have been meant for it.
    pub(crate) lookalike: Option<String>,
    /// Faults of single keys. They stop the start, but not the reading, so that other faults are reported with them.
    pub(crate) problems: Vec<Problem>,
}

impl ConfigFile {
    /// Reads the file. A missing one is empty unless it was asked for by name.
    ///
    /// # Errors
    /// When it cannot be read as a whole.
    pub(crate) fn read(path: &Path, required: bool, server: &ServerSpec) -> Result<Self, Vec<Problem>> {
        match std::fs::read_to_string(path) {
            Ok(text) => ConfigFile::parse(&text, path, server),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !required => Ok(ConfigFile::default()),
            Err(error) => Err(vec![Problem::new(path.display().to_string(), format!("cannot be read: {error}"))]),
        }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// When it is not TOML, or of another version: what it says is then unknown.
    pub(crate) fn parse(text: &str, path: &Path, server: &ServerSpec) -> Result<Self, Vec<Problem>> {
        let place = path.display().to_string();
        let root: Table = text.parse().map_err(|error: toml::de::Error| {
            // The message shows the line, which may hold a secret; the position alone is enough.
            let offset = error.span().map_or(0, |span| span.start);
            let before = text.get(..offset).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|&character| character != '\n').count() + 1;
            vec![Problem::new(format!("{place}:{line}:{column}"), error.message().to_owned())]
        })?;
        let mut reader = Reader { place, known: declared(server), problems: Vec::new() };
        reader.version(&root)?;
        let file = reader.file(&root, path, server);
        Ok(ConfigFile { problems: reader.problems, ..file })
    }

    /// The text of a setting and its place.
    pub(super) fn find(&self, key: &str, profile: Option<&str>) -> Option<(String, String)> {
        let mut levels = self.levels(profile);
        let (level, text) = levels.find_map(|level| Some((level, level.texts.get(key)?)))?;
        Some((text.clone(), format!("{}: {}{key}", self.shown_path(), level.prefix)))
    }

    /// What the file says of a secret, and whether all servers share it: where the shared part declares it, others only
    /// change its fields.
    pub(crate) fn declaration(&self, name: &str, profile: Option<&str>) -> Option<(Declaration, bool)> {
        let mut found = self.levels(profile).filter_map(|level| level.secrets.get(name));
        let first = found.next()?.clone();
        Some((found.fold(first, |over, under| over.over(under)), self.shared.secrets.contains_key(name)))
    }

    /// The names of all secrets that it declares.
    pub(crate) fn declared_secrets(&self, profile: Option<&str>) -> BTreeSet<&str> {
        self.levels(profile).flat_map(|level| level.secrets.keys()).map(String::as_str).collect()
    }

    /// The tables that are no settings.
    pub(crate) fn tables(&self, profile: Option<&str>) -> Tables {
        let mut levels: Vec<_> = self.levels(profile).map(|level| (level.prefix.as_str(), &level.tables)).collect();
        levels.reverse();
        Tables::new(self.shown_path(), levels)
    }

    /// The levels, beginning with the one that beats the others.
    fn levels<'a>(&'a self, profile: Option<&str>) -> impl Iterator<Item = &'a Level> {
        let profile = profile.and_then(|name| self.profiles.get(name));
        profile.into_iter().chain([&self.server, &self.shared])
    }

    fn shown_path(&self) -> String {
        self.path.as_deref().map(|path| path.display().to_string()).unwrap_or_default()
    }

    /// Checks that a profile exists.
    ///
    /// # Errors
    /// When it does not; the message lists those that do.
    pub(crate) fn check_profile(&self, profile: Option<&str>) -> Result<(), Problem> {
        let Some(name) = profile.filter(|name| !self.profiles.contains_key(*name)) else { return Ok(()) };
        let known: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
        let known =
            if known.is_empty() { "none is defined".to_owned() } else { format!("known: {}", known.join(", ")) };
        Err(Problem::new("--profile", format!("there is no profile `{name}`; {known}")))
    }
}

struct Reader {
    place: String,
    known: Vec<Declared>,
    problems: Vec<Problem>,
}

impl Reader {
    /// Checks for which form of the file it was written.
    ///
    /// # Errors
    /// Where it is another one.
    fn version(&mut self, root: &Table) -> Result<(), Vec<Problem>> {
        let found = match root.get("schema_version") {
            None => return Ok(()),
            Some(Value::Integer(SCHEMA_VERSION)) => return Ok(()),
            Some(Value::Integer(found)) => found,
            Some(other) => {
                let message = format!("must be an integer, such as {SCHEMA_VERSION}; it is a {}", other.type_str());
                self.report("schema_version", message);
                return Ok(());
            }
        };
        let message = format!("found {found}, expected {SCHEMA_VERSION}: this program reads no other form of the file");
        self.report("schema_version", message);
        Err(std::mem::take(&mut self.problems))
    }

    fn file(&mut self, root: &Table, path: &Path, server: &ServerSpec) -> ConfigFile {
        let shared = self.level(root, "", &OF_ROOT);
        let servers = self.subtable(root, "server", "server").cloned().unwrap_or_default();
        self.check_servers(&servers);
        let name = format!("server.{}", toml_key(server.name));
        let own = servers.get(server.name).and_then(Value::as_table).cloned();
        let others = servers.keys().map(String::as_str).filter(|_| own.is_none());
        let lookalike = nearest(server.name, others)
            .map(|other| format!("{}: [server.{other}] is not this server's table; was [{name}] meant?", self.place));
        let own = own.unwrap_or_default();
        let level = self.level(&own, &format!("{name}."), &["profiles"]);
        let profiles = self.profiles(&own, &name);
        ConfigFile { path: Some(path.to_path_buf()), shared, server: level, profiles, lookalike, problems: Vec::new() }
    }

    /// A name or a value that cannot be a server's is a fault, whoever it was meant for.
    fn check_servers(&mut self, servers: &Table) {
        for (name, value) in servers {
            let place = format!("server.{}", toml_key(name));
            if !is_identifier(name) {
                self.report(&place, format!("the name of a server must be {IDENTIFIER}"));
            }
            if !value.is_table() {
                self.report(&place, "must be a table".to_owned());
            }
        }
    }

    fn profiles(&mut self, own: &Table, name: &str) -> BTreeMap<String, Level> {
        let profiles = self.subtable(own, "profiles", &format!("{name}.profiles")).cloned().unwrap_or_default();
        let mut levels = BTreeMap::new();
        for profile in profiles.keys() {
            let place = format!("{name}.profiles.{}", toml_key(profile));
            if let Some(table) = self.subtable(&profiles, profile, &place) {
                levels.insert(profile.clone(), self.level(table, &format!("{place}."), &[]));
            }
        }
        levels
    }

    fn subtable<'a>(&mut self, parent: &'a Table, key: &str, place: &str) -> Option<&'a Table> {
        let value = parent.get(key)?;
        if value.as_table().is_none() {
            self.report(place, "must be a table".to_owned());
        }
        value.as_table()
    }

    /// One level. `also` are keys that are known there and read elsewhere.
    fn level(&mut self, table: &Table, prefix: &str, also: &[&str]) -> Level {
        let mut level = Level { prefix: prefix.to_owned(), ..Level::default() };
        for (key, value) in table.iter().filter(|(key, _)| !also.contains(&key.as_str())) {
            let place = format!("{prefix}{}", toml_key(key));
            if TABLES.contains(&key.as_str()) {
                if let Some(inner) = self.subtable(table, key, &place) {
                    level.tables.insert(key.clone(), Value::Table(inner.clone()));
                }
            } else if !self.known.iter().any(|declared| declared.key == key) {
                let message = unknown_key(key, &self.known, also);
                self.report(&place, message);
            } else if let Some(text) = textual(value) {
                level.texts.insert(key.clone(), text);
            } else {
                self.report(&place, "must be text, a number, a boolean, or a list of texts".to_owned());
            }
        }
        if let Some(secrets) = level.tables.remove("secrets").as_ref().and_then(Value::as_table) {
            let report = |field: &str, message| self.report(&format!("{prefix}secrets.{field}"), message);
            level.secrets = declaration::read(secrets, report);
        }
        level
    }

    fn report(&mut self, key: &str, message: String) {
        self.problems.push(Problem::new(format!("{}: {key}", self.place), message));
    }
}

fn unknown_key(key: &str, known: &[Declared], also: &[&str]) -> String {
    match key {
        "tool" => return "is no table of this file; a server's settings stand in [server.NAME]".to_owned(),
        "observability" => {
            return "is no table of this file; log_level, log_format and log_file are keys beside the others"
                .to_owned();
        }
        _ => {}
    }
    let known = known.iter().map(|declared| declared.key).chain(also.iter().chain(&TABLES).copied());
    match nearest(key, known) {
        Some(name) => format!("unknown key; did you mean `{name}`?"),
        None => "unknown key; `config example` lists all".to_owned(),
    }
}

/// What is longer, in bytes, is no slip of a known name.
const LONGEST_MEANT: usize = 256;

/// The known name that is close enough to be what was meant.
pub(crate) fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Callers choose what is given, and comparing takes the longer the longer it is.
    if given.len() > LONGEST_MEANT {
        return None;
    }
    let scored = known.map(|name| (strsim::damerau_levenshtein(given, name), name));
    let (distance, name) = scored.min()?;
    (distance <= 1 + given.len() / 4).then_some(name)
}

fn textual(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        Value::Array(items) => {
            let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            texts.map(|texts| texts.join(","))
        }
        Value::Table(_) | Value::Datetime(_) => None,
    }
}

#[cfg(test)]
mod tests;
