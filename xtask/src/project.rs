//! What the root's Cargo.toml must hold for generated packages to compile: the crates of Toolwright, and lints.

use std::cmp::Ordering;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::{invoked, version, workspace};

/// The crates that generated packages depend on, each with its folder in a checkout of Toolwright.
const CRATES: [(&str, &str); 7] = [
    ("toolwright-core", "runtime/core"),
    ("toolwright-http", "runtime/http"),
    ("toolwright-llm", "runtime/llm"),
    ("toolwright-macros", "macros"),
    ("toolwright-samples", "tests/samples"),
    ("toolwright-sandbox", "runtime/sandbox"),
    ("toolwright-server", "runtime/server"),
];

/// A new project's Cargo.toml, before the crates are put in.
const NEW: &str = "\
# MCP servers made by Toolwright. `toolwright new NAME --document FILE-OR-URL` adds one.
[workspace]
resolver = \"3\"
members = [
]

# What generated packages stand on. `toolwright init` raises the versions to the program's.
[workspace.dependencies]

[workspace.lints.rust]
unsafe_code = \"deny\"

[profile.dev]
debug = \"line-tables-only\"

[profile.release]
strip = \"symbols\"
";

/// Where the crates come from.
#[derive(Debug)]
pub(crate) enum Origin {
    /// The registry, at this program's version.
    Registry,
    /// A checkout, by its path as it is to be written.
    Checkout(String),
    /// A git repository, and a commit, tag or branch of it.
    Git { url: String, rev: Option<String> },
}

impl Origin {
    fn dependency(&self, folder: &str) -> Value {
        let mut table = InlineTable::new();
        match self {
            Self::Registry => return version::OURS.into(),
            Self::Checkout(path) => {
                table.insert("path", format!("{}/{folder}", path.trim_end_matches(['/', '\\'])).into());
            }
            Self::Git { url, rev } => {
                table.insert("git", url.as_str().into());
                if let Some(rev) = rev {
                    table.insert("rev", rev.as_str().into());
                }
            }
        }
        table.into()
    }
}

/// The text of Cargo.toml with all that generated packages need, and what was changed, a line each. Without an `origin`
/// crates that are there keep theirs, and only a version that is too old is raised; what else is there stays as it is.
pub(crate) fn completed(text: Option<&str>, origin: Option<&Origin>) -> Result<(String, Vec<String>)> {
    let mut manifest: DocumentMut = text.unwrap_or(NEW).parse().context("Cargo.toml is not valid TOML")?;
    let workspace = table(manifest.as_table_mut(), "workspace")?;
    if !workspace.contains_key("members") {
        workspace.insert("members", Array::new().into());
    }
    let mut changes = Vec::new();
    if !workspace.contains_key("lints") {
        let lints = table(workspace, "lints")?;
        table(lints, "rust")?.insert("unsafe_code", "deny".into());
        changes.push("[workspace.lints], which generated packages inherit".to_owned());
    }
    let dependencies = table(workspace, "dependencies")?;
    for (name, folder) in CRATES {
        let wanted = || origin.unwrap_or(&Origin::Registry).dependency(folder);
        match dependencies.get_mut(name) {
            Some(there) if origin.is_none() => changes.extend(raise(there).map(|change| format!("{name} {change}"))),
            Some(there) if there.as_value().is_some_and(|there| same(there, &wanted())) => {}
            _ => {
                let wanted = wanted();
                changes.push(format!("{name} = {wanted}"));
                dependencies.insert(name, wanted.into());
            }
        }
    }
    Ok((manifest.to_string(), changes))
}

/// A table by that name, made where it is not there.
fn table<'t>(parent: &'t mut dyn TableLike, name: &str) -> Result<&'t mut dyn TableLike> {
    let item = parent.entry(name).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        table.into()
    });
    let found = item.as_table_like_mut();
    found.with_context(|| format!("`{name}` in Cargo.toml is no table"))
}

/// Whether two dependencies say the same, however they are spaced.
fn same(one: &Value, other: &Value) -> bool {
    let plain = |value: &Value| value.to_string().split_whitespace().collect::<String>();
    plain(one) == plain(other)
}

/// The version that a dependency asks for, where it names one.
fn requirement(dependency: &mut Item) -> Option<&mut Value> {
    if dependency.is_str() {
        return dependency.as_value_mut();
    }
    dependency.as_table_like_mut()?.get_mut("version")?.as_value_mut()
}

/// Raises a version that is lower than this program's, and says so.
fn raise(dependency: &mut Item) -> Option<String> {
    let version = requirement(dependency)?;
    let asked = version.as_str()?.to_owned();
    if version::compared(&asked) != Some(Ordering::Less) {
        return None;
    }
    let decor = version.decor().clone();
    *version = version::OURS.into();
    *version.decor_mut() = decor;
    Some(format!("{asked} -> {}", version::OURS))
}

/// Says what generated packages of this program would lack, in one line. None where all is there.
pub(crate) fn shortage(root: &Path) -> Result<Option<String>> {
    let path = root.join("Cargo.toml");
    let is_part = || root.ancestors().skip(1).any(|folder| folder.join("Cargo.toml").is_file());
    if !path.is_file() {
        return Ok((!is_part()).then(|| format!("there is no Cargo.toml: `{} init` makes one", invoked::name())));
    }
    let text = String::from_utf8(workspace::read_file(&path)?).context("Cargo.toml is not UTF-8")?;
    if text.parse::<DocumentMut>().is_ok_and(|manifest| !manifest.contains_key("workspace")) {
        // The packages belong to a workspace above, whose manifest is not ours to judge.
        return Ok(None);
    }
    let (_, changes) = completed(Some(&text), None)?;
    let remedy = format!("`{} init` puts it right", invoked::name());
    Ok((!changes.is_empty()).then(|| format!("Cargo.toml needs {}; {remedy}", changes.join(", "))))
}

/// Checks that a path leads to a checkout.
pub(crate) fn check_checkout(path: &str) -> Result<()> {
    match CRATES.iter().find(|(_, folder)| !Path::new(path).join(folder).join("Cargo.toml").is_file()) {
        Some((name, folder)) => {
            bail!("{path} is no checkout of Toolwright: {folder}/Cargo.toml of {name} is not there")
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{CRATES, Origin, completed};
    use crate::version::OURS;

    fn lines(text: Option<&str>, origin: Option<&Origin>) -> Vec<String> {
        completed(text, origin).unwrap().1
    }

    #[test]
    fn a_new_project_takes_the_crates_of_this_version() {
        let (text, changes) = completed(None, None).unwrap();
        assert_eq!(changes.len(), CRATES.len());
        assert!(text.contains(&format!("[workspace.dependencies]\ntoolwright-core = \"{OURS}\"\n")), "{text}");
    }

    #[test]
    fn what_is_complete_stays_byte_for_byte() {
        let (text, _) = completed(None, None).unwrap();
        assert_eq!(completed(Some(&text), None).unwrap(), (text, Vec::new()));
    }

    #[test]
    fn a_checkout_and_a_repository_stand_in_for_the_registry() {
        let (text, _) = completed(None, Some(&Origin::Checkout("../tw/".to_owned()))).unwrap();
        assert!(text.contains("toolwright-server = { path = \"../tw/runtime/server\" }"), "{text}");
        let git = Origin::Git { url: "https://git.example/tw".to_owned(), rev: Some("v1".to_owned()) };
        let (text, changes) = completed(Some(&text), Some(&git)).unwrap();
        assert!(text.contains("toolwright-core = { git = \"https://git.example/tw\", rev = \"v1\" }"), "{text}");
        assert_eq!(changes.len(), CRATES.len());
        assert_eq!(lines(Some(&text), Some(&git)), [""; 0]);
        assert_eq!(lines(Some(&text), None), [""; 0]);
    }

    #[test]
    fn a_version_that_is_too_old_is_raised_where_it_stands() {
        let (text, _) = completed(None, None).unwrap();
        let core = format!("toolwright-core = \"{OURS}\"");
        let old = text.replace(&core, "toolwright-core = { version = \"0.0.1\", path = \"a\" } # mine");
        let (raised, changes) = completed(Some(&old), None).unwrap();
        assert_eq!(changes, [format!("toolwright-core 0.0.1 -> {OURS}")]);
        assert!(raised.contains(&format!("{{ version = \"{OURS}\", path = \"a\" }} # mine")), "{raised}");
    }

    #[test]
    fn a_workspace_of_somebody_keeps_what_it_has() {
        let theirs = "# Ours.\n[workspace]\nmembers = [\"app\"]\n\n[workspace.dependencies]\nserde = \"1\" # pinned\n";
        let (text, changes) = completed(Some(theirs), None).unwrap();
        assert_eq!(changes.len(), CRATES.len() + 1);
        assert!(text.starts_with(theirs), "{text}");
        assert!(text.contains("[workspace.lints.rust]\nunsafe_code = \"deny\""), "{text}");
    }

    #[test]
    fn a_package_becomes_the_root_of_a_workspace() {
        let (text, _) = completed(Some("[package]\nname = \"app\"\n"), None).unwrap();
        assert!(text.contains("[workspace]\nmembers = []\n"), "{text}");
        assert!(completed(Some("workspace = 1\n"), None).is_err());
    }
}
