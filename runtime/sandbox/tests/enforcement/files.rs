//! Roots, and what lies outside of them.

use crate::{Stage, failure, output, run, sandbox, shown};
use std::fs;
use std::os::unix::fs::symlink;
use toolwright_sandbox::{Limits, Profile, Root, SandboxError};

#[tokio::test]
async fn the_first_root_is_the_working_folder() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    assert_eq!(output(&sandbox, "pwd").await.trim_end(), shown(&stage.read_write));
}

#[tokio::test]
async fn a_read_only_root_is_read_and_listed() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.reading()).await;
    assert_eq!(output(&sandbox, "ls; cat file").await, "file\ntext of the file\n");
}

#[tokio::test]
async fn a_read_write_root_is_changed() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    output(&sandbox, "echo new > new; mkdir folder; mv file folder/moved").await;
    assert_eq!(fs::read_to_string(stage.read_write.join("new")).unwrap(), "new\n");
    assert_eq!(fs::read_to_string(stage.read_write.join("folder/moved")).unwrap(), "text of the file\n");
}

#[tokio::test]
async fn a_read_only_root_is_not_changed() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    let folder = shown(&stage.read_only);
    for change in
        ["echo > DIR/new", "echo > DIR/file", "rm DIR/file", "mv DIR/file .", "chmod 600 DIR/file", "mkdir DIR/folder"]
    {
        failure(&sandbox, &change.replace("DIR", &folder)).await;
    }
    assert_eq!(fs::read_to_string(stage.read_only.join("file")).unwrap(), "text of the file\n");
    assert_eq!(fs::read_dir(&stage.read_only).unwrap().count(), 1);
}

#[tokio::test]
async fn a_file_outside_is_neither_read_nor_written() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    let file = shown(&stage.outside.join("file"));
    failure(&sandbox, &format!("cat {file}")).await;
    failure(&sandbox, &format!("echo changed > {file}")).await;
    failure(&sandbox, "echo > ../outside/file").await;
    assert_eq!(fs::read_to_string(stage.outside.join("file")).unwrap(), "text of the file\n");
}

#[tokio::test]
async fn beside_the_roots_nothing_is_listed() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    assert_eq!(output(&sandbox, "ls ..").await, "ro\nrw\n");
    for path in ["/root", "/home", "/srv", "/opt", "/var/log", "/sys", "/boot"] {
        failure(&sandbox, &format!("ls {path}")).await;
    }
}

#[tokio::test]
async fn the_temporary_folder_of_the_system_is_not_there() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    let name = format!("toolwright-sandbox-{}", std::process::id());
    for folder in ["/tmp", "/var/tmp", "/dev/shm", "/run"] {
        failure(&sandbox, &format!("echo > {folder}/{name}")).await;
    }
    assert!(!std::path::Path::new("/tmp").join(name).exists());
}

#[tokio::test]
async fn the_home_folder_is_an_empty_one() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    assert_eq!(output(&sandbox, "cd && pwd && ls -A").await, "/var/empty\n");
    failure(&sandbox, "echo > ~/file").await;
}

#[tokio::test]
async fn a_link_out_of_a_root_leads_nowhere() {
    let stage = Stage::new();
    symlink(stage.outside.join("file"), stage.read_write.join("before")).unwrap();
    let sandbox = sandbox(stage.writing()).await;
    failure(&sandbox, "cat before").await;
    failure(&sandbox, "echo changed > before").await;
    failure(&sandbox, &format!("ln -s {} made && cat made/file", shown(&stage.outside))).await;
    assert_eq!(fs::read_to_string(stage.outside.join("file")).unwrap(), "text of the file\n");
}

#[tokio::test]
async fn a_device_file_in_a_root_is_not_opened() {
    let stage = Stage::new();
    let sandbox = sandbox(crate::with_tools(stage.writing(), &["mknod"])).await;
    failure(&sandbox, "mknod device c 1 3").await;
}

#[tokio::test]
async fn the_temporary_folder_is_private_and_gone_after_the_command() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    output(&sandbox, "echo text > $TMPDIR/kept && cat $TMPDIR/kept").await;
    assert_eq!(output(&sandbox, "ls -A $TMPDIR").await, "");
}

#[tokio::test]
async fn without_a_read_write_root_the_temporary_folder_is_not_written() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.reading()).await;
    failure(&sandbox, "echo > $TMPDIR/file").await;
}

#[tokio::test]
async fn the_temporary_folder_has_a_quota() {
    let stage = Stage::new();
    let limits = Limits { scratch_bytes: 1024 * 1024, ..Limits::default() };
    let sandbox = sandbox(Profile { limits, ..stage.writing() }).await;
    output(&sandbox, "head -c 900000 /dev/zero > $TMPDIR/small").await;
    let said = failure(&sandbox, "head -c 2000000 /dev/zero > $TMPDIR/large").await;
    assert!(said.contains("No space left"), "{said}");
}

#[tokio::test]
async fn the_private_root_itself_is_not_written() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.writing()).await;
    for path in ["/file", "/etc/file", "/usr/bin/file2", "/dev/file", "/proc/file"] {
        failure(&sandbox, &format!("echo > {path}")).await;
    }
}

#[tokio::test]
async fn settings_of_the_machine_are_not_there() {
    let stage = Stage::new();
    let sandbox = sandbox(stage.reading()).await;
    for path in ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/kcore", "/etc/shadow", "/sys/kernel"] {
        let said = failure(&sandbox, &format!("ls {path}")).await;
        assert!(said.contains("No such file"), "{said}");
    }
}

#[tokio::test]
async fn a_root_that_became_a_link_stops_the_next_command() {
    let stage = Stage::new();
    let folder = stage.read_write.join("root");
    fs::create_dir(&folder).unwrap();
    let sandbox = sandbox(Profile::new([Root::read_only(&folder)])).await;
    assert!(run(&sandbox, "ls").await.success());
    fs::remove_dir(&folder).unwrap();
    symlink(&stage.outside, &folder).unwrap();
    let refused = sandbox.run("ls", None, &Default::default()).await;
    assert!(matches!(refused, Err(SandboxError::Setup(_))), "{refused:?}");
}
