//! Where secrets are looked for: environment variables, then the system's keyring, and only when somebody asks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use toolwright_core::{Secret, SecretFault, Secrets, ServerSpec};
use toolwright_http::KnownSecrets;

use super::keyring::KeyringFault;
use super::{ConfigFile, Environment, declared};

/// Secrets by name. It holds no value before one was asked for.
pub struct SecretSources {
    environment: Environment,
    /// The secrets that are settings or that the file declares.
    places: BTreeMap<String, Places>,
    /// What was given out, since nobody is asked twice.
    given: Mutex<BTreeMap<String, Found>>,
    /// Takes what was given out out of whatever is logged.
    known: KnownSecrets,
}

/// Where one secret is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    name: String,
    /// The server whose own it is; none where all servers share it.
    server: Option<String>,
    env_vars: Vec<String>,
    service: String,
    account: String,
    /// Whether it is looked for at all.
    disabled: bool,
    /// Whether the file says anything of it.
    pub(crate) is_declared: bool,
}

/// A secret, and where it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) secret: Secret,
    pub(crate) source: SecretSource,
}

/// Where a secret was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SecretSource {
    /// That environment variable.
    Environment(String),
    /// The keyring, by service and account.
    Keyring(String),
}

/// Why there is no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SecretError {
    /// Nobody set it.
    #[error("{0} is not set; it is looked for in {sought}", sought = .0.sought())]
    Missing(Box<Places>),
    /// The keyring failed.
    #[error("the keyring fails for {places}, entry {entry}: {fault}", entry = places.entry())]
    Keyring {
        /// Where it was looked for.
        places: Box<Places>,
        /// What failed.
        fault: KeyringFault,
    },
}

impl Places {
    /// What is looked for in the keyring.
    pub(crate) fn entry(&self) -> String {
        format!("{}/{}", self.service, self.account)
    }

    /// The secret's logical name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The variables beside the setting's own that may hold it.
    pub(super) fn aliases(&self) -> &[String] {
        if self.disabled { &[] } else { &self.env_vars }
    }

    pub(crate) fn is_disabled(&self) -> bool {
        self.disabled
    }

    /// All places, for people.
    pub(crate) fn sought(&self) -> String {
        let variables = match self.env_vars.as_slice() {
            [] => "no environment variable".to_owned(),
            [one] => format!("the environment variable {one}"),
            several => format!("the environment variables {}", several.join(", ")),
        };
        format!("{variables} and the keyring entry {}", self.entry())
    }

    /// The places of which one is enough, for people who set it.
    fn settable(&self) -> String {
        let variables = match self.env_vars.as_slice() {
            [] => String::new(),
            [one] => format!("the environment variable {one} or "),
            several => format!("one of the environment variables {}, or ", several.join(", ")),
        };
        let disabled = if self.disabled { ", and take `disabled` out of its declaration" } else { "" };
        format!("{variables}the keyring entry {}{disabled}", self.entry())
    }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.server {
            Some(server) => write!(f, "the secret `{}` of the server {server}", self.name),
            None => write!(f, "the shared secret `{}`", self.name),
        }
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretSource::Environment(variable) => write!(f, "env {variable}"),
            SecretSource::Keyring(entry) => write!(f, "keyring {entry}"),
        }
    }
}

impl fmt::Debug for SecretSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretSources").field("names", &self.places.keys()).finish_non_exhaustive()
    }
}

/// The service of the keyring entries that all servers share.
const SHARED_SERVICE: &str = "toolwright";

impl SecretSources {
    /// The sources of a server's secret settings and of what the file declares.
    pub(super) fn new(
        server: &ServerSpec,
        environment: &Environment,
        file: &ConfigFile,
        profile: Option<&str>,
    ) -> Self {
        let settings = declared(server).into_iter().filter(|declared| declared.is_in_keyring());
        let mut places: BTreeMap<String, Places> = settings
            .map(|declared| {
                let own = Places::own(server, declared.key, vec![declared.env(server)]);
                (declared.key.to_owned(), own)
            })
            .collect();
        for name in file.declared_secrets(profile) {
            let Some((declaration, is_shared)) = file.declaration(name, profile) else { continue };
            let known = places.remove(name);
            // A setting keeps its own variable, whatever else may hold it.
            let mut env_vars = known.map(|places| places.env_vars).unwrap_or_default();
            env_vars.extend(declaration.env_vars.unwrap_or_default());
            let undeclared = match is_shared {
                true => Places::shared(name, env_vars),
                false => Places::own(server, name, env_vars),
            };
            let account = declaration.account.unwrap_or(undeclared.account);
            let disabled = declaration.disabled.unwrap_or_default();
            places.insert(name.to_owned(), Places { account, disabled, is_declared: true, ..undeclared });
        }
        SecretSources {
            environment: environment.clone(),
            places,
            given: Mutex::default(),
            known: KnownSecrets::default(),
        }
    }

    /// Where a secret is looked for. One that is neither a setting nor declared may be in the variable of its name in
    /// capitals, and is shared by all servers.
    pub(crate) fn places(&self, name: &str) -> Places {
        let undeclared = || Places::shared(name, vec![name.to_ascii_uppercase()]);
        self.places.get(name).cloned().unwrap_or_else(undeclared)
    }

    /// The names of the secrets that are settings or declared.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.places.keys().map(String::as_str).collect()
    }

    /// The secrets that the file declares.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &Places> {
        self.places.values().filter(|places| places.is_declared)
    }

    /// Looks for a secret; `None` where no place has it. It may wait for the keyring.
    ///
    /// # Errors
    /// Where the keyring fails. That there is none is no failure.
    pub(crate) fn look(&self, name: &str) -> Result<Option<Found>, SecretError> {
        let given = || self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = given().get(name) {
            return Ok(Some(found.clone()));
        }
        let found = self.sought(self.places(name))?;
        if let Some(found) = &found {
            let text = found.secret.expose();
            self.known.keep([text.to_owned(), text.trim().to_owned()]);
            given().insert(name.to_owned(), found.clone());
        }
        Ok(found)
    }

    fn sought(&self, places: Places) -> Result<Option<Found>, SecretError> {
        if places.disabled {
            return Ok(None);
        }
        let value = |name: &String| self.environment.get(name).filter(|value| !value.trim().is_empty());
        let set = places.env_vars.iter().find_map(|name| Some((value(name)?, SecretSource::Environment(name.clone()))));
        if let Some((value, source)) = set {
            return Ok(Some(Found { secret: Secret::new(value), source }));
        }
        match self.environment.keyring().get(&places.service, &places.account) {
            Ok(secret) => {
                let secret = secret.filter(|secret| !secret.expose().trim().is_empty());
                Ok(secret.map(|secret| Found { secret, source: SecretSource::Keyring(places.entry()) }))
            }
            Err(KeyringFault::Absent) => Ok(None),
            Err(fault) => Err(SecretError::Keyring { places: Box::new(places), fault }),
        }
    }

    /// Looks for a secret; a keyring that fails counts as one without it, and is told of in the log.
    pub(crate) fn find(&self, name: &str) -> Option<Found> {
        self.look(name).unwrap_or_else(|error| {
            tracing::warn!(target: "toolwright::secrets", %error, "going on without it");
            None
        })
    }

    /// Looks for a secret that must be there.
    ///
    /// # Errors
    /// Where it is nowhere, or the keyring fails.
    pub(crate) fn require(&self, name: &str) -> Result<Found, SecretError> {
        self.look(name)?.ok_or_else(|| SecretError::Missing(Box::new(self.places(name))))
    }

    /// Keeps a secret in the keyring, where it is looked for.
    ///
    /// # Errors
    /// Where the keyring fails.
    pub(crate) fn store(&self, name: &str, secret: &Secret) -> Result<Places, SecretError> {
        let places = self.places(name);
        let kept = self.environment.keyring().set(&places.service, &places.account, secret);
        match kept {
            Ok(()) => Ok(places),
            Err(fault) => Err(SecretError::Keyring { places: Box::new(places), fault }),
        }
    }

    /// What must not be logged, to which every value is added before it is given out.
    pub(crate) fn known(&self) -> &KnownSecrets {
        &self.known
    }

    /// Every value that was given out, for whoever has to keep it out of results.
    #[must_use]
    pub fn given(&self) -> Vec<Secret> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.values().map(|found| found.secret.clone()).collect()
    }
}

impl Places {
    fn own(server: &ServerSpec, name: &str, env_vars: Vec<String>) -> Self {
        let service = format!("{SHARED_SERVICE}:{}", server.name);
        Places { server: Some(server.name.to_owned()), service, ..Places::shared(name, env_vars) }
    }

    fn shared(name: &str, env_vars: Vec<String>) -> Self {
        Places {
            name: name.to_owned(),
            server: None,
            env_vars,
            service: SHARED_SERVICE.to_owned(),
            account: name.to_owned(),
            disabled: false,
            is_declared: false,
        }
    }
}

impl Secrets for SecretSources {
    fn get(&self, name: &str) -> Result<Option<Secret>, SecretFault> {
        Ok(self.find(name).map(|found| found.secret))
    }

    fn place(&self, name: &str) -> String {
        self.places(name).settable()
    }
}

#[cfg(test)]
mod tests;
