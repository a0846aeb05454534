//! `GET /ws/backend-logs/{modelId}`: lines so far, then new ones; what the client sends is ignored.

use super::{Session, Socket, closing, error_message};
use crate::fault::Fault;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// Lines after the first message, before the mock closes normally.
const NEW_LINES: u32 = 3;

pub(super) async fn run(mut session: Session, mut socket: Socket, model: &str) {
    let pause = match session.fault {
        Some(Fault::SlowDrip { every_ms, .. }) => Duration::from_millis(every_ms),
        _ => session.upstream.options.pause,
    };
    let first = json!({"type": "initial", "lines": [line(model, 0), line(model, 1)]});
    if socket.send(Message::text(first.to_string())).await.is_err() {
        return;
    }
    match session.fault {
        Some(Fault::DroppedSocket | Fault::Truncated) => return,
        Some(Fault::WrongType | Fault::StreamError | Fault::MalformedSse) => {
            drop(socket.send(error_message("the log source went away")).await);
        }
        _ => {}
    }
    for number in 0..NEW_LINES {
        tokio::time::sleep(pause).await;
        let message = json!({"type": "line", "line": line(model, number + 2)});
        if socket.send(Message::text(message.to_string())).await.is_err() {
            return;
        }
    }
    finish(&mut session, &mut socket).await;
}

/// How long a client may take to close.
const PATIENCE: Duration = Duration::from_secs(60);

/// Close normally and wait for the client's close, as RFC 6455 section 7.1.1 wants.
async fn finish(session: &mut Session, socket: &mut Socket) {
    let closes = session.fault != Some(Fault::NoClose);
    if closes && socket.send(closing(CloseCode::Normal)).await.is_err() {
        return;
    }
    session.ticket.complete();
    while let Ok(Some(Ok(message))) = tokio::time::timeout(PATIENCE, socket.next()).await {
        session.saw(&message);
    }
}

fn line(model: &str, number: u32) -> Value {
    let stream = if number.is_multiple_of(2) { "stdout" } else { "stderr" };
    json!({"timestamp": format!("2026-01-02T03:04:{number:02}Z"), "stream": stream, "text": format!("{model}: 로그 line {number}")})
}
