//! Reads request bodies: the media type that is sent, and those that may be chosen instead because they differ.

use std::collections::VecDeque;

use indexmap::IndexMap;
use serde_json::Value;

use super::{Reader, collection_style, query_style};
use crate::access::is_token;
use crate::diagnostic::Diagnostic;
use crate::ledger::{Outcome, Part, Rule};
use crate::load::extension;
use crate::model::operation::{BodyKind, FieldEncoding, RequestBody, Style};
use crate::model::schema::Schema;
use crate::pass::join;

impl Reader<'_, '_> {
    /// The bodies that can be sent, the preferred one first: JSON, then multipart, urlencoded, text, bytes. `None` where
    /// there is one that cannot be read. A media type whose schema an earlier one has is left out: it says the same.
    pub(super) fn bodies(&mut self, operation: &str) -> Option<VecDeque<RequestBody>> {
        let pointer = join(operation, "requestBody");
        if self.model.loaded.document.get(&pointer).is_none() {
            return Some(VecDeque::new());
        }
        let (origin, node) = self.follow(&pointer)?;
        let content = join(&origin, "content");
        if !node.is_object() || node.get("content").is_some_and(|content| !content.is_object()) {
            let help = "a body has a `content` of media types, and perhaps `required`";
            let warning = Diagnostic::warning("bad-body", "this body cannot be read, and its operation was left out");
            self.refuse_at(Part::Body, &pointer, &origin, warning.help(help));
            return None;
        }
        let mut media_types = self.media_types(&node, &origin)?;
        // The name decides last, so that nothing depends on what the document lists first.
        media_types
            .sort_by_cached_key(|media_type| (self.rank(&join(&content, media_type), media_type), media_type.clone()));
        let mut bodies: VecDeque<RequestBody> = VecDeque::new();
        let mut seen: Vec<Option<Value>> = Vec::new();
        for media_type in media_types {
            let at = join(&content, &media_type);
            let schema = self.schema_at(&at);
            let mut body = self.body(&node, &origin, &at, media_type);
            let is_left_out = seen.contains(&schema) || self.is_sent_alike(&bodies, &body, &at);
            let outcome = if is_left_out { Outcome::Dropped(Rule::OneBodyMediaType) } else { Outcome::Mapped };
            self.model.ledger.record(Part::Body, &at, outcome);
            if !is_left_out {
                seen.push(schema);
                self.check_encoding(&at);
                self.part_headers(&mut body, &at);
                bodies.push_back(body);
            }
        }
        Some(bodies)
    }

    /// Whether an earlier body is sent in the media type of this one, so that nobody could choose between them; a warning
    /// where so. Media types have no case (RFC 9110 section 8.3.1).
    fn is_sent_alike(&mut self, earlier: &VecDeque<RequestBody>, body: &RequestBody, at: &str) -> bool {
        let sent = body.sendable();
        let Some(first) = earlier.iter().find(|first| first.sendable().eq_ignore_ascii_case(&sent)) else {
            return false;
        };
        let (first, this) = (&first.media_type, &body.media_type);
        let message = format!("the bodies {first} and {this} are both sent as {sent}, and {this} was left out");
        let help = "remove one of the two in an overlay, or name the media type that is meant";
        let place = self.model.loaded.document.place(at);
        self.sink.push(Diagnostic::warning("body-media-type", message).at(place).help(help));
        true
    }

    /// The declared media types that can be sent; `None` where there are others alone. A body without any may be anything,
    /// and is sent as JSON.
    fn media_types(&mut self, node: &Value, origin: &str) -> Option<Vec<String>> {
        let content = node.get("content").and_then(Value::as_object);
        let mut declared: Vec<String> = content.into_iter().flat_map(|content| content.keys().cloned()).collect();
        if !declared.is_empty() {
            let base = join(origin, "content");
            declared.retain(|media_type| {
                let at = join(&base, media_type);
                let is_sendable = self.is_sendable(media_type, &at);
                if !is_sendable {
                    self.model.ledger.record(Part::Body, &at, Outcome::Refused);
                }
                is_sendable && self.has_named_parts(media_type, &at)
            });
            return Some(declared).filter(|declared| !declared.is_empty());
        }
        let message = "the body names no media type; it is sent as JSON";
        let help = "declare one in an overlay: content: {application/json: {schema: {}}}";
        let place = self.model.loaded.document.place(origin);
        self.sink.push(Diagnostic::warning("body-media-type", message).at(place).help(help));
        Some(vec!["application/json".to_owned()])
    }

    /// Whether a header can carry a media type; a warning where not.
    pub(super) fn is_sendable(&mut self, media_type: &str, at: &str) -> bool {
        let is_media_type = is_media_type(media_type);
        if !is_media_type {
            let message = format!("{media_type:?} is no media type, and what it describes was left out");
            let help = "a media type is `type/subtype`, such as application/json, perhaps with parameters";
            let place = self.model.loaded.document.place(at);
            self.sink.push(Diagnostic::warning("bad-media-type", message).at(place).help(help));
        }
        is_media_type
    }

    fn body(&self, node: &Value, origin: &str, at: &str, media_type: String) -> RequestBody {
        let mut kind = BodyKind::of(&media_type);
        if kind == BodyKind::Json && media_type.contains('*') && self.is_bytes(at) {
            kind = BodyKind::Binary;
        }
        RequestBody {
            required: node.get("required").is_some_and(|required| required == true || required == "true"),
            argument: extension::body_argument(&self.model.loaded.document, origin),
            description: node.get("description").and_then(Value::as_str).map(str::to_owned),
            schema: self.schema_of(at),
            encoding: self.encoding(at),
            media_type,
            kind,
        }
    }

    /// The schema as it stands; that of one item where the body is a sequence of items (OpenAPI 3.2).
    fn schema_of(&self, at: &str) -> Schema {
        let key = if self.model.loaded.document.get(&join(at, "schema")).is_some() { "schema" } else { "itemSchema" };
        Schema::unread(join(at, key))
    }

    fn schema_at(&self, at: &str) -> Option<Value> {
        self.model.loaded.document.get(&self.schema_of(at).origin).cloned()
    }

    /// Multipart goes before JSON where both have the same schema and it holds files: only multipart carries them as they
    /// are.
    fn rank(&self, at: &str, media_type: &str) -> (u8, bool) {
        let rank = match BodyKind::of(media_type) {
            BodyKind::Multipart if self.holds_files(at) && self.json_says_the_same(at) => 0,
            BodyKind::Json => 1,
            BodyKind::Multipart => 2,
            BodyKind::Form => 3,
            BodyKind::Text | BodyKind::Lines => 4,
            BodyKind::Binary => 5,
        };
        (rank, !media_type.starts_with("application/json"))
    }

    fn json_says_the_same(&self, at: &str) -> bool {
        let Some((content, _)) = at.rsplit_once('/') else { return false };
        let all = self.model.loaded.document.get(content).and_then(Value::as_object);
        let schema = self.schema_at(at);
        let json = all.into_iter().flat_map(|all| all.keys()).filter(|key| BodyKind::of(key) == BodyKind::Json);
        json.into_iter().any(|key| self.schema_at(&join(content, key)) == schema)
    }

    /// True where a property of the schema is a file.
    fn holds_files(&self, at: &str) -> bool {
        let properties = self.resolved(at).and_then(|schema| schema.get("properties")?.as_object());
        properties
            .into_iter()
            .flat_map(|properties| properties.values())
            .any(|property| is_bytes(property) || property.get("items").is_some_and(is_bytes))
    }

    /// True where the whole body is bytes.
    fn is_bytes(&self, at: &str) -> bool {
        self.resolved(at).is_some_and(is_bytes)
    }

    pub(super) fn resolved(&self, at: &str) -> Option<&Value> {
        let document = &self.model.loaded.document;
        let mut schema = document.get(&join(at, "schema"))?;
        for _ in 0..16 {
            let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { break };
            let target = reference.strip_prefix('#').map(crate::load::percent_decoded)?;
            schema = document.get(&target)?;
        }
        Some(schema)
    }

    /// How the fields of a form are written (OpenAPI 3.1 section 4.8.15).
    fn encoding(&self, media_type: &str) -> IndexMap<String, FieldEncoding> {
        let Some(Value::Object(encoding)) = self.model.loaded.document.get(&join(media_type, "encoding")) else {
            return IndexMap::new();
        };
        let base = join(media_type, "encoding");
        encoding.iter().map(|(field, node)| (field.clone(), self.field_encoding(node, &join(&base, field)))).collect()
    }

    /// Reports the content types of fields that no header can carry; those fields have the one that is usual for them.
    fn check_encoding(&mut self, media_type: &str) {
        let base = join(media_type, "encoding");
        let loaded = self.model.loaded;
        let encoding = loaded.document.get(&base).and_then(Value::as_object);
        for (field, node) in encoding.into_iter().flatten() {
            let content_type = node.get("contentType").and_then(Value::as_str).unwrap_or_default();
            if !content_type.is_empty() {
                let at = join(&join(&base, field), "contentType");
                content_type.split(',').for_each(|one| _ = self.is_sendable(one, &at));
            }
        }
    }

    fn field_encoding(&self, node: &Value, pointer: &str) -> FieldEncoding {
        let declared: Option<openapiv3::QueryStyle> =
            node.get("style").and_then(|style| serde_json::from_value(style.clone()).ok());
        let style = collection_style(&self.model.loaded.document, pointer);
        let explode = node.get("explode").and_then(Value::as_bool);
        let reserved = node.get("allowReserved").and_then(Value::as_bool);
        // Whoever says `explode` or `allowReserved` means `form`; a style makes the content type silent.
        let is_said = explode.is_some() || reserved.is_some();
        let style = style.or_else(|| declared.as_ref().map(query_style)).or(is_said.then_some(Style::Form));
        let content_type = node.get("contentType").and_then(Value::as_str);
        let content_type = content_type.filter(|types| style.is_none() && types.split(',').all(is_media_type));
        FieldEncoding {
            style,
            explode,
            content_type: content_type.map(str::to_owned),
            reserved: reserved == Some(true),
            headers: Vec::new(),
        }
    }
}

/// Whether a text is a media type or a range of them (RFC 9110 sections 8.3.1 and 12.5.1) that a header can carry.
fn is_media_type(text: &str) -> bool {
    let essence = text.split(';').next().unwrap_or_default().trim();
    let is_pair = essence.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype));
    is_pair && text.bytes().all(|b| matches!(b, b' '..=b'~'))
}

fn is_bytes(schema: &Value) -> bool {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    let media_type = text("contentMediaType").is_some_and(|media_type| BodyKind::of(media_type) != BodyKind::Json);
    text("format") == Some("binary") || media_type && text("contentEncoding").is_none()
}
