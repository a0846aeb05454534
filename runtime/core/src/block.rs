//! Content blocks: what a result shows beside JSON, or instead of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// One block of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The kind.
    pub kind: BlockKind,
    /// Media type.
    pub mime_type: String,
}

/// Kinds of content blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// Text for whoever reads the result.
    Text(String),
    /// An image, in base64.
    Image(String),
    /// Audio, in base64.
    Audio(String),
    /// A resource of text, embedded.
    Document {
        /// URI of the resource.
        uri: String,
        /// The content.
        text: String,
    },
    /// Any other content, embedded as a blob resource.
    Blob {
        /// URI of the resource.
        uri: String,
        /// The content in base64.
        base64: String,
    },
    /// A link to a resource that can be read, such as a saved file.
    Link {
        /// URI of the resource.
        uri: String,
        /// File name.
        name: String,
        /// Size in bytes.
        size_bytes: u64,
    },
}

impl Block {
    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Block { kind: BlockKind::Text(text.into()), mime_type: "text/plain".to_owned() }
    }

    /// An image of these bytes, such as `image/png`.
    #[must_use]
    pub fn image(mime_type: impl Into<String>, bytes: &[u8]) -> Self {
        Block { kind: BlockKind::Image(STANDARD.encode(bytes)), mime_type: mime_type.into() }
    }

    /// Audio of these bytes, such as `audio/wav`.
    #[must_use]
    pub fn audio(mime_type: impl Into<String>, bytes: &[u8]) -> Self {
        Block { kind: BlockKind::Audio(STANDARD.encode(bytes)), mime_type: mime_type.into() }
    }

    /// An embedded resource of text.
    #[must_use]
    pub fn document(uri: impl Into<String>, mime_type: impl Into<String>, text: impl Into<String>) -> Self {
        Block { kind: BlockKind::Document { uri: uri.into(), text: text.into() }, mime_type: mime_type.into() }
    }

    /// An embedded resource of bytes.
    #[must_use]
    pub fn blob(uri: impl Into<String>, mime_type: impl Into<String>, bytes: &[u8]) -> Self {
        let kind = BlockKind::Blob { uri: uri.into(), base64: STANDARD.encode(bytes) };
        Block { kind, mime_type: mime_type.into() }
    }

    /// The texts of the block that a secret may stand in.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        match &mut self.kind {
            BlockKind::Text(text) => vec![text],
            BlockKind::Document { uri, text } => vec![uri, text],
            BlockKind::Blob { uri, .. } => vec![uri],
            BlockKind::Link { uri, name, .. } => vec![uri, name],
            BlockKind::Image(_) | BlockKind::Audio(_) => Vec::new(),
        }
    }

    /// The block as JSON, for callers that take no content blocks: the command line and steps.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mime_type = &self.mime_type;
        match &self.kind {
            BlockKind::Text(text) => json!({"text": text}),
            BlockKind::Image(base64) => json!({"image": base64, "mime_type": mime_type}),
            BlockKind::Audio(base64) => json!({"audio": base64, "mime_type": mime_type}),
            BlockKind::Document { uri, text } => json!({"uri": uri, "text": text, "mime_type": mime_type}),
            BlockKind::Blob { uri, base64 } => json!({"uri": uri, "base64": base64, "mime_type": mime_type}),
            BlockKind::Link { uri, name, size_bytes } => {
                json!({"uri": uri, "name": name, "size_bytes": size_bytes, "mime_type": mime_type})
            }
        }
    }
}
