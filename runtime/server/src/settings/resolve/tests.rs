use super::*;
use crate::testing::SERVER;

fn resolved(
    variables: &[(&str, &str)],
    flags: &[(&'static str, &str)],
    file: &str,
    profile: Option<&str>,
) -> Result<Settings, Vec<Problem>> {
    let environment = Environment::fixed(variables.iter().copied());
    let flags = flags.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
    let file = ConfigFile::parse(file, Path::new("config.toml"), &SERVER).unwrap();
    resolve(&SERVER, &environment, &flags, &file, profile).map(|(settings, _)| settings)
}

#[test]
fn a_flag_beats_the_environment_beats_the_file() {
    let file = "port = 3\n[server.demo]\nworkers = 3\n";
    let settings = resolved(&[("MCP_PORT", "2"), ("MCP_WORKERS", "2")], &[("port", "1")], file, None).unwrap();
    assert_eq!((settings.port, settings.workers.0), (1, 2));
}

#[test]
fn an_address_that_no_document_names_is_required() {
    let server = toolwright_core::ServerSpec { default_base_url: "", ..SERVER };
    let resolved = |variables: &[(&str, &str)]| {
        let environment = Environment::fixed(variables.iter().copied());
        resolve(&server, &environment, &Flags::default(), &ConfigFile::default(), None)
    };
    let problems: Vec<String> = resolved(&[]).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "DEMO_BASE_URL: is required, because the API's document names no host: set it to the API's address, such as https://api.example.com"
        ]
    );
    let (settings, _) = resolved(&[("DEMO_BASE_URL", "http://h/v1")]).unwrap();
    assert_eq!(settings.base_url.as_str(), "http://h/v1");
}

#[test]
fn the_profile_beats_the_server_beats_the_shared_defaults() {
    let file = "port = 1\nworkers = 1\nmax_concurrency = 1\n[server.demo]\nport = 2\nworkers = 2\n\
                [server.demo.profiles.lab]\nport = 3\n";
    let settings = resolved(&[], &[], file, Some("lab")).unwrap();
    assert_eq!((settings.port, settings.workers.0, settings.max_concurrency.0), (3, 2, 1));
}

#[test]
fn all_problems_are_reported_at_once_with_their_places() {
    let problems = resolved(
        &[("DEMO_BASE_URL", "nowhere"), ("DEMO_REQUEST_TIMEOUT", "0")],
        &[("port", "99999")],
        "path = \"mcp\"",
        None,
    )
    .unwrap_err();
    let places: Vec<&str> = problems.iter().map(|problem| problem.place.as_str()).collect();
    assert_eq!(places, ["DEMO_BASE_URL", "DEMO_REQUEST_TIMEOUT", "--port", "config.toml: path"]);
}

#[test]
fn an_empty_variable_counts_as_unset_except_for_booleans() {
    let settings = resolved(&[("MCP_PORT", ""), ("DEMO_MCP_SAVE_BINARY", "")], &[], "", None).unwrap();
    assert_eq!((settings.port, settings.save_binary), (8000, false));
}

#[test]
fn a_faulty_secret_is_not_shown() {
    let problems = resolved(&[("MCP_AUTH_TOKEN", "s3cr3t with space")], &[], "", None).unwrap_err();
    assert!(!problems[0].to_string().contains("s3cr3t"), "{}", problems[0]);
}

#[test]
fn files_live_below_the_state_folder_with_inputs_and_outputs_apart() {
    let settings = resolved(&[("HOME", "/home/u")], &[], "", None).unwrap();
    assert_eq!(settings.output_dir, Path::new("/home/u/.local/state/toolwright/demo/output"));
    assert_eq!(settings.file_root, Path::new("/home/u/.local/state/toolwright/demo/files"));
}

#[test]
fn a_tilde_stands_for_the_home_folder_and_a_relative_path_is_refused() {
    let settings = resolved(&[("HOME", "/home/u"), ("DEMO_MCP_OUTPUT_DIR", "~/out")], &[], "", None).unwrap();
    assert_eq!(settings.output_dir, Path::new("/home/u/out"));
    for given in ["out", "./out", "~other/out"] {
        let problems = resolved(&[("HOME", "/home/u"), ("DEMO_MCP_OUTPUT_DIR", given)], &[], "", None).unwrap_err();
        assert!(problems[0].message.contains("absolute path"), "{given}: {}", problems[0]);
    }
}

#[test]
fn without_a_home_no_file_goes_to_the_current_folder() {
    let settings = resolved(&[("HOME", "")], &[], "", None).unwrap();
    assert_eq!(settings.output_dir, Path::new("/var/lib/toolwright/demo/output"));
}

#[test]
fn credentials_in_a_refused_url_are_not_shown() {
    for given in ["http://user:s3cr3t@h", "http://s3cr3t@h/p@q", "ftp://user:s3c@r3t@h:1/x"] {
        let problems = resolved(&[("DEMO_BASE_URL", given)], &[], "", None).unwrap_err();
        let said = problems[0].to_string();
        assert!(said.contains("://***@h") && !said.contains("s3c"), "{said}");
    }
}

#[test]
fn the_query_of_a_refused_url_is_not_shown() {
    for given in ["http://h/p?key=s3cr3t", "http://h?s3c", "http://u:s3c@h?a=s3c?b=s3c"] {
        let problems = resolved(&[("DEMO_BASE_URL", given)], &[], "", None).unwrap_err();
        let said = problems[0].to_string();
        assert!(said.contains("?***`") && !said.contains("s3c"), "{said}");
    }
}

#[test]
fn variables_that_nearly_name_a_setting_are_pointed_out() {
    let found = |name| lookalikes(&SERVER, &Environment::fixed([(name, "1")]));
    assert_eq!(found("DEMO_MCP_READONLY"), ["DEMO_MCP_READONLY is no setting; was DEMO_MCP_READ_ONLY meant?"]);
    assert_eq!(found("DEMO_MCP_FOO"), ["DEMO_MCP_FOO is no setting; `config table` lists all"]);
    for name in ["DEMO_THREADS", "DEMO_MCP_READ_ONLY", "OTHER_MCP_READONLY"] {
        assert_eq!(found(name), [""; 0], "{name}");
    }
}
