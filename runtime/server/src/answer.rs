//! An envelope as an MCP result.

use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::Value;
use toolwright_core::{Block, BlockKind, Envelope, Payload};

/// What most answers fit in, so that their text is written without growing.
const TYPICAL_BYTES: usize = 2048;

/// The result of a call: structured content, its compact JSON as text, then the attachments. Where code of the server's own
/// made content blocks, they are the result.
pub(crate) fn result(mut envelope: Envelope) -> CallToolResult {
    if envelope.ok
        && let Payload::Content(blocks) = envelope.payload
    {
        let warnings = envelope.warnings.into_iter().map(ContentBlock::text);
        return CallToolResult::success(blocks.into_iter().map(block).chain(warnings).collect());
    }
    let attachments = std::mem::take(&mut envelope.attachments);
    let ok = envelope.ok;
    let structured = Value::Object(envelope.into_json());
    let mut content = vec![ContentBlock::text(compact(&structured))];
    content.extend(attachments.into_iter().map(block));
    let mut result = if ok { CallToolResult::success(content) } else { CallToolResult::error(content) };
    result.structured_content = Some(structured);
    result
}

/// The compact JSON. Through `Display` it would take twice as long: that writes each piece through a formatter.
fn compact(value: &Value) -> String {
    let mut text = Vec::with_capacity(TYPICAL_BYTES);
    // A value that is in memory is written without fail, and as UTF-8.
    if serde_json::to_writer(&mut text, value).is_err() {
        return value.to_string();
    }
    String::from_utf8(text).unwrap_or_else(|_| value.to_string())
}

fn block(attachment: Block) -> ContentBlock {
    let mime_type = attachment.mime_type;
    match attachment.kind {
        BlockKind::Text(text) => ContentBlock::text(text),
        BlockKind::Document { uri, text } => ContentBlock::resource(ResourceContents::TextResourceContents {
            uri,
            mime_type: Some(mime_type),
            text,
            meta: None,
        }),
        BlockKind::Image(base64) => ContentBlock::image(base64, mime_type),
        BlockKind::Audio(base64) => ContentBlock::audio(base64, mime_type),
        BlockKind::Blob { uri, base64 } => ContentBlock::resource(ResourceContents::BlobResourceContents {
            uri,
            mime_type: Some(mime_type),
            blob: base64,
            meta: None,
        }),
        BlockKind::Link { uri, name, size_bytes } => {
            ContentBlock::ResourceLink(Resource::new(uri, name).with_mime_type(mime_type).with_size(size_bytes))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright_core::{Code, ToolError};

    use super::*;

    #[test]
    fn attachments_follow_the_text_each_as_the_block_of_its_kind() {
        let attachment = |kind| Block { kind, mime_type: "x/y".into() };
        let uri = "toolwright://demo/files/a".to_owned();
        let mut envelope = Envelope::success(json!(1));
        envelope.attachments = vec![
            attachment(BlockKind::Image("AA==".into())),
            attachment(BlockKind::Audio("AA==".into())),
            attachment(BlockKind::Blob { uri: uri.clone(), base64: "AA==".into() }),
            attachment(BlockKind::Link { uri, name: "a".into(), size_bytes: 1 }),
        ];
        let content = json!(result(envelope).content);
        let kinds: Vec<&str> =
            content.as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["text", "image", "audio", "resource", "resource_link"]);
        assert_eq!(content[4]["size"], 1);
    }

    #[test]
    fn content_of_a_handler_is_the_whole_result() {
        let blocks = vec![Block::text("a"), Block::document("x://y", "text/plain", "b")];
        let envelope = Envelope { ok: true, payload: Payload::Content(blocks), ..Envelope::default() };
        let result = json!(result(envelope));
        let resource = json!({"uri": "x://y", "mimeType": "text/plain", "text": "b"});
        assert_eq!(
            result["content"],
            json!([{"type": "text", "text": "a"}, {"type": "resource", "resource": resource}])
        );
        assert_eq!(result.get("structuredContent"), None);
    }

    #[test]
    fn a_failure_is_marked_as_an_error() {
        let failure = Envelope::failure(ToolError::new(Code::Deadline, "too slow"));
        assert_eq!(result(failure).is_error, Some(true));
    }
}
