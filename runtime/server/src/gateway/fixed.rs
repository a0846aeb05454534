//! A tool that every server has: its texts, its arguments, its hints.

use serde_json::{Map, Value, json};
use toolwright_core::arguments::{Accepted, Checker};
use toolwright_core::{Code, Envelope, FixedTool, Risk, ToolError};

use crate::App;

/// A tool that every server has. The texts here are those of a server whose spec has none of its own.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub(crate) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) tags: &'static [&'static str],
    pub(super) risk: Risk,
    pub(super) idempotent: bool,
    pub(super) open_world: bool,
    pub(super) arguments: &'static [Argument],
}

/// An argument of such a tool.
#[derive(Debug)]
pub(super) struct Argument {
    pub(super) name: &'static str,
    /// JSON Schema as text, without a description.
    pub(super) schema: &'static str,
    pub(super) description: &'static str,
    pub(super) required: bool,
}

impl Fixed {
    fn texts(&self, app: &App) -> Option<&'static FixedTool> {
        app.server.fixed_tools.iter().find(|texts| texts.name == self.name)
    }

    pub(super) fn title(&self, app: &App) -> &'static str {
        self.texts(app).map_or(self.title, |texts| texts.title)
    }

    pub(super) fn description(&self, app: &App) -> &'static str {
        self.texts(app).map_or(self.description, |texts| texts.description)
    }

    /// What a call may do: no more than a read-only server admits, where the server is read-only.
    pub(super) fn risk(&self, app: &App) -> Risk {
        if app.exposure.is_read_only() { Risk::ReadOnly } else { self.risk }
    }

    /// JSON Schema of the arguments, with the server's descriptions where it has them.
    pub(super) fn schema(&self, app: &App) -> Map<String, Value> {
        let given = self.texts(app).map_or(&[][..], |texts| texts.arguments);
        let mut properties = Map::new();
        for argument in self.arguments {
            let own = given.iter().find(|(name, _)| *name == argument.name);
            let description = own.map_or(argument.description, |(_, description)| *description);
            let mut schema = serde_json::from_str(argument.schema).unwrap_or_else(|_| json!({}));
            if let (Some(schema), false) = (schema.as_object_mut(), description.is_empty()) {
                schema.insert("description".into(), description.into());
            }
            properties.insert(argument.name.into(), schema);
        }
        let required: Vec<&str> =
            self.arguments.iter().filter(|argument| argument.required).map(|argument| argument.name).collect();
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), properties.into());
        if !required.is_empty() {
            schema.insert("required".into(), required.into());
        }
        schema.insert("additionalProperties".into(), false.into());
        schema
    }

    /// The checked arguments of a call.
    ///
    /// # Errors
    /// The refusal, as for any tool.
    pub(super) fn check(&self, app: &App, arguments: Map<String, Value>) -> Result<Accepted, Box<Envelope>> {
        let checker = app.gateway.checker(app, self).map_err(|error| Box::new(Envelope::failure(error)))?;
        let accepted = checker.check(arguments);
        accepted.map_err(|refusal| Box::new(refusal.into_envelope(self.name, &Value::Object(self.schema(app)))))
    }

    /// A checker of this tool's arguments.
    ///
    /// # Errors
    /// When the schema cannot be compiled, which a test rules out.
    pub(super) fn checker(&self, app: &App) -> Result<Checker, ToolError> {
        let schema = Value::Object(self.schema(app)).to_string();
        Checker::from_schema(&schema, true).map_err(|error| ToolError::new(Code::NotAllowed, error.to_string()))
    }
}
