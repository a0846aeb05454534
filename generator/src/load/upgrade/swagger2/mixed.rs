//! Finds words of Swagger 2.0 in OpenAPI 3 documents, and the other way round: documents are often carried over by hand,
//! and not to the end.

use serde_json::Value;

use super::super::words::Words;
use crate::load::METHODS;
use crate::load::document::Dialect;
use crate::source::child_pointer;

/// Keys of a Swagger 2.0 document that OpenAPI 3 does not have.
const OLD_ROOT: [(&str, &str); 9] = [
    ("host", "`host`"),
    ("basePath", "`basePath`"),
    ("schemes", "`schemes`"),
    ("consumes", "`consumes`"),
    ("produces", "`produces`"),
    ("definitions", "`definitions`"),
    ("parameters", "`parameters` of the document"),
    ("responses", "`responses` of the document"),
    ("securityDefinitions", "`securityDefinitions`"),
];

/// Keys of an OpenAPI 3 document that Swagger 2.0 does not have.
const NEW_ROOT: [(&str, &str); 2] = [("servers", "`servers`"), ("components", "`components`")];

/// The words of the other dialect, at their pointers of the published document.
pub(in crate::load::upgrade) fn words(document: &Value, dialect: Dialect) -> Words {
    let mut search = Search { words: Words::default(), is_old: dialect == Dialect::Swagger2 };
    let root: &[_] = if search.is_old { &NEW_ROOT } else { &OLD_ROOT };
    search.keys(document, "", root);
    for (path, item) in members(document.get("paths")) {
        search.path_item(item, &child_pointer("/paths", path));
    }
    let parts = document.get("components");
    let part = |key: &str| parts.and_then(|parts| parts.get(key));
    for (name, parameter) in members(part("parameters")) {
        search.parameter(parameter, child_pointer("/components/parameters", name));
    }
    for (name, response) in members(part("responses")) {
        search.response(response, &child_pointer("/components/responses", name));
    }
    for (name, scheme) in members(part("securitySchemes")) {
        search.scheme(scheme, &child_pointer("/components/securitySchemes", name));
    }
    search.words
}

/// The members of a mapping that belong to its dialect.
fn members(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten().filter(|(key, _)| !key.starts_with("x-"))
}

struct Search {
    words: Words,
    is_old: bool,
}

impl Search {
    fn keys(&mut self, node: &Value, pointer: &str, words: &[(&str, &'static str)]) {
        for (key, word) in words.iter().filter(|(key, _)| node.get(key).is_some()) {
            self.words.found(word, child_pointer(pointer, key));
        }
    }

    fn path_item(&mut self, item: &Value, pointer: &str) {
        self.parameters(item, pointer);
        for (method, operation) in members(Some(item)).filter(|(key, _)| METHODS.contains(&key.as_str())) {
            let pointer = child_pointer(pointer, method);
            let old = [("consumes", "`consumes`"), ("produces", "`produces`"), ("schemes", "`schemes`")];
            let new = [("requestBody", "`requestBody`")];
            self.keys(operation, &pointer, if self.is_old { &new } else { &old });
            self.parameters(operation, &pointer);
            let pointer = format!("{pointer}/responses");
            for (status, response) in members(operation.get("responses")) {
                self.response(response, &child_pointer(&pointer, status));
            }
        }
    }

    fn parameters(&mut self, owner: &Value, pointer: &str) {
        let listed = owner.get("parameters").and_then(Value::as_array);
        for (index, parameter) in listed.into_iter().flatten().enumerate() {
            self.parameter(parameter, format!("{pointer}/parameters/{index}"));
        }
    }

    fn parameter(&mut self, parameter: &Value, pointer: String) {
        let has = |key: &str| parameter.get(key).is_some();
        match parameter.get("in").and_then(Value::as_str) {
            _ if self.is_old && has("content") => self.words.found("`content` of a parameter", pointer),
            _ if self.is_old => {}
            Some("body") => self.words.found("`in: body`", pointer),
            Some("formData") => self.words.found("`in: formData`", pointer),
            _ if has("type") && !has("schema") && !has("content") => {
                self.words.found("a parameter without `schema`", pointer);
            }
            _ => {}
        }
    }

    fn response(&mut self, response: &Value, pointer: &str) {
        let has = |key: &str| response.get(key).is_some();
        if self.is_old {
            self.keys(response, pointer, &[("content", "`content` of a response")]);
        } else if !has("content") {
            self.keys(response, pointer, &[("schema", "`schema` of a response")]);
        }
    }

    fn scheme(&mut self, scheme: &Value, pointer: &str) {
        if scheme.get("type").is_some_and(|kind| kind == "basic") {
            self.words.found("`type: basic`", format!("{pointer}/type"));
        }
        self.keys(scheme, pointer, &[("flow", "`flow`")]);
    }
}
