//! Tools that ask a model or run a command: what their files become, and what their authors are told.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Value, json};
use support::{arguments, findings, generated, json, text, tool_files};

const ASK: &str = "description: Say what a text is about.
input:
  text: {type: string, description: The text.}
  language?: {type: string, enum: [en, ko], description: Language of the answer.}
output: {type: integer}
settings:
  model: {description: Model that is asked.}
llm:
  model: {setting: model}
  system: You answer briefly.
  prompt: 'In {$inputs.language}: {$inputs.text}'
  max_output_tokens: 50
  effort: low
";

const FIND: &str = "description: Find lines in the notes.
hints: {risk: read-only}
input:
  what: {type: string, description: Text to find.}
  most?: {type: integer, description: Most lines.}
settings:
  folder: {description: Folder of notes.}
sandbox:
  command: [grep, [-m, '{$inputs.most}'], --, '{$inputs.what}', .]
  roots: [{setting: folder}, {path: /srv/notes, access: read_only}]
  limits: {timeout_seconds: 5}
  exit_codes: [0, 1]
";

fn files(tools: &[(&str, &str)]) -> toolwright_generator::load::Files {
    tool_files(tools, "")
}

#[test]
fn tools_that_make_no_request_are_not_one_request_under_two_names() {
    let mut sink = toolwright_generator::diagnostic::Sink::new();
    toolwright_generator::doctor::examine(&files(&[("ask", ASK), ("find", FIND)]), "specs/t", &mut sink);
    assert!(!sink.to_string().contains("ambiguous-path"), "{sink}");
}

/// What is said of a file with one part of it replaced.
fn told(file: &str, replaced: &str, by: &str) -> String {
    assert!(file.contains(replaced), "the test replaces nothing");
    findings(&files(&[("tool", &file.replacen(replaced, by, 1))]))
}

fn ask(replaced: &str, by: &str) -> String {
    told(ASK, replaced, by)
}

fn find(replaced: &str, by: &str) -> String {
    told(FIND, replaced, by)
}

/// That a finding has a code, a line of the file and a remedy.
#[track_caller]
fn assert_told(said: &str, code: &str, line: &str, message: &str, help: &str) {
    let (message, help) = (said.contains(message), said.contains(&format!("help: {help}")));
    assert!(said.contains(&format!("error[{code}]")) && message && help, "{said}");
    assert!(said.contains(&format!("tools/tool.yaml:{line}:")), "{said}");
}

#[test]
fn good_files_have_nothing_to_report() {
    assert_eq!(findings(&files(&[("ask", ASK), ("find", FIND)])), "");
}

#[test]
fn a_question_becomes_a_plan_in_which_listed_inputs_are_plain() {
    let (generated, sink) = generated(&files(&[("ask", ASK)]));
    let expected = json!({
        "model": {"setting": "model"},
        "system": "You answer briefly.",
        "prompt": "In {$inputs.language}: {$inputs.text}",
        "plain": ["language"],
        "max_output_tokens": 50,
        "effort": "low",
    });
    assert_eq!(json(&generated, "schemas/ask.llm.json"), expected, "{sink}");
    assert!(text(&generated, "src/general.rs").contains("#[llm(\"schemas/ask.llm.json\")]"));
    assert_eq!(arguments(&generated, "ask")["text"]["in"], "input");
}

#[test]
fn a_command_becomes_a_plan_with_the_executors_own_shape_of_data() {
    let (generated, sink) = generated(&files(&[("find", FIND)]));
    let expected = json!({
        "limits": {"timeout_seconds": 5},
        "exit_codes": [0, 1],
        "roots": [{"setting": "folder", "access": "read_only"}, {"path": "/srv/notes", "access": "read_only"}],
        "command": ["grep", ["-m", "{$inputs.most}"], "--", "{$inputs.what}", "."],
    });
    assert_eq!(json(&generated, "schemas/find.sandbox.json"), expected, "{sink}");
    assert_eq!(json(&generated, "schemas/find.result.json")["properties"]["exit_code"]["type"], "integer");
}

#[test]
fn a_filter_over_the_outcome_is_no_part_of_the_plan() {
    let file = FIND.replace("  exit_codes", "  project: .stdout\n  exit_codes");
    let (generated, sink) = generated(&files(&[("find", &file)]));
    assert_eq!(json(&generated, "schemas/find.sandbox.json").get("project"), None, "{sink}");
    let source = text(&generated, "src/general.rs");
    assert!(source.contains("#[sandbox(\"schemas/find.sandbox.json\", project = \".stdout\")]"), "{source}");
    assert!(!support::file_names(&generated).iter().any(|name| name.ends_with("find.result.json")));
}

#[test]
fn a_server_links_the_executors_of_its_tools_and_no_others() {
    let server = |tools: &[(&str, &str)]| {
        let (generated, sink) = generated(&files(tools));
        assert!(!sink.has_errors(), "{sink}");
        let of = |name: &str| {
            let found = support::file_names(&generated).into_iter().find(|file| file.ends_with(name)).unwrap();
            String::from_utf8(generated.files.get(&found).unwrap().to_vec()).unwrap()
        };
        (of("-server/src/main.rs"), of("-server/Cargo.toml"))
    };
    let (main, manifest) = server(&[("ask", ASK)]);
    assert!(main.contains(".executor(toolwright_llm::LlmExecutor::new())"), "{main}");
    assert!(manifest.contains("toolwright-llm.workspace") && !manifest.contains("sandbox"), "{manifest}");
    let (main, manifest) = server(&[("find", FIND)]);
    let body = main.split("fn main()").nth(1).unwrap();
    assert!(
        body.trim_start_matches(" -> ExitCode {")
            .trim_start()
            .starts_with("toolwright_sandbox::run_support_if_asked();"),
        "{main}"
    );
    assert!(manifest.contains("toolwright-sandbox.workspace") && !manifest.contains("llm"), "{manifest}");
    let (main, manifest) = server(&[("sum", "description: Add.\ninput: {a: {type: integer}}\nexpression: .a\n")]);
    assert!(!main.contains("executor(") && !manifest.contains("toolwright-sandbox"), "{main}");
}

#[test]
fn rows_name_the_plan_as_structs_do() {
    let mut many = files(&[("ask", ASK)]);
    let server = "server: t\ntitle: T\ndescription: d\nstructs: []\n";
    many.insert("specs/t/server.yaml", server);
    let (generated, sink) = generated(&many);
    let sources: String = support::file_names(&generated)
        .iter()
        .filter(|name| name.ends_with(".rs"))
        .map(|name| String::from_utf8(generated.files.get(name).unwrap().to_vec()).unwrap())
        .collect();
    assert!(sources.contains("LinkedBinding") || sources.contains("#[llm("), "{sink}");
}

#[test]
fn what_a_question_does_follows_from_its_kind() {
    let (generated, _) = generated(&files(&[("ask", ASK)]));
    let tools = json(&generated, "catalog.json")["tools"].clone();
    let tool: &Value = &tools[0];
    assert_eq!((&tool["risk"], &tool["annotations"]["openWorldHint"]), (&json!("compute"), &json!(true)), "{tool}");
    let said = ask("input:", "hints: {risk: write}\ninput:");
    assert_told(&said, "contradicting-hints", "2", "a question to a model that is declared `write`", "remove the risk");
}

#[test]
fn model_and_prompt_must_be_there() {
    assert_told(&ask("  model: {setting: model}\n", ""), "missing-key", "8", "`model` is missing", "add `model:");
    let said = ask("  prompt: 'In {$inputs.language}: {$inputs.text}'\n", "");
    assert_told(&said, "missing-key", "8", "`prompt` is missing", "add `prompt:");
}

#[test]
fn a_model_is_an_id_or_a_declared_setting() {
    assert_eq!(ask("model: {setting: model}", "model: qwen3-4b"), "");
    let said = ask("{setting: model}", "{setting: modl}");
    assert_told(&said, "unknown-name", "9", "there is no setting `modl`", "did you mean `model`?");
    assert_told(&ask("{setting: model}", "[a]"), "wrong-value", "9", "the id of a model", "write the id of a model");
}

#[test]
fn a_prompt_names_inputs_that_there_are_and_all_of_them() {
    let said = ask("{$inputs.text}", "{$inputs.txt}");
    assert_told(&said, "unknown-name", "11", "there is no input `txt`", "did you mean `text`?");
    let said = ask(" {$inputs.text}", "");
    assert_told(&said, "unused-input", "3", "nothing uses the input `text`", "write `{$inputs.text}` in `prompt`");
    let said = ask("{$inputs.text}", "{text}");
    assert_told(&said, "bad-expression", "11", "`{text}` is text here", "write `{$inputs.text}`");
    assert!(!said.contains("unused-input"), "{said}");
    let said = ask("{$inputs.text}", "{$inputs.text");
    assert_told(&said, "bad-expression", "11", "`{$inputs.text` has no end", "write `{$inputs.text}`");
    assert!(!said.contains("unused-input"), "{said}");
    let said = find("{$inputs.what}", "{$inputs.what");
    assert_told(&said, "bad-expression", "9", "`{$inputs.what` has no end", "write `{$inputs.what}`");
    let said = ask("{$inputs.text}", "{$steps.a.outputs.b} {$inputs.text}");
    assert_told(&said, "bad-expression", "11", "there are none", "write `{$inputs.name}`");
}

#[test]
fn no_input_stands_in_the_system_prompt() {
    let said = ask("You answer briefly.", "'Speak {$inputs.language}.'");
    assert_told(&said, "input-in-system", "10", "holds an input", "write it in `prompt`");
}

#[test]
fn words_and_numbers_of_a_question_are_checked() {
    assert_told(
        &ask("effort: low", "effort: lots"),
        "wrong-value",
        "13",
        "not one of none, minimal",
        "did you mean `low`?",
    );
    assert!(ask("max_output_tokens: 50", "max_output_tokens: 0").contains("from 1 to"), "zero tokens are no answer");
    assert_told(&ask("effort: low", "temprature: 0"), "unknown-key", "13", "unknown key `temprature`", "the keys are");
}

#[test]
fn a_command_says_what_it_may_do() {
    let said = find("hints: {risk: read-only}\n", "");
    assert_told(&said, "missing-key", "1", "nothing says what a call may do", "add `hints:");
    let said = find("{setting: folder}", "{setting: folder, access: read_write}");
    assert_told(
        &said,
        "contradicting-hints",
        "10",
        "that can write is declared `read-only`",
        "write `access: read_only`",
    );
}

#[test]
fn a_command_is_one_of_two_kinds() {
    let said = find("  roots:", "  shell: ls\n  roots:");
    assert_told(&said, "two-commands", "10", "both there", "remove one of the two");
    let said = find("  command: [grep, [-m, '{$inputs.most}'], --, '{$inputs.what}', .]\n", "");
    assert_told(&said, "missing-key", "8", "nothing says what is run", "add `command:");
}

#[test]
fn a_list_with_something_wrong_in_it_is_shown() {
    let said = find("[grep,", "[grep, 5,");
    assert_told(&said, "wrong-value", "9", "the program first, not [\"grep\",5,", "write a list of texts");
    let said = ask("model: {setting: model}", "model: ''");
    assert!(said.contains("`{setting: name}`, not an empty text"), "{said}");
}

#[test]
fn no_input_chooses_the_program() {
    for program in ["'{$inputs.what}'", "/usr/bin/grep", "''", "-x"] {
        let said = find("[grep,", &format!("[{program},"));
        assert_told(&said, "not-a-program", "9", "not the name of a program", "write the name without a folder");
    }
    let said = find("  roots:", "  tools: [/bin/sed]\n  roots:");
    assert_told(&said, "not-a-program", "10", "`/bin/sed`", "write it without a folder");
}

#[test]
fn a_command_names_inputs_that_there_are_and_all_of_them() {
    let said = find("{$inputs.what}", "{$inputs.waht}");
    assert_told(&said, "unknown-name", "9", "there is no input `waht`", "did you mean `what`?");
    let said = find("[-m, '{$inputs.most}'], ", "");
    assert_told(&said, "unused-input", "5", "nothing uses the input `most`", "write `{$inputs.most}` in `command`");
    assert_told(&find("'{$inputs.what}'", "[[a]]"), "wrong-value", "9", "a list of texts", "write a list of texts");
}

const COMMAND: &str = "command: [grep, [-m, '{$inputs.most}'], --, '{$inputs.what}', .]";

#[test]
fn inputs_of_a_shell_command_are_variables() {
    assert_eq!(find(COMMAND, r#"shell: 'grep -m "${most:-5}" -- "$what" . | sort'"#), "");
    for text in ["grep {what} $most", "grep {$inputs.what} $most"] {
        let said = find(COMMAND, &format!("shell: '{text}'"));
        assert_told(&said, "input-in-shell", "9", "a part of the command", "inputs are variables");
    }
    let said = find(COMMAND, "shell: 'grep \"$whatever\" $most'");
    assert_told(&said, "unused-input", "4", "nothing uses the input `what`", "write \"$what\"");
}

#[test]
fn what_a_shell_makes_of_an_input_is_told() {
    let of = |text: &str| find(COMMAND, &format!("shell: '{text}'"));
    let assert_warned = |text: &str, code: &str, help: &str| {
        let said = of(text);
        let told = said.contains(&format!("warning[{code}]")) && said.contains(&format!("help: {help}"));
        assert!(told && said.contains("tools/tool.yaml:9:"), "{said}");
    };
    assert_warned("grep $what $most", "unquoted-input", "write \"$what\"");
    assert_warned("\"$what\" $most", "input-as-program", "name the program");
    assert_warned("sh -c \"$what\" $most", "input-as-command", "hand it over as an argument");
    assert_eq!(of("grep -m $most -- \"$what\""), "", "a number is one word");
}

#[test]
fn folders_are_absolute_paths_or_settings() {
    let roots = "roots: [{setting: folder}, {path: /srv/notes, access: read_only}]";
    assert_told(&find(&format!("  {roots}\n"), ""), "missing-key", "8", "`roots` is missing", "add `roots:");
    let of = |root: &str| find(roots, &format!("roots: [{root}]"));
    assert_told(&of("{path: notes}"), "wrong-value", "10", "`notes` is no absolute path", "begin with `/`");
    assert_told(&of("{}"), "wrong-value", "10", "one of the two", "write `{ setting:");
    assert_told(&of("{path: /a, setting: folder}"), "wrong-value", "10", "one of the two", "write `{ setting:");
    assert_told(&of("{setting: foldr}"), "unknown-name", "10", "there is no setting `foldr`", "did you mean `folder`?");
    assert_told(&of("{path: /a, access: write}"), "wrong-value", "10", "not one of read_only", "");
    assert_told(&of(""), "wrong-value", "10", "there is no folder", "write `roots:");
}

#[test]
fn a_folder_that_is_too_wide_is_told() {
    let of = |path: &str| find("path: /srv/notes", &format!("path: {path}"));
    for path in ["/", "//", "/./", "/srv/../etc"] {
        assert_told(&of(path), "wide-root", "10", "", "");
    }
    let of_a_mac = ["", "Users", "ada"].join("/");
    for path in ["/home", "/home/ada/", &of_a_mac, "/root", "/etc"] {
        let said = of(path);
        assert!(said.contains("warning[wide-root]") && said.contains("help: name the one folder"), "{said}");
    }
    assert_eq!(of("/home/ada/notes"), "");
}

#[test]
fn denied_paths_stand_in_the_plan() {
    let file = FIND.replace("  exit_codes", "  denied_paths: [.git, /srv/notes/keys]\n  exit_codes");
    let (generated, sink) = generated(&files(&[("find", &file)]));
    let plan = json(&generated, "schemas/find.sandbox.json");
    assert_eq!(plan["denied_paths"], json!([".git", "/srv/notes/keys"]), "{sink}");
    for path in ["../a", "''", ".", "/"] {
        let said = find("exit_codes: [0, 1]", &format!("denied_paths: [{path}]"));
        assert_told(&said, "wrong-value", "12", "is no path inside a root", "write a path below the first root");
    }
}

#[test]
fn a_limit_that_is_hardly_one_is_told() {
    for limit in ["timeout_seconds: 7200", "output_bytes: 1073741824", "memory_bytes: 1024"] {
        let said = find("timeout_seconds: 5", limit);
        assert!(said.contains("warning[unusual-limit]") && said.contains("help: write a number from"), "{said}");
        assert!(said.contains("tools/tool.yaml:11:"), "{said}");
    }
    assert!(find("timeout_seconds: 5", "memory_bytes: 0").contains("error["), "no memory is no limit");
    assert_eq!(find("timeout_seconds: 5", "timeout_seconds: 3600"), "");
}

#[test]
fn limits_levels_codes_and_filters_are_checked() {
    let of = |key: &str| find("exit_codes: [0, 1]", key);
    assert_told(&find("timeout_seconds", "timeout"), "unknown-key", "11", "unknown key `timeout`", "");
    assert!(find("timeout_seconds: 5", "timeout_seconds: 0").contains("from 1 to 86400"));
    assert!(find("timeout_seconds: 5", "processes: 100001").contains("from 1 to 100000"));
    let said = find("timeout_seconds: 5", "address_space_bytes: 8589934592");
    assert!(!said.contains("error["), "8 GiB is no mistake: {said}");
    assert_told(&of("exit_codes: [256]"), "wrong-value", "12", "from 0 to 255, not [256]", "");
    assert_told(&of("minimum_level: none"), "wrong-value", "12", "not one of full, reduced", "");
    assert_told(&of("project: '.a['"), "bad-filter", "12", "`project` is no jq filter", "correct the filter");
    let said = find("sandbox:", "project: .a\nsandbox:");
    assert_told(&said, "misplaced-key", "8", "`project` belongs to a tool of `steps`", "write it below `sandbox`");
}

#[test]
fn an_executor_that_is_to_come_is_told_as_such() {
    let said = ask("llm:\n", "sql: {}\nllm:\n");
    assert_told(
        &said,
        "unknown-executor",
        "8",
        "there is no executor `sql`",
        "the executors are: http, native, expression, llm, sandbox, steps",
    );
}
