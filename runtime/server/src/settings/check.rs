//! Faults that no single setting shows: names against the catalog, and settings against each other.

use std::path::{Path, PathBuf};

use toolwright_core::{Catalog, ServerSpec};

use super::hidden;
use super::{BaseUrl, BindHost, ByteSize, Exposed, Names, Problem, Resolution, Secret, Settings, Switch};
use crate::client::{SHORTEST_KEY, too_short};
use crate::exposure::{unknown_callable, unknown_operations};
use crate::gateway;
use crate::settings::nearest;

/// Everything wrong with the settings, beyond each value's own form. Values that could not be read are left out:
/// their faults are known already.
pub(crate) fn check(server: &ServerSpec, catalog: &Catalog, texts: &Resolution, over_http: bool) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut report = |key: &str, message: String| problems.push(texts.problem(server, key, message));

    let has_no_address = texts.value::<BaseUrl>("base_url").is_some_and(|url| url.as_str().is_empty());
    if has_no_address && catalog.tools().iter().any(|row| row.binding.calls_an_api()) {
        report("base_url", "must be set: an absolute http:// or https:// URL of the API".to_owned());
    }
    if let Some(exposed) = texts.value::<Exposed>("exposed_tools") {
        report_unknown(unknown_operations(&exposed, catalog), catalog, |message| report("exposed_tools", message));
    }
    for key in ["allow", "deny"] {
        let names = texts.value::<Names>(key).unwrap_or_default();
        report_fixed(&names, |message| report(key, message));
        report_unknown(unknown_callable(&names, catalog), catalog, |message| report(key, message));
    }
    if texts.value::<bool>("stateless_http") == Some(false) {
        report("stateless_http", "must be true; MCP_SESSIONS=true keeps sessions for clients that need one".to_owned());
    }
    let is_on = |key: &str| texts.value::<Switch>(key) == Some(Switch(true));
    if over_http && is_on("sessions") && is_on("reuse_port") {
        report("sessions", "must be false where reuse_port is true: a session lives in one process".to_owned());
    }
    if let Some(Some(key)) = texts.value::<Option<Secret>>("state_key")
        && key.expose().len() < SHORTEST_KEY
    {
        report("state_key", too_short());
    }
    for key in ["max_response_bytes", "max_request_bytes"] {
        if texts.value::<ByteSize>(key) == Some(ByteSize(0)) {
            report(key, "must be at least 1: with 0 nothing would go through".to_owned());
        }
    }
    let own_token = matches!(texts.value::<Option<Secret>>("auth_token"), Some(Some(_)));
    for message in unforwardable(&texts.value::<Names>("forward_headers").unwrap_or_default(), own_token) {
        report("forward_headers", message);
    }
    let text = |key: &str| texts.entry(key).map(|entry| entry.text.clone()).filter(|text| !text.is_empty());
    for (key, message) in hidden::misfits(catalog, text) {
        report(key, message);
    }
    let file = |key: &str| texts.value::<Option<PathBuf>>(key).flatten();
    let pem: [(&str, PemCheck); 2] =
        [("ca_file", toolwright_http::check_ca_file), ("client_cert_file", toolwright_http::check_client_cert_file)];
    for (key, check) in pem {
        if let Some(Err(error)) = file(key).map(|path| check(&path)) {
            report(key, error.to_string());
        }
    }
    let folder = |key: &str| texts.value::<PathBuf>(key);
    if let (Some(output), Some(root)) = (folder("output_dir"), folder("file_root"))
        && nested(&output, &root)
    {
        report("file_root", "must lie apart from output_dir, or calls could send what others received".to_owned());
    }
    let origins = texts.value::<Names>("allowed_origins").unwrap_or_default();
    let bad: Vec<&str> = origins.0.iter().map(String::as_str).filter(|origin| !is_origin(origin)).collect();
    if !bad.is_empty() {
        report("allowed_origins", format!("must be like https://app.example.com:443; not: {}", bad.join(", ")));
    }
    if over_http && needs_token(texts) {
        let message = "must be set, since `host` is not a loopback address and anyone could call";
        report("auth_token", message.to_owned());
    }
    problems
}

type PemCheck = fn(&Path) -> Result<(), toolwright_http::ConfigError>;

/// What in already typed settings fits no tool, or no argument of one.
pub(crate) fn check_names(server: &ServerSpec, catalog: &Catalog, settings: &Settings) -> Vec<Problem> {
    let place = |key: &str| super::DECLARED.iter().find(|declared| declared.key == key).map(|it| it.env(server));
    let mut problems = Vec::new();
    let lists = [
        ("exposed_tools", unknown_operations(&settings.exposed_tools, catalog)),
        ("allow", unknown_callable(&settings.allow, catalog)),
        ("deny", unknown_callable(&settings.deny, catalog)),
    ];
    for (key, unknown) in lists {
        report_unknown(unknown, catalog, |message| {
            problems.push(Problem::new(place(key).unwrap_or_else(|| key.to_owned()), message));
        });
    }
    let named = |key: &str| server.access.settings.iter().find(|row| row.key == key).map(|row| row.env.to_owned());
    let text = |key: &str| settings.document.0.get(key).map(|value| value.expose().to_owned());
    for (key, message) in hidden::misfits(catalog, text) {
        problems.push(Problem::new(named(key).unwrap_or_else(|| key.to_owned()), message));
    }
    for message in unforwardable(&settings.forward_headers, settings.auth_token.is_some()) {
        problems.push(Problem::new(place("forward_headers").unwrap_or_default(), message));
    }
    problems
}

/// Why headers cannot be forwarded. A bearer token that this server takes for itself is not for the API.
fn unforwardable(names: &Names, has_own_token: bool) -> Vec<String> {
    let why = |name: &String| match toolwright_http::why_not_forwarded(name) {
        Some(reason) => Some(format!("cannot name `{}`: {reason}", name.escape_debug())),
        None if has_own_token && name.eq_ignore_ascii_case("authorization") => Some(
            "cannot name `Authorization` where auth_token is set: that header proves callers to this server".to_owned(),
        ),
        None => None,
    };
    names.0.iter().filter_map(why).collect()
}

/// The fixed tools reach every other one, so that a list of names does not apply to them.
fn report_fixed(names: &Names, mut report: impl FnMut(String)) {
    let fixed: Vec<&str> = names.0.iter().map(String::as_str).filter(|name| gateway::is_fixed(name)).collect();
    if !fixed.is_empty() {
        report(format!("cannot name the fixed tools, which are always there: {}", fixed.join(", ")));
    }
}

fn report_unknown(unknown: Vec<String>, catalog: &Catalog, mut report: impl FnMut(String)) {
    if unknown.is_empty() {
        return;
    }
    let names = || catalog.tools().iter().map(|row| row.name);
    let shown = unknown.iter().map(|name| match nearest(name, names()) {
        Some(near) => format!("{} (did you mean {near}?)", name.escape_debug()),
        None => name.escape_debug().to_string(),
    });
    report(format!("names tools that do not exist: {}", shown.collect::<Vec<_>>().join(", ")));
}

/// A root that holds the output folder is the layout of older set-ups (/data and /data/output) and stays usable.
fn nested(output: &Path, root: &Path) -> bool {
    root.starts_with(output)
}

fn is_origin(origin: &str) -> bool {
    let rest = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    origin == "null" || rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['/', '?', '#', '@', ' ']))
}

fn needs_token(texts: &Resolution) -> bool {
    let open = texts.value::<BindHost>("host").is_some_and(|host| !host.0.is_loopback());
    let token = texts.value::<Option<Secret>>("auth_token");
    open && matches!(token, Some(None))
}
