//! `resources/list`, `resources/templates/list` and `resources/read`.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::RoleServer;
use rmcp::model::{
    Annotations as ListedAnnotations, ErrorData, ReadResourceResult, Resource as ListedResource, ResourceContents,
    ResourceTemplate,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use toolwright_core::content::{Annotations, Answer, Content, Fixed, Resource, Values, fill, matches, template};
use toolwright_core::{Binary, Block, BlockKind, Code, Envelope, NoClient, Payload};

use super::answer::arguments;
use super::{failure, said_by, saved};
use crate::App;
use crate::handler::shown;

/// The scheme of saved answers, which no other resource has.
const SAVED: &str = "toolwright:";

/// How long what was read holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// While the server runs, and it is the same for everybody.
    Static,
    /// While the server runs.
    Saved,
    /// It may be another the next time.
    Now,
}

/// The resources whose content can be had: those of the server, then the saved files, newest first.
///
/// # Errors
/// Where the folder of saved files cannot be read.
pub(crate) async fn list(app: &App) -> Result<Vec<ListedResource>, ErrorData> {
    let own = offered(app).filter(|resource| !resource.is_template()).map(listed);
    let mut resources: Vec<ListedResource> = own.collect();
    resources.extend(saved::list(app).await?);
    Ok(resources)
}

/// The templates.
pub(crate) fn templates(app: &App) -> Vec<ResourceTemplate> {
    offered(app).filter(|resource| resource.is_template()).map(listed_template).collect()
}

/// Resources that no setting refuses to read.
fn offered(app: &App) -> impl Iterator<Item = &'static Resource> {
    app.server.resources.iter().filter(|resource| match &resource.content {
        Content::Fixed(_) => true,
        Content::Answer(answer) => app.catalog.find(answer.tool).is_some_and(|row| app.exposure.admit(row).is_ok()),
    })
}

fn listed(resource: &Resource) -> ListedResource {
    let mut listed = ListedResource::new(template(resource.uri), resource.name).with_description(resource.description);
    listed.title = resource.title.map(str::to_owned);
    listed.mime_type = resource.mime_type.map(str::to_owned);
    listed.annotations = annotations(&resource.annotations);
    if let Content::Fixed(Fixed::Bytes(bytes)) = resource.content {
        listed.size = Some(bytes.len() as u64);
    }
    listed
}

fn listed_template(resource: &Resource) -> ResourceTemplate {
    let mut listed = ResourceTemplate::new(template(resource.uri), resource.name);
    listed.description = Some(resource.description.to_owned());
    listed.title = resource.title.map(str::to_owned);
    listed.mime_type = resource.mime_type.map(str::to_owned);
    listed.annotations = annotations(&resource.annotations);
    listed
}

fn annotations(said: &Annotations) -> Option<ListedAnnotations> {
    let is_silent = said.audience.is_empty() && said.priority.is_none() && said.last_modified.is_none();
    (!is_silent).then(|| {
        let mut listed = ListedAnnotations::default();
        listed.audience = (!said.audience.is_empty()).then(|| said.audience.iter().copied().map(said_by).collect());
        listed.priority = said.priority;
        listed.last_modified = said.last_modified.map(str::to_owned);
        listed
    })
}

/// The content of a resource by its URI.
///
/// # Errors
/// Resource not found; what the tool behind it fails with.
pub(crate) async fn read(
    app: &App,
    uri: &str,
    context: &RequestContext<RoleServer>,
) -> Result<(ReadResourceResult, Freshness), ErrorData> {
    let Some((resource, values)) = find(app, uri) else {
        if !uri.starts_with(SAVED) {
            return Err(unknown(uri));
        }
        return Ok((saved::read(app, uri).await?, Freshness::Saved));
    };
    match &resource.content {
        Content::Fixed(content) => {
            let contents = fixed_contents(uri.to_owned(), resource.mime_type, content, &values);
            Ok((ReadResourceResult::new(vec![contents]), Freshness::Static))
        }
        Content::Answer(answer) => {
            let contents = answered(app, (uri, resource.mime_type), answer, values, context).await?;
            Ok((ReadResourceResult::new(vec![contents]), Freshness::Now))
        }
    }
}

fn unknown(uri: &str) -> ErrorData {
    let message = format!("Unknown resource: {}; resources/list and resources/templates/list have them", shown(uri));
    ErrorData::resource_not_found(message, Some(json!({"uri": uri})))
}

/// The resource of a URI with the values of its variables. One without variables goes first.
fn find(app: &App, uri: &str) -> Option<(&'static Resource, Values)> {
    let resources = app.server.resources;
    let of_kind =
        |is_template| resources.iter().filter(move |resource: &&Resource| resource.is_template() == is_template);
    of_kind(false).chain(of_kind(true)).find_map(|resource| Some((resource, matches(resource.uri, uri)?)))
}

/// Content that stands in a row.
pub(super) fn fixed_contents(
    uri: String,
    mime_type: Option<&str>,
    content: &Fixed,
    values: &Values,
) -> ResourceContents {
    let mime_type = mime_type.map(str::to_owned);
    match content {
        Fixed::Text(text) => {
            ResourceContents::TextResourceContents { uri, mime_type, text: fill(text, values), meta: None }
        }
        Fixed::Bytes(bytes) => {
            ResourceContents::BlobResourceContents { uri, mime_type, blob: STANDARD.encode(bytes), meta: None }
        }
    }
}

/// The answer of a tool as content.
async fn answered(
    app: &App,
    (uri, mime_type): (&str, Option<&str>),
    answer: &'static Answer,
    values: Values,
    context: &RequestContext<RoleServer>,
) -> Result<ResourceContents, ErrorData> {
    let Some(arguments) = arguments(answer, &values) else {
        return Err(ErrorData::invalid_params(format!("{} lacks a value", shown(uri)), None));
    };
    let trace = app.begin_trace(answer.tool, Some(&arguments), context);
    let ask = |call| async move { Ok(app.answer(answer, arguments, &call).await) };
    let envelope = app.surrounded(trace, context, Arc::new(NoClient), ask).await?;
    if !envelope.ok {
        return Err(not_read(uri, &envelope));
    }
    contents(app, uri, mime_type, envelope).await
}

/// What an upstream does not have is a resource that is not there.
fn not_read(uri: &str, envelope: &Envelope) -> ErrorData {
    if envelope.status_code == Some(404) {
        let message = format!("Resource not found: {}", shown(uri));
        return ErrorData::resource_not_found(message, Some(json!({"uri": uri})));
    }
    failure(envelope, &format!("{} cannot be read", shown(uri)))
}

/// The payload of a success.
async fn contents(
    app: &App,
    uri: &str,
    mime_type: Option<&str>,
    envelope: Envelope,
) -> Result<ResourceContents, ErrorData> {
    let text = |text: String, default: &str| {
        let mime_type = Some(mime_type.unwrap_or(default).to_owned());
        ResourceContents::TextResourceContents { uri: uri.to_owned(), mime_type, text, meta: None }
    };
    let json = |value: Value| text(value.to_string(), "application/json");
    let said = envelope.content_type.clone().unwrap_or_else(|| "text/plain".to_owned());
    Ok(match envelope.payload {
        Payload::Data(Value::String(data)) => text(data, "text/plain"),
        Payload::Data(data) | Payload::Events { data: Some(data), .. } => json(data),
        Payload::Events { data: None, events, .. } => json(events.into()),
        Payload::Messages { messages, .. } => json(messages.into()),
        Payload::Text(content) => text(content, &said),
        Payload::Empty => text(String::new(), "text/plain"),
        // A resource is one thing: the first block.
        Payload::Content(blocks) => match blocks.into_iter().next() {
            Some(Block { kind: BlockKind::Text(content) | BlockKind::Document { text: content, .. }, mime_type }) => {
                text(content, &mime_type)
            }
            Some(Block {
                kind: BlockKind::Image(blob) | BlockKind::Audio(blob) | BlockKind::Blob { base64: blob, .. },
                mime_type: made,
            }) => {
                let mime_type = Some(mime_type.unwrap_or(&made).to_owned());
                ResourceContents::BlobResourceContents { uri: uri.to_owned(), mime_type, blob, meta: None }
            }
            Some(link) => json(link.to_json()),
            None => text(String::new(), "text/plain"),
        },
        Payload::Binary(binary) => blob(app, uri, mime_type, binary, &envelope.attachments).await?,
    })
}

/// Bytes that came along with the result, else those of the saved file.
async fn blob(
    app: &App,
    uri: &str,
    mime_type: Option<&str>,
    binary: Binary,
    attachments: &[Block],
) -> Result<ResourceContents, ErrorData> {
    let mime_type = Some(mime_type.unwrap_or(&binary.mime_type).to_owned());
    let inline = attachments.iter().find_map(|attachment| match &attachment.kind {
        BlockKind::Image(base64) | BlockKind::Audio(base64) | BlockKind::Blob { base64, .. } => Some(base64.clone()),
        BlockKind::Text(_) | BlockKind::Document { .. } | BlockKind::Link { .. } => None,
    });
    let blob = match (inline.or(binary.base64), binary.resource_uri) {
        (Some(base64), _) => base64,
        (None, Some(saved_uri)) => STANDARD.encode(saved::bytes(app, &saved_uri).await?),
        (None, None) => {
            let failed = Envelope::failure(toolwright_core::ToolError::new(
                Code::TooLarge,
                "the content is larger than what is passed on inline, and saving is switched off",
            ));
            return Err(not_read(uri, &failed));
        }
    };
    Ok(ResourceContents::BlobResourceContents { uri: uri.to_owned(), mime_type, blob, meta: None })
}
