use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::settings::keyring::Keyring;
use crate::settings::{Problem, Settings, resolve};
use crate::testing::SERVER;

/// A keyring in memory that counts what it is asked.
#[derive(Debug, Default)]
struct Memory {
    entries: Mutex<BTreeMap<String, Secret>>,
    fault: Option<KeyringFault>,
    asked: Mutex<Vec<String>>,
}

impl Memory {
    fn holding(entries: &[(&str, &str)]) -> Arc<Self> {
        let entries = entries.iter().map(|(entry, value)| ((*entry).to_owned(), Secret::new(*value))).collect();
        Arc::new(Memory { entries: Mutex::new(entries), ..Memory::default() })
    }

    fn failing(fault: KeyringFault) -> Arc<Self> {
        Arc::new(Memory { fault: Some(fault), ..Memory::default() })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Keyring for Memory {
    fn get(&self, service: &str, account: &str) -> Result<Option<Secret>, KeyringFault> {
        let entry = format!("{service}/{account}");
        self.asked.lock().unwrap().push(entry.clone());
        self.fault.map_or_else(|| Ok(self.entries.lock().unwrap().get(&entry).cloned()), Err)
    }

    fn set(&self, service: &str, account: &str, secret: &Secret) -> Result<(), KeyringFault> {
        self.entries.lock().unwrap().insert(format!("{service}/{account}"), secret.clone());
        Ok(())
    }
}

fn file(text: &str) -> ConfigFile {
    ConfigFile::parse(text, Path::new("c.toml"), &SERVER).unwrap()
}

fn sources(variables: &[(&str, &str)], text: &str, keyring: &Arc<Memory>) -> SecretSources {
    let environment = Environment::fixed(variables.iter().copied()).with_keyring(keyring.clone());
    SecretSources::new(&SERVER, &environment, &file(text), None)
}

fn settings(variables: &[(&str, &str)], text: &str, keyring: &Arc<Memory>) -> Result<Settings, Vec<Problem>> {
    let environment = Environment::fixed(variables.iter().copied()).with_keyring(keyring.clone());
    resolve(&SERVER, &environment, &Default::default(), &file(text), None).map(|(settings, _)| settings)
}

fn found(sources: &SecretSources, name: &str) -> Option<(String, String)> {
    let found = sources.look(name).unwrap()?;
    Some((found.secret.expose().to_owned(), found.source.to_string()))
}

fn some(value: &str, source: &str) -> Option<(String, String)> {
    Some((value.to_owned(), source.to_owned()))
}

const SHARED: &str = "[secrets.k]\nname = \"acc\"\nenv_vars = [\"FIRST\", \"SECOND\"]\n";

#[test]
fn variables_are_asked_in_their_order_and_the_keyring_not_at_all() {
    let keyring = Memory::holding(&[("toolwright/acc", "ring")]);
    let sources = sources(&[("SECOND", "two"), ("FIRST", "one")], SHARED, &keyring);
    assert_eq!(found(&sources, "k"), some("one", "env FIRST"));
    assert_eq!(keyring.asked(), [""; 0]);
}

#[test]
fn a_blank_variable_is_skipped_and_a_value_is_returned_as_it_is() {
    let keyring = Memory::holding(&[]);
    let sources = sources(&[("FIRST", "  "), ("SECOND", " two ")], SHARED, &keyring);
    assert_eq!(found(&sources, "k"), some(" two ", "env SECOND"));
}

#[test]
fn the_keyring_is_asked_last_and_a_blank_entry_is_none() {
    let keyring = Memory::holding(&[("toolwright/acc", "ring"), ("toolwright:demo/blank", " ")]);
    let sources = sources(&[], &format!("{SHARED}[server.demo.secrets.blank]"), &keyring);
    assert_eq!(found(&sources, "k"), some("ring", "keyring toolwright/acc"));
    assert_eq!(found(&sources, "blank"), None);
}

#[test]
fn nothing_is_asked_before_somebody_asks_and_nothing_twice() {
    let keyring = Memory::holding(&[("toolwright/acc", "ring")]);
    let sources = sources(&[], SHARED, &keyring);
    assert_eq!(keyring.asked(), [""; 0]);
    found(&sources, "k");
    found(&sources, "k");
    assert_eq!(keyring.asked(), ["toolwright/acc"]);
}

#[test]
fn a_secret_of_one_server_has_a_service_of_its_own() {
    let keyring = Memory::holding(&[("toolwright:demo/own", "ring")]);
    let sources = sources(&[], "[server.demo.secrets.own]", &keyring);
    assert_eq!(found(&sources, "own"), some("ring", "keyring toolwright:demo/own"));
}

#[test]
fn a_server_changes_fields_of_a_shared_secret_and_not_its_service() {
    let keyring = Memory::holding(&[("toolwright/acc", "ring")]);
    let text = format!("{SHARED}[server.demo.secrets.k]\nenv_vars = [\"THIRD\"]");
    let with = |variables| found(&sources(variables, &text, &keyring), "k");
    assert_eq!(with(&[("FIRST", "one"), ("THIRD", "three")]), some("three", "env THIRD"));
    assert_eq!(with(&[("FIRST", "one")]), some("ring", "keyring toolwright/acc"));
}

#[test]
fn a_disabled_secret_is_nowhere() {
    let keyring = Memory::holding(&[("toolwright/acc", "ring")]);
    let text = format!("{SHARED}[server.demo.secrets.k]\ndisabled = true");
    assert_eq!(found(&sources(&[("FIRST", "one")], &text, &keyring), "k"), None);
    assert_eq!(keyring.asked(), [""; 0]);
}

#[test]
fn a_name_that_nobody_declares_is_a_variable_in_capitals_or_a_shared_entry() {
    let keyring = Memory::holding(&[("toolwright/openai_api_key", "ring")]);
    assert_eq!(
        found(&sources(&[("OPENAI_API_KEY", "one")], "", &keyring), "openai_api_key"),
        some("one", "env OPENAI_API_KEY")
    );
    assert_eq!(found(&sources(&[], "", &keyring), "openai_api_key"), some("ring", "keyring toolwright/openai_api_key"));
}

#[test]
fn what_is_missing_is_told_with_every_place() {
    let keyring = Memory::holding(&[]);
    let sources = sources(&[], &format!("{SHARED}[server.demo.secrets.own]"), &keyring);
    assert_eq!(
        sources.require("k").unwrap_err().to_string(),
        "the shared secret `k` is not set; it is looked for in the environment variables FIRST, SECOND and the keyring \
         entry toolwright/acc"
    );
    assert_eq!(
        sources.require("own").unwrap_err().to_string(),
        "the secret `own` of the server demo is not set; it is looked for in no environment variable and the keyring \
         entry toolwright:demo/own"
    );
}

#[test]
fn whoever_sets_a_secret_is_told_that_one_place_is_enough() {
    let text = format!("{SHARED}[secrets.off]\ndisabled = true\n");
    let sources = sources(&[], &text, &Memory::holding(&[]));
    for (name, place) in [
        ("openai_api_key", "the environment variable OPENAI_API_KEY or the keyring entry toolwright/openai_api_key"),
        ("k", "one of the environment variables FIRST, SECOND, or the keyring entry toolwright/acc"),
        ("off", "the keyring entry toolwright/off, and take `disabled` out of its declaration"),
    ] {
        assert_eq!(sources.place(name), place);
    }
}

#[test]
fn a_failing_keyring_is_told_by_its_kind_and_counts_as_one_without_the_secret_where_that_will_do() {
    let keyring = Memory::failing(KeyringFault::Denied);
    let sources = sources(&[], SHARED, &keyring);
    let told = sources.look("k").unwrap_err().to_string();
    assert_eq!(told, "the keyring fails for the shared secret `k`, entry toolwright/acc: access denied");
    assert_eq!(sources.get("k"), Ok(None));
}

#[test]
fn a_system_without_a_keyring_has_no_secret_in_it() {
    let sources = sources(&[], SHARED, &Memory::failing(KeyringFault::Absent));
    assert_eq!(sources.look("k"), Ok(None));
}

#[test]
fn nothing_shows_a_value() {
    let keyring = Memory::holding(&[]);
    let sources = sources(&[("FIRST", "hush")], SHARED, &keyring);
    let shown = format!("{:?} {:?} {:?}", sources.look("k"), sources.given(), sources);
    assert!(shown.contains("<redacted>") && !shown.contains("hush"), "{shown}");
    assert_eq!(sources.given()[0].expose(), "hush");
}

#[test]
fn a_stored_secret_is_found() {
    let keyring = Memory::holding(&[]);
    let sources = sources(&[], SHARED, &keyring);
    assert_eq!(sources.store("k", &Secret::new("new")).unwrap().entry(), "toolwright/acc");
    assert_eq!(found(&sources, "k"), some("new", "keyring toolwright/acc"));
}

#[test]
fn a_secret_setting_is_in_the_keyring_under_its_key_and_read_when_it_is_needed() {
    let keyring = Memory::holding(&[("toolwright:demo/api_key", " ring\n")]);
    let settings = settings(&[], "", &keyring).unwrap();
    assert_eq!((settings.api_key.clone(), keyring.asked().len()), (None, 0));
    assert_eq!(settings.with_keyring(&SERVER).api_key, Some(Secret::new("ring")));
}

#[test]
fn the_keyring_is_not_asked_for_a_setting_that_the_environment_or_the_file_says() {
    let keyring = Memory::holding(&[("toolwright:demo/api_key", "ring")]);
    for settings in [settings(&[("DEMO_API_KEY", "k")], "", &keyring), settings(&[], "api_key = \"k\"", &keyring)] {
        assert_eq!(settings.unwrap().with_keyring(&SERVER).api_key, Some(Secret::new("k")));
    }
    assert_eq!(keyring.asked(), [""; 0]);
}

#[test]
fn a_declared_variable_holds_a_setting_too_after_its_own() {
    let text = "api_key = \"file\"\n[secrets.api_key]\nenv_vars = [\"COMPANY_KEY\"]";
    let keyring = Memory::holding(&[("toolwright/api_key", "ring")]);
    let key = |variables| settings(variables, text, &keyring).unwrap().api_key;
    assert_eq!(key(&[("COMPANY_KEY", "company")]), Some(Secret::new("company")));
    assert_eq!(key(&[("COMPANY_KEY", "company"), ("DEMO_API_KEY", "own")]), Some(Secret::new("own")));
    assert_eq!(key(&[]), Some(Secret::new("file")));
}

#[test]
fn the_keys_of_receivers_are_looked_for_where_a_receiver_is_on() {
    let kept = [("toolwright:demo/langfuse_secret_key", "sk\n"), ("toolwright/otlp_headers", "x-key=k")];
    let keyring = Memory::holding(&kept);
    let off = settings(&[], "[secrets.otlp_headers]", &keyring).unwrap().with_keys_of_receivers();
    assert_eq!((off.langfuse_secret_key, keyring.asked().len()), (None, 0));
    let on = [("TOOLWRIGHT_LANGFUSE_ENABLED", "true"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")];
    let undeclared = settings(&on, "", &keyring).unwrap().with_keys_of_receivers();
    assert_eq!(undeclared.langfuse_secret_key, Some(Secret::new("sk")));
    assert!(undeclared.otlp_headers.is_none(), "many collectors need none");
    let declared = settings(&on, "[secrets.otlp_headers]", &keyring).unwrap().with_keys_of_receivers();
    assert_eq!(declared.otlp_headers.unwrap().all().collect::<Vec<_>>(), [("x-key", "k")]);
}

#[test]
fn the_token_of_callers_is_asked_for_at_start() {
    let texts = |text, keyring: &Arc<Memory>| {
        let environment = Environment::fixed([]).with_keyring(keyring.clone());
        let mut texts = super::super::resolution(&SERVER, &environment, &Default::default(), &file(text), None);
        let asked = texts.ask_keyring(&SERVER, "auth_token");
        asked.map(|()| texts.entry("auth_token").unwrap().text.clone()).map_err(|problem| problem.to_string())
    };
    assert_eq!(texts("", &Memory::holding(&[("toolwright:demo/auth_token", "t")])), Ok("t".to_owned()));
    assert_eq!(texts("", &Memory::holding(&[])), Ok(String::new()));
    // Without the token that somebody may have kept there, anybody could call.
    let told = texts("", &Memory::failing(KeyringFault::Denied)).unwrap_err();
    assert_eq!(
        told,
        "MCP_AUTH_TOKEN: the keyring fails for the secret `auth_token` of the server demo, entry \
         toolwright:demo/auth_token: access denied; set it, or write `disabled = true` below \
         [server.demo.secrets.auth_token]"
    );
    let told = texts("[secrets.auth_token]", &Memory::failing(KeyringFault::Absent)).unwrap_err();
    assert!(told.starts_with("MCP_AUTH_TOKEN: the shared secret `auth_token` is not set"), "{told}");
}
