//! Files as they were at a git revision.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use toolwright_generator::load::Files;

/// The catalog and the schemas of a tools package at a revision.
pub(super) fn package(root: &Path, revision: &str, folder: &str) -> Result<Files> {
    if revision.starts_with('-') {
        bail!("`{revision}` is no git revision");
    }
    let names = names(root, revision, folder)?;
    if names.is_empty() {
        bail!("{revision} has no {folder}/catalog.json");
    }
    contents(root, revision, &names)
}

fn names(root: &Path, revision: &str, folder: &str) -> Result<Vec<String>> {
    let output = Command::new("git")
        .current_dir(root)
        .args(["ls-tree", "-r", "--name-only", "-z", revision, "--"])
        .args([format!("{folder}/catalog.json"), format!("{folder}/schemas/")])
        .output()
        .context("git cannot be started")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "git shows nothing at `{revision}`: commit first, or name a folder with a catalog.json (it says: {})",
            said.trim()
        );
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// All contents from one process, in the order of the names (git-cat-file, section Batch Output).
fn contents(root: &Path, revision: &str, names: &[String]) -> Result<Files> {
    let mut process = Command::new("git")
        .current_dir(root)
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("git cannot be started")?;
    let mut stdin = process.stdin.take().context("git takes no input")?;
    let wanted: String = names.iter().map(|name| format!("{revision}:./{name}\n")).collect();
    let writer = std::thread::spawn(move || stdin.write_all(wanted.as_bytes()));
    let output = process.wait_with_output()?;
    writer.join().map_err(|_| anyhow::anyhow!("writing to git failed"))??;
    let mut files = Files::new();
    let mut rest = output.stdout.as_slice();
    for name in names {
        let (content, after) = next(rest).with_context(|| format!("git does not give {name} at {revision}"))?;
        files.insert(name.clone(), content);
        rest = after;
    }
    Ok(files)
}

/// `<id> blob <size>`, a line end, the bytes, a line end.
fn next(output: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = output.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(output.get(..end)?).ok()?;
    let size: usize = head.rsplit_once(" blob ")?.1.parse().ok()?;
    let start = end + 1;
    Some((output.get(start..start + size)?, output.get(start + size + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn contents_are_cut_by_their_size() {
        assert_eq!(next(b"0a1b blob 3\na\nb\n0c"), Some((&b"a\nb"[..], &b"0c"[..])));
        assert_eq!(next(b"REV:./gone missing\n"), None);
        assert_eq!(next(b"0a1b blob 9\nshort\n"), None);
    }
}
