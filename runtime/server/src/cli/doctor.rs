//! `doctor`: what is configured and from where, and whether the API answers.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use rmcp::model::ProtocolVersion;
use serde_json::Map;
use toolwright_core::{Envelope, Held, ToolSpec};
use toolwright_http::{CallContext, names_secret};

use super::{FAULTY, Invocation};
use crate::settings::{self, Environment, Places, Problem, Resolution, Resolved, SecretSources, Settings, Source};
use crate::{App, serve, telemetry};

/// Prints everything that is known; 0 where all is well, 1 where the API does not answer, 2 for faulty settings.
pub(super) fn run(invocation: &Invocation<'_>) -> ExitCode {
    let server = invocation.server;
    let mut out = format!(
        "{name}-server {version}\ncatalog    {count} operations, sha256 {hash}\nprotocol   {protocol}\n",
        name = server.name,
        version = server.version,
        count = invocation.catalog.tools().len(),
        hash = server.catalog_sha256,
        protocol = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect::<Vec<_>>().join(", "),
    );
    let environment = Environment::process();
    if let Some((path, _)) = invocation.config_path(&environment) {
        let state = if path.is_file() { "" } else { " (absent)" };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "file       {}{state}", path.display());
    }
    if let Ok(file) = invocation.file(&environment) {
        let texts = invocation.texts(&environment, &file).0;
        write_settings(&mut out, &texts);
        write_secrets(&mut out, &texts);
    }
    let code = match invocation.app(true) {
        Ok(app) => {
            write_missing(&mut out, &app);
            write_tables(&mut out, &app);
            write_telemetry(&mut out, &app);
            write_folders(&mut out, &app);
            let executors = write_executors(&mut out, &app);
            let reachability = write_reachability(&mut out, &app);
            if executors { reachability } else { ExitCode::FAILURE }
        }
        Err(problems) => {
            write_problems(&mut out, &problems);
            ExitCode::from(FAULTY)
        }
    };
    super::print(&out);
    code
}

fn write_settings(out: &mut String, texts: &Resolution) {
    out.push_str("\nsettings\n");
    for entry in &texts.entries {
        // Writing to a String cannot fail.
        let (value, source) = effective(entry, &texts.secrets);
        let _ = writeln!(out, "  {:20} {value:44} {source}", entry.declared.key);
    }
}

/// What is in force, and where it comes from. A secret that no text says may be in the keyring.
fn effective(entry: &Resolved, secrets: &SecretSources) -> (String, String) {
    if entry.declared.is_in_keyring() && entry.text.is_empty() {
        return found(secrets, &secrets.places(entry.declared.key))
            .unwrap_or_else(|| (UNSET.to_owned(), "default".to_owned()));
    }
    (shown(entry), format!("{}{}", entry.source.in_full(), plain(entry)))
}

/// The rows of secrets that stand in the configuration file.
const PLAIN: &str = " (plain in the file; use the environment or the keyring)";
const PLAIN_WITHOUT_KEYRING: &str = " (plain in the file; use the environment)";

fn plain(entry: &Resolved) -> &'static str {
    let is_in_file = matches!(entry.source, Source::File(_)) && !entry.text.is_empty();
    // A proxy's address is a secret only with a password in it.
    let is_address = entry.declared.kind.placeholder == "URL" && !entry.text.contains('@');
    match entry.declared.is_in_keyring() {
        _ if !is_in_file || !entry.declared.kind.secret || is_address => "",
        true => PLAIN,
        false => PLAIN_WITHOUT_KEYRING,
    }
}

/// Whether the last key of a field names a credential, as in `llm.default_headers.authorization`.
fn names_credential(field: &str) -> bool {
    names_secret(field.rsplit('.').next().unwrap_or(field).trim_matches('"'))
}

/// A secret that there is, or why nobody knows; nothing where it is not set.
fn found(secrets: &SecretSources, places: &Places) -> Option<(String, String)> {
    match secrets.look(places.name()) {
        Ok(found) => found.map(|found| (SET.to_owned(), found.source.to_string())),
        Err(error) => Some((UNSET.to_owned(), error.to_string())),
    }
}

/// The secrets that the file declares for others than the settings.
fn write_secrets(out: &mut String, texts: &Resolution) {
    let others: Vec<&Places> = texts.secrets.declared().filter(|places| texts.entry(places.name()).is_none()).collect();
    if others.is_empty() {
        return;
    }
    out.push_str("\nsecrets\n");
    for places in others {
        let sought =
            if places.is_disabled() { "disabled".to_owned() } else { format!("looked for in {}", places.sought()) };
        let (value, source) = found(&texts.secrets, places).unwrap_or((UNSET.to_owned(), sought));
        let _ = writeln!(out, "  {:20} {value:44} {source}", places.name());
    }
}

/// What holds for the executors that have a table of the file, and where it comes from.
fn write_tables(out: &mut String, app: &App) {
    for name in app.executors.unread(&app.settings.tables) {
        let _ = writeln!(out, "\n[{name}] is not read by this server, so that faults in it are not looked for");
    }
    for (kind, held) in app.executors.held().filter(|(_, held)| !held.is_empty()) {
        let _ = writeln!(out, "\n[{kind}]");
        for held in held {
            let (name, value, source) = held_row(app, held);
            let _ =
                writeln!(out, "  {:32} {value:32} {source}", name.strip_prefix(&format!("{kind}.")).unwrap_or(&name));
        }
    }
}

/// Name, value and source.
fn held_row(app: &App, held: Held) -> (String, String, String) {
    match held {
        Held::Value { field, value } => {
            let note = if value.is_none() && names_credential(&field) { PLAIN } else { "" };
            let place = app.settings.tables.origin(&field).map(|place| format!("file {place}{note}"));
            let value = value.unwrap_or_else(|| SET.to_owned());
            (field, value, place.unwrap_or_else(|| "default".to_owned()))
        }
        Held::Secret { name, without } => {
            let secrets = &app.settings.secret_sources;
            let absent = || (UNSET.to_owned(), without.to_owned());
            let (value, source) = found(secrets, &secrets.places(name)).unwrap_or_else(absent);
            (name.to_owned(), value, source)
        }
    }
}

const SET: &str = "*** (set)";
const UNSET: &str = "–";

fn shown(entry: &Resolved) -> String {
    match (entry.text.is_empty(), entry.declared.kind.secret) {
        (true, _) => UNSET.to_owned(),
        (false, true) => SET.to_owned(),
        (false, false) => entry.shown(),
    }
}

fn write_problems(out: &mut String, problems: &[Problem]) {
    out.push_str("\nproblems\n");
    for problem in problems {
        let _ = writeln!(out, "  {problem}");
    }
}

/// Settings that some tools cannot be called without.
fn write_missing(out: &mut String, app: &App) {
    const MOST_NAMES: usize = 5;
    let settings = app.settings.with_keyring(app.server);
    let text = |key: &str| settings.document.0.get(key).map(|value| value.expose().to_owned());
    for (key, tools) in settings::missing(app.catalog, text) {
        let named: Vec<&str> = tools.iter().take(MOST_NAMES).copied().collect();
        let more = tools.len().saturating_sub(MOST_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let env = app.server.access.settings.iter().find(|row| row.key == key).map_or(key, |row| row.env);
        let _ = writeln!(out, "\nmissing: {env} is not set, and needed by {}{more}", named.join(", "));
    }
}

/// Whether traces and metrics arrive. Calls work without, so that this does not fail the check.
fn write_telemetry(out: &mut String, app: &App) {
    out.push_str("\ntelemetry\n");
    // Where the runtime cannot start, the API says so below.
    for (name, state) in serve::block_on(telemetry::status(app)).unwrap_or_default() {
        let _ = writeln!(out, "  {name:20} {state}");
    }
}

/// Whether files can be sent and saved. Neither is needed by most calls, so that neither fails the check.
fn write_folders(out: &mut String, app: &App) {
    out.push_str("\nfolders\n");
    let root = &app.settings.file_root;
    let state = if root.is_dir() { "ok" } else { "absent: make it to send files by path" };
    let _ = writeln!(out, "  {:20} {state}", "file_root");
    let state = match (app.settings.save_binary, saves(&app.settings.output_dir)) {
        (false, _) => "unused: save_binary is off".to_owned(),
        (true, Ok(())) => "ok".to_owned(),
        (true, Err(error)) => format!("cannot be written: {error}; answers with files will not be saved"),
    };
    let _ = writeln!(out, "  {:20} {state}", "output_dir");
    if app.tasks.is_some() {
        let _ = writeln!(out, "  {:20} {}", "task_dir", tasks_kept(&app.settings));
    }
}

/// Whether tasks can be kept. The folder is made by the first of them, for its owner alone.
fn tasks_kept(settings: &Settings) -> String {
    let folder = &settings.task_dir;
    if settings.task_store.is_some() {
        return "unused: task_store names a database".to_owned();
    }
    match folder.is_dir().then(|| saves(folder)) {
        None => "absent: the first task makes it".to_owned(),
        Some(Ok(())) => "ok".to_owned(),
        Some(Err(error)) => format!("cannot be written: {error}; no call can run as a task"),
    }
}

/// Makes the folder, as a call would, and a file in it that goes at once.
fn saves(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    std::fs::write(&probe, b"")?;
    std::fs::remove_file(probe)
}

/// Whether tools that executors carry out can be called here and now. False where one cannot.
fn write_executors(out: &mut String, app: &App) -> bool {
    let context = CallContext::within(app.settings.request_timeout.0);
    let rows = app.catalog.tools().iter().filter(|row| row.linked().is_some());
    let found = match serve::block_on(app.executors.examine(rows, &context)) {
        Ok(found) => found,
        Err(error) => {
            let _ = writeln!(out, "\nthe runtime cannot start: {error}");
            return false;
        }
    };
    for (index, (kind, name, said)) in found.iter().enumerate() {
        let is_first = found.iter().take(index).all(|(earlier, ..)| earlier != kind);
        if is_first {
            let _ = writeln!(out, "\n{kind}");
        }
        let (state, text) = said.as_ref().map_or_else(|text| ("fails: ", text), |text| ("", text));
        let _ = writeln!(out, "  {name:24} {state}{text}");
    }
    found.iter().all(|(.., said)| said.is_ok())
}

fn write_reachability(out: &mut String, app: &App) -> ExitCode {
    if !app.has_upstream() {
        out.push_str("\nno API: every tool is code of this server\n");
        return ExitCode::SUCCESS;
    }
    let _ = writeln!(out, "\nAPI at {}", app.settings.base_url.as_str());
    let answers = match serve::block_on(probe(app)) {
        Ok(answers) => answers,
        Err(error) => {
            let _ = writeln!(out, "  the runtime cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    for row in health(app).filter(|row| app.exposure.admit(row).is_err()) {
        let _ = writeln!(out, "  {:24} not asked: the operator does not allow it", row.name);
    }
    for (name, answer) in &answers {
        let status = answer.status_code.map_or_else(String::new, |status| format!("status {status} "));
        let error = answer.error.as_ref().map_or("ok", |error| error.message.as_str());
        let _ = writeln!(out, "  {name:24} {status}in {:.0} ms: {error}", answer.elapsed_ms);
    }
    if answers.is_empty() {
        let reached = connects(app);
        let state = reached.as_ref().map_or_else(ToString::to_string, |()| "ok".to_owned());
        let _ = writeln!(out, "  {:24} {state} (no health calls are declared)", "connection");
        return if reached.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let well = answers.iter().all(|(_, answer)| answer.ok);
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn health(app: &App) -> impl Iterator<Item = &'static ToolSpec> {
    app.server.health.iter().filter_map(|name| app.catalog.find(name))
}

/// Opens a connection to the API and closes it.
fn connects(app: &App) -> std::io::Result<()> {
    let url = toolwright_http::parse_base_url(app.settings.base_url.as_str()).map_err(std::io::Error::other)?;
    let addresses = url.socket_addrs(|| None)?;
    let address = addresses.first().ok_or_else(|| std::io::Error::other("the host has no address"))?;
    std::net::TcpStream::connect_timeout(address, app.settings.connect_timeout.0).map(drop)
}

/// The calls of the server's health check, one after another.
async fn probe(app: &App) -> Vec<(&'static str, Envelope)> {
    let mut answers = Vec::new();
    for row in health(app).filter(|row| app.exposure.admit(row).is_ok()) {
        let context = CallContext::within(app.settings.request_timeout.0);
        answers.push((row.name, app.operation(row, Map::new(), &context).await));
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ConfigFile;
    use crate::testing::SERVER;

    #[test]
    fn a_secret_that_stands_in_the_file_is_marked_and_one_of_the_environment_is_not() {
        let text = "[server.demo]\napi_key = \"k3y\"\nrequest_timeout = 5\n";
        let file = ConfigFile::parse(text, Path::new("c.toml"), &SERVER).unwrap();
        let plain_of = |variables: &[(&str, &str)], key: &str| {
            let environment = Environment::fixed(variables.iter().copied());
            let texts = settings::resolution(&SERVER, &environment, &Default::default(), &file, None);
            plain(texts.entry(key).unwrap())
        };
        assert_eq!(plain_of(&[], "api_key"), PLAIN);
        assert_eq!(plain_of(&[], "request_timeout"), "");
        assert_eq!(plain_of(&[("DEMO_API_KEY", "k3y")], "api_key"), "");
    }

    #[test]
    fn headers_are_credentials_by_their_names() {
        for (field, is_one) in [
            ("llm.default_headers.authorization", true),
            ("llm.default_headers.x-api-key", true),
            ("llm.default_headers.x-team", false),
        ] {
            assert_eq!(names_credential(field), is_one, "{field}");
        }
    }
}
