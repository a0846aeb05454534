//! Finds the text of each setting and where it came from, then reads all of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use toolwright_core::ServerSpec;

use super::value::PATH;
use super::{ConfigFile, Declared, Problem, SettingValue, Settings, Tables, declared, document};

/// The environment variables of this process, or a fixed set of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    fixed: Option<HashMap<String, String>>,
}

impl Environment {
    /// The process's own environment.
    pub(crate) fn process() -> Self {
        Environment { fixed: None }
    }

    /// These variables and no others.
    pub(crate) fn fixed<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let owned = variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Environment { fixed: Some(owned.collect()) }
    }

    /// The value of a variable. Bytes that are not UTF-8 become replacement characters, which no setting accepts.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        match &self.fixed {
            Some(variables) => variables.get(name).cloned(),
            None => std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()),
        }
    }

    /// The names of all variables that are text.
    fn names(&self) -> Vec<String> {
        match &self.fixed {
            Some(variables) => variables.keys().cloned().collect(),
            None => std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect(),
        }
    }

    /// The home folder: `HOME`, or what the system knows of the user where a client started the server without it.
    fn home(&self) -> Option<PathBuf> {
        let named = self.get("HOME").map(PathBuf::from);
        let known = || self.fixed.is_none().then(std::env::home_dir).flatten();
        named.filter(|path| path.is_absolute()).or_else(known).filter(|path| path.is_absolute())
    }

    /// A folder of the XDG base directory specification. Blank and relative values are ignored, as it says.
    fn xdg(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let absolute = |value: String| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
        let home = || self.home().map(|home| home.join(below_home));
        self.get(variable).and_then(absolute).or_else(home)
    }

    /// Where the server keeps its files.
    pub(crate) fn state_dir(&self, server: &ServerSpec) -> PathBuf {
        let base = self.xdg("XDG_STATE_HOME", ".local/state");
        // A service without a home keeps its state there (FHS 5.8), and never in whatever folder it was started in.
        base.unwrap_or_else(|| PathBuf::from("/var/lib")).join("toolwright").join(server.name)
    }

    /// The configuration file, where none is named.
    pub(crate) fn config_path(&self) -> Option<PathBuf> {
        self.xdg("XDG_CONFIG_HOME", ".config").map(|config| config.join("toolwright/config.toml"))
    }
}

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
    /// Nothing was said.
    Default,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Flag(place) | Source::Environment(place) | Source::File(place) => f.write_str(place),
            Source::Default => f.write_str("default"),
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

    /// The text as it may be shown: credentials in a URL are hidden, though no setting accepts them there.
    pub(crate) fn shown(&self) -> String {
        let hidden = self.text.split_once("://").and_then(|(scheme, rest)| {
            let authority = rest.split(['/', '?', '#']).next()?;
            let (credentials, _) = authority.rsplit_once('@')?;
            Some(format!("{scheme}://***{}", rest.get(credentials.len()..)?))
        });
        hidden.as_deref().unwrap_or(&self.text).escape_debug().to_string()
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
    let find = |declared: Declared| {
        let found = from_flag(&declared, flags)
            .or_else(|| from_environment(&declared, server, environment))
            .or_else(|| file.find(declared.key, profile).map(|(text, place)| (text, Source::File(place))));
        let (text, source) = found.unwrap_or_else(|| (default(&declared, server, &state), Source::Default));
        let text = expanded(&declared, text.trim(), environment);
        Resolved { declared, text, source }
    };
    let mut resolution =
        Resolution { entries: declared(server).into_iter().map(find).collect(), tables: file.tables(profile) };
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

fn default(declared: &Declared, server: &ServerSpec, state: &Path) -> String {
    match declared.key {
        "base_url" => server.default_base_url.to_owned(),
        _ => declared.default.replace("{state}", &state.to_string_lossy()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SERVER;

    fn resolved(
        variables: &[(&str, &str)],
        flags: &[(&'static str, &str)],
        file: &str,
        profile: Option<&str>,
    ) -> Result<Settings, Vec<Problem>> {
        let environment = Environment::fixed(variables.iter().copied());
        let flags = flags.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
        let file = ConfigFile::parse(file, Path::new("config.toml"), &SERVER).unwrap();
        resolve(&SERVER, &environment, &flags, &file, profile).map(|(settings, _)| settings)
    }

    #[test]
    fn a_flag_beats_the_environment_beats_the_file() {
        let file = "port = 3\n[server.demo]\nworkers = 3\n";
        let settings = resolved(&[("MCP_PORT", "2"), ("MCP_WORKERS", "2")], &[("port", "1")], file, None).unwrap();
        assert_eq!((settings.port, settings.workers.0), (1, 2));
    }

    #[test]
    fn an_address_that_no_document_names_is_required() {
        let server = toolwright_core::ServerSpec { default_base_url: "", ..SERVER };
        let resolved = |variables: &[(&str, &str)]| {
            let environment = Environment::fixed(variables.iter().copied());
            resolve(&server, &environment, &Flags::default(), &ConfigFile::default(), None)
        };
        let problems: Vec<String> = resolved(&[]).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [
                "DEMO_BASE_URL: is required, because the API's document names no host: set it to the API's address, such as https://api.example.com"
            ]
        );
        let (settings, _) = resolved(&[("DEMO_BASE_URL", "http://h/v1")]).unwrap();
        assert_eq!(settings.base_url.as_str(), "http://h/v1");
    }

    #[test]
    fn the_profile_beats_the_server_beats_the_shared_defaults() {
        let file = "port = 1\nworkers = 1\nmax_concurrency = 1\n[server.demo]\nport = 2\nworkers = 2\n\
                    [server.demo.profiles.lab]\nport = 3\n";
        let settings = resolved(&[], &[], file, Some("lab")).unwrap();
        assert_eq!((settings.port, settings.workers.0, settings.max_concurrency.0), (3, 2, 1));
    }

    #[test]
    fn all_problems_are_reported_at_once_with_their_places() {
        let problems = resolved(
            &[("DEMO_BASE_URL", "nowhere"), ("DEMO_REQUEST_TIMEOUT", "0")],
            &[("port", "99999")],
            "path = \"mcp\"",
            None,
        )
        .unwrap_err();
        let places: Vec<&str> = problems.iter().map(|problem| problem.place.as_str()).collect();
        assert_eq!(places, ["DEMO_BASE_URL", "DEMO_REQUEST_TIMEOUT", "--port", "config.toml: path"]);
    }

    #[test]
    fn an_empty_variable_counts_as_unset_except_for_booleans() {
        let settings = resolved(&[("MCP_PORT", ""), ("DEMO_MCP_SAVE_BINARY", "")], &[], "", None).unwrap();
        assert_eq!((settings.port, settings.save_binary), (8000, false));
    }

    #[test]
    fn a_faulty_secret_is_not_shown() {
        let problems = resolved(&[("MCP_AUTH_TOKEN", "s3cr3t with space")], &[], "", None).unwrap_err();
        assert!(!problems[0].to_string().contains("s3cr3t"), "{}", problems[0]);
    }

    #[test]
    fn files_live_below_the_state_folder_with_inputs_and_outputs_apart() {
        let settings = resolved(&[("HOME", "/home/u")], &[], "", None).unwrap();
        assert_eq!(settings.output_dir, Path::new("/home/u/.local/state/toolwright/demo/output"));
        assert_eq!(settings.file_root, Path::new("/home/u/.local/state/toolwright/demo/files"));
    }

    #[test]
    fn a_tilde_stands_for_the_home_folder_and_a_relative_path_is_refused() {
        let settings = resolved(&[("HOME", "/home/u"), ("DEMO_MCP_OUTPUT_DIR", "~/out")], &[], "", None).unwrap();
        assert_eq!(settings.output_dir, Path::new("/home/u/out"));
        for given in ["out", "./out", "~other/out"] {
            let problems = resolved(&[("HOME", "/home/u"), ("DEMO_MCP_OUTPUT_DIR", given)], &[], "", None).unwrap_err();
            assert!(problems[0].message.contains("absolute path"), "{given}: {}", problems[0]);
        }
    }

    #[test]
    fn without_a_home_no_file_goes_to_the_current_folder() {
        let settings = resolved(&[("HOME", "")], &[], "", None).unwrap();
        assert_eq!(settings.output_dir, Path::new("/var/lib/toolwright/demo/output"));
    }

    #[test]
    fn credentials_in_a_refused_url_are_not_shown() {
        for given in ["http://user:s3cr3t@h", "http://s3cr3t@h/p@q", "ftp://user:s3c@r3t@h:1/x"] {
            let problems = resolved(&[("DEMO_BASE_URL", given)], &[], "", None).unwrap_err();
            let said = problems[0].to_string();
            assert!(said.contains("://***@h") && !said.contains("s3c"), "{said}");
        }
    }

    #[test]
    fn variables_that_nearly_name_a_setting_are_pointed_out() {
        let found = |name| lookalikes(&SERVER, &Environment::fixed([(name, "1")]));
        assert_eq!(found("DEMO_MCP_READONLY"), ["DEMO_MCP_READONLY is no setting; was DEMO_MCP_READ_ONLY meant?"]);
        assert_eq!(found("DEMO_MCP_FOO"), ["DEMO_MCP_FOO is no setting; `config table` lists all"]);
        for name in ["DEMO_THREADS", "DEMO_MCP_READ_ONLY", "OTHER_MCP_READONLY"] {
            assert_eq!(found(name), [""; 0], "{name}");
        }
    }

    #[test]
    fn blank_and_relative_xdg_folders_are_ignored() {
        for given in ["", "  ", "conf", "./conf"] {
            let environment =
                Environment::fixed([("XDG_CONFIG_HOME", given), ("XDG_STATE_HOME", given), ("HOME", "/h")]);
            assert_eq!(environment.config_path().unwrap(), Path::new("/h/.config/toolwright/config.toml"), "{given:?}");
            assert_eq!(environment.state_dir(&SERVER), Path::new("/h/.local/state/toolwright/demo"), "{given:?}");
        }
    }
}
