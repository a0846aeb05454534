//! The tables of the configuration file that other parts of a server read, such as `[llm]`.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::declaration::toml_key;

/// The tables that any level of the file may hold beside its settings.
pub(super) const TABLES: [&str; 2] = ["llm", "secrets"];

/// The tables of a file by level: the shared ones, the server's, then the profile's.
#[derive(Clone, Default)]
pub struct Tables {
    path: String,
    /// What stands in front of the names, and the tables themselves.
    levels: Vec<(String, Table)>,
}

/// Only names: values may be credentials.
impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = |(prefix, tables): &(String, Table)| -> Vec<String> {
            tables.keys().map(|name| format!("{prefix}{name}")).collect()
        };
        f.debug_list().entries(self.levels.iter().flat_map(named)).finish()
    }
}

impl Tables {
    /// Those of that file; the level that beats the others comes last.
    pub(super) fn new<'a>(path: String, levels: impl IntoIterator<Item = (&'a str, &'a Table)>) -> Self {
        let owned = |(prefix, tables): (&str, &Table)| (prefix.to_owned(), tables.clone());
        Tables { path, levels: levels.into_iter().map(owned).collect() }
    }

    /// The table of that name as JSON, where any level has it. Tables within merge; anything else replaces what is
    /// under it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<serde_json::Value> {
        // A table's keys are texts, so that it can be written as JSON.
        serde_json::to_value(self.merged(name)?).ok()
    }

    fn merged(&self, name: &str) -> Option<Table> {
        let mut found = self.levels.iter().filter_map(|(_, tables)| tables.get(name)?.as_table());
        let first = found.next()?.clone();
        Some(found.fold(first, merged))
    }

    /// The names of the tables.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        self.levels.iter().flat_map(|(_, tables)| tables.keys()).map(String::as_str).collect()
    }

    /// The values of the table of that name that JSON cannot hold: [`Tables::get`] has something else in their place.
    pub(crate) fn unwritable(&self, name: &str) -> Vec<Unwritable> {
        let mut found = Vec::new();
        if let Some(table) = self.merged(name) {
            collect(&Value::Table(table), &[name.to_owned()], &mut found);
        }
        found
    }

    /// The file and the table that a field such as `llm.models."m".dialect` comes from; where none has it, the one that
    /// comes closest.
    #[must_use]
    pub fn place(&self, field: &str) -> String {
        let path = keys(field);
        let depth = |(_, tables): &&(String, Table)| depth(tables, &path);
        // Of equals the last counts, which beats the others.
        let prefix = self.levels.iter().max_by_key(depth).map_or("", |(prefix, _)| prefix);
        format!("{}: {prefix}{field}", self.path)
    }

    /// The file and the table that say a field such as `llm.verify`; `None` where nothing does.
    pub(crate) fn origin(&self, field: &str) -> Option<String> {
        let path = keys(field);
        let (prefix, _) = self.levels.iter().rev().find(|(_, tables)| depth(tables, &path) == path.len())?;
        Some(format!("{}: {prefix}{field}", self.path))
    }
}

/// A value that TOML can write and JSON cannot.
#[derive(Debug)]
pub(crate) struct Unwritable {
    keys: Vec<String>,
    /// What it is, and what is accepted.
    pub(crate) message: &'static str,
}

impl Unwritable {
    /// The field that holds it, such as `llm.response_timeout`.
    pub(crate) fn field(&self) -> String {
        self.keys.iter().map(|key| toml_key(key)).collect::<Vec<_>>().join(".")
    }

    /// Whether a field is that one, or one within it.
    pub(crate) fn holds(&self, field: &str) -> bool {
        keys(field).starts_with(&self.keys)
    }
}

/// Finds them at any depth. What an array holds counts as the array's.
fn collect(value: &Value, at: &[String], found: &mut Vec<Unwritable>) {
    let message = match value {
        Value::Table(members) => {
            for (key, value) in members {
                collect(value, &[at, std::slice::from_ref(key)].concat(), found);
            }
            return;
        }
        Value::Array(items) => {
            items.iter().for_each(|item| collect(item, at, found));
            return;
        }
        Value::Datetime(_) => "is a date or a time, which is not accepted here; a text stands in quotes",
        Value::Float(number) if number.is_nan() => "is not a number (nan); only finite numbers are accepted",
        Value::Float(number) if number.is_infinite() => "is infinite; only finite numbers are accepted",
        _ => return,
    };
    found.push(Unwritable { keys: at.to_vec(), message });
}

/// One table over another.
fn merged(mut under: Table, over: &Table) -> Table {
    for (key, value) in over {
        let value = match (under.remove(key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => Value::Table(merged(under, over)),
            (_, value) => value.clone(),
        };
        under.insert(key.clone(), value);
    }
    under
}

/// The keys of a dotted field. A text that is none is one key.
fn keys(field: &str) -> Vec<String> {
    let Ok(mut table) = format!("{field} = 0").parse::<Table>() else { return vec![field.to_owned()] };
    let mut keys = Vec::new();
    while let Some((key, value)) = table.into_iter().next() {
        keys.push(key);
        match value {
            Value::Table(inner) => table = inner,
            _ => break,
        }
    }
    keys
}

/// How many of the keys, from the first, lead into the table.
fn depth(table: &Table, path: &[String]) -> usize {
    let Some((key, rest)) = path.split_first() else { return 0 };
    match table.get(key) {
        None => 0,
        Some(Value::Table(inner)) => 1 + depth(inner, rest),
        Some(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tables(shared: &str, own: &str) -> Tables {
        let (shared, own): (Table, Table) = (shared.parse().unwrap(), own.parse().unwrap());
        Tables::new("c.toml".to_owned(), [("", &shared), ("server.demo.", &own)])
    }

    #[test]
    fn tables_merge_at_any_depth_and_other_values_replace() {
        let shared =
            "[llm]\nverify = true\n[llm.default_headers]\na = \"1\"\nb = \"2\"\n[llm.models.m]\nids = [1, 2]\n";
        let own = "[llm]\nverify = false\n[llm.default_headers]\nb = \"3\"\n[llm.models.m]\nids = [3]\n";
        assert_eq!(
            tables(shared, own).get("llm"),
            Some(json!({"verify": false, "default_headers": {"a": "1", "b": "3"}, "models": {"m": {"ids": [3]}}}))
        );
    }

    #[test]
    fn merging_leaves_the_levels_as_they_are() {
        let tables = tables("[llm]\nbackend = \"a\"", "[llm]\nbackend = \"b\"");
        assert_eq!(tables.get("llm"), tables.get("llm"));
        assert!(tables.levels[0].1["llm"]["backend"].as_str() == Some("a"));
    }

    #[test]
    fn a_table_that_no_level_has_is_none() {
        assert_eq!(tables("", "").get("llm"), None);
        assert!(tables("", "").names().is_empty());
        assert_eq!(tables("[llm]", "[llm]").names().into_iter().collect::<Vec<_>>(), ["llm"]);
    }

    #[test]
    fn a_field_is_placed_where_its_value_was_written() {
        let shared = "[llm]\nbackend = \"native\"\n[llm.models.\"gpt-5.6\"]\ndialect = \"x\"\n";
        let tables = tables(shared, "[llm]\nbase_url = 1\n");
        for (field, place) in [
            ("llm.base_url", "c.toml: server.demo.llm.base_url"),
            ("llm.backend", "c.toml: llm.backend"),
            ("llm.models.\"gpt-5.6\".dialect", "c.toml: llm.models.\"gpt-5.6\".dialect"),
            ("llm.absent", "c.toml: server.demo.llm.absent"),
        ] {
            assert_eq!(tables.place(field), place);
        }
    }

    #[test]
    fn a_field_comes_from_the_level_that_beats_the_others_or_from_none() {
        let tables = tables("[llm]\nbackend = \"native\"\nverify = true\n", "[llm]\nverify = false\n");
        assert_eq!(tables.origin("llm.backend").as_deref(), Some("c.toml: llm.backend"));
        assert_eq!(tables.origin("llm.verify").as_deref(), Some("c.toml: server.demo.llm.verify"));
        assert_eq!(tables.origin("llm.stream_usage"), None);
        assert_eq!(tables.origin("llm.models.m.dialect"), None);
    }

    #[test]
    fn what_json_cannot_hold_is_found_at_any_depth() {
        let own = "[llm]\na = inf\nb = nan\nc = 1.5\n[llm.models.\"m.1\"]\nd = 1979-05-27\ne = [-inf]\n";
        let found = tables("[llm]\na = 1\n", own).unwritable("llm");
        let told: Vec<_> = found.iter().map(|it| format!("{} {}", it.field(), it.message)).collect();
        let starts = ["llm.a is infinite", "llm.b is not a number", "llm.models.\"m.1\".d is a date"];
        for start in starts.into_iter().chain(["llm.models.\"m.1\".e is infinite"]) {
            assert!(told.iter().any(|line| line.starts_with(start)), "{start}: {told:?}");
        }
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn values_are_not_shown() {
        let shown = format!("{:?}", tables("[llm.default_headers]\nx-key = \"hush\"", ""));
        assert_eq!(shown, "[\"llm\"]");
    }
}
