//! `[secrets.NAME]`: where a secret is looked for. Its value is never part of the configuration.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::identifier::{IDENTIFIER, is_identifier};

/// What one table says of a secret; what it leaves open is for the table under it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Declaration {
    /// Account in the keyring.
    pub(crate) account: Option<String>,
    /// Environment variables, in the order in which they are asked.
    pub(crate) env_vars: Option<Vec<String>>,
    /// True where the secret is not to be looked for at all.
    pub(crate) disabled: Option<bool>,
}

impl Declaration {
    /// This declaration over another.
    pub(crate) fn over(&self, under: &Declaration) -> Declaration {
        Declaration {
            account: self.account.clone().or_else(|| under.account.clone()),
            env_vars: self.env_vars.clone().or_else(|| under.env_vars.clone()),
            disabled: self.disabled.or(under.disabled),
        }
    }
}

/// The declarations of one level, by the secrets' names.
pub(crate) type Declarations = BTreeMap<String, Declaration>;

const FIELDS: [&str; 3] = ["name", "env_vars", "disabled"];

/// Reads a table `secrets`. Faults go to `report`, each with the field below `secrets`; what is faulty is left out.
/// No value is shown: somebody may have written the secret itself.
pub(super) fn read(table: &Table, mut report: impl FnMut(&str, String)) -> Declarations {
    let mut found = Declarations::new();
    for (name, value) in table {
        if !is_identifier(name) {
            report(&toml_key(name), format!("the name of a secret must be {IDENTIFIER}"));
            continue;
        }
        let Some(fields) = value.as_table() else {
            let message =
                "must be a table with any of name, env_vars and disabled; a secret itself does not belong here";
            report(&toml_key(name), message.to_owned());
            continue;
        };
        let declaration = fields_of(fields, |field, message| report(&format!("{}{field}", toml_key(name)), message));
        found.insert(name.clone(), declaration);
    }
    found
}

/// `report` gets the field with a dot in front, or nothing for the table itself.
fn fields_of(fields: &Table, mut report: impl FnMut(&str, String)) -> Declaration {
    let mut unknown: Vec<&str> = fields.keys().map(String::as_str).filter(|key| !FIELDS.contains(key)).collect();
    unknown.sort_unstable();
    if !unknown.is_empty() {
        let message = format!("unknown fields: {}; a secret is declared by {}", unknown.join(", "), FIELDS.join(", "));
        report("", message);
    }
    let mut account = None;
    match fields.get("name") {
        None => {}
        Some(Value::String(name)) if is_identifier(name) => account = Some(name.clone()),
        Some(_) => report(".name", format!("must be the account in the keyring: {IDENTIFIER}")),
    }
    let mut env_vars = None;
    if let Some(value) = fields.get("env_vars") {
        env_vars = variables(value);
        if env_vars.is_none() {
            report(".env_vars", "must be a list of names of environment variables".to_owned());
        }
    }
    let disabled = fields.get("disabled").and_then(Value::as_bool);
    if disabled.is_none() && fields.contains_key("disabled") {
        report(".disabled", "must be true or false".to_owned());
    }
    Declaration { account, env_vars, disabled }
}

/// No system takes a variable whose name is empty or holds `=` or NUL.
fn variables(value: &Value) -> Option<Vec<String>> {
    let name =
        |item: &Value| item.as_str().filter(|name| !name.is_empty() && !name.contains(['=', '\0'])).map(str::to_owned);
    value.as_array()?.iter().map(name).collect()
}

/// A key as TOML writes it.
pub(super) fn toml_key(key: &str) -> String {
    let is_bare = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_bare { key.to_owned() } else { Value::String(key.to_owned()).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> (Declarations, Vec<String>) {
        let mut faults = Vec::new();
        let found = read(&text.parse().unwrap(), |field, message| faults.push(format!("{field}: {message}")));
        (found, faults)
    }

    #[test]
    fn a_declaration_names_an_account_variables_and_whether_it_counts() {
        let (found, faults) = read_all("[k]\nname = \"acc\"\nenv_vars = [\"A\", \"B\"]\ndisabled = false\n");
        let expected = Declaration {
            account: Some("acc".to_owned()),
            env_vars: Some(vec!["A".to_owned(), "B".to_owned()]),
            disabled: Some(false),
        };
        assert_eq!((&found["k"], faults), (&expected, Vec::new()));
    }

    #[test]
    fn each_fault_names_the_secret_and_the_field_and_shows_no_value() {
        let identifier = "1 to 128 letters, digits, `.`, `_` and `-`, with a letter or digit at both ends and no `..`";
        for (text, fault) in [
            (
                "k = \"hush\"",
                "k: must be a table with any of name, env_vars and disabled; a secret itself does not belong here"
                    .to_owned(),
            ),
            (
                "[k]\nvalue = \"hush\"\ntoken = \"hush\"",
                "k: unknown fields: token, value; a secret is declared by name, env_vars, disabled".to_owned(),
            ),
            ("[k]\nname = 5", format!("k.name: must be the account in the keyring: {identifier}")),
            ("[k]\nname = \"hush hush\"", format!("k.name: must be the account in the keyring: {identifier}")),
            ("[k]\nenv_vars = \"hush\"", "k.env_vars: must be a list of names of environment variables".to_owned()),
            ("[k]\nenv_vars = [\"A=hush\"]", "k.env_vars: must be a list of names of environment variables".to_owned()),
            ("[k]\nenv_vars = [1]", "k.env_vars: must be a list of names of environment variables".to_owned()),
            ("[k]\ndisabled = \"hush\"", "k.disabled: must be true or false".to_owned()),
            ("[\"two..dots\"]", format!("\"two..dots\": the name of a secret must be {identifier}")),
            ("[\"-k\"]", format!("-k: the name of a secret must be {identifier}")),
        ] {
            assert_eq!(read_all(text).1, [fault], "{text}");
        }
    }

    #[test]
    fn what_one_table_leaves_open_is_for_the_table_under_it() {
        let (found, _) =
            read_all("[under]\nname = \"acc\"\nenv_vars = [\"A\"]\n[over]\nenv_vars = []\ndisabled = true\n");
        let both = found["over"].over(&found["under"]);
        let expected =
            Declaration { account: Some("acc".to_owned()), env_vars: Some(Vec::new()), disabled: Some(true) };
        assert_eq!(both, expected);
    }
}
