//! Denied paths, and read-only roots inside read-write ones.

use crate::{Stage, failure, output, sandbox, shown};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use toolwright_sandbox::{Profile, ProfileError, Root, SandboxError};

/// The stage with `rw/a/b/secret/key` and `rw/a/b/sibling`; `secret` and `rw/token` are denied.
fn denying(stage: &Stage) -> Profile {
    let inner = stage.read_write.join("a/b");
    fs::create_dir_all(inner.join("secret")).unwrap();
    fs::write(inner.join("secret/key"), "the key\n").unwrap();
    fs::write(inner.join("sibling"), "open\n").unwrap();
    fs::write(stage.read_write.join("token"), "the token\n").unwrap();
    Profile { denied_paths: vec![inner.join("secret"), stage.read_write.join("token")], ..stage.writing() }
}

fn is_untouched(stage: &Stage) {
    assert_eq!(fs::read_to_string(stage.read_write.join("a/b/secret/key")).unwrap(), "the key\n");
    assert_eq!(fs::read_to_string(stage.read_write.join("token")).unwrap(), "the token\n");
}

#[tokio::test]
async fn a_denied_file_is_not_read() {
    let stage = Stage::new();
    let sandbox = sandbox(denying(&stage)).await;
    let said = failure(&sandbox, "cat token").await;
    assert!(said.contains("Permission denied"), "{said}");
    failure(&sandbox, "grep -r key a/b/secret").await;
}

#[tokio::test]
async fn a_denied_folder_is_not_listed() {
    let stage = Stage::new();
    let sandbox = sandbox(denying(&stage)).await;
    failure(&sandbox, "ls a/b/secret").await;
    failure(&sandbox, "cat a/b/secret/key").await;
    assert!(!output(&sandbox, "find . 2>&1 || :").await.contains("secret/key"));
}

#[tokio::test]
async fn a_denied_path_is_not_changed() {
    let stage = Stage::new();
    let sandbox = sandbox(denying(&stage)).await;
    for change in [
        "echo changed > token",
        "echo changed > a/b/secret/key",
        "rm -f token",
        "rm -rf a/b/secret",
        "chmod 700 token",
        "chmod 700 a/b/secret",
        "cp file token",
        "mv file token",
    ] {
        failure(&sandbox, change).await;
    }
    is_untouched(&stage);
}

#[tokio::test]
async fn a_link_to_a_denied_path_does_not_help() {
    let stage = Stage::new();
    let profile = denying(&stage);
    symlink(stage.read_write.join("token"), stage.read_write.join("before")).unwrap();
    let sandbox = sandbox(profile).await;
    failure(&sandbox, "cat before").await;
    failure(&sandbox, "ln -s a/b/secret made && ls made/").await;
}

#[tokio::test]
async fn a_hard_link_to_a_denied_file_is_not_made() {
    let stage = Stage::new();
    let sandbox = sandbox(denying(&stage)).await;
    failure(&sandbox, "ln token linked").await;
    failure(&sandbox, "ln a/b/secret/key linked").await;
    assert!(!stage.read_write.join("linked").exists());
}

#[tokio::test]
async fn neither_a_denied_path_nor_a_folder_around_it_is_renamed() {
    let stage = Stage::new();
    let sandbox = sandbox(denying(&stage)).await;
    for change in ["mv token open", "mv a/b/secret a/b/open", "mv a/b open", "mv a open", "rm -rf a"] {
        failure(&sandbox, change).await;
    }
    is_untouched(&stage);
    // What one command may have moved, the next one must not find.
    let all = output(&sandbox, "grep -rs 'the key' . || :").await;
    assert_eq!(all, "");
}

#[tokio::test]
async fn what_lies_beside_a_denied_path_is_read_and_renamed() {
    let stage = Stage::new();
    let sandbox = sandbox(denying(&stage)).await;
    assert_eq!(
        output(&sandbox, "cat a/b/sibling && mv a/b/sibling a/b/renamed && ls a/b").await,
        "open\nrenamed\nsecret\n"
    );
}

#[tokio::test]
async fn a_hard_link_made_since_stops_the_next_command() {
    let stage = Stage::new();
    let sandbox = sandbox(denying(&stage)).await;
    fs::hard_link(stage.read_write.join("token"), stage.outside.join("link")).unwrap();
    let refused = sandbox.run("ls", None, &Default::default()).await;
    assert!(matches!(refused, Err(SandboxError::Profile(ProfileError::HardLink(_)))), "{refused:?}");
}

#[tokio::test]
async fn in_a_read_only_root_a_path_is_denied_as_well() {
    let stage = Stage::new();
    let profile = Profile { denied_paths: vec![stage.read_only.join("file")], ..stage.reading() };
    failure(&sandbox(profile).await, "cat file").await;
}

/// The stage with the read-only root `rw/outer/kept` inside the read-write root.
fn protecting(stage: &Stage) -> Profile {
    let kept = stage.read_write.join("outer/kept");
    fs::create_dir_all(kept.join("folder")).unwrap();
    fs::write(kept.join("file"), "kept\n").unwrap();
    Profile::new([Root::read_write(&stage.read_write), Root::read_only(kept)]).with_write_tools()
}

#[tokio::test]
async fn a_read_only_root_inside_a_read_write_one_is_not_changed() {
    let stage = Stage::new();
    let sandbox = sandbox(protecting(&stage)).await;
    assert_eq!(output(&sandbox, "cat outer/kept/file").await, "kept\n");
    for change in [
        "echo changed > outer/kept/file",
        "echo new > outer/kept/new",
        "mv outer/kept/file outer/kept/renamed",
        "mv outer/kept/file .",
        "rm outer/kept/file",
        "chmod 600 outer/kept/file",
        "ln outer/kept/file linked",
        "mv file outer/kept/",
        "rmdir outer/kept/folder",
        "touch outer/kept/file",
    ] {
        failure(&sandbox, change).await;
    }
    let kept = stage.read_write.join("outer/kept");
    assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "kept\n");
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 2);
}

#[tokio::test]
async fn neither_a_protected_root_nor_a_folder_around_it_is_renamed() {
    let stage = Stage::new();
    let sandbox = sandbox(protecting(&stage)).await;
    failure(&sandbox, "mv outer/kept outer/moved").await;
    failure(&sandbox, "mv outer moved").await;
    assert!(stage.read_write.join("outer/kept/file").exists());
}

#[tokio::test]
async fn around_a_protected_root_everything_is_changed() {
    let stage = Stage::new();
    let sandbox = sandbox(protecting(&stage)).await;
    output(&sandbox, "echo new > outer/new && mv outer/new outer/renamed").await;
    assert!(Path::new(&shown(&stage.read_write)).join("outer/renamed").exists());
}
