//! The configuration file: shared defaults at its root, `[server.NAME]` over them, and
//! `[server.NAME.profiles.PROFILE]` over both.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::{Table, Value};
use toolwright_core::ServerSpec;

use super::{Declared, Problem, declared};
use crate::executors::Tables;

/// Root keys that belong to other parts of the configuration document.
const RESERVED: [&str; 5] = ["schema_version", "server", "llm", "observability", "secrets"];

/// The texts of one table, by key, with the table's name in front for messages.
#[derive(Debug, Clone, Default)]
struct Layer {
    table: String,
    texts: BTreeMap<String, String>,
}

/// A configuration file that has been read.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConfigFile {
    /// Where it was read from.
    pub(crate) path: Option<PathBuf>,
    shared: Layer,
    server: Layer,
    profiles: BTreeMap<String, Layer>,
    /// A table that this server does not read and that may have been meant for it.
    pub(crate) lookalike: Option<String>,
    /// Faults of single keys. They stop the start, but not the reading, so that other faults are reported with them.
    pub(crate) problems: Vec<Problem>,
    /// The tables of executors, with those of the server laid over those of all.
    tables: Tables,
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
    /// When it is not TOML.
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
        let file = reader.file(&root, path, server);
        Ok(ConfigFile { problems: reader.problems, ..file })
    }

    /// The text of a setting and its place.
    pub(super) fn find(&self, key: &str, profile: Option<&str>) -> Option<(String, String)> {
        let profile = profile.and_then(|name| self.profiles.get(name));
        let layers = profile.into_iter().chain([&self.server, &self.shared]);
        layers.filter_map(|layer| Some((layer, layer.texts.get(key)?))).next().map(|(layer, text)| {
            let path = self.path.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
            (text.clone(), format!("{path}: {}{key}", layer.table))
        })
    }

    /// The table of an executor, `None` where there is none.
    pub(crate) fn table(&self, name: &str) -> Option<serde_json::Value> {
        self.tables.get(name).cloned()
    }

    /// A field of such a table with the file in front, for messages.
    pub(crate) fn place_of(&self, field: &str) -> String {
        self.path.as_deref().map_or_else(|| field.to_owned(), |path| format!("{}: {field}", path.display()))
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
    fn file(&mut self, root: &Table, path: &Path, server: &ServerSpec) -> ConfigFile {
        if let Some(version) = root.get("schema_version").filter(|version| version.as_integer() != Some(1)) {
            self.report("schema_version", format!("must be the integer 1; it is {version}"));
        }
        let shared = self.layer(root, "", &RESERVED);
        let name = format!("server.{}", server.name);
        let servers = self.subtable(root, "server", "server");
        let table = servers.and_then(|servers| self.subtable(servers, server.name, &name)).cloned();
        let others = servers.filter(|_| table.is_none()).into_iter().flat_map(Table::keys).map(String::as_str);
        let lookalike = nearest(server.name, others)
            .map(|other| format!("{}: [server.{other}] is not this server's table; was [{name}] meant?", self.place));
        let table = table.unwrap_or_default();
        let own = self.layer(&table, &format!("{name}."), &["profiles"]);
        let profiles = self.subtable(&table, "profiles", &format!("{name}.profiles")).cloned().unwrap_or_default();
        let mut layers = BTreeMap::new();
        for profile in profiles.keys() {
            let place = format!("{name}.profiles.{profile}");
            if let Some(table) = self.subtable(&profiles, profile, &place) {
                layers.insert(profile.clone(), self.layer(table, &format!("{place}."), &[]));
            }
        }
        let path = Some(path.to_path_buf());
        let tables = tables(root);
        ConfigFile { path, shared, server: own, profiles: layers, lookalike, problems: Vec::new(), tables }
    }

    fn subtable<'a>(&mut self, parent: &'a Table, key: &str, place: &str) -> Option<&'a Table> {
        let value = parent.get(key)?;
        if value.as_table().is_none() {
            self.report(place, "must be a table".to_owned());
        }
        value.as_table()
    }

    fn layer(&mut self, table: &Table, prefix: &str, skipped: &[&str]) -> Layer {
        let mut texts = BTreeMap::new();
        for (key, value) in table.iter().filter(|(key, _)| !skipped.contains(&key.as_str())) {
            let place = format!("{prefix}{key}");
            if !self.known.iter().any(|declared| declared.key == key) {
                let message = unknown_key(key, &self.known, skipped);
                self.report(&place, message);
            } else if let Some(text) = textual(value) {
                texts.insert(key.clone(), text);
            } else {
                self.report(&place, "must be text, a number, a boolean, or a list of texts".to_owned());
            }
        }
        Layer { table: prefix.to_owned(), texts }
    }

    fn report(&mut self, key: &str, message: String) {
        self.problems.push(Problem::new(format!("{}: {key}", self.place), message));
    }
}

/// The tables that are not settings of a server. Each is read by the executor of its name, which also says what is wrong.
fn tables(root: &Table) -> Tables {
    let is_table = |name: &str| RESERVED.contains(&name) && !matches!(name, "schema_version" | "server");
    let named = root.iter().filter(|(name, _)| is_table(name));
    named.filter_map(|(name, value)| Some((name.clone(), serde_json::to_value(value).ok()?))).collect()
}

fn unknown_key(key: &str, known: &[Declared], also: &[&str]) -> String {
    let known = known.iter().map(|declared| declared.key).chain(also.iter().copied());
    match nearest(key, known) {
        Some(name) => format!("unknown key; did you mean `{name}`?"),
        None => "unknown key; `config example` lists all".to_owned(),
    }
}

/// The known name that is close enough to be what was meant.
pub(crate) fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
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
mod tests {
    use super::*;
    use crate::testing::SERVER;

    fn problems(text: &str) -> Vec<String> {
        let file = ConfigFile::parse(text, Path::new("c.toml"), &SERVER);
        file.map_or_else(|problems| problems, |file| file.problems).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn an_unknown_key_is_an_error_with_a_suggestion() {
        assert_eq!(
            problems("[server.demo]\nreadonly = true"),
            ["c.toml: server.demo.readonly: unknown key; did you mean `read_only`?"]
        );
    }

    #[test]
    fn faults_of_all_tables_are_reported_together() {
        let text = "schema_version = 2\nhots = 1\n[server.demo]\nport = 1979-05-27\n[server.demo.profiles]\nlab = 1";
        assert_eq!(problems(text).len(), 4);
    }

    #[test]
    fn a_syntax_error_names_line_and_column_and_shows_no_value() {
        let found = problems("port = 1\napi_key = \"s3cr3t");
        assert!(found[0].starts_with("c.toml:2:"), "{found:?}");
        assert!(!found[0].contains("s3cr3t"), "{found:?}");
    }

    #[test]
    fn tables_of_other_servers_and_parts_are_left_alone() {
        let text = "[server.other]\nwhatever = 1\n[llm]\nbackend = \"x\"\n";
        assert_eq!(problems(text), [""; 0]);
    }

    #[test]
    fn a_table_with_nearly_this_servers_name_is_pointed_out() {
        let lookalike = |text| ConfigFile::parse(text, Path::new("c.toml"), &SERVER).unwrap().lookalike;
        let found = lookalike("[server.dmeo]\nport = 1\n").unwrap();
        assert_eq!(found, "c.toml: [server.dmeo] is not this server's table; was [server.demo] meant?");
        assert_eq!(lookalike("[server.dmeo]\n[server.demo]\n"), None);
        assert_eq!(lookalike("[server.other]\n"), None);
    }

    #[test]
    fn the_other_keys_of_a_faulty_file_are_read() {
        let file = ConfigFile::parse("hots = 1\nport = \"x\"", Path::new("c.toml"), &SERVER).unwrap();
        assert_eq!((file.problems.len(), file.find("port", None).unwrap().0.as_str()), (1, "x"));
    }

    #[test]
    fn an_unknown_profile_lists_the_known_ones() {
        let text = "[server.demo.profiles.lab]\nport = 1\n[server.demo.profiles.home]\nport = 2\n";
        let file = ConfigFile::parse(text, Path::new("c.toml"), &SERVER).unwrap();
        let problem = file.check_profile(Some("lap")).unwrap_err();
        assert_eq!(problem.message, "there is no profile `lap`; known: home, lab");
    }

    #[test]
    fn a_list_of_names_is_an_array() {
        let text = "deny = [\"a\", \"b\"]";
        let file = ConfigFile::parse(text, Path::new("c.toml"), &SERVER).unwrap();
        assert_eq!(file.find("deny", None).unwrap().0, "a,b");
    }

    #[test]
    fn a_missing_file_is_empty_unless_it_was_named() {
        let missing = Path::new("/nonexistent/config.toml");
        assert!(ConfigFile::read(missing, false, &SERVER).is_ok());
        assert!(ConfigFile::read(missing, true, &SERVER).is_err());
    }
}
