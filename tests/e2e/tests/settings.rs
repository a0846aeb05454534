//! Settings that come from a document, beside those that every server has.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use toolwright_e2e::{Profile, build};
use toolwright_generator::{diagnostic::Sink, generate, load::Files};

/// Keys of the settings of every server, and the variables that hold them without the server's prefix.
fn common() -> Vec<(String, String)> {
    let binary = build("localai-server", Profile::Dev).unwrap();
    let output =
        Command::new(binary).args(["config", "table"]).env_clear().env("HOME", "/nonexistent").output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    let quoted =
        |line: &str| -> Vec<String> { line.split('`').skip(1).step_by(2).take(2).map(str::to_owned).collect() };
    table
        .lines()
        .skip(2)
        .map(|line| {
            let [key, env] = <[String; 2]>::try_from(quoted(line)).unwrap();
            (key, env.trim_start_matches("LOCALAI_").to_lowercase())
        })
        .collect()
}

/// Quoted texts after `field:` in generated code.
fn values<'c>(code: &'c str, field: &str) -> BTreeSet<&'c str> {
    let start = format!("{field}: \"");
    code.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// A scheme may have any name; one of a setting that is there already would take its value from it.
#[test]
fn no_scheme_shares_a_setting_or_a_variable_with_every_server() {
    let common = common();
    assert!(common.len() > 30, "{common:?}");
    let mut document =
        String::from("openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths: {}\ncomponents:\n  securitySchemes:\n");
    let names: BTreeSet<&str> = common.iter().flat_map(|(key, env)| [key.as_str(), env.as_str()]).collect();
    // What schemes append to their names may make one, too.
    let ends =
        ["_username", "_password", "_token", "_client_id", "_client_secret", "_token_url", "_scopes", "_client_auth"];
    let stems = ends.iter().flat_map(|end| names.iter().filter_map(move |name| name.strip_suffix(end)));
    let names: BTreeSet<&str> = names.iter().copied().chain(stems).filter(|name| *name != "api_key").collect();
    for name in names {
        let flow = "{clientCredentials: {tokenUrl: 'https://a.example/t', scopes: {}}}";
        writeln!(document, "    {name}: {{type: oauth2, flows: {flow}}}").unwrap();
        writeln!(document, "    {name}-: {{type: http, scheme: bearer}}").unwrap();
    }
    let mut files = Files::new();
    files.insert("specs/t/server.yaml", "server: t\ntitle: T\ndocument: o.yaml\nupstream: {env_prefix: T}\n");
    files.insert("specs/t/o.yaml", document);
    let mut sink = Sink::new();
    let generated = generate(&files, "specs/t", &mut sink).unwrap_or_else(|| panic!("{sink}"));
    let code = String::from_utf8(generated.files.get("generated/t-tools/src/lib.rs").unwrap().to_vec()).unwrap();
    let (keys, variables) = (values(&code, "key"), values(&code, "env"));
    assert_eq!(keys.len(), variables.len());
    assert!(keys.len() > common.len());
    for (key, env) in &common {
        assert!(!keys.contains(key.as_str()), "a scheme has the key `{key}`");
        let env = format!("T_{}", env.to_uppercase());
        assert!(!variables.contains(env.as_str()), "a scheme has the variable {env}");
    }
}
