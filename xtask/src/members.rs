//! The workspace's list of members, edited in place: comments and order stay.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use toml_edit::{Array, DocumentMut, Item, Value};

use crate::workspace;

/// Adds these folders to `[workspace] members` of the root's Cargo.toml where they are not there yet, and says which
/// were missing.
pub(crate) fn add(root: &Path, folders: &[String]) -> Result<Vec<String>> {
    let path = root.join("Cargo.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let (text, added) = with_members(&text, folders)?;
    if !added.is_empty() {
        workspace::write_file(&path, text.as_bytes())?;
    }
    Ok(added)
}

fn with_members(text: &str, folders: &[String]) -> Result<(String, Vec<String>)> {
    let mut manifest: DocumentMut = text.parse().context("Cargo.toml is not valid TOML")?;
    let members = manifest.get_mut("workspace").and_then(|workspace| workspace.get_mut("members"));
    let Some(Item::Value(Value::Array(members))) = members else {
        bail!("Cargo.toml has no `[workspace] members` to add the new crates to");
    };
    let missing: Vec<String> = folders.iter().filter(|folder| !covers(members, folder)).cloned().collect();
    for folder in &missing {
        insert(members, folder);
    }
    Ok((manifest.to_string(), missing))
}

/// Whether a member is the folder itself, or a pattern for everything beside it.
fn covers(members: &Array, folder: &str) -> bool {
    let parent = folder.rsplit_once('/').map_or("", |(parent, _)| parent);
    members.iter().filter_map(Value::as_str).any(|member| member == folder || member == format!("{parent}/*"))
}

/// Inserts among its neighbours, so that generated crates stay together and sorted.
fn insert(members: &mut Array, folder: &str) {
    let at = members
        .iter()
        .position(|member| member.as_str().is_some_and(|member| member > folder))
        .unwrap_or(members.len());
    let decor = members.iter().next().map(|first| first.decor().clone());
    let mut value = Value::from(folder);
    if let Some(decor) = decor {
        *value.decor_mut() = decor;
    }
    let is_first = members.is_empty();
    members.insert_formatted(at, value);
    if is_first {
        // One a line, whatever comes later.
        members.iter_mut().for_each(|only| only.decor_mut().set_prefix("\n    "));
        members.set_trailing("\n");
        members.set_trailing_comma(true);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::with_members;

    const MANIFEST: &str = "[workspace]\nmembers = [\n    \"generated/b-tools\",\n    \"xtask\", # the program\n]\n";

    fn added(folders: &[&str]) -> (String, Vec<String>) {
        let folders: Vec<String> = folders.iter().map(ToString::to_string).collect();
        with_members(MANIFEST, &folders).unwrap()
    }

    #[test]
    fn new_crates_go_among_their_neighbours_and_comments_stay() {
        let (text, added) = added(&["generated/a-tools", "generated/c-tools"]);
        assert_eq!(added, ["generated/a-tools", "generated/c-tools"]);
        assert_eq!(
            text,
            "[workspace]\nmembers = [\n    \"generated/a-tools\",\n    \"generated/b-tools\",\n    \"generated/c-tools\",\n    \"xtask\", # the program\n]\n"
        );
    }

    #[test]
    fn crates_that_are_members_stay_as_they_are() {
        assert_eq!(added(&["generated/b-tools"]), (MANIFEST.to_owned(), Vec::new()));
    }

    #[test]
    fn the_first_members_stand_one_a_line() {
        let folders = ["generated/a-server", "generated/a-tools"].map(ToOwned::to_owned);
        let (text, _) = with_members("[workspace]\nmembers = []\n", &folders).unwrap();
        assert_eq!(text, "[workspace]\nmembers = [\n    \"generated/a-server\",\n    \"generated/a-tools\",\n]\n");
    }

    #[test]
    fn a_manifest_without_members_is_an_error() {
        assert!(with_members("[package]\nname = \"a\"\n", &[]).is_err());
    }
}
