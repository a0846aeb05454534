//! The commands as people run them: in a folder, from the shell.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const DOCUMENT: &str = "openapi: 3.1.0
info: {title: Things, version: '1'}
servers: [{url: 'http://127.0.0.1:9/v1'}]
paths:
  /things:
    get: {operationId: listThings, description: List the things that are stored.}
    post:
      operationId: createThing
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {name: {type: string}}}}}}
";

/// An empty project beside a document.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("specs")).unwrap();
    fs::write(folder.path().join("Cargo.toml"), "[workspace]\nmembers = [\n    \"xtask\",\n]\n").unwrap();
    fs::write(folder.path().join("things.yaml"), DOCUMENT).unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    called_by(folder, None, arguments)
}

/// With `package` as `cargo run` says whose program it starts; without it as people start an installed program.
fn called_by(folder: &Path, package: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.current_dir(folder).args(arguments).env_remove("CARGO_PKG_NAME");
    package.into_iter().for_each(|package| {
        command.env("CARGO_PKG_NAME", package);
    });
    command.output().unwrap()
}

fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn made() -> tempfile::TempDir {
    let folder = project();
    succeed(folder.path(), &["new", "things", "--document", "things.yaml"]);
    folder
}

#[test]
fn new_writes_settings_crates_and_members() {
    let folder = made();
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    assert!(read("specs/things/server.yaml").contains("first server, http://127.0.0.1:9/v1"));
    assert!(read("generated/things-tools/src/lib.rs").contains("default_base_url: \"http://127.0.0.1:9/v1\""));
    assert!(read("specs/things/source.toml").contains("source = \"things.yaml\""));
    assert!(read("generated/things-tools/src/general.rs").contains("pub struct CreateThing"));
    assert!(read("generated/things-server/src/main.rs").contains("things_tools::SERVER"));
    let members = "members = [\n    \"generated/things-server\",\n    \"generated/things-tools\",\n    \"xtask\",\n]";
    assert!(read("Cargo.toml").contains(members), "{}", read("Cargo.toml"));
}

#[test]
fn new_tells_what_the_copy_of_the_document_does_not_show_any_more() {
    let folder = project();
    fs::write(folder.path().join("things.yaml"), format!("{DOCUMENT}x-a: 1\nx-a: 2\n")).unwrap();
    let output = run(folder.path(), &["new", "things", "--document", "things.yaml"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("duplicate-key"), "{said}");
}

#[test]
fn what_new_wrote_is_up_to_date() {
    succeed(made().path(), &["regenerate", "--check"]);
}

#[test]
fn new_does_not_touch_a_server_that_is_there() {
    let folder = made();
    let output = run(folder.path(), &["new", "things", "--document", "things.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("specs/things/server.yaml is there already"));
}

#[test]
fn a_page_that_is_no_document_is_told_once() {
    let folder = project();
    fs::write(folder.path().join("login.yaml"), "<!doctype html><title>Login</title>").unwrap();
    let output = run(folder.path(), &["lint", "login.yaml"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("this file is a web page") && text.contains("1 error, 0 warnings"), "{text}");
}

#[test]
fn a_folder_is_no_document() {
    let folder = project();
    let output = run(folder.path(), &["new", "bad", "--document", "."]);
    assert_eq!(output.status.code(), Some(2));
    let told = run(folder.path(), &["lint", "specs"]);
    let text = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(!told.status.success() && text.contains("is a folder; name the document in it"), "{text}");
}

#[test]
fn a_document_that_cannot_be_read_leaves_nothing_behind() {
    let folder = project();
    fs::write(folder.path().join("bad.yaml"), "openapi: 3.1.0\npaths: {/a: {\n").unwrap();
    let output = run(folder.path(), &["new", "bad", "--document", "bad.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--> bad.yaml:"));
    assert!(!folder.path().join("specs/bad").exists());
}

#[test]
fn a_revision_before_the_first_commit_is_told_with_what_to_do() {
    let folder = made();
    assert!(Command::new("git").current_dir(folder.path()).args(["init", "-q"]).status().unwrap().success());
    let output = run(folder.path(), &["diff", "HEAD:things", "things"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("`HEAD`: commit first, or name a folder"), "{said}");
}

#[test]
fn diff_shows_what_a_newer_document_would_break() {
    let folder = made();
    assert!(succeed(folder.path(), &["diff", "things", "things.yaml"]).contains("Nothing changed."));
    let newer = DOCUMENT.replace("properties: {name", "required: [name], properties: {name");
    fs::write(folder.path().join("newer.yaml"), newer).unwrap();
    let output = run(folder.path(), &["diff", "things", "newer.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("- `create_thing`: `name` is required now"), "{text}");
    let json = run(folder.path(), &["diff", "generated/things-tools", "newer.yaml", "--format", "json"]).stdout;
    assert_eq!(serde_json::from_slice::<Value>(&json).unwrap()["breaking"], true);
}

#[test]
fn lint_reads_a_document_in_any_folder() {
    let folder = project();
    fs::create_dir(folder.path().join("My docs_")).unwrap();
    fs::write(folder.path().join("My docs_/things.yaml"), DOCUMENT).unwrap();
    assert!(succeed(folder.path(), &["lint", "My docs_/things.yaml"]).contains("--> My docs_/things.yaml:7:5"));
}

#[test]
fn lint_reads_documents_and_servers_and_fails_when_strict() {
    let folder = made();
    let text = succeed(folder.path(), &["lint", "things.yaml"]);
    assert!(text.contains("warning[thin-description]: `create_thing` has no description"), "{text}");
    assert!(text.contains("--> things.yaml:7:5"), "{text}");
    let sarif: Value = serde_json::from_str(&succeed(folder.path(), &["lint", "things", "--format", "sarif"])).unwrap();
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "specs/things/openapi.yaml");
    assert_eq!(run(folder.path(), &["lint", "things", "--strict"]).status.code(), Some(1));
}

#[test]
fn regenerate_says_what_it_did_and_a_dry_run_what_it_would_do() {
    let folder = made();
    let stderr = |arguments: &[&str]| String::from_utf8(run(folder.path(), arguments).stderr).unwrap();
    assert!(stderr(&["regenerate"]).contains("0 written, 0 removed"));
    let settings = folder.path().join("specs/things/server.yaml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, format!("{text}read_only: true\n")).unwrap();
    let dry = stderr(&["regenerate", "--dry-run"]);
    assert!(dry.contains("to be removed: generated/things-tools/schemas/create_thing.json"), "{dry}");
    assert!(dry.contains("to be written: generated/things-tools/catalog.json"), "{dry}");
    assert!(dry.contains(" to be written, ") && !dry.contains("error"), "{dry}");
    let done = stderr(&["regenerate"]);
    assert!(done.contains(" written, ") && !done.contains(" 0 removed"), "{done}");
    assert!(!folder.path().join("generated/things-tools/schemas/create_thing.json").exists());
}

#[test]
fn a_tool_that_is_renamed_is_looked_for_in_texts() {
    let folder = made();
    let settings = folder.path().join("specs/things/server.yaml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, format!("{text}  Begin with list_things.\n")).unwrap();
    let document = folder.path().join("specs/things/openapi.yaml");
    let text = fs::read_to_string(&document).unwrap();
    fs::write(&document, text.replace("listThings", "findThings")).unwrap();
    let settings_text = fs::read_to_string(&settings).unwrap().replace("health: [list_things]", "health: []");
    fs::write(&settings, settings_text).unwrap();
    let output = run(folder.path(), &["regenerate"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("its name is `find_things` now"), "{stderr}");
}

/// Whether a document that refers to `other.yaml` beside it, which `make` has made, brings that file in when it is
/// imported; where not, this was told.
#[cfg(unix)]
fn is_brought_in(make: impl FnOnce(&Path)) -> bool {
    let folder = project();
    let path = folder.path();
    fs::create_dir(path.join("api")).unwrap();
    let text = format!("{DOCUMENT}components: {{schemas: {{S: {{$ref: 'other.yaml'}}}}}}\n");
    fs::write(path.join("api/things.yaml"), text).unwrap();
    fs::write(path.join("secret.yaml"), "type: string\n").unwrap();
    make(&path.join("api/other.yaml"));
    let output = run(path, &["import", "things", "api/things.yaml"]);
    assert!(output.status.success());
    let vendored = fs::read_to_string(path.join("specs/things/openapi.yaml")).unwrap();
    let is_told = String::from_utf8_lossy(&output.stderr).contains("warning[missing-file]: `other.yaml`");
    let is_in = vendored.contains("S:\n      type: string");
    assert_ne!(is_in, is_told, "{vendored}");
    is_in
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_of_the_documents_folder_is_not_read() {
    let link = |to: &'static str| move |at: &Path| std::os::unix::fs::symlink(to, at).unwrap();
    assert!(!is_brought_in(link("../secret.yaml")));
    let inside = |at: &Path| {
        fs::write(at.with_file_name("real.yaml"), "type: string\n").unwrap();
        std::os::unix::fs::symlink("real.yaml", at).unwrap();
    };
    assert!(is_brought_in(inside));
}

#[cfg(unix)]
#[test]
fn pipes_that_a_document_refers_to_are_not_read() {
    let pipe = |at: &Path| assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
    assert!(!is_brought_in(pipe));
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn init_makes_a_project_in_an_empty_folder() {
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), &["init"]);
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    let ours = format!("toolwright-server = \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(read("Cargo.toml").contains(&ours), "{}", read("Cargo.toml"));
    assert_eq!(read(".gitignore"), "/target\n");
    fs::write(folder.path().join("things.yaml"), DOCUMENT).unwrap();
    succeed(folder.path(), &["new", "things", "--document", "things.yaml"]);
    let output = run(folder.path(), &["regenerate", "--check"]);
    assert!(output.status.success() && !stderr(&output).contains("warning:"), "{}", stderr(&output));
}

#[test]
fn init_changes_nothing_in_a_project_that_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), &["init"]);
    fs::write(folder.path().join(".gitignore"), "mine\n").unwrap();
    let before = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
    assert!(stderr(&run(folder.path(), &["init"])).contains("everything is there already"));
    assert_eq!(fs::read_to_string(folder.path().join("Cargo.toml")).unwrap(), before);
    assert_eq!(fs::read_to_string(folder.path().join(".gitignore")).unwrap(), "mine\n");
}

#[test]
fn init_refuses_a_checkout_that_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["init", "--path", "nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("nowhere is no checkout of Toolwright"), "{}", stderr(&output));
    assert!(!folder.path().join("Cargo.toml").exists());
}

#[test]
fn without_a_project_the_way_to_one_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["regenerate"]);
    assert!(stderr(&output).contains("make one with `toolwright init`"), "{}", stderr(&output));
}

#[test]
fn crates_that_the_workspace_lacks_are_missed_by_regenerate() {
    let text = stderr(&run(made().path(), &["regenerate"]));
    assert!(text.contains("warning: Cargo.toml needs [workspace.lints]"), "{text}");
    assert!(text.contains("`toolwright init` puts it right"), "{text}");
}

#[test]
fn the_program_names_itself_as_it_was_called() {
    let folder = tempfile::tempdir().unwrap();
    let usage = |package| String::from_utf8(called_by(folder.path(), package, &["show", "--help"]).stdout).unwrap();
    assert!(usage(None).contains("Usage: toolwright show"), "{}", usage(None));
    assert!(usage(Some("toolwright")).contains("Usage: cargo xtask show"));
    assert!(usage(Some("somebody-else")).contains("Usage: toolwright show"));
}

#[test]
fn what_is_written_does_not_depend_on_how_the_program_was_called() {
    let folder = made();
    assert!(called_by(folder.path(), Some("toolwright"), &["regenerate", "--check"]).status.success());
}

#[test]
fn commands_of_the_repository_say_where_they_run() {
    let folder = made();
    for command in ["bench", "demo", "mock"] {
        let output = run(folder.path(), &[command]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("Toolwright's own repository"), "{}", stderr(&output));
    }
}

/// A server that another version of the program wrote.
fn written_by(version: &str) -> tempfile::TempDir {
    let folder = made();
    let package = folder.path().join("generated/things-tools");
    let text = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    let (ours, theirs) =
        (format!("generator = \"{}\"", env!("CARGO_PKG_VERSION")), format!("generator = \"{version}\""));
    assert!(text.contains(&ours));
    fs::write(package.join("Cargo.toml"), text.replace(&ours, &theirs)).unwrap();
    folder
}

#[test]
fn crates_of_an_older_version_are_written_anew_and_that_is_said() {
    let folder = written_by("0.0.1");
    let output = run(folder.path(), &["regenerate", "--force"]);
    assert!(output.status.success());
    let text = stderr(&output);
    assert!(text.contains("generated/things-tools was written by toolwright 0.0.1, this is"), "{text}");
    assert!(text.contains("`toolwright diff HEAD:things things`"), "{text}");
    assert!(!stderr(&run(folder.path(), &["regenerate"])).contains("was written by"));
}

#[test]
fn crates_of_a_newer_version_are_not_overwritten_unsaid() {
    let folder = written_by("999.0.0");
    for arguments in [&["regenerate"][..], &["regenerate", "--check"]] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("`cargo install --locked toolwright@999.0.0`"), "{}", stderr(&output));
    }
    assert!(run(folder.path(), &["regenerate", "--force"]).status.success());
    assert!(run(folder.path(), &["regenerate", "--check"]).status.success());
}

#[test]
fn new_tool_starts_a_server_of_tool_files() {
    let folder = project();
    succeed(folder.path(), &["new-tool", "desk", "get_note"]);
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    let file = read("specs/desk/tools/get_note.yaml");
    assert!(file.starts_with("# yaml-language-server: $schema=../../../docs/schema/tool.schema.json\n"), "{file}");
    assert!(read("docs/schema/tool.schema.json").contains("\"native\""));
    assert!(read("generated/desk-tools/src/general.rs").contains("#[http(get = \"/things/{id}\""));
    assert!(read("Cargo.toml").contains("\"generated/desk-server\""));
    succeed(folder.path(), &["regenerate", "--check"]);
}

#[test]
fn new_tool_writes_nothing_where_every_server_has_a_tool_of_the_name() {
    let folder = project();
    let output = run(folder.path(), &["new-tool", "desk", "server_health"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("every server has a tool `server_health`"), "{said}");
    assert!(!folder.path().join("specs/desk").exists());
}

#[test]
fn new_tool_adds_to_a_server_of_a_document() {
    let folder = made();
    succeed(folder.path(), &["new-tool", "things", "get_note"]);
    let catalog = fs::read_to_string(folder.path().join("generated/things-tools/catalog.json")).unwrap();
    assert!(catalog.contains("\"get_note\"") && catalog.contains("\"create_thing\""), "{catalog}");
    let output = run(folder.path(), &["new-tool", "things", "get_note"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("get_note.yaml is there already"));
}

#[test]
fn a_native_tool_has_its_crate_and_a_second_one_leaves_it_alone() {
    let folder = project();
    succeed(folder.path(), &["new-tool", "desk", "count_words", "--native"]);
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    let handlers = read("specs/desk/native/src/lib.rs");
    assert!(handlers.contains("async fn count_words(&self, input: CountWords, _context: &Context)"), "{handlers}");
    assert!(read("generated/desk-server/src/main.rs").contains("desk_native::handlers()"));
    assert!(read("generated/desk-server/Cargo.toml").contains("desk-native = { path = \"../../specs/desk/native\" }"));
    assert!(read("Cargo.toml").contains("\"specs/desk/native\""));
    let output = run(folder.path(), &["new-tool", "desk", "count_lines", "--native"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("add this method to `impl Handlers`"));
    assert_eq!(read("specs/desk/native/src/lib.rs"), handlers);
}

#[test]
fn tools_that_ask_a_model_or_run_a_command_start_complete_and_link_what_they_need() {
    let folder = project();
    succeed(folder.path(), &["new-tool", "desk", "sum_up", "--llm"]);
    succeed(folder.path(), &["new-tool", "desk", "find_notes", "--sandbox"]);
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    assert!(read("specs/desk/tools/sum_up.yaml").contains("model: { setting: sum_up_model }"));
    assert!(
        read("specs/desk/tools/find_notes.yaml").contains("roots: [{ setting: find_notes_dir, access: read_only }]")
    );
    assert!(!read("specs/desk/server.yaml").contains("upstream"), "neither calls an API");
    let main = read("generated/desk-server/src/main.rs");
    assert!(main.contains("LlmExecutor::new()") && main.contains("SandboxExecutor::new()"), "{main}");
    let manifest = read("generated/desk-server/Cargo.toml");
    assert!(manifest.contains("toolwright-llm.workspace") && manifest.contains("toolwright-sandbox.workspace"));
    succeed(folder.path(), &["regenerate", "--check"]);
    let both = run(folder.path(), &["new-tool", "desk", "other", "--llm", "--native"]);
    assert!(String::from_utf8_lossy(&both.stderr).contains("cannot be used with"), "a tool has one executor");
}

#[test]
fn tools_of_several_requests_and_of_a_filter_start_complete() {
    let folder = project();
    succeed(folder.path(), &["new-tool", "desk", "mean_of", "--expression"]);
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    assert!(!read("specs/desk/server.yaml").contains("upstream"), "a filter calls nothing");
    succeed(folder.path(), &["new-tool", "things", "owner_of", "--steps"]);
    assert!(read("specs/things/server.yaml").contains("upstream"), "requests go to an API");
    // A server that wants texts everywhere takes what every kind begins with.
    let strict = read("specs/things/server.yaml") + "require_descriptions: true\n";
    fs::write(folder.path().join("specs/things/server.yaml"), strict).unwrap();
    for kind in ["--steps", "--expression", "--native", "--llm", "--sandbox"] {
        succeed(folder.path(), &["new-tool", "things", &format!("a_{}", &kind[2..]), kind]);
    }
    for tool in ["\"mean_of\"", "\"owner_of\""] {
        let catalogs = ["desk", "things"].map(|server| read(&format!("generated/{server}-tools/catalog.json")));
        assert!(catalogs.iter().any(|catalog| catalog.contains(tool)), "{tool}");
    }
    succeed(folder.path(), &["regenerate", "--check"]);
}

/// Answers every request with this text, on loopback, for as long as the test runs.
fn address_of(text: &'static str) -> String {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", text.len());
            let _ = stream.write_all(format!("{head}{text}").as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn what_stands_at_other_addresses_is_fetched_only_on_request_and_pinned() {
    let folder = project();
    let url = address_of("type: string\nmaxLength: 77\n");
    let document = DOCUMENT.replace("{type: string}", &format!("{{$ref: '{url}/name.yaml'}}"));
    fs::write(folder.path().join("things.yaml"), document).unwrap();
    let read = |path: &str| fs::read_to_string(folder.path().join("specs/things").join(path)).unwrap();

    let plain = run(folder.path(), &["import", "things", "things.yaml"]);
    assert!(stderr(&plain).contains("leads outside of what is read"), "{}", stderr(&plain));
    assert!(stderr(&plain).contains("--remote-references"), "{}", stderr(&plain));
    assert!(!read("openapi.yaml").contains("maxLength: 77"));

    let gone = DOCUMENT.replace("{type: string}", "{$ref: 'http://127.0.0.1:9/name.yaml'}");
    fs::write(folder.path().join("gone.yaml"), gone).unwrap();
    let tried = stderr(&run(folder.path(), &["import", "things", "gone.yaml", "--remote-references"]));
    assert!(tried.contains("`http://127.0.0.1:9/name.yaml` was not brought in: "), "{tried}");
    assert!(tried.contains("cannot be fetched: ") && tried.contains("--> gone.yaml:"), "{tried}");

    succeed(folder.path(), &["import", "things", "things.yaml", "--remote-references"]);
    assert!(read("openapi.yaml").contains("maxLength: 77"));
    let source = read("source.toml");
    assert!(source.contains(&format!("[remote]\n\"{url}/name.yaml\" = \"")), "{source}");
}
