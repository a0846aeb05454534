//! Schemas that have names of their own: `$anchor` and `$dynamicAnchor` (JSON Schema 2020-12 section 8.2.2).

use std::collections::BTreeMap;

use serde_json::Value;

use super::walk::{is_data, is_naming};
use crate::source::push_token;

/// The pointers of all anchors of a document, by name, in the order of its text.
pub(crate) fn anchors(document: &Value) -> BTreeMap<&str, Vec<String>> {
    let mut found = BTreeMap::new();
    walk(document, false, &mut String::new(), &mut found);
    found
}

fn walk<'d>(node: &'d Value, names: bool, pointer: &mut String, found: &mut BTreeMap<&'d str, Vec<String>>) {
    let parent = pointer.len();
    match node {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                push_token(pointer, &index.to_string());
                walk(item, false, pointer, found);
                pointer.truncate(parent);
            }
        }
        Value::Object(members) => {
            for (keyword, value) in members {
                match value {
                    Value::String(name) if !names && matches!(keyword.as_str(), "$anchor" | "$dynamicAnchor") => {
                        found.entry(name.as_str()).or_default().push(pointer.clone());
                    }
                    Value::Array(_) | Value::Object(_) if names || !is_data(keyword) => {
                        push_token(pointer, keyword);
                        walk(value, !names && is_naming(keyword, value), pointer, found);
                        pointer.truncate(parent);
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn anchors_are_keywords_of_schemas_and_neither_properties_nor_data() {
        let document = json!({
            "components": {"schemas": {"A": {"$anchor": "a", "properties": {"$anchor": {"$dynamicAnchor": "b"}}}}},
            "example": {"$anchor": "c"}
        });
        let found: Vec<_> = anchors(&document).into_iter().collect();
        assert_eq!(
            found,
            [
                ("a", vec!["/components/schemas/A".to_owned()]),
                ("b", vec!["/components/schemas/A/properties/$anchor".to_owned()])
            ]
        );
    }
}
