use rmcp::transport::Transport as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};

use super::Lines;

const LONGEST: usize = 2000;

/// What a client that sends `input` gets back, and the methods of the messages that went through.
async fn exchange(input: &[u8]) -> (Vec<Value>, Vec<String>) {
    let (mut client, server) = duplex(1 << 20);
    client.write_all(input).await.unwrap();
    let (answers, output) = duplex(1 << 20);
    // The end of its input ends the transport.
    client.shutdown().await.unwrap();
    let mut lines = Lines::new((server, output), LONGEST, None);
    let mut methods = Vec::new();
    while let Some(message) = lines.receive().await {
        let message = serde_json::to_value(&message).unwrap();
        methods.push(format!("{} {}", message["method"].as_str().unwrap(), message["params"]));
    }
    lines.close().await.unwrap();
    drop(lines);
    (read(answers).await, methods)
}

async fn read(answers: DuplexStream) -> Vec<Value> {
    let mut answers = BufReader::new(answers).lines();
    let mut read = Vec::new();
    while let Some(line) = answers.next_line().await.unwrap() {
        read.push(serde_json::from_str(&line).unwrap());
    }
    read
}

fn codes(answers: &[Value]) -> Vec<(Value, i64)> {
    answers.iter().map(|answer| (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap())).collect()
}

#[tokio::test]
async fn half_a_character_is_replaced_and_the_message_goes_through() {
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"a":"\ud83d","b":"\ude00!","c":"\ud83d\ude00","d":"\\ud83d"}}"#;
    let (answers, methods) = exchange(&[line, &b"\n"[..]].concat()).await;
    assert_eq!(answers, Vec::<Value>::new());
    assert_eq!(methods, [r#"x/y {"a":"�","b":"�!","c":"😀","d":"\\ud83d"}"#]);
}

#[tokio::test]
async fn what_is_no_json_is_answered_with_its_id_where_that_can_be_seen() {
    for (line, id) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"#, json!(7)),
        (r#"{"id":"a","method":"tools/call","params":{"x":1e}}"#, json!("a")),
        (r#"{"method":"tools/call","params":{"x":1e},"jsonrpc":"2.0","id":8}"#, json!(8)),
        (r#"{"method":"tools/call","params":{"id":9}"#, Value::Null),
        ("[1", Value::Null),
    ] {
        let (answers, _) = exchange(format!("{line}\n").as_bytes()).await;
        assert_eq!(codes(&answers), [(id, -32700)], "{line}");
    }
}

#[tokio::test]
async fn what_nests_too_deeply_is_answered() {
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":3,"method":"x","params":{{"a":{}}}}}"#, "[".repeat(200) + &"]".repeat(200));
    let (answers, _) = exchange(format!("{line}\n").as_bytes()).await;
    assert_eq!(codes(&answers), [(json!(3), -32700)]);
}

#[tokio::test]
async fn json_that_is_no_message_is_answered_and_foreign_notifications_are_not() {
    let (answers, _) = exchange(b"{\"jsonrpc\":\"1.0\",\"id\":4,\"method\":\"ping\"}\n[]\n").await;
    assert_eq!(codes(&answers), [(json!(4), -32600), (Value::Null, -32600)]);
    let (answers, _) = exchange(b"{\"method\":\"$/setTrace\"}\nnpm warn deprecated\n\n\r\n").await;
    assert_eq!(answers, Vec::<Value>::new());
}

#[tokio::test]
async fn the_last_line_needs_no_line_break() {
    let (_, methods) = exchange(br#"{"jsonrpc":"2.0","id":7,"method":"x/y","params":{}}"#).await;
    assert_eq!(methods, ["x/y {}"]);
    let (answers, _) = exchange(format!(r#"{{"id":8,"x":"{}"#, "x".repeat(100_000)).as_bytes()).await;
    assert_eq!(codes(&answers), [(json!(8), -32600)]);
}

#[tokio::test]
async fn a_line_over_the_limit_is_refused_and_the_next_one_is_read() {
    let filling = "x".repeat(100_000);
    let long = format!(r#"{{"method":"x","params":{{"a":"{filling}"}},"jsonrpc":"2.0","id":5}}"#);
    let early = format!(r#"{{"jsonrpc":"2.0","id":6,"method":"x","params":{{"a":"{filling}"}}}}"#);
    let next = r#"{"jsonrpc":"2.0","id":7,"method":"x/y","params":{}}"#;
    let (answers, methods) = exchange(format!("{long}\n{early}\n{next}\n").as_bytes()).await;
    assert_eq!(codes(&answers), [(json!(5), -32600), (json!(6), -32600)]);
    assert!(answers[0]["error"]["message"].as_str().unwrap().contains("2000 bytes"), "{answers:?}");
    assert_eq!(methods, ["x/y {}"]);
}
