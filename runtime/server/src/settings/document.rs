//! Settings that come from the server's document: credentials of its security schemes, and variables of its address.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolwright_core::ServerSpec;

use super::{DECLARED, Declared, Kind, Problem, Resolution, Secret, TomlForm};

const OPEN: Kind = Kind { placeholder: "TEXT", toml: TomlForm::Text, secret: false, empty_counts: false };
const HIDDEN: Kind = Kind { placeholder: "SECRET", toml: TomlForm::Text, secret: true, empty_counts: false };

/// Every setting of a server: those of all servers, then those of its document. A row of the document takes the place of
/// a setting with its key.
pub(crate) fn declared(server: &ServerSpec) -> Vec<Declared> {
    let rows = server.access.settings;
    let own = rows.iter().map(|row| Declared {
        key: row.key,
        env: row.env,
        default: row.default,
        help: row.help,
        kind: if row.secret { &HIDDEN } else { &OPEN },
        allowed: row.allowed,
    });
    let replaced = |key: &str| rows.iter().any(|row| row.key == key);
    let common = DECLARED.iter().filter(|declared| declared.key != "api_key" || !replaced(declared.key));
    let mut all: Vec<Declared> = common.copied().collect();
    all.extend(own);
    all
}

/// The values of the document's settings, by key. None of them shows itself.
#[derive(Debug, Clone, Default)]
pub struct DocumentSettings(pub(crate) Arc<BTreeMap<String, Secret>>);

impl DocumentSettings {
    /// Reads the settings that are none of every server's.
    pub(super) fn read(texts: &Resolution, problems: &mut Vec<Problem>) -> Self {
        let is_common = |key: &str| key != "api_key" && DECLARED.iter().any(|declared| declared.key == key);
        let mut values = BTreeMap::new();
        for entry in texts.entries.iter().filter(|entry| !is_common(entry.declared.key)) {
            let allowed = entry.declared.allowed;
            if entry.text.is_empty() {
                continue;
            }
            if !allowed.is_empty() && !allowed.contains(&entry.text.as_str()) {
                problems.push(entry.problem(&format!("one of {}", allowed.join(", "))));
            } else if entry.text.chars().any(char::is_control) {
                problems.push(entry.problem("one line without control characters"));
            } else {
                values.insert(entry.declared.key.to_owned(), Secret::new(entry.text.clone()));
            }
        }
        DocumentSettings(Arc::new(values))
    }
}

/// The document's address with its variables filled in.
pub(super) fn filled(server: &ServerSpec, texts: &Resolution) -> String {
    let rows = server.access.settings.iter().filter(|row| !row.secret);
    rows.fold(server.default_base_url.to_owned(), |url, row| {
        let value = texts.entry(row.key).map_or(row.default, |entry| entry.text.as_str());
        url.replace(&format!("{{{}}}", row.key), value)
    })
}

#[cfg(test)]
mod tests {
    use toolwright_core::{Access, Setting};

    use super::*;
    use crate::settings::{ConfigFile, Environment, Settings, resolve};
    use crate::testing::SERVER;

    const DOCUMENTED: ServerSpec = ServerSpec {
        default_base_url: "https://{server_region}.api.example/v1",
        access: Access {
            settings: &[
                Setting {
                    key: "server_region",
                    env: "DEMO_SERVER_REGION",
                    default: "eu",
                    help: "Region.",
                    secret: false,
                    allowed: &["eu", "us"],
                },
                Setting {
                    key: "petstore_auth",
                    env: "DEMO_PETSTORE_AUTH",
                    default: "",
                    help: "Key.",
                    secret: true,
                    allowed: &[],
                },
                Setting {
                    key: "api_key",
                    env: "DEMO_API_KEY",
                    default: "",
                    help: "Key in X-Key.",
                    secret: true,
                    allowed: &[],
                },
            ],
            ..Access::NONE
        },
        ..SERVER
    };

    fn settings(variables: &[(&str, &str)], file: &str) -> Result<Settings, Vec<Problem>> {
        let environment = Environment::fixed(variables.iter().copied());
        let file = ConfigFile::parse(file, std::path::Path::new("c.toml"), &DOCUMENTED)?;
        resolve(&DOCUMENTED, &environment, &Default::default(), &file, None).map(|(settings, _)| settings)
    }

    fn value(settings: &Settings, key: &str) -> Option<String> {
        settings.document.0.get(key).map(|secret| secret.expose().to_owned())
    }

    #[test]
    fn a_credential_comes_from_its_variable_or_the_file() {
        let from_environment = settings(&[("DEMO_PETSTORE_AUTH", "k")], "").unwrap();
        assert_eq!(value(&from_environment, "petstore_auth").as_deref(), Some("k"));
        let from_file = settings(&[], "[server.demo]\npetstore_auth = \"f\"").unwrap();
        assert_eq!(value(&from_file, "petstore_auth").as_deref(), Some("f"));
    }

    #[test]
    fn a_scheme_named_as_the_common_key_takes_it_over() {
        let settings = settings(&[("DEMO_API_KEY", "k")], "").unwrap();
        assert_eq!(value(&settings, "api_key").as_deref(), Some("k"));
        let helps: Vec<&str> =
            declared(&DOCUMENTED).iter().filter(|it| it.key == "api_key").map(Declared::help).collect();
        assert_eq!(helps, ["Key in X-Key."]);
    }

    #[test]
    fn variables_fill_the_address_unless_a_base_url_is_set() {
        let plain = settings(&[], "").unwrap();
        assert_eq!((plain.base_url.as_str(), plain.base_url_configured), ("https://eu.api.example/v1", false));
        let us = settings(&[("DEMO_SERVER_REGION", "us")], "").unwrap();
        assert_eq!(us.base_url.as_str(), "https://us.api.example/v1");
        let own = settings(&[("DEMO_SERVER_REGION", "us"), ("DEMO_BASE_URL", "http://proxy/x")], "").unwrap();
        assert_eq!((own.base_url.as_str(), own.base_url_configured), ("http://proxy/x", true));
    }

    #[test]
    fn a_variable_takes_no_other_than_its_declared_values() {
        let problems = settings(&[("DEMO_SERVER_REGION", "mars")], "").unwrap_err();
        assert_eq!(problems[0].to_string(), "DEMO_SERVER_REGION: must be one of eu, us; it is `mars`");
    }

    #[test]
    fn no_value_shows_itself() {
        let settings = settings(&[("DEMO_PETSTORE_AUTH", "hidden-1")], "").unwrap();
        assert!(!format!("{settings:?}").contains("hidden-1"));
    }
}
