//! What is searched of a tool.

use serde_json::Value;
use toolwright_core::{Binding, ToolSpec};

use super::english::identifier_words;

/// The searched texts of one tool.
#[derive(Debug, Clone, Default)]
pub(crate) struct Document {
    /// Name in MCP.
    pub(crate) name: String,
    /// Title for people.
    pub(crate) title: String,
    /// The purpose.
    pub(crate) summary: String,
    /// The full description.
    pub(crate) description: String,
    /// Names of arguments and of the fields of a body.
    pub(crate) fields: Vec<String>,
    /// Tags.
    pub(crate) tags: Vec<String>,
    /// Path of the operation.
    pub(crate) path: String,
    /// Search phrases in any language.
    pub(crate) phrases: Vec<String>,
    /// True where a call may change the upstream's state.
    pub(crate) changes: bool,
    /// True where the real server has no such route.
    pub(crate) dead: bool,
    /// True where another route stands in for the declared one.
    pub(crate) stand_in: bool,
}

impl Document {
    /// The texts of a row.
    #[must_use]
    pub(crate) fn of(tool: &ToolSpec) -> Self {
        let phrases = [tool.search.en, tool.search.ko, tool.search.ja].concat();
        Document {
            name: tool.name.into(),
            title: tool.title.into(),
            summary: tool.summary.into(),
            description: tool.description.into(),
            fields: field_names(tool.listed_schema()),
            tags: tool.tags.iter().map(|tag| identifier_words(tag)).collect(),
            path: identifier_words(tool.declared.path),
            phrases: phrases.into_iter().map(str::to_owned).collect(),
            changes: !tool.risk.leaves_state(),
            dead: matches!(tool.binding, Binding::NoRoute(_)),
            stand_in: matches!(tool.binding, Binding::Http(http) if http.stand_in.is_some()),
        }
    }
}

/// Names of the arguments, and of the members of arguments that are objects.
fn field_names(schema: &str) -> Vec<String> {
    let Ok(schema) = serde_json::from_str::<Value>(schema) else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for (name, argument) in properties(&schema, &schema) {
        names.push(identifier_words(name));
        names.extend(properties(&schema, argument).map(|(name, _)| identifier_words(name)));
    }
    names
}

/// The properties of a schema, which may be a reference into the definitions of its root.
pub(crate) fn properties<'a>(root: &'a Value, schema: &'a Value) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    let schema = target.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema);
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_arguments_and_members_of_the_body() {
        let schema = r##"{"properties": {"request": {"$ref": "#/$defs/R"}, "modelId": {}},
            "$defs": {"R": {"properties": {"top_k": {}}}}}"##;
        assert_eq!(field_names(schema), ["request", "top k", "model Id"]);
    }

    #[test]
    fn a_schema_that_is_no_json_has_no_fields() {
        assert_eq!(field_names("{"), Vec::<String>::new());
    }
}
