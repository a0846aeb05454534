//! Counts and names of a document as published.

use serde_json::Value;

use super::METHODS;
use super::document::{Dialect, DocumentFacts};
use super::upgrade::scalar_text;
use crate::invisible::visible;

/// Facts of a document before upgrade and overlays.
pub(super) fn gather(document: &Value, dialect: Dialect, file: &str, sha256: String) -> DocumentFacts {
    let info = |key: &str| {
        let value = document.get("info")?.get(key)?;
        scalar_text(value).map(|text| visible(&text).into_owned())
    };
    let definitions = match dialect {
        Dialect::Swagger2 => document.get("definitions"),
        _ => document.pointer("/components/schemas"),
    };
    let paths = document.get("paths").and_then(Value::as_object);
    let items = || {
        let members = paths.into_iter().flatten();
        members.filter(|(path, _)| !path.starts_with("x-")).map(|(_, item)| item)
    };
    DocumentFacts {
        file: file.to_owned(),
        sha256,
        dialect,
        title: info("title").unwrap_or_default(),
        version: info("version").unwrap_or_default(),
        paths: items().count(),
        operations: items().map(operations).sum(),
        definitions: definitions.and_then(Value::as_object).map_or(0, |members| members.len()),
    }
}

fn operations(item: &Value) -> usize {
    let fixed = METHODS.iter().filter(|method| item.get(**method).is_some()).count();
    let additional = item.get("additionalOperations").and_then(Value::as_object);
    fixed + additional.map_or(0, |members| members.len())
}
