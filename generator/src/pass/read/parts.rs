//! Parts of multipart bodies: which have names, and what headers they have beyond the usual ones.

use serde_json::Value;

use super::Reader;
use crate::access::is_token;
use crate::diagnostic::Diagnostic;
use crate::ledger::{Outcome, Part, Rule};
use crate::model::operation::{BodyKind, PartHeader, RequestBody};
use crate::model::schema::Schema;
use crate::pass::join;

/// Keys of a media type whose parts go by their position (OpenAPI 3.2 section 4.14.4).
const POSITIONAL: [&str; 3] = ["itemSchema", "prefixEncoding", "itemEncoding"];

impl Reader<'_, '_> {
    /// Whether a body can be put together from its schema: the parts of a multipart body are the properties of an object.
    /// Where they go by their position, or nothing says what they are, the body is left out with a warning.
    pub(super) fn has_named_parts(&mut self, media_type: &str, at: &str) -> bool {
        if BodyKind::of(media_type) != BodyKind::Multipart || media_type.starts_with("multipart/form-data") {
            return true;
        }
        let says = |key: &str| self.resolved(at).is_some_and(|schema| schema.get(key).is_some());
        let is_object = ["properties", "allOf", "anyOf", "oneOf"].into_iter().any(says);
        let node = self.model.loaded.document.get(at);
        let is_positional = POSITIONAL.iter().any(|key| node.is_some_and(|node| node.get(*key).is_some()));
        if is_object && !is_positional {
            return true;
        }
        let message = format!("the parts of this {media_type} body have no names, and the body was left out");
        let help = "give it a schema with a property for each part, in an overlay; parts by position are not sent";
        let place = self.model.loaded.document.place(at);
        self.sink.push(Diagnostic::warning("positional-parts", message).at(place).help(help));
        self.model.ledger.record(Part::Body, at, Outcome::Dropped(Rule::PositionalParts));
        false
    }

    /// Reads `headers` of the encodings of a multipart body; in any other body they say nothing (OpenAPI 3.1 section
    /// 4.8.15.1), and neither does `Content-Type` among them.
    pub(super) fn part_headers(&mut self, body: &mut RequestBody, media_type: &str) {
        if body.kind != BodyKind::Multipart {
            return;
        }
        for (field, encoding) in &mut body.encoding {
            let base = join(&join(&join(media_type, "encoding"), field), "headers");
            let headers = self.model.loaded.document.get(&base).and_then(Value::as_object);
            let names: Vec<String> = headers.into_iter().flat_map(|headers| headers.keys().cloned()).collect();
            let named = names.into_iter().filter(|name| !name.eq_ignore_ascii_case("content-type"));
            encoding.headers = named.filter_map(|name| self.part_header(&join(&base, &name), name)).collect();
        }
    }

    fn part_header(&mut self, pointer: &str, wire_name: String) -> Option<PartHeader> {
        let (origin, node) = self.follow(pointer)?;
        if !is_token(&wire_name) || wire_name.eq_ignore_ascii_case("content-disposition") {
            let message = format!("a part cannot have {wire_name:?} as a further header; it was left out");
            let help = "names of headers have letters, digits and `-`; the name of a part is in Content-Disposition";
            let place = self.model.loaded.document.place(&origin);
            self.sink.push(Diagnostic::warning("part-header", message).at(place).help(help));
            return None;
        }
        let is = |key: &str| node.get(key) == Some(&Value::Bool(true));
        Some(PartHeader {
            wire_name,
            required: is("required"),
            explode: is("explode"),
            description: node.get("description").and_then(Value::as_str).map(str::to_owned),
            schema: Schema::unread(join(&origin, "schema")),
            origin,
        })
    }
}
