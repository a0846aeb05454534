//! A large answer never lies in memory as a whole. In a process of its own, since it reads the process's memory.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use serde_json::Map;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use toolwright_core::{Binding, Declared, HttpBinding, Payload, Risk, SearchTerms, ToolSpec};
use toolwright_http::{CallContext, Config, Upstream, Url};

const MIB: usize = 1024 * 1024;

const DOWNLOAD: ToolSpec = ToolSpec {
    name: "download",
    title: "Download",
    description: "Downloads.",
    summary: "Downloads.",
    tags: &[],
    risk: Risk::ReadOnly,
    idempotent: true,
    open_world: false,
    input_schema: "{}",
    advertised_schema: None,
    result_schema: None,
    search: SearchTerms { en: &[], ko: &[], ja: &[] },
    declared: Declared { method: "GET", path: "/" },
    binding: Binding::Http(HttpBinding::PLAIN),
    deadline_seconds: None,
    long: false,
    secrets: &[],
};

/// Serves an answer of that many MiB to everyone.
async fn serve() -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(async move {
        for size in [1, 64] {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).await.unwrap();
            let length = size * MIB;
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            for _ in 0..size * 16 {
                stream.write_all(&[7; MIB / 16]).await.unwrap();
            }
        }
    });
    url
}

/// The most memory that the process has held, in KiB.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn an_answer_of_64_mib_takes_less_than_8_mib_of_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::new("demo", serve().await);
    config.output_dir = folder.path().to_owned();
    config.inline_binary_limit = MIB as u64 / 2;
    let upstream = Upstream::new(config).unwrap();
    let context = CallContext::within(Duration::from_secs(60));
    upstream.execute(&DOWNLOAD, Map::new(), &context).await;
    let before = peak();
    let envelope = upstream.execute(&DOWNLOAD, Map::new(), &context).await;
    let grown = peak() - before;
    let Payload::Binary(binary) = &envelope.payload else { panic!("{envelope:?}") };
    assert_eq!(binary.size_bytes, 64 * MIB as u64);
    assert!(grown < 8 * 1024, "memory grew by {grown} KiB");
    println!("memory grew by {grown} KiB");
}
