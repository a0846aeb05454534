//! What a tool's file says of its call, as the generator writes it.

use std::num::NonZeroU32;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolwright_core::{Context, ToolError, ToolSpec};

use crate::{request::Effort, structured::OutputSchema};

/// The member that holds a result which is no object by itself.
const WRAPPED: &str = "result";

/// The plan of a tool that asks a model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    pub(super) model: ModelName,
    #[serde(default)]
    pub(super) system: String,
    /// A text with inputs in it.
    pub(super) prompt: String,
    /// Inputs whose values the schema lists: they are written into the text as they are.
    #[serde(default)]
    pub(super) plain: Vec<String>,
    pub(super) max_output_tokens: Option<NonZeroU32>,
    effort: Option<String>,
}

impl Plan {
    /// How long the model thinks. The generator writes no other words.
    pub(super) fn effort(&self) -> Option<Effort> {
        self.effort.as_deref().and_then(|word| word.parse().ok())
    }
}

/// Which model is asked.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum ModelName {
    /// Always this one.
    Id(String),
    /// The one that a setting names.
    Setting { setting: String },
}

impl ModelName {
    /// The id.
    ///
    /// # Errors
    /// Where the setting has no value.
    pub(super) fn id<'a>(&'a self, context: &'a Context) -> Result<&'a str, ToolError> {
        match self {
            ModelName::Id(id) => Ok(id),
            ModelName::Setting { setting } => context.required_setting(setting),
        }
    }
}

/// The shape of the answer.
pub(super) struct Output {
    /// What the model is asked for: an object, as arguments of tools are.
    pub(super) schema: OutputSchema,
    is_wrapped: bool,
}

impl Output {
    /// The shape that the tool declares; `None` where it answers with text.
    ///
    /// # Errors
    /// Where its schema cannot be used.
    pub(super) fn of(row: &ToolSpec) -> Result<Option<Self>, ToolError> {
        let Some(text) = row.result_schema else { return Ok(None) };
        let broken = |reason: String| ToolError::failed(format!("the output of {} cannot be used: {reason}", row.name));
        let schema: Map<String, Value> = serde_json::from_str(text).map_err(|error| broken(error.to_string()))?;
        let is_wrapped = schema.get("type").and_then(Value::as_str) != Some("object");
        let schema = if is_wrapped { wrapped(schema) } else { schema.into() };
        let schema = OutputSchema::new(schema).map_err(|error| broken(error.to_string()))?;
        Ok(Some(Output { schema, is_wrapped }))
    }

    /// The result in what the model submitted.
    pub(super) fn unwrapped(&self, value: Value) -> Value {
        match value {
            Value::Object(mut members) if self.is_wrapped => members.shift_remove(WRAPPED).unwrap_or_default(),
            value => value,
        }
    }
}

/// The schema as that of a member. Definitions stay at the root, where references look for them.
fn wrapped(mut schema: Map<String, Value>) -> Value {
    let definitions = schema.shift_remove("$defs");
    let mut root = json!({
        "type": "object",
        "properties": {WRAPPED: schema},
        "required": [WRAPPED],
        "additionalProperties": false,
    });
    if let (Some(definitions), Some(members)) = (definitions, root.as_object_mut()) {
        members.insert("$defs".to_owned(), definitions);
    }
    root
}
