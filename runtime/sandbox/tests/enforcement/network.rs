//! The network, and sockets that are none.

use crate::{Stage, failure, output, sandbox, with_tools};
use std::net::TcpListener;
use toolwright_sandbox::Profile;

fn connecting(stage: &Stage, network: bool) -> Profile {
    Profile { network, ..with_tools(stage.reading(), &["bash"]) }
}

#[tokio::test]
async fn without_a_network_no_connection_is_made() {
    let stage = Stage::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let sandbox = sandbox(connecting(&stage, false)).await;
    failure(&sandbox, &format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'")).await;
    failure(&sandbox, &format!("bash -c 'exec 3<>/dev/udp/127.0.0.1/{port}'")).await;
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "a connection arrived");
}

#[tokio::test]
async fn with_a_network_a_connection_is_made() {
    let stage = Stage::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let sandbox = sandbox(connecting(&stage, true)).await;
    output(&sandbox, &format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'")).await;
    listener.set_nonblocking(true).unwrap();
    listener.accept().expect("no connection arrived");
}

#[tokio::test]
async fn certificates_are_read_with_a_network_only() {
    let stage = Stage::new();
    output(&sandbox(connecting(&stage, true)).await, "ls /etc/ssl && cat /etc/resolv.conf").await;
    let without = sandbox(connecting(&stage, false)).await;
    failure(&without, "ls /etc/ssl").await;
    failure(&without, "cat /etc/resolv.conf").await;
}

#[tokio::test]
async fn shared_memory_is_there_only_if_asked_for() {
    let stage = Stage::new();
    failure(&sandbox(stage.writing()).await, "echo > /dev/shm/file").await;
    let sharing = sandbox(Profile { ipc: true, ..stage.writing() }).await;
    output(&sharing, "echo > /dev/shm/file").await;
    assert_eq!(output(&sharing, "ls -A /dev/shm").await, "", "it was shared with the command before");
}
