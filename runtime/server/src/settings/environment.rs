//! What surrounds a server: variables, folders, and the keyring.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use toolwright_core::ServerSpec;

use super::keyring::{Keyring, NoKeyring, SystemKeyring};

/// What surrounds a server: the environment variables of this process and the system's keyring, or what takes their place.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    fixed: Option<HashMap<String, String>>,
    keyring: Arc<dyn Keyring>,
}

impl Environment {
    /// The process's own environment.
    pub(crate) fn process() -> Self {
        Environment { fixed: None, keyring: Arc::new(SystemKeyring) }
    }

    /// These variables and no others, and no keyring.
    pub(crate) fn fixed<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let owned = variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Environment { fixed: Some(owned.collect()), keyring: Arc::new(NoKeyring) }
    }

    /// The same with that keyring.
    #[cfg(test)]
    pub(crate) fn with_keyring(self, keyring: Arc<dyn Keyring>) -> Self {
        Environment { keyring, ..self }
    }

    /// The keyring.
    pub(super) fn keyring(&self) -> &dyn Keyring {
        &*self.keyring
    }

    /// The value of a variable. Bytes that are not UTF-8 become replacement characters, which no setting accepts.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        match &self.fixed {
            Some(variables) => variables.get(name).cloned(),
            None => std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()),
        }
    }

    /// The names of all variables that are text.
    pub(super) fn names(&self) -> Vec<String> {
        match &self.fixed {
            Some(variables) => variables.keys().cloned().collect(),
            None => std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect(),
        }
    }

    /// The home folder: `HOME`, or what the system knows of the user where a client started the server without it.
    pub(super) fn home(&self) -> Option<PathBuf> {
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::testing::SERVER;

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
