//! Drops the words of a document and keeps every other fact.

use serde_json::Value;

use super::walk::for_each_node;
use crate::invisible::clear;

/// Keywords that hold words for people.
const PROSE: &[&str] = &["description", "summary", "title", "example", "examples", "externalDocs", "contact"];

/// Removes the keywords description, summary, title, example, examples, externalDocs and contact
/// everywhere; never properties, definitions or parameters that are so named, and nothing inside data
/// (`enum`, `default`, extensions).
pub fn drop_prose(document: &mut Value) {
    for_each_node(document, &mut |node, _| {
        if let Some(members) = node.as_object_mut() {
            members.retain(|keyword, _| !PROSE.contains(&keyword.as_str()));
        }
    });
}

/// Takes characters that nobody sees out of the texts of a document: descriptions, summaries and titles.
pub(super) fn clear_texts(document: &mut Value) {
    for_each_node(document, &mut |node, _| {
        for key in ["description", "summary", "title"] {
            node.get_mut(key).into_iter().for_each(clear);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn dropped(mut value: Value) -> Value {
        drop_prose(&mut value);
        value
    }

    #[test]
    fn keywords_go_and_names_stay() {
        assert_eq!(
            dropped(json!({
                "info": {"title": "T", "description": "d", "contact": {}, "version": "1"},
                "paths": {"/summary": {"get": {"summary": "s", "responses": {"200": {"description": "ok"}},
                    "parameters": [{"name": "title", "in": "query", "description": "d", "type": "string"}]}}},
                "definitions": {"title": {"title": "t", "properties": {
                    "description": {"type": "string", "description": "d", "example": "e"},
                    "properties": {"properties": {"title": {"title": "x"}}}
                }}}
            })),
            json!({
                "info": {"version": "1"},
                "paths": {"/summary": {"get": {"responses": {"200": {}},
                    "parameters": [{"name": "title", "in": "query", "type": "string"}]}}},
                "definitions": {"title": {"properties": {
                    "description": {"type": "string"},
                    "properties": {"properties": {"title": {}}}
                }}}
            })
        );
    }

    #[test]
    fn data_stays_as_it_is() {
        let schema = json!({"default": {"title": "a"}, "enum": [{"description": 1}], "x-a": {"summary": 2}});
        assert_eq!(dropped(schema.clone()), schema);
    }
}
