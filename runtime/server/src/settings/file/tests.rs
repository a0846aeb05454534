use super::*;
use crate::testing::SERVER;

fn problems(text: &str) -> Vec<String> {
    let file = ConfigFile::parse(text, Path::new("c.toml"), &SERVER);
    file.map_or_else(|problems| problems, |file| file.problems).iter().map(Problem::to_string).collect()
}

#[test]
fn an_unknown_key_is_an_error_with_a_suggestion() {
    assert_eq!(
        problems("[server.demo]\nreadonly = true"),
        ["c.toml: server.demo.readonly: unknown key; did you mean `read_only`?"]
    );
}

/// What identifiers are, as messages say it.
const IDENTIFIER: &str = "1 to 128 letters, digits, `.`, `_` and `-`, with a letter or digit at both ends and no `..`";

#[test]
fn each_fault_names_the_file_the_table_and_the_field() {
    for (text, fault) in [
        ("schema_version = true", "schema_version: must be an integer, such as 1; it is a boolean"),
        ("schema_version = \"1\"", "schema_version: must be an integer, such as 1; it is a string"),
        ("schema_version = 1.0", "schema_version: must be an integer, such as 1; it is a float"),
        (
            "schema_version = 2\nhots = 1",
            "schema_version: found 2, expected 1: this program reads no other form of the file",
        ),
        ("[tool.demo]\nport = 1", "tool: is no table of this file; a server's settings stand in [server.NAME]"),
        (
            "[observability]\nlog_level = \"x\"",
            "observability: is no table of this file; log_level, log_format and log_file are keys beside the others",
        ),
        ("server = 1", "server: must be a table"),
        ("[server]\nother = 1", "server.other: must be a table"),
        ("[server]\ndemo = 1", "server.demo: must be a table"),
        ("[server.demo]\nprofiles = 1", "server.demo.profiles: must be a table"),
        ("[server.demo.profiles]\nlab = 1", "server.demo.profiles.lab: must be a table"),
        ("llm = 1", "llm: must be a table"),
        ("[server.demo]\nllm = 1", "server.demo.llm: must be a table"),
        ("[server.demo.profiles.lab]\nsecrets = 1", "server.demo.profiles.lab.secrets: must be a table"),
        (
            "[server.demo.secrets.k]\ntoken = 1",
            "server.demo.secrets.k: unknown fields: token; a secret is declared by name, env_vars, disabled",
        ),
        ("[secrets.k]\ndisabled = 1", "secrets.k.disabled: must be true or false"),
        ("[secert.k]", "secert: unknown key; did you mean `secrets`?"),
        ("[server.demo]\nport = 1979-05-27", "server.demo.port: must be text, a number, a boolean, or a list of texts"),
    ] {
        assert_eq!(problems(text), [format!("c.toml: {fault}")], "{text}");
    }
}

#[test]
fn a_name_that_no_server_can_have_is_a_fault() {
    for name in ["", "-leading", "trailing-", "two..dots", &"a".repeat(129)] {
        let place = super::toml_key(name);
        let found = problems(&format!("[server.\"{name}\"]"));
        assert_eq!(found, [format!("c.toml: server.{place}: the name of a server must be {IDENTIFIER}")]);
    }
}

#[test]
fn the_first_version_may_be_said_or_left_out() {
    assert_eq!(problems("schema_version = 1\nport = 1"), [""; 0]);
    assert_eq!(problems("port = 1"), [""; 0]);
}

#[test]
fn faults_of_all_tables_are_reported_together() {
    let text = "schema_version = \"1\"\nhots = 1\n[server.demo]\nport = 1979-05-27\n[server.demo.profiles]\nlab = 1";
    assert_eq!(problems(text).len(), 4);
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let problems = ConfigFile::read(folder.path(), false, &SERVER).unwrap_err();
    assert_eq!(problems[0].place, folder.path().display().to_string());
    assert!(problems[0].message.starts_with("cannot be read: "), "{}", problems[0]);
}

#[test]
fn a_shared_secret_keeps_its_place_in_the_keyring_whatever_a_server_changes() {
    let text = "[secrets.k]\nname = \"acc\"\nenv_vars = [\"A\"]\n[server.demo.secrets.k]\nenv_vars = [\"B\"]\n\
                [server.demo.secrets.own]\n";
    let file = ConfigFile::parse(text, Path::new("c.toml"), &SERVER).unwrap();
    let (declaration, is_shared) = file.declaration("k", None).unwrap();
    assert_eq!((declaration.account.as_deref(), is_shared), (Some("acc"), true));
    assert_eq!(declaration.env_vars, Some(vec!["B".to_owned()]));
    assert!(!file.declaration("own", None).unwrap().1);
    assert_eq!(file.declaration("absent", None), None);
}

#[test]
fn a_profile_says_the_last_word_in_tables_and_secrets_too() {
    let text = "[llm]\nbackend = \"a\"\n[server.demo.llm]\nbackend = \"b\"\n\
                [server.demo.profiles.lab.llm]\nbackend = \"c\"\n[server.demo.profiles.lab.secrets.k]\nname = \"lab\"\n";
    let file = ConfigFile::parse(text, Path::new("c.toml"), &SERVER).unwrap();
    let backend = |profile| file.tables(profile).get("llm").unwrap()["backend"].clone();
    assert_eq!((backend(None), backend(Some("lab"))), ("b".into(), "c".into()));
    assert_eq!(file.declared_secrets(None).len(), 0);
    assert_eq!(file.declaration("k", Some("lab")).unwrap().0.account.as_deref(), Some("lab"));
}

#[test]
fn a_syntax_error_names_line_and_column_and_shows_no_value() {
    let found = problems("port = 1\napi_key = \"s3cr3t");
    assert!(found[0].starts_with("c.toml:2:"), "{found:?}");
    assert!(!found[0].contains("s3cr3t"), "{found:?}");
}

#[test]
fn tables_of_other_servers_and_parts_are_left_alone() {
    let text = "[server.other]\nwhatever = 1\n[llm]\nbackend = \"x\"\n";
    assert_eq!(problems(text), [""; 0]);
}

#[test]
fn a_table_with_nearly_this_servers_name_is_pointed_out() {
    let lookalike = |text| ConfigFile::parse(text, Path::new("c.toml"), &SERVER).unwrap().lookalike;
    let found = lookalike("[server.dmeo]\nport = 1\n").unwrap();
    assert_eq!(found, "c.toml: [server.dmeo] is not this server's table; was [server.demo] meant?");
    assert_eq!(lookalike("[server.dmeo]\n[server.demo]\n"), None);
    assert_eq!(lookalike("[server.other]\n"), None);
}

#[test]
fn the_other_keys_of_a_faulty_file_are_read() {
    let file = ConfigFile::parse("hots = 1\nport = \"x\"", Path::new("c.toml"), &SERVER).unwrap();
    assert_eq!((file.problems.len(), file.find("port", None).unwrap().0.as_str()), (1, "x"));
}

#[test]
fn an_unknown_profile_lists_the_known_ones() {
    let text = "[server.demo.profiles.lab]\nport = 1\n[server.demo.profiles.home]\nport = 2\n";
    let file = ConfigFile::parse(text, Path::new("c.toml"), &SERVER).unwrap();
    let problem = file.check_profile(Some("lap")).unwrap_err();
    assert_eq!(problem.message, "there is no profile `lap`; known: home, lab");
}

#[test]
fn a_list_of_names_is_an_array() {
    let text = "deny = [\"a\", \"b\"]";
    let file = ConfigFile::parse(text, Path::new("c.toml"), &SERVER).unwrap();
    assert_eq!(file.find("deny", None).unwrap().0, "a,b");
}

#[test]
fn a_missing_file_is_empty_unless_it_was_named() {
    let missing = Path::new("/nonexistent/config.toml");
    assert!(ConfigFile::read(missing, false, &SERVER).is_ok());
    assert!(ConfigFile::read(missing, true, &SERVER).is_err());
}

#[test]
fn what_is_far_longer_than_any_name_is_not_compared() {
    let known = "n".repeat(LONGEST_MEANT);
    assert_eq!(nearest(&known, [known.as_str()].into_iter()), Some(known.as_str()));
    assert_eq!(nearest(&format!("{known}n"), [known.as_str()].into_iter()), None);
}
