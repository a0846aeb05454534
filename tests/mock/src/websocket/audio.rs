//! `GET /audio/transformations/stream`: stereo PCM in, mono PCM out, both at the same time.
//!
//! A message that was read is handed to the writer through a short queue. When the client does not read, the queue
//! fills, this side stops reading, and the client feels it: a client that sends everything before it reads stands still.

use super::{Session, Socket, closing, error_message};
use crate::fault::Fault;
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// Messages between reader and writer.
const QUEUE: usize = 4;

pub(super) async fn run(mut session: Session, socket: Socket) {
    let (sink, mut stream) = socket.split();
    let (queue, messages) = mpsc::channel(QUEUE);
    let pause = match session.fault {
        Some(Fault::SlowDrip { every_ms, .. }) => Duration::from_millis(every_ms),
        _ => Duration::ZERO,
    };
    let writer = tokio::spawn(write(sink, messages, pause));
    let ended = read(&session, &mut stream, &queue).await;
    match ended {
        Ended::Cut => {
            writer.abort();
            return;
        }
        Ended::Normally => drop(queue.send(closing(CloseCode::Normal)).await),
        // The real server reports the mistake and then drops the connection without a close message.
        Ended::Refused(why) => {
            session.violate(why);
            drop(queue.send(error_message(why)).await);
            drop(queue);
            drop(writer.await);
            return;
        }
        Ended::ByClient => {}
    }
    drop(queue);
    if matches!(writer.await, Ok(true)) {
        session.ticket.complete();
    }
    while let Ok(Some(Ok(message))) = tokio::time::timeout(Duration::from_secs(2), stream.next()).await {
        session.saw(&message);
    }
}

async fn write(mut sink: SplitSink<Socket, Message>, mut messages: mpsc::Receiver<Message>, pause: Duration) -> bool {
    while let Some(message) = messages.recv().await {
        tokio::time::sleep(pause).await;
        if sink.send(message).await.is_err() {
            return false;
        }
    }
    sink.flush().await.is_ok()
}

enum Ended {
    Normally,
    Refused(&'static str),
    ByClient,
    Cut,
}

/// Bytes of one sample.
#[derive(Clone, Copy)]
enum Format {
    S16 = 2,
    F32 = 4,
}

async fn read(session: &Session, stream: &mut SplitStream<Socket>, queue: &mpsc::Sender<Message>) -> Ended {
    let mut format = None;
    let mut count = 0u32;
    while let Some(Ok(message)) = stream.next().await {
        session.saw(&message);
        match message {
            Message::Text(text) => match control(&text) {
                Ok(Control::Update(new)) => format = Some(new),
                Ok(Control::Close) if format.is_none() => {
                    return Ended::Refused("session.close came before session.update");
                }
                Ok(Control::Close) if session.fault == Some(Fault::NoClose) => {}
                Ok(Control::Close) => return Ended::Normally,
                Err(why) => return Ended::Refused(why),
            },
            Message::Binary(pcm) => {
                let Some(format) = format else {
                    return Ended::Refused("the first message must be a session.update text");
                };
                let Some(mono) = mono(&pcm, format) else {
                    return Ended::Refused("a message holds no whole number of stereo frames");
                };
                count += 1;
                if disturb(session, queue, count).await {
                    return Ended::Cut;
                }
                if queue.send(Message::Binary(mono)).await.is_err() {
                    return Ended::ByClient;
                }
            }
            Message::Close(_) => return Ended::ByClient,
            _ => {}
        }
    }
    Ended::ByClient
}

/// The fault of this exchange, at its second audio message; true cuts the connection.
async fn disturb(session: &Session, queue: &mpsc::Sender<Message>, count: u32) -> bool {
    match session.fault {
        Some(Fault::DroppedSocket | Fault::Truncated) => count == 2,
        Some(Fault::WrongType | Fault::StreamError | Fault::MalformedSse) if count == 2 => {
            drop(queue.send(error_message("the backend reported an error")).await);
            false
        }
        _ => false,
    }
}

enum Control {
    Update(Format),
    Close,
}

fn control(text: &str) -> Result<Control, &'static str> {
    let message: Value = serde_json::from_str(text).map_err(|_| "a text message is not JSON")?;
    match message.get("type").and_then(Value::as_str) {
        Some("session.close") => Ok(Control::Close),
        Some("session.update") => {
            if message.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
                return Err("session.update needs a model");
            }
            match message.get("sample_format").and_then(Value::as_str) {
                None | Some("" | "S16_LE") => Ok(Control::Update(Format::S16)),
                Some("F32_LE") => Ok(Control::Update(Format::F32)),
                Some(_) => Err("sample_format must be S16_LE or F32_LE"),
            }
        }
        _ => Err("the type of a text message must be session.update or session.close"),
    }
}

/// Channel 0 of interleaved stereo.
fn mono(stereo: &Bytes, format: Format) -> Option<Bytes> {
    let sample = format as usize;
    let frame = 2 * sample;
    stereo
        .len()
        .is_multiple_of(frame)
        .then(|| stereo.chunks_exact(frame).filter_map(|f| f.get(..sample)).flatten().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mono_is_the_first_channel() {
        assert_eq!(
            mono(&Bytes::from_static(&[1, 2, 9, 9, 3, 4, 9, 9]), Format::S16),
            Some(Bytes::from_static(&[1, 2, 3, 4]))
        );
        assert_eq!(mono(&Bytes::from_static(&[1, 2, 3]), Format::S16), None);
    }
}
