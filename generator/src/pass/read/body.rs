//! Reads request bodies: one media type is chosen, and the others are accounted for.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{Reader, collection_style, query_style};
use crate::diagnostic::Diagnostic;
use crate::ledger::{Outcome, Part, Rule};
use crate::load::extension;
use crate::model::operation::{BodyKind, FieldEncoding, RequestBody};
use crate::model::schema::Schema;
use crate::pass::join;

impl Reader<'_, '_> {
    /// The body that will be sent: multipart before JSON before urlencoded, since only multipart carries files as files.
    pub(super) fn body(&mut self, operation: &str) -> Option<RequestBody> {
        let pointer = join(operation, "requestBody");
        self.model.loaded.document.get(&pointer)?;
        let (origin, node) = self.follow(&pointer)?;
        let body: openapiv3::RequestBody = match serde_json::from_value(without_schemas(&node)) {
            Ok(body) => body,
            Err(error) => {
                let message = format!("this body cannot be read and was left out: {error}");
                let help = "a body has a `content` of media types, and perhaps `required`";
                self.refuse_at(Part::Body, &pointer, &origin, Diagnostic::warning("bad-body", message).help(help));
                return None;
            }
        };
        let chosen = body
            .content
            .keys()
            .filter_map(|media_type| Some((kind_of(media_type)?, media_type)))
            .min_by_key(|(kind, media_type)| (rank(*kind), !media_type.starts_with("application/json")));
        let content = join(&origin, "content");
        for media_type in body.content.keys() {
            let outcome = match chosen {
                Some((_, chosen)) if chosen == media_type => Outcome::Mapped,
                Some(_) => Outcome::Dropped(Rule::OneBodyMediaType),
                None => Outcome::Refused,
            };
            self.model.ledger.record(Part::Body, join(&content, media_type), outcome);
        }
        let Some((kind, media_type)) = chosen else {
            self.unsendable(&origin, &body.content);
            return None;
        };
        let at = join(&content, media_type);
        Some(RequestBody {
            required: body.required,
            argument: extension::body_argument(&self.model.loaded.document, &origin),
            description: body.description,
            media_type: media_type.clone(),
            kind,
            schema: Schema::unread(join(&at, "schema")),
            encoding: self.encoding(&at),
        })
    }

    fn unsendable(&mut self, origin: &str, content: &IndexMap<String, openapiv3::MediaType>) {
        let types: Vec<String> = content.keys().map(|media_type| format!("`{media_type}`")).collect();
        let message = format!("the body's media type cannot be sent: {}", types.join(", "));
        let help = "bodies are sent as JSON, multipart/form-data or application/x-www-form-urlencoded; \
                    declare one of them in an overlay if the API takes it";
        let place = self.model.loaded.document.place(origin);
        self.sink.push(Diagnostic::warning("body-media-type", message).at(place).help(help));
    }

    /// How the fields of a form are written (OpenAPI 3.1 section 4.8.15). openapiv3 loses whether `explode` was said.
    fn encoding(&self, media_type: &str) -> IndexMap<String, FieldEncoding> {
        let Some(Value::Object(encoding)) = self.model.loaded.document.get(&join(media_type, "encoding")) else {
            return IndexMap::new();
        };
        encoding
            .iter()
            .map(|(field, node)| {
                let declared: Option<openapiv3::QueryStyle> =
                    node.get("style").and_then(|style| serde_json::from_value(style.clone()).ok());
                let pointer = join(&join(media_type, "encoding"), field);
                let style = collection_style(&self.model.loaded.document, &pointer);
                let style = style.or_else(|| declared.as_ref().map(query_style));
                (field.clone(), FieldEncoding { style, explode: node.get("explode").and_then(Value::as_bool) })
            })
            .collect()
    }
}

/// The body without what 3.0 does not know: media types are kept as empty nodes.
fn without_schemas(node: &Value) -> Value {
    let mut kept = Map::new();
    for key in ["description", "required"] {
        if let Some(value) = node.get(key) {
            kept.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(Value::Object(content)) = node.get("content") {
        let content = content.keys().map(|media_type| (media_type.clone(), Value::Object(Map::new())));
        kept.insert("content".to_owned(), Value::Object(content.collect()));
    }
    Value::Object(kept)
}

fn kind_of(media_type: &str) -> Option<BodyKind> {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "multipart/form-data" => Some(BodyKind::Multipart),
        "application/x-www-form-urlencoded" => Some(BodyKind::Form),
        "*/*" | "application/*" => Some(BodyKind::Json),
        json if json == "application/json" || json.ends_with("+json") => Some(BodyKind::Json),
        _ => None,
    }
}

fn rank(kind: BodyKind) -> u8 {
    match kind {
        BodyKind::Multipart => 0,
        BodyKind::Json => 1,
        BodyKind::Form => 2,
    }
}
