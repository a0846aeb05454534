//! `toolwright show`: what overlays target.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::Args;
use serde_json::Value;
use toolwright_generator::diagnostic::Sink;
use toolwright_generator::load::load_server;
use toolwright_generator::source::{child_pointer, to_yaml};

use crate::workspace;

/// Print a server's document in its OpenAPI 3.1 form, overlays applied.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The server: the name of a folder below specs/.
    server: String,
    /// Only the node at this JSON pointer, such as /paths/~1v1~1models.
    #[arg(long)]
    pointer: Option<String>,
}

impl Show {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let root = workspace::root()?;
        let folder = workspace::server_folder(&root, &self.server)?;
        let files = workspace::read_folder(&root, &folder)?;
        let mut sink = Sink::new();
        let server = load_server(&files, &folder, &mut sink);
        let code = workspace::report(&sink);
        if let Some(server) = server {
            let pointer = self.pointer.as_deref().unwrap_or_default();
            let node = server.document.get(pointer).ok_or_else(|| nothing_at(&server.document.value, pointer))?;
            match std::io::stdout().write_all(to_yaml(node).as_bytes()) {
                // A reader such as `head` has seen enough.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
                written => written?,
            }
        }
        Ok(code)
    }
}

/// Says what was probably meant where a pointer leads nowhere.
fn nothing_at(document: &Value, pointer: &str) -> anyhow::Error {
    let meant = escaped(document, pointer, String::new())
        .or_else(|| escaped(document.get("paths")?, pointer, "/paths".to_owned()));
    match meant {
        Some(meant) => {
            anyhow!("there is nothing at {pointer}; did you mean {meant}? (`/` inside a key is `~1`, `~` is `~0`)")
        }
        None => anyhow!(
            "there is nothing at {pointer}; a pointer is keys with `/` before each, in which `/` is `~1` and `~` is `~0`"
        ),
    }
}

/// The pointer of what `rest` names below a node when the keys in it are written as they are, slashes and all.
fn escaped(node: &Value, rest: &str, pointer: String) -> Option<String> {
    let Some(rest) = rest.strip_prefix('/') else { return rest.is_empty().then_some(pointer) };
    let behind = |key: &str| rest.strip_prefix(key).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match node {
        Value::Object(members) => members.iter().find_map(|(key, member)| {
            escaped(member, behind(key).or_else(|| behind(key.strip_prefix('/')?))?, child_pointer(&pointer, key))
        }),
        Value::Array(items) => items
            .iter()
            .zip(0..)
            .find_map(|(item, index)| escaped(item, behind(&index.to_string())?, format!("{pointer}/{index}"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::nothing_at;

    #[test]
    fn a_path_with_plain_slashes_is_recognized() {
        let document = json!({"paths": {"/v1": {}, "/v1/things/{id}": {"get": {"parameters": [{"name": "id"}]}}}});
        for (given, meant) in [
            ("/paths//v1/things/{id}/get", "/paths/~1v1~1things~1{id}/get"),
            ("/paths/v1/things/{id}/get/parameters/0", "/paths/~1v1~1things~1{id}/get/parameters/0"),
            ("/v1/things/{id}", "/paths/~1v1~1things~1{id}"),
        ] {
            let text = nothing_at(&document, given).to_string();
            assert!(text.contains(&format!("did you mean {meant}?")), "{text}");
        }
    }

    #[test]
    fn what_is_not_there_gets_the_rule() {
        let text = nothing_at(&json!({"paths": {}}), "/paths/~1gone").to_string();
        assert!(text.contains("`/` is `~1`"), "{text}");
    }
}
