//! Pages that are printed by the program itself, and the typed client that the tools crate offers to Rust programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::process::Command;

use localai_tools::{
    client::{Client, Config, parse_base_url},
    tokenize::{Detokenize, DetokenizeRequest},
};
use toolwright_e2e::{Profile, Stage, build, repository};

/// The README says what the program says. `UPDATE_DOCS=1 cargo test -p toolwright-e2e --test documents` writes it anew.
#[test]
fn the_table_of_settings_is_up_to_date() {
    let output = Command::new(build("localai-server", Profile::Dev).unwrap())
        .args(["config", "table"])
        .env_clear()
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    assert!(output.status.success());
    let table = String::from_utf8(output.stdout).unwrap();
    let path = repository().join("README.md");
    let there = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = there.split_once(BEGIN).expect("the mark before the table");
    let (_, after) = rest.split_once(END).expect("the mark after the table");
    let page = format!("{before}{BEGIN}{table}{END}{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
        return;
    }
    assert!(there == page, "README.md is stale; run UPDATE_DOCS=1 cargo test -p toolwright-e2e --test documents");
}

const BEGIN: &str = "<!-- settings: printed by `localai-server config table` -->\n";
const END: &str = "<!-- end of settings -->\n";

#[tokio::test]
async fn a_rust_program_calls_tools_with_types() {
    let stage = Stage::set().unwrap();
    let client = Client::new(Config::new("localai", parse_base_url(&stage.mock.url()).unwrap())).unwrap();
    let call =
        Detokenize { request: DetokenizeRequest { model: Some("m".to_owned()), tokens: Some(vec![1, 42, 9001]) } };
    let reply = client.call(&call).await.unwrap();
    assert!(reply.data.content.is_some());
    assert_eq!(stage.mock.requests()[0].path, "/v1/detokenize");
}
