//! The arguments of a WebSocket exchange. No document can declare them, so they are the same for every server.

use serde_json::json;

use crate::load::extension::WebSocketExchange;
use crate::model::operation::Operation;
use crate::model::schema::{JsonType, Schema};
use crate::model::tool::{Argument, Role};

/// Nothing for operations that are no exchange.
pub(super) fn arguments(operation: &Operation) -> Vec<Argument> {
    match operation.extension.websocket {
        None => Vec::new(),
        Some(WebSocketExchange::Receive) => bounds(50).into(),
        Some(WebSocketExchange::Session) => {
            let session = argument("session", "First message, a `session.update`.", session(&operation.origin));
            let frames = argument("frames_base64", "Binary frames to send, in base64.", frames());
            let [messages, seconds] = bounds(100);
            vec![required(session), required(frames), messages, seconds]
        }
    }
}

fn bounds(max_messages: u32) -> [Argument; 2] {
    [
        argument("max_messages", "Messages after which to stop.", whole(max_messages, 1000)),
        argument("timeout_seconds", "Seconds after which to stop.", whole(10, 300)),
    ]
}

fn argument(name: &str, description: &str, schema: Schema) -> Argument {
    Argument {
        origin: String::new(),
        name: name.to_owned(),
        wire_name: String::new(),
        role: Role::Exchange,
        required: false,
        needed_by_body: false,
        shown: true,
        description: Some(description.to_owned()),
        schema,
        send_as: Vec::new(),
    }
}

fn required(argument: Argument) -> Argument {
    Argument { required: true, ..argument }
}

fn whole(default: u32, maximum: u32) -> Schema {
    let mut schema = Schema { default: Some(default.into()), ..Schema::of(JsonType::Integer) };
    schema.bounds.insert("minimum".to_owned(), 1.into());
    schema.bounds.insert("maximum".to_owned(), maximum.into());
    schema
}

fn frames() -> Schema {
    Schema { items: Some(Box::new(Schema::of(JsonType::String))), ..Schema::of(JsonType::Array) }
}

fn session(operation: &str) -> Schema {
    let kind = Schema { constant: Some(json!("session.update")), ..Schema::of(JsonType::String) };
    let format = Schema { enumeration: vec![json!("S16_LE"), json!("F32_LE")], ..Schema::of(JsonType::String) };
    let properties = [
        ("type", kind.described("Kind of message.")),
        ("model", Schema::of(JsonType::String).described("Model that processes the frames.")),
        ("sample_format", format.described("Default S16_LE.")),
        ("sample_rate", Schema::of(JsonType::Integer).described("Samples per second.")),
        ("frame_samples", Schema::of(JsonType::Integer).described("Samples per frame.")),
        ("params", Schema::of(JsonType::Object).described("Backend options.")),
        ("reset", Schema::of(JsonType::Boolean).described("Forget earlier frames.")),
    ];
    Schema {
        origin: format!("{operation}/x-toolwright/websocket/session"),
        properties: properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect(),
        required: vec!["model".to_owned()],
        ..Schema::of(JsonType::Object)
    }
}
