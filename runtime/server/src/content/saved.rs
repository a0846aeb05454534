//! Saved answers as MCP resources.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceContents};
use serde_json::json;
use toolwright_core::ToolError;
use toolwright_http::{SavedError, SavedFile};

use crate::App;

/// Files that a list shows at most, newest first; the quota bounds their bytes, not their number.
const MOST_LISTED: usize = 500;

/// Largest file that is read into one result; larger ones are opened at their path.
const MOST_READ: u64 = 32 << 20;

/// The saved files, newest first.
///
/// # Errors
/// Where the folder cannot be read.
pub(super) async fn list(app: &App) -> Result<Vec<Resource>, ErrorData> {
    if !app.has_upstream() {
        return Ok(Vec::new());
    }
    let files = app
        .upstream(app.deadline(None))
        .await
        .map_err(internal)?
        .saved_files()
        .list()
        .await
        .map_err(|error| failed(error, None))?;
    Ok(files.into_iter().rev().take(MOST_LISTED).map(resource).collect())
}

/// The content of a saved file.
///
/// # Errors
/// Resource not found, or too large to be read at once.
pub(super) async fn read(app: &App, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let (file, content) = open(app, uri).await?;
    Ok(ReadResourceResult::new(vec![contents(file, content)]))
}

/// The bytes of a saved file.
///
/// # Errors
/// As [`read`].
pub(super) async fn bytes(app: &App, uri: &str) -> Result<Vec<u8>, ErrorData> {
    Ok(open(app, uri).await?.1)
}

async fn open(app: &App, uri: &str) -> Result<(SavedFile, Vec<u8>), ErrorData> {
    if !app.has_upstream() {
        return Err(failed(SavedError::Unknown, Some(uri)));
    }
    let read = app.upstream(app.deadline(None)).await.map_err(internal)?.saved_files().read(uri, MOST_READ).await;
    read.map_err(|error| failed(error, Some(uri)))
}

fn resource(file: SavedFile) -> Resource {
    Resource::new(file.uri, file.name).with_mime_type(file.mime_type).with_size(file.size_bytes)
}

/// Text where it is text by type and by content, else a blob.
fn contents(file: SavedFile, content: Vec<u8>) -> ResourceContents {
    let textual = file.mime_type.starts_with("text/") || file.mime_type.ends_with("json");
    let (uri, mime_type) = (file.uri, Some(file.mime_type));
    match String::from_utf8(content) {
        Ok(text) if textual => ResourceContents::TextResourceContents { uri, mime_type, text, meta: None },
        Ok(text) => ResourceContents::BlobResourceContents { uri, mime_type, blob: STANDARD.encode(text), meta: None },
        Err(binary) => {
            let blob = STANDARD.encode(binary.as_bytes());
            ResourceContents::BlobResourceContents { uri, mime_type, blob, meta: None }
        }
    }
}

fn internal(error: ToolError) -> ErrorData {
    ErrorData::internal_error(error.message, None)
}

/// The data of "resource not found" names the URI, as the specification recommends.
fn failed(error: SavedError, uri: Option<&str>) -> ErrorData {
    let message = error.to_string();
    match error {
        SavedError::Unknown => ErrorData::resource_not_found(message, uri.map(|uri| json!({"uri": uri}))),
        SavedError::TooLarge(_) => ErrorData::invalid_params(message, None),
        SavedError::Quota(_) | SavedError::Io(_) => ErrorData::internal_error(message, None),
    }
}
