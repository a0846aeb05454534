//! From any dialect to the OpenAPI 3.1 form.
//!
//! What Swagger 2.0 arranges in its own way is rearranged first, in whatever document it stands; then the schemas of every
//! dialect go through one rule set. Real documents mix the words of their neighbours.

mod schema;
mod swagger2;
mod words;

use serde_json::{Map, Value};

use super::document::Dialect;
use super::origin::Origins;
use crate::diagnostic::{Diagnostic, Sink};

/// Brings a document into its 3.1 form.
pub(super) fn upgrade(mut document: Value, dialect: Dialect, origins: &mut Origins, sink: &mut Sink) -> Value {
    let words = swagger2::mixed_words(&document, dialect);
    let is_mixed = !words.is_empty();
    words.report(dialect, origins, sink);
    if is_mixed || dialect == Dialect::Swagger2 {
        document = swagger2::upgrade(document, dialect, origins, sink);
    }
    if dialect == Dialect::OpenApi30 {
        set(&mut document, "openapi", "3.1.0".into());
    }
    let mut rules = schema::Rules::new(dialect, origins, sink);
    rules.upgrade_all(&mut document);
    rules.report();
    document
}

fn set(object: &mut Value, key: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
}

/// Removes a member and keeps the order of the others, which `Map::remove` does not.
fn take(members: &mut Map<String, Value>, key: &str) -> Option<Value> {
    members.shift_remove(key)
}

/// The dialect that a document says it is written in.
pub(super) fn detect(document: &Value, origins: &Origins, sink: &mut Sink) -> Option<Dialect> {
    let (key, version) = ["swagger", "openapi"]
        .into_iter()
        .find_map(|key| Some((key, scalar_text(document.get(key)?)?)))
        .unwrap_or_default();
    let dialect = match (key, version.get(..3).unwrap_or(&version)) {
        ("swagger", "2.0" | "2") => Some(Dialect::Swagger2),
        ("openapi", "3.0") => Some(Dialect::OpenApi30),
        ("openapi", "3.1") => Some(Dialect::OpenApi31),
        ("openapi", "3.2") => Some(Dialect::OpenApi32),
        _ => None,
    };
    if dialect.is_none() {
        let (message, pointer) = if key.is_empty() {
            ("this is neither an OpenAPI nor a Swagger document".to_owned(), String::new())
        } else {
            (format!("{key} {version} is not supported"), format!("/{key}"))
        };
        sink.push(
            Diagnostic::error("unknown-dialect", message)
                .at(origins.place(&pointer))
                .help("the document must say `swagger: \"2.0\"` or `openapi: 3.0.x`, `3.1.x` or `3.2.x`"),
        );
    }
    dialect
}

/// The text of a scalar: documents write versions as numbers now and then.
pub(super) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
