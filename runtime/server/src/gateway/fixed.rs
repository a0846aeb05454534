//! A tool that every server has: its texts, its arguments, its hints.

use std::ops::Deref;

use serde_json::{Map, Value};
use toolwright_core::arguments::{Accepted, Checker};
use toolwright_core::{Code, Envelope, FixedTool, Risk, ToolError};

use crate::App;

/// A tool that every server has, with the texts of this server.
#[derive(Debug)]
pub(crate) struct Fixed(pub(super) &'static toolwright_core::fixed::Fixed);

impl Deref for Fixed {
    type Target = toolwright_core::fixed::Fixed;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl Fixed {
    fn texts(&self, app: &App) -> Option<&'static FixedTool> {
        app.server.fixed_tools.iter().find(|texts| texts.name == self.name)
    }

    pub(super) fn title(&self, app: &App) -> &'static str {
        self.texts(app).map_or(self.0.title, |texts| texts.title)
    }

    pub(super) fn description(&self, app: &App) -> &'static str {
        self.texts(app).map_or(self.0.description, |texts| texts.description)
    }

    /// What a call may do: no more than a read-only server admits, where the server is read-only.
    pub(super) fn risk(&self, app: &App) -> Risk {
        if app.exposure.is_read_only() { Risk::ReadOnly } else { self.0.risk }
    }

    /// JSON Schema of the arguments, with the server's descriptions where it has them.
    pub(super) fn schema(&self, app: &App) -> Map<String, Value> {
        let given = self.texts(app).map_or(&[][..], |texts| texts.arguments);
        self.0.schema(|argument| given.iter().find(|(name, _)| *name == argument).map(|(_, description)| *description))
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
