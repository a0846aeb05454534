//! The settings as documentation: the example file and the README's table.

use std::fmt::Write as _;

use toolwright_core::ServerSpec;

use super::{Declared, TomlForm, declared};

/// An example of the configuration file: every setting with its help, commented out, at its default.
pub(crate) fn example(server: &ServerSpec) -> String {
    let mut out = format!(
        "# Settings of {name}, for `toolwright/config.toml` below the XDG configuration folder.\n\
         # Keys above the first table are shared by all servers. Flags beat the environment, which beats this file.\n\n\
         [server.{name}]\n",
        name = server.name
    );
    for declared in declared(server) {
        let (key, env, value) = (declared.key, declared.env(server), toml_value(&declared, server));
        // Writing to a String cannot fail.
        let _ = write!(out, "\n# {} (environment: {env})\n# {key} = {value}\n", declared.help());
    }
    let secret = declared(server).into_iter().find(Declared::is_in_keyring);
    if let Some(declared) = secret {
        let (name, key, env) = (server.name, declared.key, declared.env(server));
        let _ = write!(
            out,
            "\n# Where else a secret is looked for, after {env}: variables, then an account of the system's keyring.\n\
             # [server.{name}.secrets.{key}]\n# env_vars = [\"COMPANY_KEY\"]\n# name = \"{key}\"\n# disabled = false\n"
        );
    }
    let _ = write!(
        out,
        "\n# A second instance, chosen by `--profile lab`:\n# [server.{}.profiles.lab]\n# base_url = \"http://lab.example:8080\"\n",
        server.name
    );
    out
}

/// The table of settings in Markdown.
pub(crate) fn table(server: &ServerSpec) -> String {
    let mut out = String::from("| TOML key | environment | default | what it does |\n|---|---|---|---|\n");
    for declared in declared(server) {
        let default = match declared.shown_default(server) {
            default if default.is_empty() => "–".to_owned(),
            default => format!("`{default}`"),
        };
        let help = declared.help().replace('|', "\\|");
        let _ = writeln!(out, "| `{}` | `{}` | {default} | {help} |", declared.key, declared.env(server));
    }
    out
}

fn toml_value(declared: &Declared, server: &ServerSpec) -> String {
    let default = declared.shown_default(server);
    match declared.kind.toml {
        TomlForm::Number | TomlForm::Boolean => default,
        TomlForm::List => "[]".to_owned(),
        TomlForm::Text => toml::Value::String(default).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::settings::{ConfigFile, Environment, resolve};
    use crate::testing::SERVER;

    #[test]
    fn the_example_with_its_comments_taken_off_is_accepted() {
        let text: String = example(&SERVER)
            .lines()
            .map(|line| {
                line.strip_prefix("# ").filter(|rest| rest.contains(" = ") || rest.starts_with('[')).unwrap_or(line)
            })
            .filter(|line| !line.starts_with('#'))
            .map(|line| format!("{line}\n"))
            .collect();
        let file = ConfigFile::parse(&text, Path::new("example.toml"), &SERVER).unwrap();
        let resolved = resolve(&SERVER, &Environment::fixed([("HOME", "/home/u")]), &Default::default(), &file, None);
        assert!(resolved.is_ok(), "{:?}", resolved.err());
    }

    #[test]
    fn the_table_has_a_row_for_every_setting() {
        assert_eq!(table(&SERVER).lines().count(), declared(&SERVER).len() + 2);
    }
}
