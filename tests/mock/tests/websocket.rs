//! LocalAI's WebSocket exchanges.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod client;

use client::serve_localai;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, client::IntoClientRequest};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use toolwright_mock::{Fault, Frame, Kind, Mock, Outcome};

type Socket = WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>;

fn upstream() -> Mock {
    let get = json!({"get": {"responses": {}}});
    serve_localai(
        json!({"swagger": "2.0", "paths": {"/ws/backend-logs/{modelId}": get, "/audio/transformations/stream": get}}),
    )
}

fn address(mock: &Mock, path: &str) -> String {
    format!("{}{path}", mock.url().replace("http://", "ws://"))
}

async fn logs(mock: &Mock) -> Socket {
    connect_async(address(mock, "/ws/backend-logs/gemma%2F3")).await.unwrap().0
}

async fn audio(mock: &Mock) -> Socket {
    let mut socket = connect_async(address(mock, "/audio/transformations/stream")).await.unwrap().0;
    let update = json!({"type": "session.update", "model": "vqe"});
    socket.send(Message::text(update.to_string())).await.unwrap();
    socket
}

fn json_of(message: Message) -> Value {
    serde_json::from_str(message.to_text().unwrap()).unwrap()
}

fn is_normal_close(message: &Message) -> bool {
    matches!(message, Message::Close(Some(frame)) if frame.code == CloseCode::Normal)
}

async fn outcome(mock: &Mock) -> Outcome {
    for _ in 0..100 {
        if mock.requests()[0].outcome != Outcome::Open {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    mock.requests()[0].outcome
}

#[tokio::test]
async fn logs_begin_with_old_lines_go_on_with_new_ones_and_close_normally() {
    let mock = upstream();
    let messages: Vec<Message> = logs(&mock).await.map(Result::unwrap).collect().await;
    let (last, rest) = messages.split_last().unwrap();
    let all: Vec<Value> = rest.iter().cloned().map(json_of).collect();
    assert_eq!(all[0]["type"], "initial");
    assert_eq!(all[0]["lines"][0]["text"], "gemma/3: 로그 line 0");
    assert!(all[1..].iter().all(|m| m["type"] == "line" && m["line"]["stream"].is_string()));
    assert!(is_normal_close(last));
    assert_eq!((mock.violations(), outcome(&mock).await), (vec![], Outcome::Complete));
}

#[tokio::test]
async fn logs_refuse_another_origin() {
    let mock = upstream();
    let mut request = address(&mock, "/ws/backend-logs/m").into_client_request().unwrap();
    request.headers_mut().insert("origin", "http://elsewhere.example".parse().unwrap());
    assert!(matches!(connect_async(request).await, Err(Error::Http(answer)) if answer.status() == 403));
}

#[tokio::test]
async fn logs_can_break_off() {
    let mock = upstream();
    mock.fault("*", Fault::DroppedSocket, 1);
    let messages: Vec<_> = logs(&mock).await.collect().await;
    assert!(messages[0].is_ok() && messages[1].is_err() && messages.len() == 2);
    assert_eq!(outcome(&mock).await, Outcome::Aborted);
}

#[tokio::test]
async fn logs_that_never_close_end_when_the_client_closes() {
    let mock = upstream();
    mock.fault("*", Fault::NoClose, 1);
    let mut socket = logs(&mock).await;
    for _ in 0..4 {
        socket.next().await.unwrap().unwrap();
    }
    assert!(tokio::time::timeout(Duration::from_millis(100), socket.next()).await.is_err());
    socket.close(None).await.unwrap();
    assert_eq!(outcome(&mock).await, Outcome::Complete);
}

#[tokio::test]
async fn a_status_fault_answers_the_handshake() {
    let mock = upstream();
    mock.fault("*", Fault::Status { code: 503, body: None, retry_after: None }, 1);
    let refused = connect_async(address(&mock, "/ws/backend-logs/m")).await;
    assert!(matches!(refused, Err(Error::Http(answer)) if answer.status() == 503));
}

#[tokio::test]
async fn stereo_goes_in_and_mono_comes_out() {
    let mock = upstream();
    let mut socket = audio(&mock).await;
    socket.send(Message::binary(vec![1, 2, 9, 9, 3, 4, 9, 9])).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap().into_data(), vec![1, 2, 3, 4]);
    socket.send(Message::text(r#"{"type":"session.close"}"#)).await.unwrap();
    assert!(is_normal_close(&socket.next().await.unwrap().unwrap()));
    assert!(socket.next().await.is_none());
    assert_eq!((mock.violations(), outcome(&mock).await), (vec![], Outcome::Complete));
    assert_eq!(mock.requests()[0].frames[1], Frame::Binary(8));
}

#[tokio::test]
async fn everything_is_delivered_before_the_close() {
    let mock = upstream();
    let (mut sink, stream) = audio(&mock).await.split();
    let received = tokio::spawn(stream.map(Result::unwrap).filter(|m| std::future::ready(m.is_binary())).count());
    for _ in 0..200 {
        sink.send(Message::binary(vec![7; 64 * 1024])).await.unwrap();
    }
    sink.send(Message::text(r#"{"type":"session.close"}"#)).await.unwrap();
    assert_eq!(received.await.unwrap(), 200);
}

#[tokio::test]
async fn a_client_that_only_sends_stands_still() {
    let mock = upstream();
    let mut socket = audio(&mock).await;
    let send_all = async {
        for _ in 0..100 {
            socket.send(Message::binary(vec![7; 1 << 20])).await.unwrap();
        }
    };
    assert!(tokio::time::timeout(Duration::from_millis(800), send_all).await.is_err());
}

#[tokio::test]
async fn the_first_message_must_be_a_session_update_with_a_model() {
    let wrong = [
        Message::binary(vec![0; 4]),
        Message::text("{}"),
        Message::text(r#"{"type":"session.update"}"#),
        Message::text(r#"{"type":"session.close"}"#),
    ];
    for message in wrong {
        let mock = upstream();
        let mut socket = connect_async(address(&mock, "/audio/transformations/stream")).await.unwrap().0;
        socket.send(message).await.unwrap();
        assert_eq!(json_of(socket.next().await.unwrap().unwrap())["type"], "error");
        assert!(!matches!(socket.next().await, Some(Ok(_))));
        assert_eq!(mock.violations()[0].kind, Kind::BadMessage);
    }
}

#[tokio::test]
async fn the_backend_can_report_an_error_in_the_middle() {
    let mock = upstream();
    mock.fault("*", Fault::StreamError, 1);
    let mut socket = audio(&mock).await;
    for _ in 0..2 {
        socket.send(Message::binary(vec![0; 4])).await.unwrap();
    }
    assert!(socket.next().await.unwrap().unwrap().is_binary());
    assert_eq!(json_of(socket.next().await.unwrap().unwrap())["error"], "the backend reported an error");
}
