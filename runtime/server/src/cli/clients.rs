//! How to connect MCP clients.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::ArgMatches;
use serde_json::{Value, json};
use toolwright_core::ServerSpec;

/// The clients that snippets exist for.
pub(super) const NAMES: [&str; 5] = ["claude-desktop", "claude-code", "vscode", "codex", "cursor"];

/// Prints the snippets of one client, or of all.
pub(super) fn print(server: &ServerSpec, chosen: &ArgMatches) -> ExitCode {
    let only = chosen.get_one::<String>("client").map(String::as_str);
    let program = super::executable(server);
    let snippets = NAMES.iter().filter(|name| only.is_none_or(|only| only == **name));
    let texts: Vec<String> = snippets.map(|name| snippet(name, server, &program)).collect();
    super::print(&texts.join("\n"))
}

fn snippet(client: &str, server: &ServerSpec, program: &str) -> String {
    let variable = format!("{}_BASE_URL", server.env_prefix);
    let url = server.default_base_url;
    let entry = json!({"command": program, "args": ["stdio"], "env": {variable.as_str(): url}});
    let name = server.name;
    match client {
        "claude-desktop" => file(
            "Claude Desktop: claude_desktop_config.json (Settings, Developer, Edit Config)",
            &json!({"mcpServers": {name: entry}}),
        ),
        "claude-code" => format!(
            "# Claude Code, over stdio, or over HTTP with a running `{name}-server http`\n\
             claude mcp add {name} --env {variable}={url} -- {program} stdio\n\
             claude mcp add --transport http {name} http://127.0.0.1:8000/mcp\n",
            program = quoted(program)
        ),
        "vscode" => file("VS Code: .vscode/mcp.json", &json!({"servers": {name: typed(entry)}})),
        "cursor" => file(
            "Cursor: .cursor/mcp.json, or ~/.cursor/mcp.json for all projects",
            &json!({"mcpServers": {name: entry}}),
        ),
        _ => codex(name, program, &variable, url),
    }
}

fn typed(mut entry: Value) -> Value {
    if let Some(members) = entry.as_object_mut() {
        members.insert("type".into(), "stdio".into());
    }
    entry
}

fn file(title: &str, content: &Value) -> String {
    format!("# {title}\n{content:#}\n")
}

fn codex(name: &str, program: &str, variable: &str, url: &str) -> String {
    let text = |value: &str| toml::Value::String(value.to_owned()).to_string();
    let mut out = String::from("# Codex: ~/.codex/config.toml\n");
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "[mcp_servers.{name}]\ncommand = {}\nargs = [\"stdio\"]\nenv = {{ {variable} = {} }}\n",
        text(program),
        text(url)
    );
    out
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "/._-+".contains(character);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SERVER;

    #[test]
    fn the_codex_snippet_is_toml() {
        let text = snippet("codex", &SERVER, "/opt/demo \"server\"");
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(table["mcp_servers"]["demo"]["command"].as_str(), Some("/opt/demo \"server\""));
    }

    #[test]
    fn the_json_snippets_name_program_and_base_url() {
        for client in ["claude-desktop", "vscode", "cursor"] {
            let text = snippet(client, &SERVER, "/opt/demo-server");
            let (_, body) = text.split_once('\n').unwrap();
            let body: Value = serde_json::from_str(body).unwrap();
            assert!(body.to_string().contains(r#""DEMO_BASE_URL":"http://127.0.0.1:8080""#), "{client}: {body}");
        }
    }
}
