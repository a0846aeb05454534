//! Words of another dialect than the document's own. They are read as meant, and one warning a word says so.

use std::collections::BTreeMap;

use super::super::document::Dialect;
use super::super::origin::Origins;
use crate::diagnostic::{Diagnostic, Sink};

/// Words that were found: where the first stands, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Words(BTreeMap<&'static str, (String, usize)>);

impl Words {
    pub(super) fn found(&mut self, word: &'static str, pointer: String) {
        self.0.entry(word).or_insert((pointer, 0)).1 += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One warning a word.
    pub(super) fn report(self, dialect: Dialect, origins: &Origins, sink: &mut Sink) {
        for (word, (pointer, count)) in self.0 {
            let more = match count {
                1 => String::new(),
                2 => " (and in one more place)".into(),
                _ => format!(" (and in {} more places)", count - 1),
            };
            let message = format!("{word} is not a word of {}; it is read as it was meant{more}", dialect.name());
            let help = format!("write {}, or leave it as it is", own_word(word));
            sink.push(Diagnostic::warning("old-word", message).at(origins.place(&pointer)).help(help));
        }
    }
}

/// What the document's own dialect has for a word of another.
fn own_word(word: &str) -> &'static str {
    match word {
        "a list under `items`" => "`prefixItems: [..]`",
        "`required: true` on a property" => "`required: [name]` beside `properties`",
        "a text as `discriminator`" => "`discriminator: {propertyName: ..}`",
        "`nullable`" => "`type: [.., 'null']`",
        "`host`" | "`basePath`" | "`schemes`" => "`servers: [{url: ..}]`",
        "`consumes`" => "the media types under `requestBody.content`",
        "`produces`" => "the media types under `content` of the responses",
        "`definitions`" => "`components.schemas`",
        "`parameters` of the document" => "`components.parameters`",
        "`responses` of the document" => "`components.responses`",
        "`securityDefinitions`" => "`components.securitySchemes`",
        "`in: body`" | "`in: formData`" => "`requestBody: {content: ..}`",
        "a parameter without `schema`" => "`schema: {type: ..}`",
        "`schema` of a response" => "`content: {application/json: {schema: ..}}`",
        "`type: basic`" => "`type: http, scheme: basic`",
        "`flow`" => "`flows: {..}`",
        "`servers`" => "`host`, `basePath` and `schemes`",
        "`components`" => "`definitions`, `parameters`, `responses` and `securityDefinitions`",
        "`requestBody`" => "`in: body` or `in: formData` parameters",
        "`content` of a response" => "`schema`, and `produces`",
        "`content` of a parameter" => "`type`, and `collectionFormat`",
        _ => "the bound itself, such as `exclusiveMinimum: 0`",
    }
}
