use super::plan::Plan;
use super::{outcome, words};
use crate::{End, Outcome, ProfileError};
use serde_json::{Map, Value, json};
use std::time::Duration;
use toolwright_core::{Code, Context};

fn plan(mut said: Value) -> Plan {
    said["roots"] = json!([{"setting": "folder", "access": "read_only"}, {"path": "/srv", "access": "read_write"}]);
    serde_json::from_value(said).unwrap()
}

fn inputs(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn arguments(command: Value, given: Value) -> Result<Vec<String>, String> {
    let plan = plan(json!({"command": command}));
    plan.command(&inputs(given)).map(|command| command.arguments).map_err(|error| error.message)
}

#[test]
fn inputs_stand_in_arguments_as_they_are() {
    let made = arguments(
        json!(["grep", "-e", "--", "{$inputs.what}", "{$inputs.folder}/x"]),
        json!({"what": "$(id) 'a'", "folder": 7}),
    );
    assert_eq!(made.unwrap(), ["grep", "-e", "--", "$(id) 'a'", "7/x"]);
}

#[test]
fn what_has_no_value_is_left_out_with_its_group() {
    let command = json!(["grep", ["-m", "{$inputs.most}"], "--glob={$inputs.glob}", "x"]);
    assert_eq!(arguments(command.clone(), json!({})).unwrap(), ["grep", "x"]);
    assert_eq!(arguments(command, json!({"most": 2, "glob": "*"})).unwrap(), ["grep", "-m", "2", "--glob=*", "x"]);
}

#[test]
fn a_list_becomes_as_many_arguments() {
    let given = json!({"files": ["a b", "c"]});
    assert_eq!(arguments(json!(["wc", "{$inputs.files}"]), given.clone()).unwrap(), ["wc", "a b", "c"]);
    assert_eq!(arguments(json!(["wc", "$inputs.files"]), given).unwrap(), ["wc", "a b", "c"]);
}

#[test]
fn a_text_that_would_pass_for_an_option_is_refused_unless_options_have_ended() {
    for given in [json!({"x": "-f/etc/passwd"}), json!({"x": ["a", "--file=b"]})] {
        let told = arguments(json!(["grep", "{$inputs.x}"]), given.clone()).unwrap_err();
        assert!(told.starts_with("`x` begins with `-`"), "{told}");
        assert!(arguments(json!(["grep", "--", "{$inputs.x}"]), given).is_ok());
    }
    assert!(arguments(json!(["head", "{$inputs.n}"]), json!({"n": -3})).is_ok(), "a number chooses nothing");
    assert!(
        arguments(json!(["grep", "-e{$inputs.x}"]), json!({"x": "-a"})).is_ok(),
        "the author has begun the argument"
    );
}

#[test]
fn inputs_of_a_shell_command_are_variables_and_no_part_of_its_text() {
    let plan = plan(json!({"shell": "grep -c \"$what\""}));
    let command = plan.command(&inputs(json!({"what": "\"; rm -r .", "most": 3, "none": null}))).unwrap();
    assert_eq!(command.script, "grep -c \"$what\"");
    let expected = [("what", "\"; rm -r ."), ("most", "3")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(command.variables, expected);
}

#[test]
fn a_command_may_run_its_own_program_and_a_shell_what_looks_at_files() {
    let context = Context::alone(Duration::from_secs(1), [("folder", "/data")]);
    let profile = plan(json!({"command": ["wc", "-w"], "optional_tools": ["rg"]})).profile(&context).unwrap();
    assert_eq!((profile.tools, profile.optional_tools), (vec!["wc".to_owned()], vec!["rg".to_owned()]));
    assert_eq!(profile.roots[0].path.to_str(), Some("/data"));
    let shell = plan(json!({"shell": "ls"})).profile(&context).unwrap();
    assert!(shell.tools.contains(&"grep".to_owned()) && !shell.tools.contains(&"rm".to_owned()));
    assert_eq!(plan(json!({"shell": "ls", "tools": ["ls"]})).profile(&context).unwrap().tools, ["ls"]);
}

#[test]
fn a_denied_path_is_absolute_or_below_the_first_folder() {
    let context = Context::alone(Duration::from_secs(1), [("folder", "/data")]);
    let plan = plan(json!({"shell": "ls", "denied_paths": [".git", "/srv/keys"]}));
    let profile = plan.profile(&context).unwrap();
    assert_eq!(profile.denied_paths, ["/data/.git", "/srv/keys"].map(std::path::PathBuf::from));
    let text = words::explained(&plan.command(&Map::new()).unwrap(), &profile);
    assert!(text.contains("never /data/.git\nnever /srv/keys\n"), "{text}");
}

#[test]
fn a_folder_whose_setting_has_no_value_is_named() {
    let error = plan(json!({"shell": "ls"})).profile(&Context::alone(Duration::ZERO, [])).unwrap_err();
    assert!(error.message.contains("`folder`"), "{error}");
}

#[test]
fn a_folder_that_cannot_be_used_is_told_with_its_setting() {
    let fault = ProfileError::NotAFolder("/data".into()).into();
    let told = super::not_made(fault, &plan(json!({"shell": "ls"})));
    assert_eq!(told.message, "roots: `/data` is not a folder (see the setting `folder`)");
}

fn outcome(end: End, stdout: &str) -> Outcome {
    Outcome { end, stdout: stdout.into(), stderr: b"said\n".to_vec(), elapsed: Duration::from_secs(1) }
}

#[test]
fn exit_codes_that_the_author_lists_are_successes() {
    let found = |plan: Value, code| outcome::envelope(&outcome(End::Exited(code), "x\n"), &self::plan(plan));
    assert!(found(json!({"shell": "a", "exit_codes": [0, 1]}), 1).ok);
    let failed = found(json!({"shell": "a"}), 1);
    assert_eq!(failed.code(), Some(Code::HandlerFailed));
    let told = failed.into_json();
    assert_eq!(told["data"], json!({"exit_code": 1, "stdout": "x\n", "stderr": "said\n", "truncated": false}));
    assert_eq!(told["error"], "the command ended with exit code 1; see `stderr`");
}

#[test]
fn standard_output_that_is_json_becomes_data() {
    let plan = plan(json!({"shell": "a", "json": true}));
    let found = outcome::envelope(&outcome(End::Exited(0), "{\"n\": 12345678901234567890123}"), &plan).into_json();
    assert_eq!(found["data"].to_string(), "{\"n\":12345678901234567890123}");
    assert_eq!((&found["exit_code"], &found["stderr"]), (&json!(0), &json!("said\n")));
    let broken = outcome::envelope(&outcome(End::Exited(0), "{"), &plan);
    assert!(broken.error.unwrap().message.contains("no JSON"));
}

#[test]
fn every_end_from_outside_has_its_code() {
    let plan = plan(json!({"shell": "a"}));
    let code = |end| outcome::envelope(&outcome(end, ""), &plan).code().unwrap();
    assert_eq!(code(End::TimedOut), Code::Deadline);
    assert_eq!((code(End::OutputLimit), code(End::MemoryLimit)), (Code::TooLarge, Code::TooLarge));
    assert_eq!(code(End::Cancelled), Code::Cancelled);
}

#[test]
fn long_output_is_head_and_tail() {
    let plan = plan(json!({"shell": "a", "shown_bytes": 8}));
    let found = outcome::envelope(&outcome(End::Exited(0), "11\n22\n33\n44\n55\n"), &plan).into_json();
    assert_eq!(found["data"]["truncated"], true);
    assert!(found["data"]["stdout"].as_str().unwrap().starts_with("11\n[…"), "{}", found["data"]);
}

#[test]
fn a_filter_gets_all_of_the_output_and_a_failure_shows_head_and_tail() {
    let mut plan = plan(json!({"shell": "a", "shown_bytes": 8}));
    plan.is_projected = true;
    let data = |code| outcome::envelope(&outcome(End::Exited(code), "11\n22\n33\n44\n55\n"), &plan).into_json();
    let (found, failed) = (data(0), data(1));
    assert_eq!(found["data"]["stdout"], "11\n22\n33\n44\n55\n");
    assert_eq!((&found["data"]["truncated"], &failed["data"]["truncated"]), (&json!(false), &json!(true)));
}

#[test]
fn a_dry_run_shows_the_command_as_a_shell_would_read_it() {
    let context = Context::alone(Duration::from_secs(1), [("folder", "/data")]);
    let plan = plan(json!({"command": ["grep", "--", "{$inputs.what}"]}));
    let command = plan.command(&inputs(json!({"what": "it's"}))).unwrap();
    let text = words::explained(&command, &plan.profile(&context).unwrap());
    assert_eq!(
        text,
        "grep -- 'it'\\''s'\nfolder /data (read only)\nfolder /srv (read and write)\nprograms grep\nwithout a network\nat most 30 s"
    );
}
