use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::{
    WebSocketStream, accept_async,
    tungstenite::{
        Message,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};
use toolwright_core::{
    Binding, BlockKind, Code, Envelope, Exchange, Location, Parameter, Payload, Style, WebSocketBinding,
};

use crate::context::{CallContext, Progress};
use crate::testing::{Server, Setting, answer, bound, object, parameter};

const MODEL: &[Parameter] = &[parameter("model_id", Location::Path, Style::Simple, false)];

const LOGS: Binding = Binding::WebSocket(WebSocketBinding {
    path: "/ws/{model_id}",
    parameters: MODEL,
    exchange: Exchange::Receive,
    security: None,
    server: None,
    hidden: &[],
});
const SESSION: Binding = Binding::WebSocket(WebSocketBinding {
    path: "/stream",
    parameters: &[],
    exchange: Exchange::Session,
    security: None,
    server: None,
    hidden: &[],
});

/// A WebSocket server for one connection.
async fn speaking<F, R>(behaviour: F) -> Setting
where
    F: FnOnce(WebSocketStream<TcpStream>) -> R + Send + 'static,
    R: Future<Output = ()> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        behaviour(accept_async(stream).await.unwrap()).await;
    });
    let server = Server::with("").await;
    Setting::for_server(&server).with(|config| config.base_url = url)
}

fn messages(envelope: &Envelope) -> (&[Value], bool) {
    match &envelope.payload {
        Payload::Messages { messages, truncated } => (messages, *truncated),
        other => panic!("{other:?}"),
    }
}

fn session_arguments() -> Value {
    json!({"session": {"type": "session.update", "model": "m"}, "frames_base64": ["AAA=", "base64:AQE="]})
}

/// The frames of [`session_arguments`] are echoed until `session.close`.
async fn echo(mut socket: WebSocketStream<TcpStream>) -> WebSocketStream<TcpStream> {
    while let Some(Ok(message)) = socket.next().await {
        match message {
            Message::Binary(bytes) => socket.send(Message::Binary(bytes)).await.unwrap(),
            Message::Text(text) if text.contains("session.close") => break,
            _ => {}
        }
    }
    socket
}

#[tokio::test]
async fn a_normal_close_is_success_with_every_message() {
    let setting = speaking(|mut socket| async move {
        socket.send(Message::text(r#"{"type":"initial"}"#)).await.unwrap();
        socket.send(Message::text("plain")).await.unwrap();
        socket.close(None).await.unwrap();
    })
    .await;
    let envelope = setting.call(&bound(LOGS), json!({"model_id": "m"})).await;
    assert!(envelope.ok, "{envelope:?}");
    assert_eq!(messages(&envelope), ([json!({"type": "initial"}), json!("plain")].as_slice(), false));
    assert_eq!(envelope.extra["ended_by"], "close");
}

#[tokio::test]
async fn receiving_ends_with_the_last_message_that_was_asked_for() {
    let setting = speaking(|mut socket| async move {
        for number in 0..10 {
            socket.send(Message::text(number.to_string())).await.unwrap();
        }
        while let Some(Ok(_)) = socket.next().await {}
    })
    .await;
    let envelope = setting.call(&bound(LOGS), json!({"model_id": "m", "max_messages": 3})).await;
    assert!(envelope.ok);
    assert_eq!(messages(&envelope).0, [json!(0), json!(1), json!(2)]);
    assert_eq!(envelope.extra["ended_by"], "max_messages");
}

#[tokio::test]
async fn messages_are_progress_without_credentials_even_where_they_are_cut() {
    // The note is cut in the middle of the key.
    let said = format!("{}key-12345 {}", "x".repeat(195), "y".repeat(50));
    let setting = speaking(|mut socket| async move {
        socket.send(Message::text(said)).await.unwrap();
        socket.send(Message::text(r#"{"a":"\u006bey-12345"}"#)).await.unwrap();
        socket.close(None).await.unwrap();
    })
    .await
    .with(|config| config.api_key = Some("key-12345".into()));
    let (sender, mut receiver) = tokio::sync::mpsc::channel(8);
    let context = CallContext { progress: Progress::to(sender), ..CallContext::within(Duration::from_secs(5)) };
    let arguments = object(json!({"model_id": "m"}));
    setting.upstream().execute(&bound(LOGS), arguments, &context).await;
    drop(context);
    let mut shown = Vec::new();
    while let Some(update) = receiver.recv().await {
        shown.push(update.message);
    }
    assert!(!shown[0].contains("key-"), "{shown:?}");
    assert_eq!(shown[1], r#"{"a":"[masked]"}"#);
}

#[tokio::test]
async fn the_time_bounds_the_whole_exchange() {
    let setting = speaking(|mut socket| async move {
        loop {
            tokio::time::sleep(Duration::from_millis(40)).await;
            if socket.send(Message::text("tick")).await.is_err() {
                return;
            }
        }
    })
    .await;
    let arguments = json!({"model_id": "m", "timeout_seconds": 0.2, "max_messages": 1000});
    let envelope = setting.call(&bound(LOGS), arguments).await;
    assert!(envelope.ok);
    assert_eq!(envelope.extra["ended_by"], "timeout");
    assert!((200.0..900.0).contains(&envelope.elapsed_ms), "{}", envelope.elapsed_ms);
}

#[tokio::test]
async fn a_dropped_socket_is_a_failure_with_the_messages_so_far() {
    let setting = speaking(|mut socket| async move {
        socket.send(Message::text("1")).await.unwrap();
    })
    .await;
    let envelope = setting.call(&bound(LOGS), json!({"model_id": "m"})).await;
    assert_eq!(envelope.code(), Some(Code::UpstreamUnreachable));
    assert_eq!(messages(&envelope).0, [json!(1)]);
    assert_eq!(envelope.extra["ended_by"], "dropped");
}

#[tokio::test]
async fn a_close_that_means_trouble_is_a_failure() {
    let setting = speaking(|mut socket| async move {
        let frame = CloseFrame { code: CloseCode::Error, reason: "backend gone".into() };
        socket.close(Some(frame)).await.unwrap();
    })
    .await;
    let envelope = setting.call(&bound(LOGS), json!({"model_id": "m"})).await;
    let error = envelope.error.unwrap();
    assert_eq!(error.message, "the upstream closed the exchange with code 1011: backend gone");
}

#[tokio::test]
async fn a_handshake_that_is_refused_says_so() {
    let server = Server::with(answer("401 Unauthorized", &[], r#"{"error":{"message":"no key"}}"#)).await;
    let envelope = Setting::for_server(&server).call(&bound(LOGS), json!({"model_id": "a/b"})).await;
    assert_eq!(envelope.status_code, Some(401));
    assert!(envelope.error.unwrap().message.starts_with("the upstream answered 401 (Unauthorized)"));
    assert_eq!(server.only_request().line, "GET /ws/a%2Fb HTTP/1.1");
}

#[tokio::test]
async fn the_key_goes_with_the_handshake() {
    let server = Server::with(answer("404 Not Found", &[], "")).await;
    let setting = Setting::for_server(&server).with(|config| config.api_key = Some("key-123".into()));
    setting.call(&bound(LOGS), json!({"model_id": "m"})).await;
    assert_eq!(server.only_request().header("authorization"), Some("Bearer key-123"));
}

#[tokio::test]
async fn a_session_opens_sends_its_frames_and_asks_to_flush() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let setting = speaking(|mut socket| async move {
        let mut heard = Vec::new();
        while let Some(Ok(message)) = socket.next().await {
            let last = message.is_text() && message.to_text().unwrap().contains("session.close");
            heard.push(message);
            if last {
                break;
            }
        }
        sender.send(heard).unwrap();
        socket.close(None).await.unwrap();
    })
    .await;
    let envelope = setting.call(&bound(SESSION), session_arguments()).await;
    assert!(envelope.ok, "{envelope:?}");
    assert_eq!(
        receiver.await.unwrap(),
        vec![
            Message::text(r#"{"type":"session.update","model":"m"}"#),
            Message::binary(vec![0, 0]),
            Message::binary(vec![1, 1]),
            Message::text(r#"{"type":"session.close"}"#),
        ]
    );
}

#[tokio::test]
async fn binary_frames_are_joined_in_one_saved_file() {
    let setting = speaking(|socket| async move {
        echo(socket).await.close(None).await.unwrap();
    })
    .await;
    let envelope = setting.call(&bound(SESSION), session_arguments()).await;
    assert!(envelope.ok, "{envelope:?}");
    let frame = |offset: u64| json!({"binary": true, "offset": offset, "size_bytes": 2});
    assert_eq!(messages(&envelope).0, [frame(0), frame(2)]);
    let saved = envelope.extra["binary"]["saved_path"].as_str().unwrap();
    assert_eq!(std::fs::read(saved).unwrap(), [0, 0, 1, 1]);
    assert!(matches!(&envelope.attachments[0].kind, BlockKind::Blob { base64, .. } if base64 == "AAABAQ=="));
    assert!(matches!(envelope.attachments[1].kind, BlockKind::Link { size_bytes: 4, .. }));
}

#[tokio::test]
async fn a_session_that_is_dropped_after_the_flush_is_success_with_a_warning() {
    let setting = speaking(|socket| async move {
        drop(echo(socket).await);
    })
    .await;
    let envelope = setting.call(&bound(SESSION), session_arguments()).await;
    assert!(envelope.ok, "{envelope:?}");
    assert_eq!(messages(&envelope).0.len(), 2);
    assert_eq!(envelope.warnings.len(), 1);
    assert_eq!(envelope.extra["ended_by"], "dropped");
}

#[tokio::test]
async fn a_session_that_is_dropped_without_an_answer_is_a_failure() {
    let setting = speaking(|mut socket| async move {
        while let Some(Ok(message)) = socket.next().await {
            if message.is_text() && message.to_text().unwrap().contains("session.close") {
                return;
            }
        }
    })
    .await;
    let envelope = setting.call(&bound(SESSION), session_arguments()).await;
    assert_eq!(envelope.code(), Some(Code::UpstreamUnreachable));
    assert_eq!(envelope.extra["ended_by"], "dropped");
    assert_eq!(envelope.warnings, [""; 0]);
}

#[tokio::test]
async fn the_time_bounds_the_handshake_too() {
    let server = Server::running(|_, stream| async move {
        tokio::time::sleep(Duration::from_secs(30)).await;
        drop(stream);
    })
    .await;
    let arguments = json!({"model_id": "m", "timeout_seconds": 0.2});
    let envelope = Setting::for_server(&server).call(&bound(LOGS), arguments).await;
    assert_eq!(envelope.code(), Some(Code::Deadline));
    assert!(envelope.elapsed_ms < 2000.0, "{}", envelope.elapsed_ms);
    assert!(envelope.error.unwrap().message.contains("timeout_seconds"));
}

#[tokio::test]
async fn the_handshake_takes_its_part_of_the_time() {
    let setting = speaking(|mut socket| async move { while let Some(Ok(_)) = socket.next().await {} }).await;
    // A server in front that holds the handshake back for a while.
    let behind = setting.config.base_url.clone();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(async move {
        let (mut near, _) = listener.accept().await.unwrap();
        tokio::time::sleep(Duration::from_millis(600)).await;
        let mut far = TcpStream::connect(behind.socket_addrs(|| None).unwrap()[0]).await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
    });
    let setting = setting.with(|config| config.base_url = url);
    let envelope = setting.call(&bound(LOGS), json!({"model_id": "m", "timeout_seconds": 1})).await;
    assert_eq!(envelope.extra["ended_by"], "timeout");
    assert!(envelope.elapsed_ms < 1500.0, "{}", envelope.elapsed_ms);
}

#[tokio::test]
async fn a_handshake_that_is_put_off_says_for_how_long() {
    let server = Server::with(answer("503 Service Unavailable", &[("retry-after", "7")], "")).await;
    let envelope = Setting::for_server(&server).call(&bound(LOGS), json!({"model_id": "m"})).await;
    assert!(envelope.error.unwrap().message.ends_with("; try again in 7 s"));
}

#[tokio::test]
async fn frames_flow_both_ways_at_once() {
    // Far more than the buffers of both sides hold: whoever only sent would wait for ever.
    let setting = speaking(|socket| async move {
        echo(socket).await.close(None).await.unwrap();
    })
    .await;
    let frame = format!("base64:{}", "AAAA".repeat(64 * 1024));
    let arguments = json!({"session": {"model": "m"}, "frames_base64": vec![frame; 60], "max_messages": 1000});
    let envelope = setting.call(&bound(SESSION), arguments).await;
    assert!(envelope.ok, "{:?}", envelope.error);
    assert_eq!(envelope.extra["binary"]["size_bytes"], 60 * 3 * 64 * 1024);
}

#[tokio::test]
async fn an_error_message_ends_a_session_as_a_failure() {
    let setting = speaking(|mut socket| async move {
        socket.send(Message::text(r#"{"type":"error","error":"no such model"}"#)).await.unwrap();
        while let Some(Ok(_)) = socket.next().await {}
    })
    .await;
    let envelope = setting.call(&bound(SESSION), session_arguments()).await;
    assert_eq!(envelope.error.unwrap().message, "the upstream reported an error: no such model");
}

#[tokio::test]
async fn a_session_must_open_with_its_update() {
    let server = Server::with("").await;
    let arguments = json!({"session": {"type": "other"}, "frames_base64": []});
    let envelope = Setting::for_server(&server).call(&bound(SESSION), arguments).await;
    assert_eq!(envelope.code(), Some(Code::InvalidArguments));
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn frames_that_are_no_base64_are_refused_before_connecting() {
    let server = Server::with("").await;
    let arguments = json!({"session": {}, "frames_base64": ["%%"]});
    let envelope = Setting::for_server(&server).call(&bound(SESSION), arguments).await;
    assert_eq!(envelope.code(), Some(Code::FileRefused));
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn a_frame_that_the_real_server_would_not_take_is_refused_before_connecting() {
    let server = Server::with("").await;
    let frames = [STANDARD.encode(vec![0; 1024 * 1024]), STANDARD.encode(vec![0; 1024 * 1024 + 1])];
    let arguments = json!({"session": {}, "frames_base64": frames});
    let error = Setting::for_server(&server).call(&bound(SESSION), arguments).await.error.unwrap();
    assert!(error.message.starts_with("`frames_base64/1` holds 1048577 bytes"), "{}", error.message);
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn a_proxy_is_used_as_by_every_other_call() {
    let proxy = Server::with(answer("502 Bad Gateway", &[], "")).await;
    let setting = Setting::for_server(&proxy).with(|config| {
        config.https_proxy = Some(config.base_url.as_str().into());
        config.base_url = "https://upstream.example".parse().unwrap();
    });
    let envelope = setting.call(&bound(LOGS), json!({"model_id": "m"})).await;
    assert_eq!(envelope.code(), Some(Code::UpstreamUnreachable));
    assert_eq!(proxy.only_request().line, "CONNECT upstream.example:443 HTTP/1.1");
}

#[tokio::test]
async fn an_answer_to_another_handshake_is_refused() {
    let head = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Accept", "x")];
    let server = Server::with(answer("101 Switching Protocols", &head, "")).await;
    let envelope = Setting::for_server(&server).call(&bound(LOGS), json!({"model_id": "m"})).await;
    assert_eq!(envelope.code(), Some(Code::UpstreamError));
}

#[tokio::test]
async fn cancelling_ends_the_exchange() {
    let setting = speaking(|mut socket| async move { while let Some(Ok(_)) = socket.next().await {} }).await;
    let context = crate::CallContext::within(Duration::from_secs(10));
    let cancel = context.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    });
    let arguments = crate::testing::object(json!({"model_id": "m"}));
    let envelope = setting.upstream().execute(&bound(LOGS), arguments, &context).await;
    assert_eq!(envelope.code(), Some(Code::Cancelled));
}

#[tokio::test]
async fn the_bytes_of_an_exchange_are_bounded() {
    let setting =
        speaking(|mut socket| async move { while socket.send(Message::text("x".repeat(600))).await.is_ok() {} })
            .await
            .with(|config| config.max_response_bytes = 1000);
    let envelope = setting.call(&bound(LOGS), json!({"model_id": "m"})).await;
    assert_eq!(envelope.code(), Some(Code::TooLarge));
    assert_eq!(messages(&envelope).0.len(), 1);
}
