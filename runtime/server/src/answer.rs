//! An envelope as an MCP result.

use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::Value;
use toolwright_core::{Attachment, AttachmentKind, Envelope};

/// The result of a call: structured content, its compact JSON as text, then the attachments.
pub(crate) fn result(mut envelope: Envelope) -> CallToolResult {
    let attachments = std::mem::take(&mut envelope.attachments);
    let structured = Value::Object(envelope.to_json());
    let mut result =
        if envelope.ok { CallToolResult::structured(structured) } else { CallToolResult::structured_error(structured) };
    result.content.extend(attachments.into_iter().map(block));
    result
}

fn block(attachment: Attachment) -> ContentBlock {
    let mime_type = attachment.mime_type;
    match attachment.kind {
        AttachmentKind::Image(base64) => ContentBlock::image(base64, mime_type),
        AttachmentKind::Audio(base64) => ContentBlock::audio(base64, mime_type),
        AttachmentKind::Blob { uri, base64 } => ContentBlock::resource(ResourceContents::BlobResourceContents {
            uri,
            mime_type: Some(mime_type),
            blob: base64,
            meta: None,
        }),
        AttachmentKind::Link { uri, name, size_bytes } => {
            ContentBlock::ResourceLink(Resource::new(uri, name).with_mime_type(mime_type).with_size(size_bytes))
        }
    }
}
