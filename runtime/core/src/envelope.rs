//! The one shape of every result (`contracts`: ok, status_code, elapsed_ms, then the payload).

use serde_json::{Map, Value, json};

use crate::{Block, Code, ToolError};

/// The result of a call. Its JSON form ([`Envelope::to_json`]) is the structured content of the MCP result.
#[derive(Debug, Clone, Default)]
pub struct Envelope {
    /// True exactly when the call succeeded: HTTP 2xx, or a normal WebSocket close.
    pub ok: bool,
    /// HTTP status, where there was an answer.
    pub status_code: Option<u16>,
    /// Media type of the answer in lower case, without parameters.
    pub content_type: Option<String>,
    /// Milliseconds from the request to the last byte of the answer.
    pub elapsed_ms: f64,
    /// Kept response headers, by lower-case name.
    pub headers: Vec<(String, String)>,
    /// What came back.
    pub payload: Payload,
    /// The failure, where `ok` is false.
    pub error: Option<ToolError>,
    /// Deviations from the document and other remarks.
    pub warnings: Vec<String>,
    /// Further members, such as `tool_name`, `validation_errors` and `input_schema` of a refusal.
    pub extra: Map<String, Value>,
    /// Content blocks that the result carries beside its text.
    pub attachments: Vec<Block>,
}

/// What came back.
#[derive(Debug, Clone, Default)]
pub enum Payload {
    /// Nothing, as with 204.
    #[default]
    Empty,
    /// JSON.
    Data(Value),
    /// Text.
    Text(String),
    /// A stream: the assembled message and its events.
    Events {
        /// The assembled message, in its non-streamed shape.
        data: Option<Value>,
        /// The events, bounded.
        events: Vec<Value>,
        /// True where events were left out.
        truncated: bool,
    },
    /// WebSocket messages.
    Messages {
        /// The messages, bounded.
        messages: Vec<Value>,
        /// True where messages were left out.
        truncated: bool,
    },
    /// Binary content.
    Binary(Binary),
    /// Content blocks, as code of the server's own made them: they are the result, and nothing stands beside them.
    Content(Vec<Block>),
}

/// Metadata of binary content.
#[derive(Debug, Clone, Default)]
pub struct Binary {
    /// Size in bytes.
    pub size_bytes: u64,
    /// Media type.
    pub mime_type: String,
    /// Where it was saved.
    pub saved_path: Option<String>,
    /// URI of the MCP resource that reads the saved file.
    pub resource_uri: Option<String>,
    /// The content, where the setting asks for it inside the envelope.
    pub base64: Option<String>,
}

impl Envelope {
    /// A successful result without an HTTP answer of its own.
    #[must_use]
    pub fn success(data: Value) -> Self {
        Envelope { ok: true, payload: Payload::Data(data), ..Envelope::default() }
    }

    /// A failure.
    #[must_use]
    pub fn failure(error: ToolError) -> Self {
        Envelope { error: Some(error), ..Envelope::default() }
    }

    /// JSON Schema of an envelope whose `data` has this one: what a tool of this server's own promises.
    #[must_use]
    pub fn schema(mut data: Map<String, Value>) -> Map<String, Value> {
        let definitions = data.shift_remove("$defs");
        let text = json!({"type": "string"});
        let properties = json!({
            "ok": {"type": "boolean"},
            "elapsed_ms": {"type": "number"},
            "data": data,
            "error": text,
            "code": text,
            "warnings": {"type": "array", "items": text},
        });
        let mut root: Map<String, Value> = Map::from_iter([
            ("type".to_owned(), "object".into()),
            ("properties".to_owned(), properties),
            ("required".to_owned(), json!(["ok", "elapsed_ms"])),
        ]);
        root.extend(definitions.map(|definitions| ("$defs".to_owned(), definitions)));
        root
    }

    /// The code of the failure.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        self.error.as_ref().map(|error| error.code)
    }

    /// The JSON form, as [`Envelope::into_json`] makes it.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        self.clone().into_json()
    }

    /// The JSON form: `ok`, `status_code`, `content_type`, `elapsed_ms`, `headers`, the failure, the payload, `warnings`.
    /// The payload is moved, since answers may be large.
    #[must_use]
    pub fn into_json(self) -> Map<String, Value> {
        let mut out = Map::new();
        out.insert("ok".into(), self.ok.into());
        if let Some(status) = self.status_code {
            out.insert("status_code".into(), status.into());
            out.insert("content_type".into(), json!(self.content_type));
        }
        out.insert("elapsed_ms".into(), json!((self.elapsed_ms * 100.0).round() / 100.0));
        if !self.headers.is_empty() {
            let headers = self.headers.into_iter().map(|(name, value)| (name, Value::from(value)));
            out.insert("headers".into(), Value::Object(headers.collect()));
        }
        if let Some(error) = self.error {
            out.insert("error".into(), error.message.into());
            out.insert("code".into(), json!(error.code));
        }
        self.payload.write(&mut out);
        out.extend(self.extra);
        if !self.warnings.is_empty() {
            out.insert("warnings".into(), json!(self.warnings));
        }
        out
    }
}

impl Payload {
    fn write(self, out: &mut Map<String, Value>) {
        match self {
            Payload::Empty => {}
            Payload::Data(data) => {
                out.insert("data".into(), data);
            }
            Payload::Text(text) => {
                out.insert("text".into(), text.into());
            }
            Payload::Events { data, events, truncated } => {
                if let Some(data) = data {
                    out.insert("data".into(), data);
                }
                out.insert("events".into(), events.into());
                if truncated {
                    out.insert("events_truncated".into(), true.into());
                }
            }
            Payload::Messages { messages, truncated } => {
                out.insert("message_count".into(), messages.len().into());
                out.insert("messages".into(), messages.into());
                if truncated {
                    out.insert("messages_truncated".into(), true.into());
                }
            }
            Payload::Binary(binary) => binary.write(out),
            Payload::Content(blocks) => {
                out.insert("content".into(), blocks.iter().map(Block::to_json).collect());
            }
        }
    }
}

impl Binary {
    fn write(self, out: &mut Map<String, Value>) {
        out.insert("size_bytes".into(), self.size_bytes.into());
        out.insert("mime_type".into(), self.mime_type.into());
        let optional = [("saved_path", self.saved_path), ("resource_uri", self.resource_uri), ("base64", self.base64)];
        for (name, value) in optional {
            if let Some(value) = value {
                out.insert(name.into(), value.into());
            }
        }
    }
}
