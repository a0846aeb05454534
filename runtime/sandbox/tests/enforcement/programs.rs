//! Which programs run.

use crate::{Stage, failure, output, refusal, run, sandbox, shown, text, with_tools};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use toolwright_sandbox::{CancellationToken, Command, Profile, ProfileError, Root, SandboxError};

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn listed_programs_and_the_shells_own_commands_run() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.reading()).await;
    assert_eq!(output(&sandbox, "echo one | tr o 0; printf '%s\\n' two | sed s/t/T/ | sort").await, "0ne\nTwo\n");
    assert_eq!(output(&sandbox, "find . -name file | xargs wc -l | awk '{print $1}'").await, "1\n");
}

#[tokio::test]
async fn all_default_tools_start() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    for tool in sandbox.tools() {
        let outcome = run(&sandbox, &format!("{tool} --version < /dev/null")).await;
        assert!(!text(&outcome).contains("error while loading"), "{tool}: {}", text(&outcome));
        assert!(!matches!(outcome.exit_code(), 126 | 127), "{tool}: {}", text(&outcome));
    }
}

#[tokio::test]
async fn a_program_that_is_not_listed_does_not_exist() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.reading()).await;
    for program in ["id", "/usr/bin/id", "python3", "/bin/bash", "/usr/bin/env"] {
        assert_eq!(run(&sandbox, program).await.exit_code(), 127, "{program}");
    }
}

#[tokio::test]
async fn listed_programs_start_no_others() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.reading()).await;
    for command in [
        "awk 'BEGIN { exit system(\"/usr/bin/id\") }'",
        "find . -name file -exec /usr/bin/id {} \\;",
        "echo x | xargs /usr/bin/id",
    ] {
        let outcome = run(&sandbox, command).await;
        assert!(!text(&outcome).contains("uid="), "{command}: {}", text(&outcome));
        assert!(text(&outcome).contains("not found") || text(&outcome).contains("No such file"), "{}", text(&outcome));
    }
}

#[tokio::test]
async fn a_copied_program_does_not_run() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    for place in ["copy", "$TMPDIR/copy"] {
        let path = if place.starts_with('$') { place.to_owned() } else { format!("./{place}") };
        let outcome = run(&sandbox, &format!("cp /usr/bin/ls {place} && chmod 755 {place} && {path}")).await;
        assert_eq!(outcome.exit_code(), 126, "{}", text(&outcome));
    }
}

#[tokio::test]
async fn the_program_loader_does_not_run_a_copied_program_either() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    let loader =
        output(&sandbox, "ls -d /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2> /dev/null || :").await;
    let loader = loader.trim_end();
    assert_ne!(loader, "", "this test knows the loader of glibc on two architectures");
    output(&sandbox, &format!("{loader} /usr/bin/ls")).await;
    failure(&sandbox, &format!("cp /usr/bin/ls copy && {loader} ./copy")).await;
}

#[tokio::test]
async fn a_written_script_does_not_run() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    let outcome = run(&sandbox, "printf '#!/bin/sh\\necho run\\n' > script && chmod 755 script && ./script").await;
    assert_eq!(outcome.exit_code(), 126, "{}", text(&outcome));
}

#[tokio::test]
async fn a_program_in_a_root_does_not_run() {
    let stage = Stage::new();
    program(&stage.read_only.join("script"), "#!/bin/sh\necho run\n");
    let sandbox = sandbox(stage.reading()).await;
    assert_eq!(run(&sandbox, "./script").await.exit_code(), 126);
}

/// A profile whose first tool folder is one of the stage.
fn with_own_tool(stage: &Stage, name: &str, script: &str) -> Profile {
    program(&stage.outside.join(name), script);
    let mut profile = with_tools(stage.reading(), &[name]);
    profile.tool_directories.insert(0, stage.outside.clone());
    profile
}

#[tokio::test]
async fn a_listed_script_of_the_shell_runs() {
    let stage = Stage::new();
    let sandbox = sandbox(with_own_tool(&stage, "greet", "#!/bin/sh\necho hello $1\n")).await;
    assert_eq!(output(&sandbox, "greet you").await, "hello you\n");
}

#[tokio::test]
async fn a_listed_script_needs_its_interpreter_to_be_listed() {
    let stage = Stage::new();
    let profile = with_own_tool(&stage, "greet", "#!/usr/bin/perl\nprint qq(hello\\n)\n");
    let refused = refusal(profile.clone()).await;
    assert!(matches!(&refused, SandboxError::Profile(ProfileError::Interpreter { .. })), "{refused}");
    assert!(refused.to_string().contains("/usr/bin/perl"), "{refused}");
    let listed = sandbox(with_tools(profile, &["perl"])).await;
    assert_eq!(output(&listed, "greet").await, "hello\n");
}

#[tokio::test]
async fn a_required_tool_that_is_missing_is_named() {
    let stage = Stage::new();
    let refused = refusal(with_tools(stage.reading(), &["no-such-tool"])).await.to_string();
    assert!(refused.contains("`no-such-tool`"), "{refused}");
}

#[tokio::test]
async fn an_optional_tool_that_is_missing_grants_nothing() {
    let stage = Stage::new();
    let optional = vec!["no-such-tool".to_owned(), "id".to_owned()];
    let sandbox = sandbox(Profile { optional_tools: optional, ..stage.reading() }).await;
    assert!(!sandbox.tools().iter().any(|tool| tool == "no-such-tool"));
    output(&sandbox, "id").await;
}

#[tokio::test]
async fn what_is_no_name_of_a_program_is_refused() {
    let stage = Stage::new();
    for name in ["", ".", "..", "/usr/bin/id", "a\0b"] {
        let refused = refusal(with_tools(stage.reading(), &[name])).await;
        assert!(matches!(refused, SandboxError::Profile(ProfileError::ToolName(_))), "{name:?}: {refused}");
    }
    let twice = Profile { optional_tools: vec!["ls".to_owned()], ..stage.reading() };
    assert!(matches!(refusal(twice).await, SandboxError::Profile(ProfileError::ToolTwice(_))));
}

#[tokio::test]
async fn a_tool_that_lies_in_a_root_is_refused() {
    let stage = Stage::new();
    let profile = Profile {
        roots: vec![Root::read_write(&stage.outside)],
        ..with_own_tool(&stage, "greet", "#!/bin/sh\necho hello\n")
    };
    let refused = refusal(profile).await;
    assert!(matches!(refused, SandboxError::Profile(ProfileError::CodeInRoot { .. })), "{refused}");
    assert!(matches!(
        refusal(Profile::new([Root::read_only("/usr")])).await,
        SandboxError::Profile(ProfileError::CodeInRoot { .. })
    ));
}

#[tokio::test]
async fn programs_of_the_system_are_not_changed() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    for change in
        ["echo > /usr/bin/ls", "rm -f /usr/bin/ls", "rm -f /bin/sh", "chmod 777 /usr/bin/ls", "mv file /usr/bin/ls"]
    {
        failure(&sandbox, change).await;
    }
    output(&sandbox, "ls").await;
}

#[tokio::test]
async fn the_callers_search_path_is_not_asked() {
    let stage = Stage::new();
    program(&stage.read_write.join("ls"), "#!/bin/sh\necho decoy\n");
    let sandbox = sandbox(stage.writing()).await;
    // Cargo's own search path, under which this test runs, is not the sandbox's.
    assert_eq!(output(&sandbox, "echo $PATH").await, "/usr/bin:/bin:/usr/sbin:/sbin\n");
    assert!(output(&sandbox, "ls").await.contains("file"));
}

#[tokio::test]
async fn nothing_of_the_environment_is_inherited() {
    let stage = Stage::new();
    assert!(
        std::env::vars().any(|(name, _)| name.starts_with("CARGO") || name == "HOME"),
        "there is nothing to inherit"
    );
    let sandbox = sandbox(with_tools(stage.reading(), &["env"])).await;
    let environment = output(&sandbox, "env").await;
    let mut names: Vec<_> = environment.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    names.sort_unstable();
    let expected = "GIT_ATTR_NOSYSTEM GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_CONFIG_SYSTEM GIT_OPTIONAL_LOCKS \
                    GIT_TERMINAL_PROMPT HOME LC_ALL PATH PWD RIPGREP_CONFIG_PATH TMPDIR";
    assert_eq!(names.join(" "), expected);
}

#[tokio::test]
async fn git_makes_reads_and_copies_repositories() {
    let stage = Stage::new();
    let sandbox = sandbox(with_tools(stage.writing(), &["git"])).await;
    let command = "git init -q repository && cd repository && echo one > file && git add file && \
                   git -c user.name=name -c user.email=name@example.com commit -qm 'the first' && \
                   git log --format=%s && git blame -s file && cd .. && git clone -q repository copy && cat copy/file";
    let said = output(&sandbox, command).await;
    assert!(said.starts_with("the first\n") && said.ends_with("one\n"), "{said}");
}

#[tokio::test]
async fn a_library_folder_is_read_and_not_changed() {
    let stage = Stage::new();
    let folder = stage.outside.clone();
    let sandbox = sandbox(Profile { libraries: vec![folder.clone()], ..stage.writing() }).await;
    output(&sandbox, &format!("cat {}/file", shown(&folder))).await;
    failure(&sandbox, &format!("echo > {}/file", shown(&folder))).await;
}

#[tokio::test]
async fn the_description_names_what_is_granted() {
    let stage = Stage::new();
    let optional = vec!["no-such-tool".to_owned()];
    let text = toolwright_sandbox::describe(&sandbox(Profile { optional_tools: optional, ..stage.writing() }).await);
    for part in ["grep", "read and write", "read only", "no network", &shown(&stage.read_only), "no credentials"] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    assert!(!text.contains("no-such-tool"), "{text}");
    let none =
        sandbox(Profile { tools: Vec::new(), ..Profile::new([Root::read_only(PathBuf::from(&stage.read_only))]) })
            .await;
    assert!(toolwright_sandbox::describe(&none).contains("only the shell's own commands"));
}

#[tokio::test]
async fn arguments_of_a_program_mean_nothing_to_a_shell() {
    let stage = Stage::new();
    let sandbox = sandbox(with_tools(stage.reading(), &["printf"])).await;
    let odd = "$(ls) `ls` 'a' \"b\" ; * -x \n";
    let command = Command::program(["printf", "%s|", odd, "", "ä"]);
    let outcome = sandbox.run(command, None, &CancellationToken::new()).await.unwrap();
    assert_eq!(String::from_utf8(outcome.stdout).unwrap(), format!("{odd}||ä|"));
    let unlisted = sandbox.run(Command::program(["id"]), None, &CancellationToken::new()).await.unwrap();
    assert_eq!(unlisted.exit_code(), 127);
}

#[tokio::test]
async fn variables_reach_a_shell_command_and_never_replace_those_of_the_sandbox() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.reading()).await;
    let command = Command::shell("echo \"$what\" | tr a-z A-Z; echo \"$HOME\"");
    let command =
        command.with_variable("what", "\"; ls /").with_variable("HOME", "/home/evil").with_variable("PATH", "/evil");
    let outcome = sandbox.run(command, None, &CancellationToken::new()).await.unwrap();
    assert_eq!(String::from_utf8(outcome.stdout).unwrap(), "\"; LS /\n/var/empty\n");
}

#[tokio::test]
async fn arguments_that_no_program_can_take_are_refused() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.reading()).await;
    let long = "x".repeat(128 * 1024);
    for words in [vec![], vec![" "], vec!["cat", "a\0b"], vec!["cat", &long]] {
        let refused = sandbox.run(Command::program(words), None, &CancellationToken::new()).await;
        assert!(matches!(refused, Err(SandboxError::Command(_))), "{refused:?}");
    }
    let largest = Command::shell("echo ${#what}").with_variable("what", "x".repeat(128 * 1024 - 6));
    let outcome = sandbox.run(largest, None, &CancellationToken::new()).await.unwrap();
    assert_eq!(String::from_utf8(outcome.stdout).unwrap(), format!("{}\n", 128 * 1024 - 6));
}
