//! Calls every operation of every generated server twice against the mock. `tests/corpus/run` builds and starts it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Map, Value, json};
use toolwright_core::{Alternative, Binding, Body, Catalog, FieldKind, Location, Profile, ServerSpec, ToolSpec};
use toolwright_e2e::{Session, structured};
use toolwright_mock::{Mock, Options};
use toolwright_samples::{Extent, profile_faults};

/// A generated server. This program is also its binary: one link instead of sixteen.
struct Server {
    spec: &'static ServerSpec,
    tools: &'static Catalog,
    document: &'static str,
}

include!("servers.rs");

/// Names the server that a child process is to be.
const CHILD: &str = "CORPUS_SERVER";

/// The start of a WAV file: a file input of any kind will do.
const FILE: &str = "data:application/octet-stream;base64,UklGRiQAAABXQVZF";

fn main() -> ExitCode {
    if let Ok(name) = std::env::var(CHILD) {
        let server = SERVERS.iter().find(|server| server.spec.name == name).expect("a server of that name");
        return toolwright_server::Program::new(server.spec, server.tools).run();
    }
    let place = std::env::args().nth(1).expect("the folder of the project");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (mut passed, mut failed) = (0, 0);
    println!("{:<22} {:>6} {:>6} {:>8} {:>8}", "document", "tools", "calls", "faults", "seconds");
    for server in SERVERS {
        let started = Instant::now();
        let faults = runtime.block_on(server.check(Path::new(&place))).unwrap_or_else(|error| vec![format!("{error:#}")]);
        let tools = server.tools.tools().len();
        let seconds = started.elapsed().as_secs_f64();
        println!("{:<22} {tools:>6} {:>6} {:>8} {seconds:>8.1}", server.spec.name, 2 * tools, faults.len());
        for fault in &faults {
            println!("    {fault}");
        }
        failed += faults.len();
        passed += (2 * tools).saturating_sub(faults.len());
    }
    println!("corpus: {passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Server {
    /// What is wrong with the server's calls.
    async fn check(&self, place: &Path) -> anyhow::Result<Vec<String>> {
        let document = std::fs::read_to_string(place.join(self.document))?;
        let mock = Mock::start_text(&document, Options::default())?;
        let state = tempfile::tempdir()?;
        let prefix = self.spec.env_prefix;
        let mut command = tokio::process::Command::new(std::env::current_exe()?);
        command
            .env_clear()
            .env(CHILD, self.spec.name)
            .env("HOME", state.path())
            .env(format!("{prefix}_BASE_URL"), mock.base_url())
            .env(format!("{prefix}_MCP_EXPOSED_TOOLS"), "*")
            .env(format!("{prefix}_REQUEST_TIMEOUT"), "20")
            .envs(self.credentials())
            .arg("stdio")
            .kill_on_drop(true);
        let session = Session::over_stdio(command).await?;
        let mut faults = Vec::new();
        let listed = session.list().await?.len();
        let expected = self.tools.tools().len() + 5;
        if listed != expected {
            faults.push(format!("tools/list has {listed} tools instead of {expected}"));
        }
        for spec in self.tools.tools() {
            for profile in [Profile::Inlined, Profile::Plain] {
                let found = profile_faults(spec, profile);
                faults.extend(found.iter().map(|fault| cut(&format!("{} as {profile:?}: {fault}", spec.name))));
            }
            for extent in [Extent::Minimal, Extent::Full] {
                if let Err(fault) = call(&session, &mock, spec, extent).await {
                    faults.push(format!("{} {extent:?}: {fault}", spec.name));
                }
            }
        }
        session.close().await?;
        Ok(faults)
    }

    /// A value for every credential that the document's security schemes take.
    fn credentials(&self) -> BTreeMap<String, String> {
        // What has a default or a list of words is no credential.
        let settings = self.spec.access.settings.iter().filter(|it| it.allowed.is_empty() && it.default.is_empty());
        settings.map(|setting| (setting.env.to_owned(), "credential".to_owned())).collect()
    }
}

async fn call(session: &Session, mock: &Mock, spec: &ToolSpec, extent: Extent) -> Result<(), String> {
    let arguments = arguments(spec, extent);
    mock.clear();
    let result = session.call(spec.name, Value::Object(arguments.clone())).await.map_err(|error| error.to_string())?;
    let answer = structured(&result);
    let shown = || cut(&Value::Object(arguments.clone()).to_string());
    let violations = mock.violations();
    if let Some(violation) = violations.first() {
        return Err(format!("{} violations, such as {violation:?} of {}", violations.len(), shown()));
    }
    if answer.get("ok") != Some(&json!(true)) {
        return Err(format!("answered {} to {}", cut(&answer.to_string()), shown()));
    }
    match mock.requests().len() {
        0 => Err("no request reached the upstream".to_owned()),
        _ => Ok(()),
    }
}

/// Samples of the schema, with file inputs in place of the texts that stand for them.
fn arguments(spec: &ToolSpec, extent: Extent) -> Map<String, Value> {
    let mut arguments = toolwright_samples::arguments(spec, extent);
    let Binding::Http(http) = spec.binding else { return arguments };
    let full = toolwright_samples::arguments(spec, Extent::Full);
    // An empty object in a path leaves nothing to send, and a choice of bodies needs one of them.
    let in_path = http.parameters.iter().filter(|parameter| parameter.location == Location::Path);
    let empty: Vec<&str> = in_path
        .map(|parameter| parameter.argument)
        .filter(|argument| arguments.get(*argument) == Some(&json!({})))
        .collect();
    let chosen = match http.body {
        Body::Choice { argument, alternatives } => chosen(argument, alternatives, &mut arguments),
        _ => &[],
    };
    for argument in empty.iter().chain(chosen) {
        if let Some(value) = full.get(*argument) {
            arguments.insert((*argument).to_owned(), value.clone());
        }
    }
    for argument in empty {
        arguments.entry(argument.to_owned()).and_modify(|value| {
            if value == &json!({}) {
                *value = json!({"key": "value"});
            }
        });
    }
    put_files(&http.body, &mut arguments);
    arguments
}

/// What the body of the chosen media type needs, or else of the first.
fn chosen(
    argument: &str,
    alternatives: &'static [Alternative],
    arguments: &mut Map<String, Value>,
) -> &'static [&'static str] {
    let named = arguments.get(argument).and_then(Value::as_str);
    let meant = alternatives.iter().find(|alternative| Some(alternative.media_type) == named);
    let Some(meant) = meant.or(alternatives.first()) else { return &[] };
    arguments.insert(argument.to_owned(), meant.media_type.into());
    meant.required
}

/// Media types whose content is written as text, not as a file.
fn is_text(media_type: &str) -> bool {
    let named = ["json", "xml", "yaml", "javascript", "graphql", "sql", "csv", "toml", "ndjson", "jsonl"];
    media_type.starts_with("text/") || named.iter().any(|name| media_type.contains(name))
}

fn put_files(body: &Body, arguments: &mut Map<String, Value>) {
    let mut put = |argument: &str| {
        if let Some(value) = arguments.get_mut(argument) {
            *value = match value {
                Value::Array(items) => items.iter().map(|_| Value::from(FILE)).collect(),
                _ => FILE.into(),
            };
        }
    };
    match body {
        Body::None | Body::Json { .. } | Body::Object { .. } => {}
        Body::Raw { argument, media_type } => {
            if !is_text(media_type) {
                put(argument);
            }
        }
        Body::Form { fields, .. } | Body::Multipart { fields, .. } => {
            fields.iter().filter(|field| field.kind == FieldKind::File).for_each(|field| put(field.argument));
        }
        Body::Choice { alternatives, .. } => {
            for alternative in *alternatives {
                put_files(&alternative.body, arguments);
            }
        }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(600).collect()
}
