//! Rows as `tools/list` shows them.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;
use toolwright_core::{Envelope, Profile, Risk, ToolSpec};

use crate::{App, gateway};

/// All listed tools: operations in the order of the document, then the fixed tools.
pub(crate) fn tools(app: &App, profile: Profile) -> Vec<Tool> {
    let operations = app.exposure.listed().into_iter().map(tool);
    let mut tools: Vec<Tool> = operations.chain(gateway::tools(app)).collect();
    if profile != Profile::Standard {
        for tool in &mut tools {
            tool.input_schema = Arc::new(profile.apply(&tool.input_schema));
        }
    }
    tools
}

/// One operation.
pub(crate) fn tool(row: &'static ToolSpec) -> Tool {
    let hints = hints(row.risk, row.idempotent, row.open_world);
    let tool = Tool::new(row.name, row.description, Arc::new(schema(row.listed_schema())))
        .with_title(row.title)
        .with_annotations(hints);
    match row.result_schema.filter(|_| row.binding.is_own()) {
        // What an API answers is promised to nobody.
        Some(result) => tool.with_raw_output_schema(Arc::new(Envelope::schema(schema(result)))),
        None => tool,
    }
}

/// The hints that follow from a risk: read-only tools are idempotent, compute is read-only, destructive says so.
pub(crate) fn hints(risk: Risk, idempotent: bool, open_world: bool) -> ToolAnnotations {
    ToolAnnotations::new()
        .read_only(risk.leaves_state())
        .destructive(risk == Risk::Destructive)
        .idempotent(idempotent || risk == Risk::ReadOnly)
        .open_world(open_world)
}

/// A schema's text as an object. The generator freezes no other; anything else becomes the schema of no arguments.
pub(crate) fn schema(text: &str) -> JsonObject {
    match serde_json::from_str(text) {
        Ok(Value::Object(schema)) => schema,
        _ => JsonObject::from_iter([
            ("type".to_owned(), Value::from("object")),
            ("properties".to_owned(), Value::Object(JsonObject::new())),
            ("additionalProperties".to_owned(), Value::from(false)),
        ]),
    }
}
