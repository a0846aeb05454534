//! How to connect MCP clients.

use std::fmt::Write as _;
use std::process::ExitCode;

use super::Invocation;
use crate::settings::{BindHost, Environment, Problem, Resolved, Source};
use clap::ArgMatches;
use serde_json::{Value, json};

/// The clients that snippets exist for.
pub(super) const NAMES: [&str; 5] = ["claude-desktop", "claude-code", "vscode", "codex", "cursor"];

/// How a client starts or reaches this server.
#[derive(Debug)]
struct Connection {
    name: &'static str,
    program: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    url: String,
}

/// Settings that mean nothing over stdio.
const HTTP_ONLY: [&str; 8] =
    ["host", "port", "path", "workers", "reuse_port", "auth_token", "allowed_hosts", "allowed_origins"];

/// What was given on this command line or in this environment, and where the API is in any case.
fn is_passed_on(entry: &Resolved) -> bool {
    match entry.source {
        Source::Flag(_) | Source::Environment(_) => !HTTP_ONLY.contains(&entry.declared.key),
        Source::Default => entry.declared.key == "base_url" && !entry.text.is_empty(),
        Source::File(_) | Source::Keyring(_) => false,
    }
}

/// Prints the snippets of one client, or of all.
///
/// # Errors
/// When the configuration file cannot be read.
pub(super) fn print(invocation: &Invocation<'_>, chosen: &ArgMatches) -> Result<ExitCode, Vec<Problem>> {
    let only = chosen.get_one::<String>("client").map(String::as_str);
    let connection = Connection::of(invocation)?;
    let snippets = NAMES.iter().filter(|name| only.is_none_or(|only| only == **name));
    let texts: Vec<String> = snippets.map(|name| connection.snippet(name)).collect();
    Ok(super::print(&texts.join("\n")))
}

impl Connection {
    /// What is in force here. What a file gives is read from that file again, so that only its place is passed on.
    fn of(invocation: &Invocation<'_>) -> Result<Self, Vec<Problem>> {
        let server = invocation.server;
        let process = Environment::process();
        let file = invocation.file(&process)?;
        let (texts, _) = invocation.texts(&process, &file);
        let text = |key: &str| texts.entry(key).map(|entry| entry.text.as_str()).unwrap_or_default();
        let mut arguments = Vec::new();
        for flag in ["config", "profile"] {
            if let Some(value) = invocation.matches.get_one::<String>(flag) {
                arguments.extend([format!("--{flag}"), value.clone()]);
            }
        }
        arguments.push("stdio".to_owned());
        let environment = texts.entries.iter().filter(|entry| is_passed_on(entry));
        let environment = environment.map(|entry| {
            let value = if entry.declared.kind.secret { "YOUR-SECRET".to_owned() } else { entry.shown() };
            (entry.declared.env(server), value)
        });
        let host = texts.value::<BindHost>("host").map(|host| host.0).filter(|host| !host.is_unspecified());
        let host = host.unwrap_or_else(|| std::net::Ipv4Addr::LOCALHOST.into());
        let host = if host.is_ipv6() { format!("[{host}]") } else { host.to_string() };
        Ok(Connection {
            name: server.name,
            program: super::executable(server),
            arguments,
            environment: environment.collect(),
            url: format!("http://{host}:{}{}", text("port"), text("path")),
        })
    }

    fn snippet(&self, client: &str) -> String {
        let name = self.name;
        let environment: serde_json::Map<String, Value> =
            self.environment.iter().map(|(variable, value)| (variable.clone(), value.as_str().into())).collect();
        let mut entry = serde_json::Map::new();
        if client == "vscode" {
            entry.insert("type".into(), "stdio".into());
        }
        entry.insert("command".into(), self.program.as_str().into());
        entry.insert("args".into(), self.arguments.as_slice().into());
        if !environment.is_empty() {
            entry.insert("env".into(), environment.into());
        }
        match client {
            "claude-desktop" => file(
                "Claude Desktop: claude_desktop_config.json (Settings, Developer, Edit Config)",
                &json!({"mcpServers": {name: entry}}),
            ),
            "claude-code" => self.claude_code(),
            "vscode" => file("VS Code: .vscode/mcp.json", &json!({"servers": {name: entry}})),
            "cursor" => file(
                "Cursor: .cursor/mcp.json, or ~/.cursor/mcp.json for all projects",
                &json!({"mcpServers": {name: entry}}),
            ),
            _ => self.codex(),
        }
    }

    fn claude_code(&self) -> String {
        let (name, url) = (self.name, &self.url);
        let variables: String =
            self.environment.iter().map(|(variable, value)| format!(" --env {variable}={}", quoted(value))).collect();
        let command = std::iter::once(&self.program).chain(&self.arguments);
        let command = command.map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        format!(
            "# Claude Code, over stdio, or over HTTP with a running `{name}-server http`\n\
             claude mcp add {name}{variables} -- {command}\n\
             claude mcp add --transport http {name} {url}\n"
        )
    }

    fn codex(&self) -> String {
        let text = |value: &str| toml::Value::String(value.to_owned()).to_string();
        let list = self.arguments.iter().map(|argument| text(argument)).collect::<Vec<_>>().join(", ");
        let mut out = format!(
            "# Codex: ~/.codex/config.toml\n[mcp_servers.{}]\ncommand = {}\nargs = [{list}]\n",
            self.name,
            text(&self.program)
        );
        let variables = self.environment.iter().map(|(variable, value)| format!("{variable} = {}", text(value)));
        let variables = variables.collect::<Vec<_>>().join(", ");
        if !variables.is_empty() {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "env = {{ {variables} }}");
        }
        out
    }
}

fn file(title: &str, content: &Value) -> String {
    format!("# {title}\n{content:#}\n")
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "/._-+:".contains(character);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> Connection {
        Connection {
            name: "demo",
            program: "/opt/demo \"server\"".to_owned(),
            arguments: vec!["--profile".to_owned(), "my lab".to_owned(), "stdio".to_owned()],
            environment: vec![("DEMO_BASE_URL".to_owned(), "http://127.0.0.1:8080".to_owned())],
            url: "http://127.0.0.1:9/mcp".to_owned(),
        }
    }

    #[test]
    fn the_codex_snippet_is_toml() {
        let table: toml::Table = connection().snippet("codex").parse().unwrap();
        let server = &table["mcp_servers"]["demo"];
        assert_eq!(server["command"].as_str(), Some("/opt/demo \"server\""));
        assert_eq!(server["args"][1].as_str(), Some("my lab"));
        assert_eq!(server["env"]["DEMO_BASE_URL"].as_str(), Some("http://127.0.0.1:8080"));
    }

    #[test]
    fn the_json_snippets_name_program_arguments_and_base_url() {
        for client in ["claude-desktop", "vscode", "cursor"] {
            let text = connection().snippet(client);
            let (_, body) = text.split_once('\n').unwrap();
            let body: Value = serde_json::from_str(body).unwrap();
            assert!(body.to_string().contains(r#""DEMO_BASE_URL":"http://127.0.0.1:8080""#), "{client}: {body}");
            assert!(body.to_string().contains(r#"["--profile","my lab","stdio"]"#), "{client}: {body}");
        }
    }

    #[test]
    fn the_shell_snippet_quotes_what_a_shell_would_split() {
        let text = connection().snippet("claude-code");
        assert!(text.contains(r#"-- '/opt/demo "server"' --profile 'my lab' stdio"#), "{text}");
        assert!(text.contains("--transport http demo http://127.0.0.1:9/mcp"), "{text}");
    }

    #[test]
    fn a_base_url_that_a_file_gives_stays_there() {
        let connection = Connection { environment: Vec::new(), ..connection() };
        for client in NAMES {
            assert!(!connection.snippet(client).contains("BASE_URL"), "{client}");
        }
    }
}
